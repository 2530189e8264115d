#include "shard/tuple_key.h"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <optional>
#include <span>
#include <string_view>

#include "base/bytes.h"
#include "base/endian.h"
#include "base/result.h"
#include "shard/key_buf.h"
#include "shard/key_encoding.h"
#include "shard/key_range.h"
#include "shard/limits.h"
#include "shard/text_writer.h"
#include "shard/typed_keys.h"
#include "shard/view_guard.h"

namespace cadastre::shard::inline CAD_SHARD_FLAVOUR {
namespace {

static_assert(FallibleKeyEncoding<TupleKey>);

// Type codes; published by FoundationDB and on the wire: never renumber.
constexpr std::uint8_t kNullCode = 0x00;  // also ends strings and nested tuples
constexpr std::uint8_t kBytesCode = 0x01;
constexpr std::uint8_t kTextCode = 0x02;
constexpr std::uint8_t kTupleCode = 0x05;
constexpr std::uint8_t kZeroCode = 0x14;
constexpr std::uint8_t kFloat64Code = 0x21;
constexpr std::uint8_t kFalseCode = 0x26;
constexpr std::uint8_t kTrueCode = 0x27;
constexpr std::uint8_t kEscape = 0xff;
constexpr std::uint8_t kIntegerBytesMax = 8;

std::size_t byte_width(std::uint64_t magnitude) noexcept {
  return (static_cast<std::size_t>(std::bit_width(magnitude)) + 7) / 8;
}

std::uint8_t byte_at(ByteView bytes, std::size_t at) noexcept {
  return std::to_integer<std::uint8_t>(bytes[at]);
}

void write_elements(TupleWriter& out,
                    std::span<const TupleElement> elements,
                    std::size_t depth) noexcept {
  for (const TupleElement& element : elements) {
    switch (element.kind) {
      case TupleElement::Kind::kNull: out.null(); break;
      case TupleElement::Kind::kBytes: out.bytes(element.content); break;
      case TupleElement::Kind::kText: out.text(base::as_text(element.content)); break;
      case TupleElement::Kind::kInteger: out.integer(element.integer_value); break;
      case TupleElement::Kind::kFloat64: out.float64(element.float_value); break;
      case TupleElement::Kind::kBoolean: out.boolean(element.boolean_value); break;
      case TupleElement::Kind::kTuple:
        out.begin_tuple();
        if (depth == kTupleDepthMax) return;  // The writer has refused; go no deeper.
        write_elements(out, element.elements, depth + 1);
        out.end_tuple();
        break;
    }
  }
}

}  // namespace

TupleWriter& TupleWriter::null() noexcept {
  put(kNullCode);
  if (depth_ != 0) put(kEscape);
  return *this;
}

void TupleWriter::put_escaped(std::uint8_t code, ByteView content) noexcept {
  put(code);
  for (const std::byte byte : content) {
    if (!fits_) return;
    put(std::to_integer<std::uint8_t>(byte));
    if (byte == std::byte{0}) put(kEscape);
  }
  put(kNullCode);
}

TupleWriter& TupleWriter::bytes(ByteView content) noexcept {
  put_escaped(kBytesCode, content);
  return *this;
}

TupleWriter& TupleWriter::text(std::string_view content) noexcept {
  put_escaped(kTextCode, base::as_bytes(content));
  return *this;
}

void TupleWriter::put_word(std::uint64_t word, std::size_t bytes) noexcept {
  for (std::size_t i = bytes; i > 0; --i)
    put(static_cast<std::uint8_t>(word >> (8 * (i - 1))));
}

TupleWriter& TupleWriter::integer(TupleInteger value) noexcept {
  const std::size_t width = byte_width(value.magnitude);
  const auto step = static_cast<std::uint8_t>(width);
  put(static_cast<std::uint8_t>(value.negative ? kZeroCode - step : kZeroCode + step));
  // 256^n - 1 - magnitude is the complement in n bytes.
  put_word(value.negative ? ~value.magnitude : value.magnitude, width);
  return *this;
}

TupleWriter& TupleWriter::float64(double value) noexcept {
  put(kFloat64Code);
  put_word(to_total_order(value), sizeof value);
  return *this;
}

TupleWriter& TupleWriter::boolean(bool value) noexcept {
  put(value ? kTrueCode : kFalseCode);
  return *this;
}

TupleWriter& TupleWriter::begin_tuple() noexcept {
  if (depth_ == kTupleDepthMax) {
    fits_ = false;
    return *this;
  }
  put(kTupleCode);
  ++depth_;
  return *this;
}

TupleWriter& TupleWriter::end_tuple() noexcept {
  if (depth_ == 0) {
    fits_ = false;
    return *this;
  }
  --depth_;
  put(kNullCode);
  return *this;
}

TupleElement TupleElement::bytes(ByteView content) noexcept {
  TupleElement element;
  element.kind = Kind::kBytes;
  element.content = content;
  return element;
}

TupleElement TupleElement::text(std::string_view content) noexcept {
  TupleElement element;
  element.kind = Kind::kText;
  element.content = base::as_bytes(content);
  return element;
}

TupleElement TupleElement::tuple(std::span<const TupleElement> elements) noexcept {
  TupleElement element;
  element.kind = Kind::kTuple;
  element.elements = elements;
  return element;
}

TupleElement TupleElement::integer(TupleInteger value) noexcept {
  TupleElement element;
  element.kind = Kind::kInteger;
  element.integer_value = value;
  return element;
}

TupleElement TupleElement::float64(double value) noexcept {
  TupleElement element;
  element.kind = Kind::kFloat64;
  element.float_value = value;
  return element;
}

TupleElement TupleElement::boolean(bool value) noexcept {
  TupleElement element;
  element.kind = Kind::kBoolean;
  element.boolean_value = value;
  return element;
}

bool TupleKey::try_encode_into(KeyBuf& out) const noexcept {
  TupleWriter writer(out);
  write_elements(writer, elements, 0);
  if (writer.ok()) return true;
  out.clear();
  return false;
}

std::optional<KeyRange> tuple_children_range(const TupleKey& tuple,
                                             TupleRangeScratch& scratch) noexcept {
  if (!tuple.try_encode_into(scratch.start)) return std::nullopt;
  scratch.end = scratch.start;
  if (!scratch.start.append(kNullCode) || !scratch.end.append(kEscape)) return std::nullopt;
  if (scratch.start.size() > kMaxKeySize) return std::nullopt;
  return KeyRange{scratch.start.view(), scratch.end.view()};
}

std::string_view code_name(const TupleError& error) noexcept {
  switch (error.code) {
    case TupleError::Code::kTruncated: return "truncated";
    case TupleError::Code::kUnknownCode: return "unknown_code";
    case TupleError::Code::kNonMinimalInteger: return "non_minimal_integer";
    case TupleError::Code::kTooDeep: return "too_deep";
  }
  return "unknown";
}

char* format_to(char* first, char* last, const TupleError& error) noexcept {
  TextWriter out(first, last);
  switch (error.code) {
    case TupleError::Code::kTruncated: out.text("tuple element is cut off"); break;
    case TupleError::Code::kUnknownCode: out.text("unknown tuple element code"); break;
    case TupleError::Code::kNonMinimalInteger: out.text("tuple integer is not minimal"); break;
    case TupleError::Code::kTooDeep: out.text("tuple nests too deep"); break;
  }
  return out.text(" at byte ").number(error.offset).end();
}

std::unexpected<TupleError> TupleReader::refuse(TupleError::Code code) noexcept {
  at_ = input_.size();
  depth_ = 0;
  return base::fail(TupleError{code, element_});
}

// A zero byte ends a nested tuple, unless ff follows: then it is a null. Outside it is a null.
Result<TupleToken, TupleError> TupleReader::zero_byte() noexcept {
  TupleToken token;
  token.kind = TupleToken::Kind::kNull;
  if (depth_ == 0) return token;
  if (at_ < input_.size() && byte_at(input_, at_) == kEscape) {
    ++at_;
    return token;
  }
  --depth_;
  token.kind = TupleToken::Kind::kEndTuple;
  return token;
}

Result<TupleToken, TupleError> TupleReader::string(TupleToken::Kind kind) noexcept {
  const std::size_t begin = at_;
  for (; at_ < input_.size(); ++at_) {
    if (byte_at(input_, at_) != kNullCode) continue;
    const bool escaped = at_ + 1 < input_.size() && byte_at(input_, at_ + 1) == kEscape;
    if (!escaped) {
      TupleToken token;
      token.kind = kind;
      token.escaped = input_.subspan(begin, at_ - begin);
      ++at_;
      return token;
    }
    ++at_;
  }
  return refuse(TupleError::Code::kTruncated);
}

Result<TupleToken, TupleError> TupleReader::integer(std::uint8_t code) noexcept {
  const bool negative = code < kZeroCode;
  const auto width = static_cast<std::size_t>(negative ? kZeroCode - code : code - kZeroCode);
  if (input_.size() - at_ < width) return refuse(TupleError::Code::kTruncated);
  std::uint64_t magnitude = 0;
  for (std::size_t i = 0; i < width; ++i) {
    const std::uint8_t byte = byte_at(input_, at_++);
    magnitude = magnitude << 8 | static_cast<std::uint8_t>(negative ? ~byte : byte);
  }
  if (byte_width(magnitude) != width) return refuse(TupleError::Code::kNonMinimalInteger);
  TupleToken token;
  token.kind = TupleToken::Kind::kInteger;
  token.integer_value = {negative, magnitude};
  return token;
}

Result<TupleToken, TupleError> TupleReader::next() noexcept {
  element_ = at_;
  TupleToken token;
  if (at_ == input_.size()) {
    if (depth_ != 0) return refuse(TupleError::Code::kTruncated);
    return token;
  }
  const std::uint8_t code = byte_at(input_, at_++);
  switch (code) {
    case kNullCode: return zero_byte();
    case kBytesCode: return string(TupleToken::Kind::kBytes);
    case kTextCode: return string(TupleToken::Kind::kText);
    case kTupleCode:
      if (depth_ == kTupleDepthMax) return refuse(TupleError::Code::kTooDeep);
      ++depth_;
      token.kind = TupleToken::Kind::kBeginTuple;
      return token;
    case kFloat64Code:
      if (input_.size() - at_ < sizeof(double)) return refuse(TupleError::Code::kTruncated);
      token.kind = TupleToken::Kind::kFloat64;
      token.float_value = from_total_order(base::load_be<std::uint64_t>(input_.data() + at_));
      at_ += sizeof(double);
      return token;
    case kFalseCode:
    case kTrueCode:
      token.kind = TupleToken::Kind::kBoolean;
      token.boolean_value = code == kTrueCode;
      return token;
    default: break;
  }
  if (code < kZeroCode - kIntegerBytesMax || code > kZeroCode + kIntegerBytesMax) {
    return refuse(TupleError::Code::kUnknownCode);
  }
  return integer(code);
}

Result<void, TupleError> validate_tuple(ByteView encoded) noexcept {
  TupleReader reader(encoded);
  while (true) {
    const TupleToken token = CAD_TRY(reader.next());
    if (token.kind == TupleToken::Kind::kEnd) return {};
  }
}

bool unescape_into(ByteView escaped, KeyBuf& out) noexcept {
  out.clear();
  for (std::size_t i = 0; i < escaped.size(); ++i) {
    const std::uint8_t byte = byte_at(escaped, i);
    if (!out.append(byte)) return false;
    if (byte == kNullCode) ++i;  // The ff behind it.
  }
  return true;
}

}  // namespace cadastre::shard::inline CAD_SHARD_FLAVOUR
