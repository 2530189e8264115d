#include "shard/split_points.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "base/check.h"
#include "shard/key_buf.h"
#include "shard/key_range.h"
#include "shard/limits.h"
#include "shard/view_guard.h"
#include "shard/wide_key.h"

namespace cadastre::shard::inline CAD_SHARD_FLAVOUR {

bool EvenSplitPoints::init(KeyRange range, std::uint64_t count) noexcept {
  remaining_ = 0;
  const auto width = even_split_width(range, count);
  if (!width) return false;
  width_ = *width;
  count_ = count;
  remaining_ = count - 1;
  error_ = 0;
  write_gap_words(range, width_, step_.data());
  step_remainder_ = divide_words(step_.data(), word_count(width_), count);
  std::size_t index = 0;
  for (std::size_t end = width_; end > 0; end -= std::min(end, kWordBytes), ++index) {
    current_[index] = word_ending_at(range.start, end);
  }
  return true;
}

void EvenSplitPoints::write_next(std::byte* out) noexcept {
  CAD_CHECK(remaining_ > 0, "the caller asks for no more cuts than there are");
  --remaining_;
  std::uint64_t carry = 0;
  if (error_ >= count_ - step_remainder_) {
    error_ -= count_ - step_remainder_;
    carry = 1;
  } else {
    error_ += step_remainder_;
  }
  std::size_t index = 0;
  for (std::size_t end = width_; end > 0; end -= std::min(end, kWordBytes), ++index) {
    const Wide sum = Wide{current_[index]} + step_[index] + carry;
    current_[index] = static_cast<std::uint64_t>(sum);
    carry = static_cast<std::uint64_t>(sum >> kWordBits);
    store_word_ending_at(out, end, current_[index]);
  }
}

std::optional<ByteView> EvenSplitPoints::next(KeyBuf& out) noexcept {
  if (remaining_ == 0) return std::nullopt;
  write_next(out.mutable_data());
  out.set_size(width_);
  return out.view();
}

std::optional<std::size_t> even_split_width(KeyRange range, std::uint64_t count) noexcept {
  if (count == 0) return std::nullopt;
  if (count == 1) {
    const std::size_t width = initial_width(range);
    if (width > kMaxKeySize || is_empty_range(range)) return std::nullopt;
    return width;
  }
  return even_width(range, count, kMaxKeySize);
}

std::optional<FixedWidthKeysView> even_split_points(KeyRange range,
                                                    std::uint64_t count,
                                                    std::span<std::byte> out) noexcept {
  EvenSplitPoints cuts;
  if (!cuts.init(range, count)) return std::nullopt;
  const std::size_t width = cuts.width();
  CAD_CHECK(width > 0, "no cut is empty");
  if (cuts.remaining() > out.size() / width) return std::nullopt;
  const std::size_t bytes = static_cast<std::size_t>(cuts.remaining()) * width;
  for (std::size_t at = 0; at < bytes; at += width)
    cuts.write_next(out.data() + at);
  return FixedWidthKeysView{out.first(bytes), width};
}

}  // namespace cadastre::shard::inline CAD_SHARD_FLAVOUR
