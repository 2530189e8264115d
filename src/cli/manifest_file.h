// Shards as lines of JSON, the form that `shard plan` prints, and as the rows of a manifest.
//
// Of each object the fields `id`, `start`, `end` and, where present, `metadata`, `last_key` and
// `token` count; others, `hint` among them, are ignored.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/attributes.h"
#include "base/bytes.h"
#include "base/result.h"
#include "cli/command_error.h"
#include "cli/json_fields.h"
#include "cli/options.h"
#include "shard/manifest.h"
#include "shard/shard_id.h"

namespace cadastre::cli {

using base::Result;

struct ManifestShard {
  shard::ShardId id;
  base::Bytes start;
  base::Bytes end;
  base::Bytes metadata;
  base::Bytes last_key;  // empty: absent
  base::Bytes token;     // empty: absent

  [[nodiscard]] std::size_t byte_count() const noexcept {
    return start.size() + end.size() + metadata.size() + last_key.size() + token.size();
  }
};

// `fallback_id` is taken where there is no id; without it an id is required.
[[nodiscard]] Result<ManifestShard, CommandError> parse_manifest_shard(
    const JsonFields& fields, KeyForm keys, std::optional<shard::ShardId> fallback_id);

enum class MissingIds : std::uint8_t {
  kRefused,
  kNumbered,  // by the lines, from 1 on
};

// Every line of a file. `too_many_shards` for more than a manifest may have: lines beyond are counted
// and not kept. Borrows the descriptor.
[[nodiscard]] Result<std::vector<ManifestShard>, CommandError> read_manifest(int descriptor,
                                                                             KeyForm keys,
                                                                             MissingIds ids);

// Borrows the shards.
[[nodiscard]] std::vector<shard::InitialShardInput> to_inputs(
    std::span<const ManifestShard> shards CAD_LIFETIMEBOUND);

}  // namespace cadastre::cli
