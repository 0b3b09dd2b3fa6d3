// How often this test program has called operator new.
#pragma once

#include <cstdint>

namespace crane {

int64_t allocation_count();

}  // namespace crane
