#include "io/weights.h"

#include <algorithm>
#include <set>

#include "base/error.h"
#include "base/strings.h"
#include "io/foreign_text.h"

namespace crane {
namespace {

bool is_harmless(std::string_view name, const Json& config) {
  if (name.starts_with("mtp.") || name.ends_with("rotary_emb.inv_freq")) return true;
  for (std::string_view part : {"position_ids", "packing_position_embedding", "vision_model.head."})
    if (name.find(part) != std::string_view::npos) return true;
  return name == "lm_head.weight" && config["tie_word_embeddings"] == Json(true);
}

}  // namespace

struct Weights::Shared {
  const Checkpoint& checkpoint;
  Device& device;
  ProgressCallback progress;
  std::set<std::string, std::less<>> asked;
  int64_t bytes = 0;
};

Weights::Weights(const Checkpoint& checkpoint, Device& device, ProgressCallback progress)
    : shared_(new Shared{checkpoint, device, std::move(progress), {}, 0}) {}

Weights::Weights(std::shared_ptr<Shared> shared, std::string scope)
    : shared_(std::move(shared)), scope_(std::move(scope)) {}

Weights Weights::operator/(std::string_view name) const {
  return Weights(shared_, full_name(name));
}

Weights Weights::operator/(int index) const { return *this / std::to_string(index); }

Device& Weights::device() const { return shared_->device; }
const Checkpoint& Weights::checkpoint() const { return shared_->checkpoint; }

std::string Weights::full_name(std::string_view name) const {
  return scope_.empty() ? std::string(name) : cat(scope_, ".", name);
}

bool Weights::has(std::string_view name) const {
  return shared_->checkpoint.find(full_name(name)) != nullptr;
}

const CheckpointTensor& Weights::take(const std::string& name, const Shape& wanted) const {
  const CheckpointTensor* tensor = shared_->checkpoint.find(name);
  if (!tensor)
    throw Error(ErrorCode::not_found, cat(shared_->checkpoint.path(), ": tensor ", name,
                                          ": missing, expected ", wanted.text()));
  shared_->asked.insert(name);
  return *tensor;
}

void Weights::report(const CheckpointTensor& tensor) const {
  shared_->bytes += tensor.bytes;
  if (shared_->progress) shared_->progress({shared_->bytes, shared_->checkpoint.tensor_bytes()});
}

Tensor Weights::matrix(std::string_view name, int64_t rows, int64_t columns) const {
  std::string full = full_name(name);
  Shape wanted{rows, columns};
  const CheckpointTensor& tensor = take(full, wanted);
  bool fits = tensor.shape.rank >= 2 && tensor.shape[0] == rows && rows > 0 && columns > 0 &&
              tensor.shape.elements() == wanted.elements();
  if (!fits)
    throw Error(ErrorCode::io, cat(shared_->checkpoint.path(), ": tensor ", full, ": got ",
                                   tensor.shape.text(), ", expected ", wanted.text()));
  // Rows of blocks must be rows of the matrix too.
  if (columns % info(tensor.dtype).block_length != 0)
    throw Error(ErrorCode::io, cat(shared_->checkpoint.path(), ": tensor ", full, ": rows of ",
                                   columns, " are no whole blocks of ", crane::name(tensor.dtype)));
  Tensor result =
      shared_->device.backend().upload(shared_->device, {tensor.dtype, rows, columns, tensor.data});
  report(tensor);
  return result;
}

Tensor Weights::vector(std::string_view name, int64_t size) const {
  std::string full = full_name(name);
  Shape wanted{size};
  const CheckpointTensor& tensor = take(full, wanted);
  int64_t longest = 1;
  for (int axis = 0; axis < tensor.shape.rank; ++axis)
    longest = std::max(longest, tensor.shape[axis]);
  if (size <= 0 || tensor.shape.elements() != size || longest != size)
    throw Error(ErrorCode::io, cat(shared_->checkpoint.path(), ": tensor ", full, ": got ",
                                   tensor.shape.text(), ", expected ", wanted.text()));
  Tensor result = shared_->device.backend().upload_vector(shared_->device,
                                                          {tensor.dtype, 1, size, tensor.data});
  report(tensor);
  return result;
}

std::vector<std::string> Weights::unused() const {
  std::vector<std::string> names;
  for (std::string& name : shared_->checkpoint.tensor_names())
    if (shared_->asked.count(name) == 0 && !is_harmless(name, shared_->checkpoint.config()))
      names.push_back(std::move(name));
  return names;
}

}  // namespace crane
