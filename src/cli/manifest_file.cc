#include "cli/manifest_file.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/result.h"
#include "cli/command_error.h"
#include "cli/json_fields.h"
#include "cli/limits.h"
#include "cli/line_reader.h"
#include "cli/options.h"
#include "shard/cursor.h"
#include "shard/limits.h"
#include "shard/manifest.h"
#include "shard/shard_id.h"
#include "shard/shard_spec.h"

namespace cadastre::cli {
namespace {

struct Lines {
  KeyForm keys;
  MissingIds ids;
  std::vector<ManifestShard> kept;
  std::size_t bytes = 0;
  std::uint64_t count = 0;
};

std::optional<shard::ShardId> fallback_id(const Lines& lines) {
  if (lines.ids == MissingIds::kRefused) return std::nullopt;
  return shard::ShardId::from_raw(lines.count);
}

Result<void, CommandError> take_text(std::string_view text, Lines& lines) {
  const JsonLine parsed = CAD_TRY(JsonLine::parse(text));
  lines.kept.push_back(
      CAD_TRY(parse_manifest_shard(parsed.fields(), lines.keys, fallback_id(lines))));
  lines.bytes += lines.kept.back().byte_count();
  if (lines.bytes <= kCheckBytesMax) return {};
  return base::fail(CommandError{"manifest_too_large",
                                 fmt::format("the shards exceed {} bytes", kCheckBytesMax)});
}

Result<void, CommandError> take_line(const LineRead& read, Lines& lines) {
  ++lines.count;
  if (lines.count > shard::kMaxInitialShards) return {};
  if (read.kind == LineRead::Kind::kTooLong) return base::fail(line_too_long(kBatchLineBytesMax));
  return take_text(read.text, lines);
}

CommandError too_many_shards(std::uint64_t count) {
  shard::ManifestError error{.code = shard::ManifestError::Code::kTooManyShards};
  error.size = count;
  error.max = shard::kMaxInitialShards;
  return from_algebra(error);
}

}  // namespace

Result<ManifestShard, CommandError> parse_manifest_shard(
    const JsonFields& fields, KeyForm keys, std::optional<shard::ShardId> fallback_id) {
  ManifestShard shard;
  shard.id = fallback_id && !fields.has("id") ? *fallback_id
                                              : shard::ShardId::from_raw(CAD_TRY(fields.u64("id")));
  shard.start = CAD_TRY(fields.key("start", keys));
  shard.end = CAD_TRY(fields.key("end", keys));
  if (fields.has("metadata")) shard.metadata = CAD_TRY(fields.hex("metadata"));
  if (fields.has("last_key")) {
    shard.last_key = CAD_TRY(fields.key("last_key", keys));
    if (shard.last_key.empty()) return base::fail(bad_request("the field \"last_key\" is empty"));
  }
  if (fields.has("token")) shard.token = CAD_TRY(fields.hex("token"));
  if (!shard.token.empty() && shard.last_key.empty()) {
    return base::fail(bad_request("the field \"token\" needs the field \"last_key\""));
  }
  return shard;
}

Result<std::vector<ManifestShard>, CommandError> read_manifest(int descriptor,
                                                               KeyForm keys,
                                                               MissingIds ids) {
  LineReader reader(descriptor);
  Lines lines{.keys = keys, .ids = ids, .kept = {}};
  while (true) {
    const LineRead read = reader.next();
    if (read.kind == LineRead::Kind::kEnd) break;
    if (read.kind == LineRead::Kind::kFailed) {
      return base::fail(cannot_read("the manifest", read.error));
    }
    auto taken = take_line(read, lines);
    if (!taken) {
      return base::fail(at(fmt::format("line {}", lines.count), std::move(taken).error()));
    }
  }
  if (lines.count > shard::kMaxInitialShards) return base::fail(too_many_shards(lines.count));
  return std::move(lines.kept);
}

std::vector<shard::InitialShardInput> to_inputs(std::span<const ManifestShard> shards) {
  std::vector<shard::InitialShardInput> inputs;
  inputs.reserve(shards.size());
  for (const ManifestShard& shard : shards) {
    inputs.push_back(
        {shard.id, shard::ShardSpecRef::unchecked(shard.start, shard.end, shard.metadata),
         shard.last_key.empty() ? shard::CursorUpdate::initial()
                                : shard::CursorUpdate::make(shard.last_key, shard.token)});
  }
  return inputs;
}

}  // namespace cadastre::cli
