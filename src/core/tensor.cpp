#include "core/tensor.h"

#include "base/strings.h"

namespace crane {

Shape::Shape(std::initializer_list<int64_t> sizes) {
  check(sizes.size() <= kMaxRank, "shape: more than four dimensions");
  for (int64_t size : sizes) dims[static_cast<size_t>(rank++)] = size;
}

int64_t Shape::elements() const {
  int64_t product = 1;
  for (int i = 0; i < rank; ++i) product *= (*this)[i];
  return product;
}

bool Shape::operator==(const Shape& other) const {
  if (rank != other.rank) return false;
  for (int i = 0; i < rank; ++i)
    if ((*this)[i] != other[i]) return false;
  return true;
}

std::string Shape::text() const {
  std::string out = "[";
  for (int i = 0; i < rank; ++i) out += cat(i ? ", " : "", (*this)[i]);
  return out + "]";
}

Tensor::Tensor(Device& device, StorageRef storage, DType dtype, const Shape& shape)
    : device_(&device), storage_(std::move(storage)), shape_(shape), dtype_(dtype) {
  int64_t stride = 1;
  for (int i = shape.rank - 1; i >= 0; --i) {
    strides_[static_cast<size_t>(i)] = stride;
    stride *= shape[i];
  }
}

Tensor Tensor::packed(Device& device, StorageRef storage, DType dtype, const Shape& shape) {
  Tensor tensor(device, std::move(storage), dtype, shape);
  tensor.packed_ = true;
  return tensor;
}

bool Tensor::is_dense() const {
  int64_t expected = 1;
  for (int i = rank() - 1; i >= 0; --i) {
    if (dim(i) != 1 && stride(i) != expected) return false;
    expected *= dim(i);
  }
  return true;
}

Tensor Tensor::slice(int axis, int64_t begin, int64_t length) const {
  if (axis < 0) axis += rank();
  check(!packed_ && !is_block_type(dtype_), "slice: of a packed or block-quantised tensor");
  check(begin >= 0 && length >= 0 && begin + length <= dim(axis), "slice: outside the axis");
  Tensor result = *this;
  result.shape_.dims[static_cast<size_t>(axis)] = length;
  result.offset_ += begin * stride(axis) * info(dtype_).block_bytes;
  return result;
}

Tensor Tensor::heads(int64_t head_dim) const {
  check(rank() == 2 && !packed_ && stride(1) == 1, "heads: not a [tokens, dim] tensor");
  check(head_dim > 0 && dim(1) % head_dim == 0, "heads: dim is no multiple of the head size");
  Tensor result = *this;
  result.shape_ = {dim(0), dim(1) / head_dim, head_dim};
  result.strides_ = {stride(0), head_dim, 1};
  return result;
}

Tensor Tensor::flat() const {
  check(rank() == 3 && stride(2) == 1 && stride(1) == dim(2), "flat: heads do not lie together");
  Tensor result = *this;
  result.shape_ = {dim(0), dim(1) * dim(2)};
  result.strides_ = {stride(0), 1};
  return result;
}

Tensor Tensor::view(const Shape& shape) const {
  check(!packed_ && is_dense() && shape.elements() == elements(), "view: sizes differ");
  Tensor result(*device_, storage_, dtype_, shape);
  result.offset_ = offset_;
  result.prompt_rows_ = shape[0] == dim(0) ? prompt_rows_ : 0;
  return result;
}

}  // namespace crane
