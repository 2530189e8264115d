// The peers of durable coordination do what they are compared for: a queue without these guarantees would be
// fast for nothing.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "bench/peers/etcd_server.h"
#include "bench/peers/etcd_talk.h"
#include "bench/peers/postgres_connection.h"
#include "bench/peers/postgres_queue.h"
#include "bench/peers/postgres_queue_load.h"
#include "bench/peers/postgres_server.h"
#include "bench/scratch_directory.h"

namespace cadastre::bench {
namespace {

constexpr std::int64_t kNow = 1'000;
constexpr std::int64_t kLease = 100;

// One server for all tests of the process; each makes the tables anew.
class Queue : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    directory = std::make_unique<ScratchDirectory>("queue");
    ASSERT_EQ(PostgresServer::obstacle(directory->path()), std::nullopt);
    server = std::make_unique<PostgresServer>(directory->path(), 100);
  }
  static void TearDownTestSuite() {
    server.reset();
    directory.reset();
  }

  void SetUp() override {
    PostgresQueue::create(text(), {{1, "a", "m"}, {2, "m", ""}});
    queue_ = std::make_unique<PostgresQueue>(text());
  }
  void TearDown() override { queue_.reset(); }

  static const std::string& text() { return server->connection_text(); }
  PostgresQueue& queue() { return *queue_; }
  // The lease of shard 1.
  QueueLease hold() {
    for (;;) {
      const auto lease = queue().claim(kNow, 7, kLease);
      if (lease->shard == 1) return *lease;
    }
  }
  QueueOutcome checkpoint(const QueueLease& lease, std::string_view key, std::int64_t op) {
    return queue().checkpoint({.lease = lease, .key = key, .op = op, .now = kNow + 1});
  }

  static void restart_after_kill() {
    server->kill_at_once();
    server.reset();
    server = std::make_unique<PostgresServer>(directory->path(), 100);
  }
  void reconnect() { queue_ = std::make_unique<PostgresQueue>(text()); }
  void disconnect() { queue_.reset(); }

 private:
  // NOLINTBEGIN(cppcoreguidelines-avoid-non-const-global-variables): what a suite shares
  static inline std::unique_ptr<ScratchDirectory> directory;
  static inline std::unique_ptr<PostgresServer> server;
  // NOLINTEND(cppcoreguidelines-avoid-non-const-global-variables)
  std::unique_ptr<PostgresQueue> queue_;
};

TEST_F(Queue, GivesOutEachShardOnceUntilItsLeaseEnds) {
  const auto first = queue().claim(kNow, 7, kLease);
  const auto second = queue().claim(kNow, 8, kLease);
  ASSERT_TRUE(first && second);
  EXPECT_NE(first->shard, second->shard);
  EXPECT_EQ(queue().claim(kNow + kLease - 1, 9, kLease), std::nullopt);
  const auto again = queue().claim(kNow + kLease, 9, kLease);
  ASSERT_TRUE(again);
  EXPECT_EQ(again->fence, 3);
}

TEST_F(Queue, DoesNotWaitForAClaimUnderWay) {
  PostgresQueue other(text());
  other.connection().execute("BEGIN");
  const auto first = other.claim(kNow, 7, kLease);
  const auto second = queue().claim(kNow, 8, kLease);
  other.connection().execute("COMMIT");
  ASSERT_TRUE(first && second);
  EXPECT_NE(first->shard, second->shard);
}

TEST_F(Queue, FencesTheWorkerBefore) {
  const QueueLease old = hold();
  const auto next = queue().claim(kNow + kLease, 8, kLease);
  ASSERT_TRUE(next);
  const auto after = next->shard == old.shard ? next : queue().claim(kNow + kLease, 8, kLease);
  ASSERT_EQ(after->shard, old.shard);
  EXPECT_EQ(queue().checkpoint({.lease = old, .key = "b", .op = 1, .now = kNow + kLease + 1}),
            QueueOutcome::kStaleFence);
  EXPECT_EQ(queue().release({.lease = old, .key = {}, .op = 2, .now = kNow + kLease + 1}),
            QueueOutcome::kStaleFence);
  EXPECT_EQ(queue().last_key(1), std::nullopt);
}

TEST_F(Queue, RefusesALeaseThatHasEnded) {
  const QueueLease lease = hold();
  EXPECT_EQ(queue().checkpoint({.lease = lease, .key = "b", .op = 1, .now = kNow + kLease}),
            QueueOutcome::kLeaseExpired);
  EXPECT_EQ(queue().last_key(1), std::nullopt);
}

TEST_F(Queue, MovesForwardInsideTheRange) {
  const QueueLease lease = hold();
  EXPECT_EQ(checkpoint(lease, "c", 1), QueueOutcome::kExecuted);
  EXPECT_EQ(checkpoint(lease, "c", 2), QueueOutcome::kExecuted);
  EXPECT_EQ(checkpoint(lease, "b", 3), QueueOutcome::kCursorRegression);
  EXPECT_EQ(checkpoint(lease, "m", 4), QueueOutcome::kCursorOutOfBounds);
  EXPECT_EQ(queue().last_key(1), "c");
}

TEST_F(Queue, TakesAnOpIdOnce) {
  const QueueLease lease = hold();
  EXPECT_EQ(checkpoint(lease, "c", 1), QueueOutcome::kExecuted);
  EXPECT_EQ(checkpoint(lease, "d", 2), QueueOutcome::kExecuted);
  EXPECT_EQ(checkpoint(lease, "c", 1), QueueOutcome::kReplayed);
  EXPECT_EQ(checkpoint(lease, "e", 1), QueueOutcome::kOpIdConflict);
  EXPECT_EQ(queue().last_key(1), "d");
}

TEST_F(Queue, RemembersSixteenOpIds) {
  const QueueLease lease = hold();
  for (std::int64_t op = 1; op <= kQueueOpsKept + 1; ++op)
    EXPECT_EQ(checkpoint(lease, "c", op), QueueOutcome::kExecuted);
  EXPECT_EQ(checkpoint(lease, "c", 2), QueueOutcome::kReplayed);
  EXPECT_EQ(checkpoint(lease, "c", 1), QueueOutcome::kExecuted) << "forgotten, and harmless";
}

TEST_F(Queue, ReleaseFreesAtOnce) {
  const QueueLease lease = hold();
  EXPECT_EQ(queue().release({.lease = lease, .key = "c", .op = 1, .now = kNow + 1}),
            QueueOutcome::kExecuted);
  EXPECT_EQ(queue().release({.lease = lease, .key = "c", .op = 1, .now = kNow + 1}),
            QueueOutcome::kReplayed);
  EXPECT_EQ(checkpoint(lease, "d", 2), QueueOutcome::kStaleFence);
  EXPECT_EQ(queue().last_key(1), "c");
  EXPECT_EQ(hold().fence, lease.fence + 1);
}

TEST_F(Queue, KeepsWhatItAnsweredWhenItIsKilled) {
  const QueueLease lease = hold();
  EXPECT_EQ(checkpoint(lease, "c", 1), QueueOutcome::kExecuted);
  disconnect();
  restart_after_kill();
  reconnect();
  EXPECT_EQ(queue().last_key(1), "c");
  EXPECT_EQ(checkpoint(lease, "c", 1), QueueOutcome::kReplayed);
}

TEST_F(Queue, CarriesItsLoad) {
  EXPECT_GT(run_queue_checkpoints({.connection_text = text(), .connections = 8, .seconds = 0.2}),
            0);
  EXPECT_GT(run_queue_claims({.connection_text = text(), .connections = 8, .seconds = 0.2}), 0);
}

class Etcd : public testing::Test {
 protected:
  Etcd() : directory_("etcd_peers"), server_(directory_.path()), calls_(server_.address()) {}

  EtcdCalls& calls() { return calls_; }

 private:
  ScratchDirectory directory_;
  EtcdServer server_;
  EtcdCalls calls_;
};

TEST_F(Etcd, AGuardedPutNeedsTheRevisionAndTheOwner) {
  EtcdRecord record = calls().make_record("shard", 32);
  const GuardedAnswer first = guarded_answer(calls().call(guarded_put(record, "one")));
  EXPECT_TRUE(first.succeeded);
  const GuardedAnswer late = guarded_answer(calls().call(guarded_put(record, "two")));
  EXPECT_FALSE(late.succeeded);
  EXPECT_EQ(late.keys_read, 2U);
  record.revision = first.revision;
  EXPECT_TRUE(guarded_answer(calls().call(guarded_put(record, "three"))).succeeded);
  EXPECT_EQ(calls().value_of("shard"), "three");

  record = calls().make_record("shard", 32);
  calls().revoke_lease(record.owner_lease);
  const GuardedAnswer fenced = guarded_answer(calls().call(guarded_put(record, "four")));
  EXPECT_FALSE(fenced.succeeded);
  EXPECT_EQ(fenced.keys_read, 1U);
}

TEST_F(Etcd, ALockHasOneHolder) {
  const std::int64_t mine = calls().grant_lease(60);
  const std::int64_t other = calls().grant_lease(60);
  EXPECT_TRUE(is_locked(calls().call(lock_call("lock", mine))));
  EXPECT_FALSE(is_locked(calls().call(lock_call("lock", other))));
  EXPECT_FALSE(is_locked(calls().call(unlock_call("lock", other))));
  EXPECT_TRUE(is_locked(calls().call(unlock_call("lock", mine))));
  EXPECT_TRUE(is_locked(calls().call(lock_call("lock", other))));
  calls().revoke_lease(other);
  EXPECT_TRUE(is_locked(calls().call(lock_call("lock", mine))));
}

// Calls until so many operations have ended.
void talk(EtcdCalls& calls, Conversation& conversation, std::size_t operations) {
  while (operations != 0) {
    if (conversation.answered(calls.call(conversation.next()))) --operations;
  }
}

TEST_F(Etcd, ConversationsComeToTheirEnds) {
  GuardedPuts puts(calls().make_record("shard", 32), 64);
  talk(calls(), puts, 3);
  EXPECT_EQ(calls().value_of("shard").size(), 64U);
  EXPECT_EQ(calls().largest_value_bytes("shar"), 64U);
  LockPairs locks("locks", 2, calls().grant_lease(60));
  talk(calls(), locks, 5);
  LeasedLockPairs leased("leased", 2);
  talk(calls(), leased, 5);
}

}  // namespace
}  // namespace cadastre::bench
