// Input: structured choices read from a fuzzer's bytes.
//
// Every read is total: behind the end numbers are zero and strings empty, so any bytes are a legal
// sequence of choices, and cutting an input short still means something. make_corpus.py writes the
// same forms.
//
//   number    control byte c, then
//             c % 4 = 0   nothing: c / 4
//             c % 4 = 1   eight bytes, big-endian
//             c % 4 = 2   nothing: 2^64 - 1 - c / 4
//             c % 4 = 3   nothing: 2^(c / 4)
//   string    pieces, each a control byte c and then
//             c % 4 = 0   nothing: the string ends
//             c % 4 = 1   c / 4 literal bytes
//             c % 4 = 2   one byte, repeated c / 4 times
//             c % 4 = 3   one byte and two more, big-endian: the byte repeated that often

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "base/bytes.h"

namespace cadastre::fuzz {

class Input {
 public:
  explicit Input(base::ByteView bytes) noexcept : rest_(bytes) {}

  [[nodiscard]] bool done() const noexcept { return rest_.empty(); }

  [[nodiscard]] std::uint8_t byte() noexcept {
    if (rest_.empty()) return 0;
    const auto first = std::to_integer<std::uint8_t>(rest_.front());
    rest_ = rest_.subspan(1);
    return first;
  }

  // A number below `bound`, which is at least 1 and at most 65536. Takes as few bytes as it can.
  [[nodiscard]] std::size_t below(std::size_t bound) noexcept {
    std::size_t value = byte();
    if (bound > 256) value = value << 8 | byte();
    return value % bound;
  }

  // True once in `bound` times.
  [[nodiscard]] bool one_in(std::size_t bound) noexcept { return below(bound) == bound - 1; }

  [[nodiscard]] std::uint64_t number() noexcept {
    const std::uint8_t control = byte();
    const std::uint64_t small = control / 4U;
    switch (control % 4) {
      case 0: return small;
      case 1: return word();
      case 2: return std::numeric_limits<std::uint64_t>::max() - small;
      default: return std::uint64_t{1} << small;
    }
  }

  // At most `bytes_max` bytes; what would be longer is cut.
  [[nodiscard]] base::Bytes string(std::size_t bytes_max) {
    base::Bytes out;
    while (!done()) {
      const std::uint8_t control = byte();
      std::size_t size = control / 4U;
      const std::size_t room = bytes_max - out.size();
      if (control % 4 == 0) break;
      if (control % 4 == 1) {
        const auto literal = take(size);
        out.insert(out.end(), literal.begin(),
                   literal.begin() + static_cast<std::ptrdiff_t>(std::min(room, literal.size())));
        continue;
      }
      const auto repeated = std::byte{byte()};
      if (control % 4 == 3) size = below(65536);
      out.insert(out.end(), std::min(room, size), repeated);
    }
    return out;
  }

  // All that is left.
  [[nodiscard]] base::ByteView rest() noexcept { return take(rest_.size()); }

 private:
  base::ByteView take(std::size_t size) noexcept {
    const auto taken = rest_.first(std::min(size, rest_.size()));
    rest_ = rest_.subspan(taken.size());
    return taken;
  }

  std::uint64_t word() noexcept {
    std::uint64_t value = 0;
    for (int i = 0; i < 8; ++i)
      value = value << 8 | byte();
    return value;
  }

  base::ByteView rest_;
};

}  // namespace cadastre::fuzz
