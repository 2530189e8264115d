// BlockingStore: a GrpcStore whose calls wait for their completion, for tests.

#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/clock.h"
#include "base/mutex.h"
#include "base/signal.h"
#include "coord/etcd/etcd_config.h"
#include "coord/etcd/grpc_store.h"
#include "coord/etcd/store.h"

namespace cadastre::coord::etcd {

// The answer of a call with a completion.
template <class T, class Start>
Result<T, StoreError> answer_of(Start start) {
  base::Mutex mutex;
  base::CondVar changed;
  std::optional<Result<T, StoreError>> answer;
  start([&](Result<T, StoreError> result) {
    const base::MutexLock lock(
        mutex);  // Kept while it notifies: the waiter goes on with all of this gone.
    answer.emplace(std::move(result));
    changed.notify_one();
  });
  const base::MutexLock lock(mutex);
  while (!answer)
    changed.wait(mutex);
  return *std::move(answer);
}

// The first answer that etcd gives, however often it has to be asked; the last error after so long.
template <class Ask>
auto answer_until(std::chrono::milliseconds limit, Ask ask) {
  const base::SystemClock clock;
  const base::Elapsed deadline = clock.elapsed() + limit;
  auto answer = ask();
  base::Signal never;
  while (!answer && clock.elapsed() < deadline) {
    never.wait_for(std::chrono::milliseconds{20});
    answer = ask();
  }
  return answer;
}

class BlockingStore {
 public:
  explicit BlockingStore(const EtcdConfig& config) {
    auto opened = GrpcStore::open(config, clock_);
    CAD_CHECK(opened.has_value(), "the test's configuration is valid");
    store_ = *std::move(opened);
  }

  [[nodiscard]] Result<std::vector<RangeResult>, StoreError> read(std::vector<Range> ranges) {
    return answer_of<std::vector<RangeResult>>(
        [&](auto done) { store_->read(std::move(ranges), std::move(done)); });
  }
  [[nodiscard]] Result<TransactionResult, StoreError> commit(Transaction transaction) {
    return answer_of<TransactionResult>(
        [&](auto done) { store_->commit(std::move(transaction), std::move(done)); });
  }
  [[nodiscard]] Result<LeaseId, StoreError> grant_lease(std::chrono::seconds ttl) {
    return answer_of<LeaseId>([&](auto done) { store_->grant_lease(ttl, std::move(done)); });
  }
  [[nodiscard]] Result<std::chrono::seconds, StoreError> keep_alive(LeaseId lease) {
    return answer_of<std::chrono::seconds>(
        [&](auto done) { store_->keep_alive(lease, std::move(done)); });
  }
  [[nodiscard]] Result<void, StoreError> revoke_lease(LeaseId lease) {
    return answer_of<void>([&](auto done) { store_->revoke_lease(lease, std::move(done)); });
  }

  // One key.
  [[nodiscard]] Result<TransactionResult, StoreError> put(std::string key,
                                                          std::string value,
                                                          LeaseId lease = {}) {
    return commit(
        {.compares = {}, .success = {Put{std::move(key), std::move(value), lease}}, .failure = {}});
  }
  // Nothing if it is absent.
  [[nodiscard]] Result<std::optional<KeyValue>, StoreError> get(std::string key) {
    auto found = read({Range{.key = std::move(key), .end = {}}});
    if (!found) return std::unexpected(std::move(found).error());
    if (found->front().keys.empty()) return std::nullopt;
    return std::move(found->front().keys.front());
  }

  [[nodiscard]] GrpcStore& store() { return *store_; }
  void close() { store_.reset(); }

 private:
  base::SystemClock clock_;
  std::unique_ptr<GrpcStore> store_;
};

}  // namespace cadastre::coord::etcd
