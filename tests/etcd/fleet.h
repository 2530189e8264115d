// Fleet: workers that go on while etcd is in trouble, and remember what they were promised.
//
// Each worker claims a shard, moves its cursor step by step and repeats a request of unknown outcome with the same
// op id. A step is promised when its answer comes. The fleet notes whatever breaks a promise: a claim that
// restores a cursor behind a promised one, an answer that no correct backend gives, a shard that does not end.

#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/mutex.h"
#include "coord/backend.h"
#include "coord/identity.h"
#include "coord/lease.h"
#include "tests/etcd/etcd_home.h"

namespace cadastre::coord::etcd {

class Fleet {
 public:
  explicit Fleet(HomeOptions options);

  // Creates the run and its shards, then works on them in `workers` threads until `trouble`, which the
  // caller's thread makes meanwhile, has returned and every shard is done.
  void run(int workers, const std::function<void()>& trouble);

  // What went wrong, a sentence each.
  [[nodiscard]] std::vector<std::string> broken() CAD_EXCLUDES(mutex_);
  [[nodiscard]] std::uint64_t promised() const { return promised_count_; }
  // Answers that left the outcome unknown, so that the test knows that there was trouble.
  [[nodiscard]] std::uint64_t unknown() const { return unknown_count_; }
  // A home of its own, to look at the end.
  [[nodiscard]] EtcdHome& home() { return home_; }

 private:
  [[nodiscard]] LogicalTime now() const;
  void note(std::string sentence) CAD_EXCLUDES(mutex_);
  void create_run();
  void work(int worker);
  // Until the shard is done, or the lease is lost.
  void work_on(CoordinationFacade& home, const Lease& lease, std::uint64_t step);
  [[nodiscard]] bool all_done(CoordinationFacade& home) const;
  void promise(ShardId shard, std::uint64_t step) CAD_EXCLUDES(mutex_);
  [[nodiscard]] std::uint64_t promised_step(ShardId shard) CAD_EXCLUDES(mutex_);

  const HomeOptions options_;
  base::SystemClock clock_;
  EtcdHome home_;
  std::atomic<bool> trouble_over_ = false;
  std::atomic<std::uint64_t> op_ = 100;
  std::atomic<std::uint64_t> promised_count_ = 0;
  std::atomic<std::uint64_t> unknown_count_ = 0;

  base::Mutex mutex_;
  std::map<std::uint64_t, std::uint64_t> promised_ CAD_GUARDED_BY(mutex_);  // by shard: the step
  std::vector<std::string> broken_ CAD_GUARDED_BY(mutex_);
};

}  // namespace cadastre::coord::etcd
