// BulkPool: where work on the files of checkpoints runs: a few threads of the node's (log.md 1.3).

#pragma once

#include <functional>

namespace cadastre::server {

class BulkPool {
 public:
  BulkPool() = default;
  BulkPool(const BulkPool&) = delete;
  BulkPool& operator=(const BulkPool&) = delete;
  virtual ~BulkPool() = default;

  // Runs it exactly once, on another thread, some time. It may block on a disk and on nothing else. Safe from any
  // thread; the pool outlives what it was given.
  virtual void run(std::move_only_function<void()> task) = 0;
};

}  // namespace cadastre::server
