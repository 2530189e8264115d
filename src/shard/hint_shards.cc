#include "shard/hint_shards.h"

#include "base/result.h"
#include "shard/hint.h"
#include "shard/key_buf.h"
#include "shard/key_range.h"
#include "shard/limits.h"
#include "shard/shard_arena.h"
#include "shard/shard_spec.h"
#include "shard/spec_error.h"
#include "shard/spec_from_keys.h"
#include "shard/view_guard.h"

namespace cadastre::shard::inline CAD_SHARD_FLAVOUR {
namespace {

// The encoder's refusals in the words of a range or manifest shard.
SpecError to_spec_error(const HintEncodeError& error) noexcept {
  switch (error.code) {
    case HintEncodeError::Code::kInvertedManifestRows:
      return SpecError::inverted_range(kManifestRowKeySize, kManifestRowKeySize);
    case HintEncodeError::Code::kPrefixTooLarge:
      return SpecError::key_too_large(error.first, kMaxKeySize);
    case HintEncodeError::Code::kHintTooLarge:
    case HintEncodeError::Code::kMetadataTooLarge: break;
  }
  return SpecError::metadata_too_large(error.first, kMaxMetadataSize);
}

Result<ByteView, SpecError> write_metadata(const ShardHint& hint,
                                           ByteView extra,
                                           MetadataBuf& out) noexcept {
  const auto bytes = encode_into(ShardMetadata{hint, extra}, out);
  if (!bytes) return base::fail(to_spec_error(bytes.error()));
  return *bytes;
}

}  // namespace

Result<ShardSpecRef, SpecError> range_shard_ref(KeyRange range,
                                                ByteView extra,
                                                ShardSpecScratch& scratch) noexcept {
  const ByteView metadata = CAD_TRY(write_metadata(ShardHint::range(), extra, scratch.metadata));
  return ShardSpecRef::try_make(range.start, range.end, metadata,
                                SpecGuards({}, {}, scratch.metadata.guard()));
}

Result<ShardSpecHandle, IntoError<SpecError>> range_shard_into(ShardArena& arena,
                                                               KeyRange range,
                                                               ByteView extra,
                                                               ShardSpecScratch& scratch) noexcept {
  return store_into(arena, range_shard_ref(range, extra, scratch));
}

Result<ShardSpecRef, PrefixShardError> prefix_shard_ref(ByteView prefix,
                                                        ByteView extra,
                                                        ShardSpecScratch& scratch) noexcept {
  // Prefix first: an oversized one is told as such, whatever it does to the envelope.
  const ShardSpecRef bare = CAD_TRY(shard_spec_from_prefix_ref(prefix, {}, scratch.end));
  const auto metadata = write_metadata(ShardHint::prefix(prefix), extra, scratch.metadata);
  if (!metadata) return base::fail(PrefixShardError::invalid_spec(metadata.error()));
  return ShardSpecRef::unchecked(bare.start(), bare.end(), *metadata,
                                 SpecGuards({}, scratch.end.guard(), scratch.metadata.guard()));
}

Result<ShardSpecHandle, IntoError<PrefixShardError>> prefix_shard_into(
    ShardArena& arena, ByteView prefix, ByteView extra, ShardSpecScratch& scratch) noexcept {
  return store_into(arena, prefix_shard_ref(prefix, extra, scratch));
}

Result<ShardSpecRef, SpecError> manifest_shard_ref(const ManifestRows& rows,
                                                   ByteView extra,
                                                   ShardSpecScratch& scratch) noexcept {
  const ByteView metadata =
      CAD_TRY(write_metadata(ShardHint::manifest(rows), extra, scratch.metadata));
  const ShardSpecRef bare =
      CAD_TRY(shard_spec_from_manifest_range_ref(rows, metadata, scratch.start, scratch.end));
  return ShardSpecRef::unchecked(
      bare.start(), bare.end(), metadata,
      SpecGuards(scratch.start.guard(), scratch.end.guard(), scratch.metadata.guard()));
}

Result<ShardSpecHandle, IntoError<SpecError>> manifest_shard_into(
    ShardArena& arena,
    const ManifestRows& rows,
    ByteView extra,
    ShardSpecScratch& scratch) noexcept {
  return store_into(arena, manifest_shard_ref(rows, extra, scratch));
}

}  // namespace cadastre::shard::inline CAD_SHARD_FLAVOUR
