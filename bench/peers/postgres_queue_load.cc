#include "bench/peers/postgres_queue_load.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/check.h"
#include "bench/peers/postgres_connection.h"
#include "bench/peers/postgres_queue.h"
#include "bench/work_keys.h"

namespace cadastre::bench {
namespace {

constexpr std::int64_t kLeaseMs = 3'600'000;

std::int64_t now_ms() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

class QueueTalk : public PostgresTalk {
 public:
  QueueTalk(const std::string& connection_text, std::int64_t worker)
      : queue_(connection_text), worker_(worker) {}

  [[nodiscard]] PostgresConnection& connection() override { return queue_.connection(); }

 protected:
  [[nodiscard]] PostgresQueue& queue() { return queue_; }
  [[nodiscard]] std::int64_t worker() const { return worker_; }
  [[nodiscard]] std::int64_t next_op() { return worker_ << 40 | ++ops_; }

 private:
  PostgresQueue queue_;
  std::int64_t worker_;
  std::int64_t ops_ = 0;
};

class CheckpointTalk final : public QueueTalk {
 public:
  CheckpointTalk(const std::string& connection_text, std::int64_t worker)
      : QueueTalk(connection_text, worker) {
    const auto lease = queue().claim(now_ms(), worker, kLeaseMs);
    CAD_CHECK(lease.has_value(), "there are more shards than callers");
    lease_ = *lease;
  }

  [[nodiscard]] Statement next() override {
    key_ = cursor_key(static_cast<std::uint64_t>(lease_.shard), ++step_);
    return PostgresQueue::checkpoint_statement(
        {.lease = lease_, .key = key_, .op = next_op(), .now = now_ms()});
  }
  [[nodiscard]] bool answered(const Rows& rows) override {
    CAD_CHECK(rows.changed() == 1, "a checkpoint of the holder is taken");
    return true;
  }

 private:
  QueueLease lease_;
  std::string key_;
  std::uint64_t step_ = 0;
};

class ClaimTalk final : public QueueTalk {
 public:
  using QueueTalk::QueueTalk;

  [[nodiscard]] Statement next() override {
    if (!lease_) return PostgresQueue::claim_statement(now_ms(), worker(), kLeaseMs);
    return PostgresQueue::release_statement(
        {.lease = *lease_, .key = {}, .op = next_op(), .now = now_ms()});
  }
  [[nodiscard]] bool answered(const Rows& rows) override {
    if (lease_) {
      CAD_CHECK(rows.changed() == 1, "the holder gives back");
      lease_.reset();
      return true;
    }
    lease_ = PostgresQueue::claimed(rows, worker());
    CAD_CHECK(lease_.has_value(), "there are free shards");
    return false;
  }

 private:
  std::optional<QueueLease> lease_;
};

template <class Talk>
double run(const QueueLoad& load) {
  std::vector<QueueShard> shards;
  shards.reserve(kWorkShards);
  for (std::size_t i = 0; i < kWorkShards; ++i) {
    shards.push_back({.shard = static_cast<std::int64_t>(i),
                      .start = shard_start(i),
                      .end = shard_start(i + 1)});
  }
  PostgresQueue::create(load.connection_text, shards);
  std::vector<std::unique_ptr<PostgresTalk>> talks;
  talks.reserve(load.connections);
  for (std::size_t i = 0; i < load.connections; ++i)
    talks.push_back(std::make_unique<Talk>(load.connection_text, static_cast<std::int64_t>(i + 1)));
  return run_talks(talks, load.seconds);
}

}  // namespace

double run_queue_checkpoints(const QueueLoad& load) {
  return run<CheckpointTalk>(load);
}
double run_queue_claims(const QueueLoad& load) {
  return run<ClaimTalk>(load);
}

}  // namespace cadastre::bench
