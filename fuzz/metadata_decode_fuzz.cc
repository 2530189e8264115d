// Metadata envelopes: any bytes decode as the table says, and what decodes encodes to the whole input.
// The hint's own frame is decode_hint_frame's business, which has a target of its own. A hint that
// decodes is also held against a range, and propagated to a child.

#include <cstddef>
#include <cstdint>
#include <optional>

#include "base/bytes.h"
#include "base/check.h"
#include "fuzz/input.h"
#include "fuzz/target.h"
#include "shard/hint.h"
#include "shard/hint_propagation.h"
#include "shard/key_arith.h"
#include "shard/key_buf.h"
#include "shard/limits.h"
#include "shard/shard_spec.h"
#include "shard/typed_keys.h"

namespace cadastre::fuzz {
namespace {

using base::Bytes;
using base::ByteView;
using shard::HintEncodeError;
using shard::MetadataDecodeError;
using shard::ShardHint;
using shard::ShardMetadata;

std::uint64_t hint_bytes(ByteView input) {
  std::uint64_t value = 0;
  for (const std::byte byte : input.first(shard::kEnvelopeHeader))
    value = value << 8 | std::to_integer<std::uint64_t>(byte);
  return value;
}

std::optional<MetadataDecodeError> expected_error(ByteView input) {
  using Reason = MetadataDecodeError::Reason;
  if (input.empty()) return std::nullopt;
  if (input.size() < 4) return MetadataDecodeError{Reason::kShortLengthPrefix, {}};
  const std::uint64_t size = hint_bytes(input);
  if (4 + size > input.size()) return MetadataDecodeError{Reason::kLengthExceedsInput, {}};
  const auto hint = shard::decode_hint_frame(input.subspan(4, static_cast<std::size_t>(size)));
  if (!hint) return MetadataDecodeError{Reason::kHint, hint.error()};
  if (hint->consumed != size) return MetadataDecodeError{Reason::kTrailingHintBytes, {}};
  return std::nullopt;
}

void check_encoding(const ShardMetadata& metadata, ByteView input) {
  shard::MetadataBuf buffer;
  buffer.assign(base::as_bytes("before"));
  const auto encoded = shard::encode_into(metadata, buffer);
  if (input.empty()) {
    CAD_CHECK(encoded.has_value(), "absent metadata encodes");
    CAD_CHECK(encoded->size() == shard::kEnvelopeHeader + 1, "to a Range");
    return;
  }
  if (encoded) {
    CAD_CHECK(base::equal(*encoded, input), "a decoded envelope encodes to the bytes it came from");
    return;
  }
  CAD_CHECK(input.size() > shard::kMaxMetadataSize, "only what is too long is refused");
  const std::uint64_t frame = hint_bytes(input);
  const auto expected =
      frame > shard::kMaxMetadataSize
          ? HintEncodeError{HintEncodeError::Code::kHintTooLarge, frame, shard::kMaxMetadataSize}
          : HintEncodeError{HintEncodeError::Code::kMetadataTooLarge, input.size(),
                            shard::kMaxMetadataSize};
  CAD_CHECK(encoded.error() == expected, "the hint is judged before the envelope");
  CAD_CHECK(base::equal(buffer.view(), base::as_bytes("before")), "a refusal writes nothing");
}

void check_decoding(ByteView input) {
  const auto decoded = shard::decode_metadata_bytes(input);
  const auto expected = expected_error(input);
  CAD_CHECK(decoded.has_value() == !expected, "an envelope decodes exactly when the table says so");
  const auto spec = shard::ShardSpecRef::unchecked({}, {}, input);
  CAD_CHECK(shard::decode_hint(spec).has_value() == !expected, "the helpers check all of it");
  if (expected) {
    CAD_CHECK(decoded.error() == *expected, "the first row of the table that applies decides");
    return;
  }
  check_encoding(*decoded, input);
}

// The range that the hint describes, if there is one.
struct Described {
  Bytes start;
  Bytes end;
};

std::optional<Described> describe(const ShardHint& hint) {
  shard::KeyBuf buffer;
  switch (hint.kind()) {
    case ShardHint::Kind::kRange: return std::nullopt;
    case ShardHint::Kind::kPrefix: {
      const auto end = shard::prefix_successor(hint.prefix_bytes(), buffer);
      if (!end) return std::nullopt;
      return Described{base::to_owned(hint.prefix_bytes()), base::to_owned(*end)};
    }
    case ShardHint::Kind::kManifest: {
      const auto rows = hint.manifest_rows();
      shard::ManifestRowKey{rows.manifest_id, rows.start_row}.encode_into(buffer);
      const Bytes start = base::to_owned(buffer.view());
      shard::ManifestRowKey{rows.manifest_id, rows.end_row}.encode_into(buffer);
      return Described{start, base::to_owned(buffer.view())};
    }
  }
  return std::nullopt;
}

// A child passes exactly if it is a proper range inside its parent, and of row keys where the parent
// is; then its own hint describes it.
void check_child(const ShardHint& parent, const Described& range, const Described& child) {
  const auto hint = shard::propagate_hint_on_split(parent, child.start, child.end);
  const bool inside =
      range.start <= child.start && child.start < child.end && child.end <= range.end;
  const bool manifest = parent.kind() == ShardHint::Kind::kManifest;
  const bool row_keys = child.start.size() == 16 && child.end.size() == 16;
  CAD_CHECK(hint.has_value() == (inside && (!manifest || row_keys)),
            "a hint propagates exactly to the parts of its range");
  if (!hint) return;
  if (!manifest) {
    CAD_CHECK(hint->kind() == ShardHint::Kind::kRange, "a part of a prefix is a plain range");
    return;
  }
  const auto described = describe(*hint);
  CAD_CHECK(described && described->start == child.start && described->end == child.end,
            "a manifest's child has the rows of its range");
}

void check_hint_against_range(Input in) {
  const bool manifest = in.below(2) == 1;
  const shard::ManifestRows rows{in.number(), in.number(), in.number()};
  const Bytes prefix = in.string(shard::kMaxKeySize + 1);
  if (manifest && rows.start_row >= rows.end_row) return;
  const ShardHint hint = manifest ? ShardHint::manifest(rows) : ShardHint::prefix(prefix);
  const auto range = describe(hint);
  if (!range) return;
  shard::MetadataBuf buffer;
  const auto metadata = shard::encode_into(ShardMetadata{hint, base::as_bytes("x")}, buffer);
  CAD_CHECK(metadata.has_value(), "every legal hint fits an envelope");

  // Each bound is the hint's own, or a free choice, or its own with a tail.
  const auto pick = [&in](const Bytes& own) {
    Bytes key = in.below(3) == 0 ? Bytes{} : own;
    const Bytes tail = in.string(24);
    key.insert(key.end(), tail.begin(), tail.end());
    return key;
  };
  const Described child{pick(range->start), pick(in.below(2) == 0 ? range->start : range->end)};
  const auto spec = shard::ShardSpecRef::unchecked(child.start, child.end, *metadata);
  CAD_CHECK(shard::check_hint_matches_range(spec).has_value() ==
                (child.start == range->start && child.end == range->end),
            "a hint matches exactly the range that it describes");
  check_child(hint, *range, child);
}

}  // namespace

void run_one(ByteView input) {
  check_decoding(input);
  check_hint_against_range(Input(input));
}

}  // namespace cadastre::fuzz
