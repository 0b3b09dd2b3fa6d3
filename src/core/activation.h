// Activation functions of gated maps. A header of its own, so that kernel files, which include
// nothing with inline code, can name them.
#pragma once

namespace crane {

enum class Activation { silu, gelu, gelu_tanh, relu };

}  // namespace crane
