// What every op's front door says when its arguments do not fit: op, what was got.
#pragma once

#include <string_view>

#include "base/strings.h"
#include "core/device.h"

namespace crane::ops {

inline void require(bool condition, std::string_view op, std::string_view what, const Tensor& a,
                    const Tensor& b) {
  if (!condition) [[unlikely]]
    throw Error(ErrorCode::internal,
                cat(op, ": ", what, ", got ", a.shape().text(), " ", name(a.dtype()), " and ",
                    b.shape().text(), " ", name(b.dtype())));
}

// An uninitialised f32 activation with the token modes of `like`.
inline Tensor empty_like_rows(const Tensor& like, const Shape& shape) {
  Tensor y = like.device().empty(shape);
  y.set_prompt_rows(like.prompt_rows());
  return y;
}

}  // namespace crane::ops
