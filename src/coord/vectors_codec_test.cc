// The sections about records as bytes.

#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "base/bytes.h"
#include "base/check.h"
#include "coord/backend.h"
#include "coord/identity.h"
#include "coord/lease.h"
#include "coord/op_log.h"
#include "coord/record_codec.h"
#include "coord/run_record.h"
#include "coord/shard_record.h"
#include "coord/states.h"
#include "coord/vector_values_testing.h"
#include "coord/vectors_testing.h"
#include "shard/hexrun_testing.h"
#include "shard/vector_entry_testing.h"

namespace cadastre::coord::vectors {
namespace {

using shard::shown;

std::optional<ShardId> to_optional_id(const Json& value) {
  if (value.is_null()) return std::nullopt;
  return ShardId::from_raw(to_number(value));
}

OpLogEntry to_entry(const Json& value) {
  EXPECT_EQ(value.at("result"), "completed");
  return {.op_id = OpId::from_raw(to_number(value.at("op_id"))),
          .payload_hash = to_word(value.at("payload_hash_u64")),
          .executed_at = LogicalTime::from_raw(to_number(value.at("executed_at"))),
          .kind = enumerator_named<OpKind>(value.at("kind")),
          .result = OpResult::kCompleted};
}

RunOpLogEntry to_run_entry(const Json& value) {
  RunOpLogEntry entry;
  entry.op_id = OpId::from_raw(to_number(value.at("op_id")));
  entry.payload_hash = to_word(value.at("payload_hash_u64"));
  entry.executed_at = LogicalTime::from_raw(to_number(value.at("executed_at")));
  entry.kind = enumerator_named<RunOpKind>(value.at("kind"));
  const Json& result = value.at("result");
  if (result.is_object()) {
    entry.registered = to_ids(result.at("registered_shards"));
  } else {
    EXPECT_EQ(result, "ack");
  }
  return entry;
}

ShardDump to_shard(const Json& json) {
  VectorEntry fields(json);
  ShardDump shard;
  ShardState& state = shard.state;
  state.tenant = to_tenant(fields.at("tenant_hex"));
  state.run = RunId::from_raw(fields.number("run"));
  state.shard = ShardId::from_raw(fields.number("shard"));
  state.status = enumerator_named<ShardStatus>(fields.at("status"));
  if (const Json& reason = fields.at("park_reason"); !reason.is_null()) {
    state.park_reason = enumerator_named<ParkReason>(reason);
  }
  const OwnedSpec spec = to_spec(fields.at("spec"));
  shard.start = spec.start;
  shard.end = spec.end;
  shard.metadata = spec.metadata;
  const OwnedCursor cursor = to_cursor(fields.at("cursor"));
  shard.last_key = cursor.last_key.value_or(base::Bytes{});
  shard.token = cursor.token.value_or(base::Bytes{});
  state.semantics = enumerator_named<CursorSemantics>(fields.at("cursor_semantics"));
  if (const Json& lease = fields.at("lease"); !lease.is_null()) {
    state.lease = LeaseHolder{WorkerId::from_raw(to_number(lease.at("owner"))),
                              LogicalTime::from_raw(to_number(lease.at("deadline")))};
  }
  state.fence = FenceEpoch::from_raw(fields.number("fence"));
  state.parent = to_optional_id(fields.at("parent"));
  shard.spawned = to_derived_ids(fields.at("spawned_u64"));
  for (const Json& entry : fields.at("op_log"))
    state.op_log.push_back_overwrite(to_entry(entry));
  EXPECT_TRUE(fields.unread().empty());
  return shard;
}

RunRecord to_run(const Json& json) {
  VectorEntry fields(json);
  RunRecord run;
  run.tenant = to_tenant(fields.at("tenant_hex"));
  run.run = RunId::from_raw(fields.number("run"));
  run.config.cursor_semantics = enumerator_named<CursorSemantics>(fields.at("cursor_semantics"));
  run.config.lease_duration = fields.number("lease_duration");
  if (const Json& retries = fields.at("max_shard_retries"); !retries.is_null()) {
    run.config.max_shard_retries = retries.get<std::uint32_t>();
  }
  run.status = enumerator_named<RunStatus>(fields.at("status"));
  run.created_at = LogicalTime::from_raw(fields.number("created_at"));
  if (const Json& completed = fields.at("completed_at"); !completed.is_null()) {
    run.completed_at = LogicalTime::from_raw(to_number(completed));
  }
  run.root_shards = to_ids(fields.at("root_shards"));
  for (const Json& entry : fields.at("op_log"))
    run.op_log.push_back_overwrite(to_run_entry(entry));
  EXPECT_TRUE(fields.unread().empty());
  return run;
}

OwnerValue to_owner(const Json& json) {
  EXPECT_EQ(json.size(), 2U);
  return {WorkerId::from_raw(to_number(json.at("worker"))),
          FenceEpoch::from_raw(to_number(json.at("fence")))};
}

// The record gives the bytes, and the bytes the record.
template <class Record>
void check_both_ways(const Record& record,
                     const base::Bytes& encoded,
                     const Result<Record, DecodeError>& decoded,
                     const base::Bytes& bytes) {
  EXPECT_EQ(shown(encoded), shown(bytes));
  ASSERT_TRUE(decoded.has_value()) << to_text(decoded.error());
  EXPECT_TRUE(*decoded == record);
}

}  // namespace

// Spec 10.3
void check_records(const Section& section) {
  shard::for_each_entry(section.rows, [](VectorEntry& entry) {
    const base::Bytes bytes = to_bytes(entry.at("bytes_hex"));
    EXPECT_EQ(bytes.size(), entry.number("length"));
    EXPECT_TRUE(entry.text("id").ends_with(entry.text("name")));
    const std::string kind = entry.text("kind");
    const Json& json = entry.at("record");
    if (kind == "shard") {
      const ShardDump shard = to_shard(json);
      return check_both_ways(shard, encode(shard), decode_shard(bytes), bytes);
    }
    if (kind == "run") {
      const RunRecord run = to_run(json);
      return check_both_ways(run, encode(run), decode_run(bytes), bytes);
    }
    if (kind == "owner") {
      const OwnerValue owner = to_owner(json);
      return check_both_ways(owner, encode(owner), decode_owner(bytes), bytes);
    }
    EXPECT_EQ(kind, "tenant_counter");
    const std::uint64_t count = to_number(json.at("count"));
    check_both_ways(count, encode_shard_count(count), decode_shard_count(bytes), bytes);
  });
}

namespace {

base::Bytes edited(base::Bytes bytes, const Json& edits) {
  for (const Json& edit : edits) {
    const auto at = static_cast<std::ptrdiff_t>(to_number(edit.at("at")));
    const auto remove = static_cast<std::ptrdiff_t>(to_number(edit.at("remove")));
    const auto begin = std::next(bytes.begin(), at);
    const base::Bytes insert = to_bytes(edit.at("insert_hex"));
    const auto gap = bytes.erase(begin, std::next(begin, remove));
    bytes.insert(gap, insert.begin(), insert.end());
  }
  return bytes;
}

std::string_view kind_name(std::uint64_t kind) {
  constexpr std::array<std::string_view, 4> kNames{"none", "run", "shard", "owner"};
  return kNames.at(kind);
}

// ShardStatus is shard_status.
std::string snake_case(std::string_view type) {
  std::string text;
  for (const char letter : type) {
    const bool is_upper = letter >= 'A' && letter <= 'Z';
    if (is_upper && !text.empty()) text += '_';
    text += is_upper ? static_cast<char>(letter - 'A' + 'a') : letter;
  }
  return text;
}

Json described(const DecodeError& error) {
  using Code = DecodeError::Code;
  Json json = {{"name", code_name(error)}};
  switch (error.code) {
    case Code::kTruncated:
      json["needed"] = error.first;
      json["remaining"] = error.second;
      break;
    case Code::kInvalidVersionPrefix: {
      const std::array bytes{static_cast<std::byte>(error.first >> 8),
                             static_cast<std::byte>(error.first)};
      json["prefix_hex"] = base::to_hex(bytes);
      break;
    }
    case Code::kInvalidBlobKind: json["kind"] = error.first; break;
    case Code::kUnexpectedBlobKind:
      json["expected"] = kind_name(error.first);
      json["actual"] = kind_name(error.second);
      break;
    case Code::kInvalidBool: json["value"] = error.first; break;
    case Code::kInvalidEnum:
      json["type"] = snake_case(error.what);
      json["value"] = error.first;
      break;
    case Code::kTrailingBytes: json["count"] = error.first; break;
    case Code::kFieldTooLarge:
      json["actual"] = error.first;
      json["max"] = error.second;
      break;
    case Code::kInvalidSpec:
    case Code::kInvalidCursor:
    case Code::kInvariantViolation: break;
  }
  return json;
}

std::optional<DecodeError> error_of(const std::string& decode_as, base::ByteView bytes) {
  const auto of = [](const auto& decoded) -> std::optional<DecodeError> {
    if (decoded) return std::nullopt;
    return decoded.error();
  };
  if (decode_as == "shard") return of(decode_shard(bytes));
  if (decode_as == "run") return of(decode_run(bytes));
  CAD_CHECK(decode_as == "owner", "a row is decoded as one of the three kinds");
  return of(decode_owner(bytes));
}

}  // namespace

// Spec 10.3: every refusal, with the fields that the row fixes.
void check_rejections(const Section& section) {
  shard::for_each_entry(section.rows, [&](VectorEntry& entry) {
    const Json& base_row = row_named(section.file, entry.text("base"));
    const base::Bytes bytes = edited(to_bytes(base_row.at("bytes_hex")), entry.at("edits"));
    const auto error = error_of(entry.text("decode_as"), bytes);
    const Json& expected = entry.at("error");
    ASSERT_TRUE(error.has_value());
    expect_fits(expected, described(*error));
  });
}

namespace {

struct Field {
  std::string_view name;
  std::size_t first_read;  // how many bytes a decoder reads at its beginning
  std::size_t bytes;       // how many it has in record S1
};

// Every field of S1, in order.
constexpr std::array<Field, 18> kFields = {{
    {"version", 2, 2},
    {"kind", 1, 1},
    {"tenant", 32, 32},
    {"run", 8, 8},
    {"shard", 8, 8},
    {"status", 1, 1},
    {"park_reason_presence", 1, 1},
    {"start", 4, 5},
    {"end", 4, 5},
    {"metadata", 4, 4},
    {"last_key_presence", 1, 1},
    {"token_presence", 1, 1},
    {"cursor_semantics", 1, 1},
    {"lease_flag", 1, 1},
    {"fence", 8, 8},
    {"parent_presence", 1, 1},
    {"spawned_count", 4, 4},
    {"op_log_count", 4, 4},
}};

// Where the field at this place begins.
std::size_t offset_of(std::size_t place) {
  std::size_t offset = 0;
  for (std::size_t i = 0; i < place; ++i)
    offset += kFields.at(i).bytes;
  return offset;
}

}  // namespace

// A record that ends where a field begins lacks exactly what is read first of that field.
void check_offsets(const Section& section) {
  std::size_t place = 0;
  shard::for_each_entry(section.rows, [&](VectorEntry& entry) {
    const base::Bytes bytes = to_bytes(row_named(section.file, entry.text("base")).at("bytes_hex"));
    const std::size_t offset = entry.number("offset");
    EXPECT_EQ(offset, offset_of(place));
    if (place == kFields.size()) {
      EXPECT_EQ(entry.text("field"), "end_of_record");
      EXPECT_EQ(bytes.size(), offset);
      EXPECT_TRUE(decode_shard(bytes).has_value());
      return;
    }
    const Field& field = kFields.at(place++);
    EXPECT_EQ(entry.text("field"), field.name);
    const auto cut = decode_shard(base::ByteView(bytes).first(offset));
    ASSERT_FALSE(cut.has_value());
    const DecodeError expected{
        .code = DecodeError::Code::kTruncated, .first = field.first_read, .second = 0, .what = {}};
    EXPECT_EQ(cut.error(), expected) << to_text(cut.error());
  });
  EXPECT_EQ(place, kFields.size());
}

}  // namespace cadastre::coord::vectors
