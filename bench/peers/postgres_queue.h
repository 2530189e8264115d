// PostgresQueue: shards under fenced leases as a table of PostgreSQL, claimed by SKIP LOCKED. The peer of our
// coordination: the same guarantees for the operations that are measured, in the fewest statements.
//
//   1. A shard has at most one live lease; every claim raises its fence, and older leases change nothing.
//   2. A checkpoint moves forward inside the shard's range.
//   3. A repeated op id takes effect once; with other arguments it is refused. The last 16 of a shard are known.
//   4. What was answered is synced.
//
// One statement for each operation; a second one only tells why the first changed nothing. Time is an argument,
// in milliseconds, and never 0.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bench/peers/postgres_connection.h"

namespace cadastre::bench {

inline constexpr std::int64_t kQueueOpsKept = 16;

// [start, end); an empty bound is unbounded.
struct QueueShard {
  std::int64_t shard;
  std::string start;
  std::string end;
};

struct QueueLease {
  std::int64_t shard = 0;
  std::int64_t worker = 0;
  std::int64_t fence = 0;
  std::int64_t deadline = 0;
};

struct QueueMove {
  QueueLease lease;
  std::string_view key;  // A release may leave it empty: the cursor stays.
  std::int64_t op = 0;
  std::int64_t now = 0;
};

enum class QueueOutcome : std::uint8_t {
  kExecuted,
  kReplayed,
  kOpIdConflict,
  kStaleFence,
  kLeaseExpired,
  kCursorRegression,
  kCursorOutOfBounds,
  kNotFound,
};

// One connection, for one thread.
class PostgresQueue {
 public:
  explicit PostgresQueue(const std::string& connection_text);

  // Tables without content, whatever there was.
  static void create(const std::string& connection_text, const std::vector<QueueShard>& shards);

  [[nodiscard]] std::optional<QueueLease> claim(std::int64_t now,
                                                std::int64_t worker,
                                                std::int64_t lease_ms);
  [[nodiscard]] QueueOutcome checkpoint(const QueueMove& move);
  [[nodiscard]] QueueOutcome release(const QueueMove& move);
  [[nodiscard]] std::optional<std::string> last_key(std::int64_t shard);

  // The same as statements, for those who do not wait.
  [[nodiscard]] static Statement claim_statement(std::int64_t now,
                                                 std::int64_t worker,
                                                 std::int64_t lease_ms);
  [[nodiscard]] static std::optional<QueueLease> claimed(const Rows& rows, std::int64_t worker);
  [[nodiscard]] static Statement checkpoint_statement(const QueueMove& move);
  [[nodiscard]] static Statement release_statement(const QueueMove& move);

  [[nodiscard]] PostgresConnection& connection() { return connection_; }

 private:
  // Why the statement changed nothing.
  [[nodiscard]] QueueOutcome explain(Statement statement);

  PostgresConnection connection_;
};

}  // namespace cadastre::bench
