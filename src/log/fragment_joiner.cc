#include "log/fragment_joiner.h"

#include <utility>

#include "base/check.h"

namespace cadastre::log {

std::optional<base::Bytes> FragmentJoiner::add(const FrameView& piece) {
  CAD_CHECK(piece.kind == FrameKind::kFragment, "only fragments are joined");
  const bool follows = next_ && next_->group == piece.group && next_->place == piece.fragment;
  if (!follows) {
    interrupt();
    if (piece.fragment.index != 0) return std::nullopt;  // Of a message that was dropped.
  }
  if (held_.size() + piece.body.size() > kPeerMessageBytesMax) {
    next_ = Expected{};  // Something to drop.
    interrupt();
    return std::nullopt;
  }
  held_.insert(held_.end(), piece.body.begin(), piece.body.end());
  const auto [index, count] = piece.fragment;
  if (index + 1 < count) {
    next_ = Expected{piece.group, {static_cast<std::uint16_t>(index + 1), count}};
    return std::nullopt;
  }
  next_.reset();
  return std::exchange(held_, {});
}

void FragmentJoiner::interrupt() {
  if (!next_) return;
  next_.reset();
  held_ = {};
  ++dropped_;
}

}  // namespace cadastre::log
