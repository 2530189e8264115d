// Hints and metadata that own their bytes, for generators and comparisons.

#pragma once

#include <optional>

#include "base/bytes.h"
#include "shard/codec_laws_testing.h"
#include "shard/hint.h"
#include "shard/key_buf.h"

namespace cadastre::shard {

struct OwnedHint {
  ShardHint::Kind kind = ShardHint::Kind::kRange;
  base::Bytes prefix;  // kPrefix
  ManifestRows rows;   // kManifest

  [[nodiscard]] ShardHint hint() const noexcept {
    switch (kind) {
      case ShardHint::Kind::kRange: return ShardHint::range();
      case ShardHint::Kind::kPrefix: return ShardHint::prefix(prefix);
      case ShardHint::Kind::kManifest: return ShardHint::manifest(rows);
    }
    return ShardHint::range();
  }

  [[nodiscard]] static OwnedHint of(const ShardHint& hint) {
    OwnedHint owned;
    owned.kind = hint.kind();
    if (owned.kind == ShardHint::Kind::kPrefix) owned.prefix = base::to_owned(hint.prefix_bytes());
    if (owned.kind == ShardHint::Kind::kManifest) owned.rows = hint.manifest_rows();
    return owned;
  }

  friend bool operator==(const OwnedHint&, const OwnedHint&) = default;
};

struct OwnedMetadata {
  OwnedHint hint;
  base::Bytes extra;

  friend bool operator==(const OwnedMetadata&, const OwnedMetadata&) = default;
};

struct HintCodec {
  using Owned = OwnedHint;

  [[nodiscard]] static std::optional<base::Bytes> encode(const Owned& value) {
    MetadataBuf out;
    const auto bytes = encode_into(value.hint(), out);
    if (!bytes) return std::nullopt;
    return base::to_owned(*bytes);
  }
  [[nodiscard]] static std::optional<Decoded<Owned>> decode(base::ByteView bytes) {
    const auto decoded = decode_hint_frame(bytes);
    if (!decoded) return std::nullopt;
    return Decoded<Owned>{OwnedHint::of(decoded->hint), decoded->consumed};
  }
};

// Decoding takes all of its input, except that no bytes at all read as an absent envelope, which is
// never written: that one case is left to a unit test.
struct MetadataCodec {
  using Owned = OwnedMetadata;

  [[nodiscard]] static std::optional<base::Bytes> encode(const Owned& value) {
    MetadataBuf out;
    const auto bytes = encode_into(ShardMetadata{value.hint.hint(), value.extra}, out);
    if (!bytes) return std::nullopt;
    return base::to_owned(*bytes);
  }
  [[nodiscard]] static std::optional<Decoded<Owned>> decode(base::ByteView bytes) {
    if (bytes.empty()) return std::nullopt;
    const auto decoded = decode_metadata_bytes(bytes);
    if (!decoded) return std::nullopt;
    const auto extra = base::to_owned(decoded->connector_extra);
    return Decoded<Owned>{{OwnedHint::of(decoded->hint), extra}, bytes.size()};
  }
};

}  // namespace cadastre::shard
