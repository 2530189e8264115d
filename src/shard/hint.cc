#include "shard/hint.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <utility>

#include "base/bytes.h"
#include "base/check.h"
#include "base/endian.h"
#include "base/result.h"
#include "shard/key_arith.h"
#include "shard/key_buf.h"
#include "shard/limits.h"
#include "shard/shard_spec.h"
#include "shard/typed_keys.h"
#include "shard/view_guard.h"

namespace cadastre::shard::inline CAD_SHARD_FLAVOUR {
namespace {

constexpr std::uint64_t kWireLengthMax = std::numeric_limits<std::uint32_t>::max();

Result<std::uint64_t, HintEncodeError> prefix_frame_size(ByteView prefix) noexcept {
  if (prefix.size() > kWireLengthMax) {
    return base::fail(
        HintEncodeError{HintEncodeError::Code::kPrefixTooLarge, prefix.size(), kWireLengthMax});
  }
  return kPrefixHintHeader + prefix.size();
}

Result<std::uint64_t, HintEncodeError> manifest_frame_size(const ManifestRows& rows) noexcept {
  if (rows.start_row >= rows.end_row) {
    return base::fail(HintEncodeError{HintEncodeError::Code::kInvertedManifestRows, rows.start_row,
                                      rows.end_row});
  }
  return kManifestHintSize;
}

// Size of the frame before any limit is applied.
Result<std::uint64_t, HintEncodeError> frame_size(const ShardHint& hint) noexcept {
  switch (hint.kind()) {
    case ShardHint::Kind::kRange: return 1;
    case ShardHint::Kind::kPrefix: return prefix_frame_size(hint.prefix_bytes());
    case ShardHint::Kind::kManifest: return manifest_frame_size(hint.manifest_rows());
  }
  return 0;
}

// Writes a frame that has passed encoded_size and returns its end.
std::byte* write_frame(const ShardHint& hint, std::byte* out) noexcept {
  switch (hint.kind()) {
    case ShardHint::Kind::kRange: *out = static_cast<std::byte>(kHintTagRange); return out + 1;
    case ShardHint::Kind::kPrefix: {
      const ByteView prefix = hint.prefix_bytes();
      *out = static_cast<std::byte>(kHintTagPrefix);
      base::store_be(out + 1, static_cast<std::uint32_t>(prefix.size()));
      if (!prefix.empty()) std::memcpy(out + kPrefixHintHeader, prefix.data(), prefix.size());
      return out + kPrefixHintHeader + prefix.size();
    }
    case ShardHint::Kind::kManifest: {
      const ManifestRows& rows = hint.manifest_rows();
      *out = static_cast<std::byte>(kHintTagManifest);
      base::store_be(out + 1, rows.manifest_id);
      base::store_be(out + 9, rows.start_row);
      base::store_be(out + 17, rows.end_row);
      return out + kManifestHintSize;
    }
  }
  return out;
}

void check_sources(const ShardHint& hint, const MetadataBuf& out) noexcept {
  if (hint.kind() != ShardHint::Kind::kPrefix) return;
  CAD_CHECK(!out.overlaps(hint.prefix_bytes()), "a prefix does not overlap the encode buffer");
}

using DecodeResult = Result<DecodedHint, HintDecodeError>;
using EnvelopeResult = Result<ShardMetadata, MetadataDecodeError>;

DecodeResult decode_prefix(ByteView bytes, ViewGuard guard) noexcept {
  using Code = HintDecodeError::Code;
  if (bytes.size() < kPrefixHintHeader) {
    return base::fail(HintDecodeError{Code::kTruncatedPrefix, kPrefixHintHeader, bytes.size()});
  }
  const std::uint64_t length = base::load_be<std::uint32_t>(bytes.data() + 1);
  if (bytes.size() - kPrefixHintHeader < length) {
    return base::fail(
        HintDecodeError{Code::kTruncatedPrefix, kPrefixHintHeader + length, bytes.size()});
  }
  const ByteView prefix = bytes.subspan(kPrefixHintHeader, static_cast<std::size_t>(length));
  return DecodeResult(std::in_place, prefix, guard, kPrefixHintHeader + prefix.size());
}

DecodeResult decode_manifest(ByteView bytes) noexcept {
  using Code = HintDecodeError::Code;
  if (bytes.size() < kManifestHintSize) {
    return base::fail(HintDecodeError{Code::kTruncatedManifest, kManifestHintSize, bytes.size()});
  }
  const ManifestRows rows{base::load_be<std::uint64_t>(bytes.data() + 1),
                          base::load_be<std::uint64_t>(bytes.data() + 9),
                          base::load_be<std::uint64_t>(bytes.data() + 17)};
  if (rows.start_row >= rows.end_row) {
    return base::fail(HintDecodeError{Code::kInvertedManifestRows, rows.start_row, rows.end_row});
  }
  return DecodeResult(std::in_place, rows, kManifestHintSize);
}

// Inlined into both decoders, so that the envelope's does not copy a hint just written.
[[gnu::always_inline]] inline DecodeResult decode_frame(ByteView bytes, ViewGuard guard) noexcept {
  using Code = HintDecodeError::Code;
  if (bytes.empty()) return base::fail(HintDecodeError{Code::kEmptyData});
  const auto tag = std::to_integer<std::uint8_t>(bytes.front());
  switch (tag) {
    case kHintTagRange: return DecodeResult(std::in_place, std::size_t{1});
    case kHintTagPrefix: return decode_prefix(bytes, guard);
    case kHintTagManifest: return decode_manifest(bytes);
    default: return base::fail(HintDecodeError{Code::kUnknownTag, tag});
  }
}

bool is_row_key(ByteView key, std::uint64_t manifest_id, std::uint64_t row) noexcept {
  return decode_manifest_row_key(key) == ManifestRowKey{manifest_id, row};
}

Result<void, HintRangeError> check_prefix_range(ByteView prefix,
                                                const ShardSpecRef& spec) noexcept {
  using Code = HintRangeError::Code;
  if (!base::equal(spec.start(), prefix))
    return base::fail(HintRangeError{Code::kHintStartMismatch, {}});
  KeyBuf scratch;
  const auto successor = prefix_successor(prefix, scratch);
  if (!successor) return base::fail(HintRangeError{Code::kHintPrefixUnbounded, {}});
  if (!base::equal(spec.end(), *successor))
    return base::fail(HintRangeError{Code::kHintEndMismatch, {}});
  return {};
}

Result<void, HintRangeError> check_manifest_range(const ManifestRows& rows,
                                                  const ShardSpecRef& spec) noexcept {
  using Code = HintRangeError::Code;
  if (!is_row_key(spec.start(), rows.manifest_id, rows.start_row)) {
    return base::fail(HintRangeError{Code::kHintStartMismatch, {}});
  }
  if (!is_row_key(spec.end(), rows.manifest_id, rows.end_row)) {
    return base::fail(HintRangeError{Code::kHintEndMismatch, {}});
  }
  return {};
}

}  // namespace

bool operator==(const ShardHint& a, const ShardHint& b) noexcept {
  if (a.kind() != b.kind()) return false;
  switch (a.kind()) {
    case ShardHint::Kind::kRange: return true;
    case ShardHint::Kind::kPrefix: return base::equal(a.prefix_bytes(), b.prefix_bytes());
    case ShardHint::Kind::kManifest: return a.manifest_rows() == b.manifest_rows();
  }
  return false;
}

Result<std::size_t, HintEncodeError> encoded_size(const ShardHint& hint) noexcept {
  const std::uint64_t size = CAD_TRY(frame_size(hint));
  if (size > kMaxMetadataSize) {
    return base::fail(
        HintEncodeError{HintEncodeError::Code::kHintTooLarge, size, kMaxMetadataSize});
  }
  return size;
}

Result<std::size_t, HintEncodeError> encoded_size(const ShardMetadata& metadata) noexcept {
  const std::size_t header = kEnvelopeHeader + CAD_TRY(encoded_size(metadata.hint));
  const std::size_t extra = metadata.connector_extra.size();
  const std::size_t most = std::numeric_limits<std::size_t>::max();
  const std::size_t size = extra > most - header ? most : header + extra;
  if (size > kMaxMetadataSize) {
    return base::fail(
        HintEncodeError{HintEncodeError::Code::kMetadataTooLarge, size, kMaxMetadataSize});
  }
  return size;
}

Result<ByteView, HintEncodeError> encode_into(const ShardHint& hint, MetadataBuf& out) noexcept {
  const std::size_t size = CAD_TRY(encoded_size(hint));
  check_sources(hint, out);
  const std::byte* end = write_frame(hint, out.mutable_data());
  CAD_CHECK(end == out.mutable_data() + size, "a frame is as long as its preflight says");
  out.set_size(size);
  return out.view();
}

Result<ByteView, HintEncodeError> encode_into(const ShardMetadata& metadata,
                                              MetadataBuf& out) noexcept {
  const std::size_t size = CAD_TRY(encoded_size(metadata));
  const ByteView extra = metadata.connector_extra;
  check_sources(metadata.hint, out);
  CAD_CHECK(!out.overlaps(extra), "connector bytes do not overlap the encode buffer");
  std::byte* const begin = out.mutable_data();
  std::byte* const end = write_frame(metadata.hint, begin + kEnvelopeHeader);
  base::store_be(begin, static_cast<std::uint32_t>(end - begin -
                                                   static_cast<std::ptrdiff_t>(kEnvelopeHeader)));
  if (!extra.empty()) std::memcpy(end, extra.data(), extra.size());
  CAD_CHECK(end + extra.size() == begin + size, "an envelope is as long as its preflight says");
  out.set_size(size);
  return out.view();
}

DecodeResult decode_hint_frame(ByteView bytes, ViewGuard guard) noexcept {
  return decode_frame(bytes, guard);
}

EnvelopeResult decode_metadata_bytes(ByteView bytes, ViewGuard guard) noexcept {
  using Reason = MetadataDecodeError::Reason;
  if (bytes.empty()) return ShardMetadata{};
  if (bytes.size() < kEnvelopeHeader) {
    return base::fail(MetadataDecodeError{Reason::kShortLengthPrefix, {}});
  }
  const std::uint64_t hint_size = base::load_be<std::uint32_t>(bytes.data());
  if (hint_size > bytes.size() - kEnvelopeHeader) {
    return base::fail(MetadataDecodeError{Reason::kLengthExceedsInput, {}});
  }
  const ByteView frame = bytes.subspan(kEnvelopeHeader, static_cast<std::size_t>(hint_size));
  const auto decoded = decode_frame(frame, guard);
  if (!decoded) return base::fail(MetadataDecodeError{Reason::kHint, decoded.error()});
  if (decoded->consumed != frame.size()) {
    return base::fail(MetadataDecodeError{Reason::kTrailingHintBytes, {}});
  }
  const ByteView extra = bytes.subspan(kEnvelopeHeader + frame.size());
  const ShardHint& hint = decoded->hint;
  switch (hint.kind()) {
    case ShardHint::Kind::kRange: return EnvelopeResult(std::in_place, ShardHint(), extra);
    case ShardHint::Kind::kPrefix:
      return EnvelopeResult(std::in_place, hint.prefix_bytes(), guard, extra);
    case ShardHint::Kind::kManifest:
      return EnvelopeResult(std::in_place, hint.manifest_rows(), extra);
  }
  return ShardMetadata{};
}

Result<ShardMetadata, MetadataDecodeError> decode_metadata(const ShardSpecRef& spec) noexcept {
  return decode_metadata_bytes(spec.metadata(), spec.guards().of_metadata());
}

Result<ShardHint, MetadataDecodeError> decode_hint(const ShardSpecRef& spec) noexcept {
  return CAD_TRY(decode_metadata(spec))
  .hint;
}

Result<ByteView, MetadataDecodeError> decode_connector_extra(const ShardSpecRef& spec) noexcept {
  return CAD_TRY(decode_metadata(spec))
  .connector_extra;
}

Result<void, HintRangeError> check_hint_matches_range(const ShardSpecRef& spec) noexcept {
  const auto hint = decode_hint(spec);
  if (!hint) {
    return base::fail(HintRangeError{HintRangeError::Code::kMetadataUndecodable, hint.error()});
  }
  switch (hint->kind()) {
    case ShardHint::Kind::kRange: return {};
    case ShardHint::Kind::kPrefix: return check_prefix_range(hint->prefix_bytes(), spec);
    case ShardHint::Kind::kManifest: return check_manifest_range(hint->manifest_rows(), spec);
  }
  return {};
}

}  // namespace cadastre::shard::inline CAD_SHARD_FLAVOUR
