// Tensor: a value. Shared storage, an offset, up to four dimensions with strides, a dtype and the
// device it lives on. Views never copy. Arithmetic lives in ops/.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <string>

#include "base/error.h"
#include "core/arena.h"
#include "core/dtype.h"

namespace crane {

class Device;

struct Shape {
  static constexpr int kMaxRank = 4;
  std::array<int64_t, kMaxRank> dims{};
  int rank = 0;

  Shape() = default;
  Shape(std::initializer_list<int64_t> sizes);
  int64_t operator[](int axis) const { return dims[static_cast<size_t>(axis)]; }
  int64_t elements() const;
  bool operator==(const Shape& other) const;
  std::string text() const;  // "[2, 3]"
};

class Tensor {
 public:
  Tensor() = default;
  // Dense rows of plain elements.
  Tensor(Device& device, StorageRef storage, DType dtype, const Shape& shape);
  // A weight in the backend's own form: only its backend may look inside, views are refused.
  static Tensor packed(Device& device, StorageRef storage, DType dtype, const Shape& shape);

  bool defined() const { return device_ != nullptr; }
  Device& device() const { return *device_; }
  DType dtype() const { return dtype_; }
  bool is_packed() const { return packed_; }
  const Shape& shape() const { return shape_; }
  int rank() const { return shape_.rank; }
  int64_t dim(int axis) const {  // -1 is the last axis
    return shape_[axis < 0 ? shape_.rank + axis : axis];
  }
  int64_t stride(int axis) const {  // in elements
    return strides_[static_cast<size_t>(axis < 0 ? shape_.rank + axis : axis)];
  }
  int64_t rows() const { return dim(-1) == 0 ? 0 : shape_.elements() / dim(-1); }
  int64_t elements() const { return shape_.elements(); }
  bool is_dense() const;  // elements lie one after the other

  std::byte* bytes() const { return storage_.get()->data + offset_; }
  template <class T>
  T* data() const {
    return reinterpret_cast<T*>(bytes());
  }

  // Views. `slice` takes [begin, begin + length) of an axis.
  Tensor slice(int axis, int64_t begin, int64_t length) const;
  Tensor heads(int64_t head_dim) const;   // [tokens, n * head_dim] as [tokens, n, head_dim]
  Tensor flat() const;                    // [tokens, n, d] as [tokens, n * d]
  Tensor view(const Shape& shape) const;  // dense tensors only

  // Rows [0, prompt_rows) of the token axis belong to prompt tokens, the others to generated ones.
  // Every op hands the number on; a backend with two modes of arithmetic reads it
  // (docs/architecture.md, "Modes").
  int64_t prompt_rows() const { return prompt_rows_; }
  void set_prompt_rows(int64_t rows) { prompt_rows_ = rows; }

 private:
  Device* device_ = nullptr;
  StorageRef storage_;
  int64_t offset_ = 0;  // bytes
  Shape shape_;
  std::array<int64_t, Shape::kMaxRank> strides_{};
  int64_t prompt_rows_ = 0;
  DType dtype_ = DType::f32;
  bool packed_ = false;
};

}  // namespace crane
