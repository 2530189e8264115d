#include "cli/shard_check.h"

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/bytes.h"
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

struct Row {
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

struct Rows {
  std::vector<Row> kept;
  std::size_t bytes = 0;
  std::uint64_t lines = 0;
};

Result<Row, CommandError> parse_row(std::string_view line, KeyForm keys) {
  const JsonLine parsed = CAD_TRY(JsonLine::parse(line));
  const JsonFields fields = parsed.fields();
  Row row;
  row.id = shard::ShardId::from_raw(CAD_TRY(fields.u64("id")));
  row.start = CAD_TRY(fields.key("start", keys));
  row.end = CAD_TRY(fields.key("end", keys));
  if (fields.has("metadata")) row.metadata = CAD_TRY(fields.hex("metadata"));
  if (fields.has("last_key")) {
    row.last_key = CAD_TRY(fields.key("last_key", keys));
    if (row.last_key.empty()) return base::fail(bad_request("the field \"last_key\" is empty"));
  }
  if (fields.has("token")) row.token = CAD_TRY(fields.hex("token"));
  if (!row.token.empty() && row.last_key.empty()) {
    return base::fail(bad_request("the field \"token\" needs the field \"last_key\""));
  }
  return row;
}

Result<void, CommandError> take_line(const LineRead& read, KeyForm keys, Rows& rows) {
  ++rows.lines;
  if (rows.lines > shard::kMaxInitialShards) return {};
  if (read.kind == LineRead::Kind::kTooLong) return base::fail(line_too_long());
  rows.kept.push_back(CAD_TRY(parse_row(read.text, keys)));
  rows.bytes += rows.kept.back().byte_count();
  if (rows.bytes <= kCheckBytesMax) return {};
  return base::fail(CommandError{"manifest_too_large",
                                 fmt::format("the shards exceed {} bytes", kCheckBytesMax)});
}

Result<Rows, CommandError> read_rows(int descriptor, KeyForm keys) {
  LineReader reader(descriptor);
  Rows rows;
  while (true) {
    const LineRead read = reader.next();
    if (read.kind == LineRead::Kind::kEnd) return rows;
    if (read.kind == LineRead::Kind::kFailed) {
      return base::fail(cannot_read("the manifest", read.error));
    }
    auto taken = take_line(read, keys, rows);
    if (!taken) {
      return base::fail(at(fmt::format("line {}", rows.lines), std::move(taken).error()));
    }
  }
}

shard::InitialShardInput to_input(const Row& row) {
  return {row.id, shard::ShardSpecRef::unchecked(row.start, row.end, row.metadata),
          row.last_key.empty() ? shard::CursorUpdate::initial()
                               : shard::CursorUpdate::make(row.last_key, row.token)};
}

}  // namespace

Result<std::uint64_t, CommandError> check_manifest(int descriptor, KeyForm keys) {
  const Rows rows = CAD_TRY(read_rows(descriptor, keys));
  if (rows.lines > shard::kMaxInitialShards) {
    shard::ManifestError error{.code = shard::ManifestError::Code::kTooManyShards};
    error.size = rows.lines;
    error.max = shard::kMaxInitialShards;
    return base::fail(from_algebra(error));
  }
  std::vector<shard::InitialShardInput> shards;
  shards.reserve(rows.kept.size());
  for (const Row& row : rows.kept)
    shards.push_back(to_input(row));
  std::vector<std::uint32_t> order(shards.size());
  const auto valid = shard::validate_manifest(shards, order);
  if (!valid) return base::fail(from_algebra(valid.error()));
  return rows.lines;
}

}  // namespace cadastre::cli
