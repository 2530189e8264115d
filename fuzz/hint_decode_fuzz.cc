// Hint frames: any bytes decode as the table of the wire format says, what decodes encodes to the
// bytes that were consumed, and what encodes decodes to itself.

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "base/bytes.h"
#include "base/check.h"
#include "fuzz/input.h"
#include "fuzz/target.h"
#include "shard/hint.h"
#include "shard/key_buf.h"
#include "shard/limits.h"

namespace cadastre::fuzz {
namespace {

using base::ByteView;
using shard::HintDecodeError;
using shard::HintEncodeError;
using shard::ShardHint;

std::uint64_t big_endian(ByteView bytes) {
  std::uint64_t value = 0;
  for (const std::byte byte : bytes)
    value = value << 8 | std::to_integer<std::uint64_t>(byte);
  return value;
}

// Why the frame at the front of `bytes` is refused, row by row of the table; nothing if it decodes.
std::optional<HintDecodeError> expected_error(ByteView bytes) {
  using Code = HintDecodeError::Code;
  const std::uint64_t size = bytes.size();
  if (size == 0) return HintDecodeError{Code::kEmptyData};
  const std::uint64_t tag = big_endian(bytes.first(1));
  if (tag == 0) return std::nullopt;
  if (tag == 1) {
    if (size < 5) return HintDecodeError{Code::kTruncatedPrefix, 5, size};
    const std::uint64_t needed = 5 + big_endian(bytes.subspan(1, 4));
    if (size < needed) return HintDecodeError{Code::kTruncatedPrefix, needed, size};
    return std::nullopt;
  }
  if (tag != 2) return HintDecodeError{Code::kUnknownTag, tag};
  if (size < 25) return HintDecodeError{Code::kTruncatedManifest, 25, size};
  const std::uint64_t start_row = big_endian(bytes.subspan(9, 8));
  const std::uint64_t end_row = big_endian(bytes.subspan(17, 8));
  if (start_row >= end_row) return HintDecodeError{Code::kInvertedManifestRows, start_row, end_row};
  return std::nullopt;
}

// Also on errors: the buffer is then as it was.
void check_encoding(const ShardHint& hint,
                    std::optional<HintEncodeError> expected,
                    ByteView frame) {
  shard::MetadataBuf buffer;
  buffer.assign(base::as_bytes("before"));
  const auto size = shard::encoded_size(hint);
  const auto encoded = shard::encode_into(hint, buffer);
  CAD_CHECK(encoded.has_value() == !expected, "a hint encodes exactly when it may");
  CAD_CHECK(size.has_value() == encoded.has_value(), "the preflight says what encoding does");
  if (!expected) {
    CAD_CHECK(base::equal(*encoded, frame), "a decoded hint encodes to the bytes it came from");
    CAD_CHECK(*size == frame.size(), "the preflight says how long the frame is");
    return;
  }
  CAD_CHECK(encoded.error() == *expected, "the encoder refuses as documented");
  CAD_CHECK(size.error() == *expected, "the preflight refuses alike");
  CAD_CHECK(base::equal(buffer.view(), base::as_bytes("before")), "a refusal writes nothing");
}

std::optional<HintEncodeError> too_large(std::uint64_t frame_bytes) {
  if (frame_bytes <= shard::kMaxMetadataSize) return std::nullopt;
  return HintEncodeError{HintEncodeError::Code::kHintTooLarge, frame_bytes,
                         shard::kMaxMetadataSize};
}

void check_decoding(ByteView input) {
  const auto decoded = shard::decode_hint_frame(input);
  const auto expected = expected_error(input);
  CAD_CHECK(decoded.has_value() == !expected, "a frame decodes exactly when the table says so");
  if (expected) {
    CAD_CHECK(decoded.error() == *expected, "the first row of the table that applies decides");
    std::array<char, 24> text{};
    const char* const end = format_to(text.data(), text.data() + text.size(), *expected);
    CAD_CHECK(end <= text.data() + text.size(), "a message stays in its buffer");
    return;
  }
  CAD_CHECK(decoded->consumed <= input.size(), "nothing behind the input is consumed");
  const ByteView frame = input.first(decoded->consumed);
  const auto again = shard::decode_hint_frame(frame);
  CAD_CHECK(again.has_value(), "what follows a frame does not matter");
  CAD_CHECK(again->hint == decoded->hint, "not for the hint");
  CAD_CHECK(again->consumed == frame.size(), "nor for its size");
  check_encoding(decoded->hint, too_large(frame.size()), frame);
}

// A hint made of choices, rows in any order.
void check_round_trip(Input in) {
  const bool manifest = in.below(2) == 1;
  const shard::ManifestRows rows{in.number(), in.number(), in.number()};
  const base::Bytes prefix = in.string(shard::kMaxMetadataSize + 1);
  const ShardHint hint = manifest ? ShardHint::manifest(rows) : ShardHint::prefix(prefix);
  if (manifest && rows.start_row >= rows.end_row) {
    check_encoding(
        hint,
        HintEncodeError{HintEncodeError::Code::kInvertedManifestRows, rows.start_row, rows.end_row},
        {});
    return;
  }
  shard::MetadataBuf buffer;
  const auto encoded = shard::encode_into(hint, buffer);
  const auto refused = too_large(manifest ? 25 : 5 + prefix.size());
  CAD_CHECK(encoded.has_value() == !refused, "only a long frame is refused");
  if (!encoded) return;
  const auto decoded = shard::decode_hint_frame(*encoded);
  CAD_CHECK(decoded && decoded->hint == hint, "what was encoded decodes to itself");
  CAD_CHECK(decoded->consumed == encoded->size(), "all of a frame is consumed");
}

}  // namespace

void run_one(ByteView input) {
  check_decoding(input);
  check_round_trip(Input(input));
}

}  // namespace cadastre::fuzz
