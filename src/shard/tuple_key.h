// TupleKey: composite keys that sort like tuples of their elements.
//
// The bytes are a subset of FoundationDB's tuple layer, so that foreign encoders interoperate:
//
//   element       bytes
//   null          00                        (inside a nested tuple: 00 ff)
//   byte string   01 content 00             every 00 in the content is written 00 ff
//   UTF-8 text    02 content 00             the same escaping
//   nested tuple  05 elements 00
//   integer       14+n, then n bytes        n is the least width of the magnitude, 0 to 8;
//                 14-n, then n bytes        negative: the value plus 256^n - 1
//   float64       21, then F64Key's bytes
//   false, true   26, 27
//
// A reader refuses integers that are not minimal, unknown codes, truncation, and nesting deeper than
// kTupleDepthMax. Order across types is that of the codes. The empty tuple encodes to the empty
// string and therefore cannot be a bound.
//
// Nothing here allocates: the writer appends to a KeyBuf, the reader hands out views.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "base/attributes.h"
#include "base/bytes.h"
#include "base/result.h"
#include "shard/key_buf.h"
#include "shard/key_range.h"
#include "shard/limits.h"
#include "shard/view_guard.h"

namespace cadastre::shard::inline CAD_SHARD_FLAVOUR {

using base::Result;

// An integer from -(2^64 - 1) to 2^64 - 1. Zero is never negative.
struct TupleInteger {
  bool negative = false;
  std::uint64_t magnitude = 0;

  [[nodiscard]] static constexpr TupleInteger from(std::int64_t value) noexcept {
    const auto bits = static_cast<std::uint64_t>(value);
    return value < 0 ? TupleInteger{true, ~bits + 1} : TupleInteger{false, bits};
  }
  friend constexpr bool operator==(TupleInteger, TupleInteger) noexcept = default;
};

// Appends elements to a KeyBuf. After the first element that does not fit, that nests too deep or
// that closes what is not open, ok() is false and the buffer is of no use.
class TupleWriter {
 public:
  explicit TupleWriter(KeyBuf& out CAD_LIFETIMEBOUND) noexcept : out_(out) { out_.clear(); }

  TupleWriter& null() noexcept;
  TupleWriter& bytes(ByteView content) noexcept;
  TupleWriter& text(std::string_view content) noexcept;
  TupleWriter& integer(TupleInteger value) noexcept;
  TupleWriter& integer(std::int64_t value) noexcept { return integer(TupleInteger::from(value)); }
  TupleWriter& float64(double value) noexcept;
  TupleWriter& boolean(bool value) noexcept;
  TupleWriter& begin_tuple() noexcept;
  TupleWriter& end_tuple() noexcept;

  // Whether everything so far is in the buffer and every nested tuple is closed.
  [[nodiscard]] bool ok() const noexcept { return fits_ && depth_ == 0; }

 private:
  void put(std::uint8_t byte) noexcept { fits_ = fits_ && out_.append(byte); }
  void put_escaped(std::uint8_t code, ByteView content) noexcept;
  void put_word(std::uint64_t word, std::size_t bytes) noexcept;

  KeyBuf& out_;
  std::size_t depth_ = 0;
  bool fits_ = true;
};

// One element, borrowed. Text and bytes are unescaped.
struct TupleElement {
  enum class Kind : std::uint8_t {
    kNull,
    kBytes,
    kText,
    kTuple,
    kInteger,
    kFloat64,
    kBoolean,
  };

  Kind kind = Kind::kNull;
  bool boolean_value = false;
  double float_value = 0;
  TupleInteger integer_value;
  ByteView content;                        // kBytes, kText
  std::span<const TupleElement> elements;  // kTuple

  [[nodiscard]] static TupleElement null() noexcept { return {}; }
  [[nodiscard]] static TupleElement bytes(ByteView content CAD_LIFETIMEBOUND) noexcept;
  [[nodiscard]] static TupleElement text(std::string_view content CAD_LIFETIMEBOUND) noexcept;
  [[nodiscard]] static TupleElement tuple(
      std::span<const TupleElement> elements CAD_LIFETIMEBOUND) noexcept;
  [[nodiscard]] static TupleElement integer(TupleInteger value) noexcept;
  [[nodiscard]] static TupleElement float64(double value) noexcept;
  [[nodiscard]] static TupleElement boolean(bool value) noexcept;
};

// A key made of elements; both are borrowed.
struct TupleKey {
  std::span<const TupleElement> elements;

  // False when the tuple does not fit or nests too deep; `out` is then empty.
  [[nodiscard]] bool try_encode_into(KeyBuf& out) const noexcept;
};

// The keys of all tuples that continue `tuple`: exactly [enc 00, enc ff). The byte prefix itself will
// not do, for it also catches longer strings that continue with an escaped zero.
struct TupleRangeScratch {
  KeyBuf start;
  KeyBuf end;
};
[[nodiscard]] std::optional<KeyRange> tuple_children_range(
    const TupleKey& tuple, TupleRangeScratch& scratch CAD_LIFETIMEBOUND) noexcept;

struct TupleError {
  enum class Code : std::uint8_t {
    kTruncated,          // an element, an escape or a nested tuple does not end
    kUnknownCode,        // no element begins with this byte
    kNonMinimalInteger,  // the same number has a shorter form
    kTooDeep,            // nested deeper than kTupleDepthMax
  };

  Code code{};
  std::uint64_t offset = 0;  // where the element begins

  friend constexpr bool operator==(const TupleError&, const TupleError&) noexcept = default;
};

[[nodiscard]] std::string_view code_name(const TupleError& error) noexcept;
char* format_to(char* first, char* last, const TupleError& error) noexcept;

// What the reader sees next. Content is a view of the input, still escaped (unescape_into).
struct TupleToken {
  enum class Kind : std::uint8_t {
    kEnd,  // of the input
    kNull,
    kBytes,
    kText,
    kBeginTuple,
    kEndTuple,
    kInteger,
    kFloat64,
    kBoolean,
  };

  Kind kind = Kind::kEnd;
  bool boolean_value = false;
  double float_value = 0;
  TupleInteger integer_value;
  ByteView escaped;
};

// Walks an encoded tuple from any bytes. After an error, or after kEnd, it is at its end.
class TupleReader {
 public:
  explicit TupleReader(ByteView encoded CAD_LIFETIMEBOUND) noexcept : input_(encoded) {}

  [[nodiscard]] Result<TupleToken, TupleError> next() noexcept;
  [[nodiscard]] std::size_t depth() const noexcept { return depth_; }

 private:
  [[nodiscard]] Result<TupleToken, TupleError> zero_byte() noexcept;
  [[nodiscard]] Result<TupleToken, TupleError> string(TupleToken::Kind kind) noexcept;
  [[nodiscard]] Result<TupleToken, TupleError> integer(std::uint8_t code) noexcept;
  [[nodiscard]] std::unexpected<TupleError> refuse(TupleError::Code code) noexcept;

  ByteView input_;
  std::size_t at_ = 0;
  std::size_t element_ = 0;  // where the current element begins
  std::size_t depth_ = 0;
};

// Whether `encoded` is a well-formed tuple, to its last byte.
[[nodiscard]] Result<void, TupleError> validate_tuple(ByteView encoded) noexcept;

// Undoes the escaping of a token's content. False when it does not fit.
[[nodiscard]] bool unescape_into(ByteView escaped, KeyBuf& out) noexcept;

}  // namespace cadastre::shard::inline CAD_SHARD_FLAVOUR
