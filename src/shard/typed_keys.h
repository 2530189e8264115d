// Key types: values that encode to bytes in their own order (the laws are in key_encoding.h).
//
//   PathKey          borrowed text, its own bytes, untouched
//   ManifestRowKey   manifest id and row, 16 bytes, big-endian: byte order is tuple order
//   U32Key, U64Key   big-endian
//   I64Key           two's complement with the sign bit flipped, big-endian
//   F64Key           IEEE 754 totalOrder: -NaN < -inf < ... < -0 < +0 < ... < +inf < +NaN
//   BytesKey         borrowed bytes as they are
//
// Composite keys are in tuple_key.h. Everything here is a pure value.

#pragma once

#include <bit>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/attributes.h"
#include "base/bytes.h"
#include "base/endian.h"
#include "base/result.h"
#include "shard/key_buf.h"
#include "shard/limits.h"
#include "shard/view_guard.h"

namespace cadastre::shard::inline CAD_SHARD_FLAVOUR {

using base::Result;

struct PathKeyError {
  enum class Code : std::uint8_t {
    kPathEmpty,
    kPathTooLarge,  // size, max
    kPathNotUtf8,   // offset of the first bad byte
  };

  Code code{};
  std::uint64_t size = 0;  // kPathNotUtf8: the offset
  std::uint64_t max = 0;

  friend constexpr bool operator==(const PathKeyError&, const PathKeyError&) noexcept = default;
};

[[nodiscard]] std::string_view code_name(const PathKeyError& error) noexcept;
char* format_to(char* first, char* last, const PathKeyError& error) noexcept;

// Borrows its text. No separator is rewritten, no case folded, nothing normalised.
class PathKey {
 public:
  // Aborts on an empty or oversized path; try_make answers with an error instead.
  explicit PathKey(std::string_view path CAD_LIFETIMEBOUND) noexcept;
  [[nodiscard]] static Result<PathKey, PathKeyError> try_make(
      std::string_view path CAD_LIFETIMEBOUND) noexcept;
  [[nodiscard]] static Result<PathKey, PathKeyError> try_make_utf8(
      std::string_view path CAD_LIFETIMEBOUND) noexcept;

  [[nodiscard]] std::string_view text() const noexcept { return text_; }
  void encode_into(KeyBuf& out) const noexcept { out.assign(base::as_bytes(text_)); }

  friend std::strong_ordering operator<=>(const PathKey& a, const PathKey& b) noexcept {
    return base::compare(base::as_bytes(a.text_), base::as_bytes(b.text_));
  }
  friend bool operator==(const PathKey& a, const PathKey& b) noexcept { return (a <=> b) == 0; }

 private:
  struct Trusted {};
  PathKey(std::string_view path, Trusted /*tag*/) noexcept : text_(path) {}

  std::string_view text_;
};

// Writes a fixed-width key: overwrites `out` completely.
template <std::unsigned_integral T>
inline void assign_be(KeyBuf& out, T value) noexcept {
  base::store_be(out.mutable_data(), value);
  out.set_size(sizeof value);
}

struct ManifestRowKey {
  std::uint64_t manifest_id = 0;
  std::uint64_t row = 0;

  void encode_into(KeyBuf& out) const noexcept {
    base::store_be(out.mutable_data(), manifest_id);
    base::store_be(out.mutable_data() + 8, row);
    out.set_size(kManifestRowKeySize);
  }

  friend constexpr auto operator<=>(const ManifestRowKey&,
                                    const ManifestRowKey&) noexcept = default;
};

// Takes exactly 16 bytes and nothing else.
[[nodiscard]] inline std::optional<ManifestRowKey> decode_manifest_row_key(ByteView key) noexcept {
  if (key.size() != kManifestRowKeySize) return std::nullopt;
  return ManifestRowKey{base::load_be<std::uint64_t>(key.data()),
                        base::load_be<std::uint64_t>(key.data() + 8)};
}

struct U32Key {
  std::uint32_t value = 0;
  void encode_into(KeyBuf& out) const noexcept { assign_be(out, value); }
  friend constexpr auto operator<=>(U32Key, U32Key) noexcept = default;
};

struct U64Key {
  std::uint64_t value = 0;
  void encode_into(KeyBuf& out) const noexcept { assign_be(out, value); }
  friend constexpr auto operator<=>(U64Key, U64Key) noexcept = default;
};

inline constexpr std::uint64_t kSignBit = std::uint64_t{1} << 63;

struct I64Key {
  std::int64_t value = 0;
  void encode_into(KeyBuf& out) const noexcept {
    assign_be(out, static_cast<std::uint64_t>(value) ^ kSignBit);
  }
  friend constexpr auto operator<=>(I64Key, I64Key) noexcept = default;
};

// The order of doubles as the order of unsigned integers, and back.
[[nodiscard]] constexpr std::uint64_t to_total_order(double value) noexcept {
  const auto bits = std::bit_cast<std::uint64_t>(value);
  return (bits & kSignBit) != 0 ? ~bits : bits ^ kSignBit;
}
[[nodiscard]] constexpr double from_total_order(std::uint64_t ordered) noexcept {
  return std::bit_cast<double>((ordered & kSignBit) != 0 ? ordered ^ kSignBit : ~ordered);
}

// Compares by bits, so that -0 and +0, which encode differently, are different keys.
struct F64Key {
  double value = 0;
  void encode_into(KeyBuf& out) const noexcept { assign_be(out, to_total_order(value)); }
  friend constexpr std::strong_ordering operator<=>(F64Key a, F64Key b) noexcept {
    return to_total_order(a.value) <=> to_total_order(b.value);
  }
  friend constexpr bool operator==(F64Key a, F64Key b) noexcept { return (a <=> b) == 0; }
};

// Raw connector keys. At most kKeyBufCapacity bytes: a longer one does not fit and is refused.
struct BytesKey {
  ByteView bytes;
  void encode_into(KeyBuf& out) const noexcept { out.assign(bytes); }
  [[nodiscard]] bool try_encode_into(KeyBuf& out) const noexcept {
    if (out.try_assign(bytes)) return true;
    out.clear();
    return false;
  }
  friend std::strong_ordering operator<=>(const BytesKey& a, const BytesKey& b) noexcept {
    return base::compare(a.bytes, b.bytes);
  }
  friend bool operator==(const BytesKey& a, const BytesKey& b) noexcept {
    return base::equal(a.bytes, b.bytes);
  }
};

}  // namespace cadastre::shard::inline CAD_SHARD_FLAVOUR
