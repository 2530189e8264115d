#include "shard/spec_from_keys.h"

#include <string_view>

#include "base/result.h"
#include "shard/hint.h"
#include "shard/key_arith.h"
#include "shard/key_buf.h"
#include "shard/limits.h"
#include "shard/shard_arena.h"
#include "shard/shard_spec.h"
#include "shard/spec_error.h"
#include "shard/text_writer.h"
#include "shard/typed_keys.h"
#include "shard/view_guard.h"

namespace cadastre::shard::inline CAD_SHARD_FLAVOUR {

std::string_view code_name(const PrefixShardError& error) noexcept {
  switch (error.code) {
    case PrefixShardError::Code::kEmptyPrefix: return "empty_prefix";
    case PrefixShardError::Code::kPrefixTooLarge: return "prefix_too_large";
    case PrefixShardError::Code::kNoSuccessor: return "no_successor";
    case PrefixShardError::Code::kInvalidSpec: return code_name(error.spec_error);
  }
  return "unknown";
}

char* format_to(char* first, char* last, const PrefixShardError& error) noexcept {
  TextWriter out(first, last);
  switch (error.code) {
    case PrefixShardError::Code::kEmptyPrefix: return out.text("a prefix is not empty").end();
    case PrefixShardError::Code::kPrefixTooLarge:
      return out.text("prefix of ")
          .number(error.size)
          .text(" bytes exceeds the limit of ")
          .number(error.max)
          .end();
    case PrefixShardError::Code::kNoSuccessor:
      return out.text("no key is above every key with this prefix; use a range with an open end")
          .end();
    case PrefixShardError::Code::kInvalidSpec: return out.error(error.spec_error).end();
  }
  return out.end();
}

Result<ShardSpecRef, PrefixShardError> shard_spec_from_prefix_ref(ByteView prefix,
                                                                  ByteView metadata,
                                                                  KeyBuf& end_scratch) noexcept {
  using Code = PrefixShardError::Code;
  if (prefix.empty()) return base::fail(PrefixShardError{Code::kEmptyPrefix});
  if (prefix.size() > kMaxKeySize) {
    return base::fail(PrefixShardError{Code::kPrefixTooLarge, prefix.size(), kMaxKeySize});
  }
  const auto end = prefix_successor(prefix, end_scratch);
  if (!end) return base::fail(PrefixShardError{Code::kNoSuccessor});
  const auto spec =
      ShardSpecRef::try_make(prefix, *end, metadata, SpecGuards({}, end_scratch.guard(), {}));
  if (!spec) return base::fail(PrefixShardError::invalid_spec(spec.error()));
  return *spec;
}

Result<ShardSpecHandle, IntoError<PrefixShardError>> shard_spec_from_prefix_into(
    ShardArena& arena, ByteView prefix, ByteView metadata, KeyBuf& end_scratch) noexcept {
  return store_into(arena, shard_spec_from_prefix_ref(prefix, metadata, end_scratch));
}

Result<ShardSpecRef, SpecError> shard_spec_from_manifest_range_ref(const ManifestRows& rows,
                                                                   ByteView metadata,
                                                                   KeyBuf& start_scratch,
                                                                   KeyBuf& end_scratch) noexcept {
  return shard_spec_from_keys_ref(ManifestRowKey{rows.manifest_id, rows.start_row},
                                  ManifestRowKey{rows.manifest_id, rows.end_row}, metadata,
                                  start_scratch, end_scratch);
}

Result<ShardSpecHandle, IntoError<SpecError>> shard_spec_from_manifest_range_into(
    ShardArena& arena,
    const ManifestRows& rows,
    ByteView metadata,
    ShardSpecScratch& scratch) noexcept {
  return store_into(arena,
                    shard_spec_from_manifest_range_ref(rows, metadata, scratch.start, scratch.end));
}

}  // namespace cadastre::shard::inline CAD_SHARD_FLAVOUR
