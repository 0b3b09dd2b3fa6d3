#include "text/tokenizer_model.h"

namespace crane {
namespace {

constexpr size_t kMaxPieces = 1 << 16;
constexpr size_t kMaxPieceBytes = 256;

}  // namespace

std::span<const int32_t> PieceCache::find(std::string_view piece, uint64_t hash) const {
  if (slots_.empty()) return {};
  for (size_t at = hash & (slots_.size() - 1); slots_[at].text_length != 0;
       at = (at + 1) & (slots_.size() - 1)) {
    const Slot& slot = slots_[at];
    if (slot.hash == hash &&
        std::string_view(texts_).substr(slot.text_begin, slot.text_length) == piece)
      return std::span(ids_).subspan(slot.ids_begin, slot.ids_length);
  }
  return {};
}

void PieceCache::insert(std::string_view piece, uint64_t hash, std::span<const int32_t> ids) {
  if (piece.empty() || piece.size() > kMaxPieceBytes || used_ >= kMaxPieces) return;
  if (ids_.empty()) ids_.push_back(0);  // so that no found span has a null pointer
  if ((used_ + 1) * 2 > slots_.size()) {
    std::vector<Slot> old(slots_.empty() ? 256 : slots_.size() * 2);
    old.swap(slots_);
    for (const Slot& slot : old) {
      if (slot.text_length == 0) continue;
      size_t at = slot.hash & (slots_.size() - 1);
      while (slots_[at].text_length != 0) at = (at + 1) & (slots_.size() - 1);
      slots_[at] = slot;
    }
  }
  size_t at = hash & (slots_.size() - 1);
  while (slots_[at].text_length != 0) at = (at + 1) & (slots_.size() - 1);
  slots_[at] = {hash, static_cast<uint32_t>(texts_.size()), static_cast<uint32_t>(piece.size()),
                static_cast<uint32_t>(ids_.size()), static_cast<uint32_t>(ids.size())};
  texts_ += piece;
  ids_.insert(ids_.end(), ids.begin(), ids.end());
  ++used_;
}

}  // namespace crane
