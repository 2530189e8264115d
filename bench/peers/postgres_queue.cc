#include "bench/peers/postgres_queue.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "base/bytes.h"
#include "base/xxh3.h"
#include "bench/peers/postgres_connection.h"

namespace cadastre::bench {
namespace {

constexpr const char* kClaim = "claim";
constexpr const char* kCheckpoint = "checkpoint";
constexpr const char* kRelease = "release";
constexpr const char* kExplain = "explain";
constexpr const char* kLastKey = "last_key";

// Half of each page is left for the next version of its rows, so that no index changes with a checkpoint.
constexpr const char* kTable = R"sql(
DROP TABLE IF EXISTS shard;
CREATE TABLE shard (
  shard int8 PRIMARY KEY,
  range_start bytea NOT NULL,
  range_end bytea NOT NULL,
  last_key bytea,
  worker int8,
  fence int8 NOT NULL DEFAULT 1,
  deadline int8 NOT NULL DEFAULT 0,
  ops int8[] NOT NULL DEFAULT '{}',
  hashes int8[] NOT NULL DEFAULT '{}'
) WITH (fillfactor = 50);
CREATE INDEX shard_by_deadline ON shard (deadline);
)sql";

constexpr const char* kClaimText = R"sql(
WITH free AS MATERIALIZED (
  SELECT shard FROM shard WHERE deadline <= $1 ORDER BY deadline LIMIT 1 FOR UPDATE SKIP LOCKED)
UPDATE shard SET worker = $2, fence = fence + 1, deadline = $1 + $3
FROM free WHERE shard.shard = free.shard
RETURNING shard.shard, fence, deadline, range_start, range_end, last_key
)sql";

// What holds of a move: $1 shard, $2 worker, $3 fence, $4 now, $5 op, $6 hash, $7 key.
constexpr const char* kHolds = R"sql(
  shard = $1 AND worker = $2 AND fence = $3 AND deadline > $4 AND $5 <> ALL (ops))sql";
constexpr const char* kKeyHolds = R"sql(
  (last_key IS NULL OR last_key <= $7) AND range_start <= $7
  AND (range_end = ''::bytea OR $7 < range_end))sql";

// The oldest of so many leaves.
std::string keep_op() {
  return fmt::format(
      "ops = array_append(ops[greatest(1, cardinality(ops) - {0}):], $5), "
      "hashes = array_append(hashes[greatest(1, cardinality(hashes) - {0}):], $6)",
      kQueueOpsKept - 2);
}

std::string checkpoint_text() {
  return fmt::format("UPDATE shard SET last_key = $7, {} WHERE {} AND {}", keep_op(), kHolds,
                     kKeyHolds);
}

std::string release_text() {
  return fmt::format(
      "UPDATE shard SET last_key = coalesce($7, last_key), worker = NULL, deadline = 0, {} "
      "WHERE {} AND ($7::bytea IS NULL OR ({}))",
      keep_op(), kHolds, kKeyHolds);
}

// In the order in which ours answers.
constexpr const char* kExplainText = R"sql(
SELECT $5 = ANY (ops),
       coalesce(hashes[array_position(ops, $5)] = $6, false),
       fence IS DISTINCT FROM $3 OR worker IS NULL,
       deadline <= $4,
       worker IS DISTINCT FROM $2,
       coalesce($7 < last_key, false)
FROM shard WHERE shard = $1
)sql";

std::int64_t hash_of(const char* kind, const QueueMove& move) {
  std::string text = kind;
  for (const std::int64_t number : {move.lease.shard, move.lease.worker, move.lease.fence})
    text += binary_of(number);
  text += move.key;
  return static_cast<std::int64_t>(base::xxh3_64(base::as_bytes(text)));
}

Statement move_statement(const char* name, const QueueMove& move) {
  return {name,
          {binary_of(move.lease.shard), binary_of(move.lease.worker), binary_of(move.lease.fence),
           binary_of(move.now), binary_of(move.op), binary_of(hash_of(name, move)),
           move.key.empty() ? std::nullopt : std::optional(binary_of(move.key))}};
}

std::string literal(std::string_view bytes) {
  std::string out = "'\\x";
  for (const char byte : bytes)
    out += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  return out + "'";
}

}  // namespace

PostgresQueue::PostgresQueue(const std::string& connection_text) : connection_(connection_text) {
  connection_.execute("SET plan_cache_mode = force_generic_plan");  // Never planned again.
  connection_.prepare(kClaim, kClaimText);
  connection_.prepare(kCheckpoint, checkpoint_text());
  connection_.prepare(kRelease, release_text());
  connection_.prepare(kExplain, kExplainText);
  connection_.prepare(kLastKey, "SELECT last_key FROM shard WHERE shard = $1");
}

void PostgresQueue::create(const std::string& connection_text,
                           const std::vector<QueueShard>& shards) {
  PostgresConnection connection(connection_text);
  connection.execute("SET client_min_messages = warning");
  connection.execute(kTable);
  std::string rows;
  for (const QueueShard& one : shards) {
    rows += fmt::format("{}({}, {}, {})", rows.empty() ? "" : ", ", one.shard, literal(one.start),
                        literal(one.end));
  }
  connection.execute("INSERT INTO shard (shard, range_start, range_end) VALUES " + rows);
  connection.execute("VACUUM ANALYZE shard");
}

Statement PostgresQueue::claim_statement(std::int64_t now,
                                         std::int64_t worker,
                                         std::int64_t lease_ms) {
  return {kClaim, {binary_of(now), binary_of(worker), binary_of(lease_ms)}};
}

std::optional<QueueLease> PostgresQueue::claimed(const Rows& rows, std::int64_t worker) {
  if (rows.is_empty()) return std::nullopt;
  return QueueLease{.shard = rows.number(0),
                    .worker = worker,
                    .fence = rows.number(1),
                    .deadline = rows.number(2)};
}

Statement PostgresQueue::checkpoint_statement(const QueueMove& move) {
  return move_statement(kCheckpoint, move);
}
Statement PostgresQueue::release_statement(const QueueMove& move) {
  return move_statement(kRelease, move);
}

std::optional<QueueLease> PostgresQueue::claim(std::int64_t now,
                                               std::int64_t worker,
                                               std::int64_t lease_ms) {
  return claimed(connection_.call(claim_statement(now, worker, lease_ms)), worker);
}

QueueOutcome PostgresQueue::checkpoint(const QueueMove& move) {
  if (connection_.call(checkpoint_statement(move)).changed() == 1) return QueueOutcome::kExecuted;
  return explain(checkpoint_statement(move));
}

QueueOutcome PostgresQueue::release(const QueueMove& move) {
  if (connection_.call(release_statement(move)).changed() == 1) return QueueOutcome::kExecuted;
  return explain(release_statement(move));
}

QueueOutcome PostgresQueue::explain(Statement statement) {
  statement.name = kExplain;
  const Rows rows = connection_.call(statement);
  if (rows.is_empty()) return QueueOutcome::kNotFound;
  if (rows.flag(0)) return rows.flag(1) ? QueueOutcome::kReplayed : QueueOutcome::kOpIdConflict;
  if (rows.flag(2)) return QueueOutcome::kStaleFence;
  if (rows.flag(3)) return QueueOutcome::kLeaseExpired;
  if (rows.flag(4)) return QueueOutcome::kStaleFence;
  return rows.flag(5) ? QueueOutcome::kCursorRegression : QueueOutcome::kCursorOutOfBounds;
}

std::optional<std::string> PostgresQueue::last_key(std::int64_t shard) {
  const Rows rows = connection_.call({kLastKey, {binary_of(shard)}});
  return rows.is_empty() ? std::nullopt : rows.bytes(0);
}

}  // namespace cadastre::bench
