#include "tests/etcd/fleet.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "base/check.h"
#include "base/endian.h"
#include "base/signal.h"
#include "coord/conformance/suite_testing.h"
#include "coord/errors.h"
#include "coord/snapshot.h"
#include "node/background_thread.h"
#include "shard/shard_spec.h"

namespace cadastre::coord::etcd {
namespace {

constexpr RunId kRun = RunId::from_raw(1);
constexpr std::uint64_t kShards = 8;
constexpr std::uint64_t kLeaseMs = 3000;
constexpr std::chrono::seconds kPatience{30};  // of one request, and of the whole after the trouble
constexpr std::chrono::milliseconds kPause{20};

const TenantId& tenant() {
  static const TenantId id = conformance::tenant_of(1);
  return id;
}

// Shard i is [i, i + 1); a step within it is the shard's byte and eight more, so that keys rise with steps.
base::Bytes key_of(ShardId shard, std::uint64_t step) {
  base::Bytes key(1 + sizeof step, std::byte(shard.raw()));
  base::store_be(key.data() + 1, step);
  return key;
}

std::uint64_t step_of(base::ByteView key) {
  return key.size() == 1 + sizeof(std::uint64_t) ? base::load_be<std::uint64_t>(key.data() + 1) : 0;
}

template <class Answer>
bool is_transient(const Answer& answer) {
  if (answer) return false;
  const InfraError* const infra = answer.error().template get_if<InfraError>();
  return infra != nullptr && infra->kind == InfraError::Kind::kTransient;
}

}  // namespace

Fleet::Fleet(HomeOptions options) : options_(std::move(options)), home_(options_) {}

LogicalTime Fleet::now() const {
  const auto since = std::chrono::duration_cast<std::chrono::milliseconds>(clock_.elapsed());
  return LogicalTime::from_raw(static_cast<std::uint64_t>(since.count()) + 1);
}

void Fleet::note(std::string sentence) {
  const base::MutexLock lock(mutex_);
  if (broken_.size() < 20) broken_.push_back(std::move(sentence));
}

std::vector<std::string> Fleet::broken() {
  const base::MutexLock lock(mutex_);
  return broken_;
}

void Fleet::promise(ShardId shard, std::uint64_t step) {
  const base::MutexLock lock(mutex_);
  std::uint64_t& known = promised_[shard.raw()];
  known = std::max(known, step);
  ++promised_count_;
}

std::uint64_t Fleet::promised_step(ShardId shard) {
  const base::MutexLock lock(mutex_);
  return promised_[shard.raw()];
}

void Fleet::create_run() {
  CAD_CHECK(home_.create_run(now(), tenant(), kRun, {.lease_duration = kLeaseMs}).has_value(),
            "etcd is well at the start");
  std::vector<base::Bytes> keys;
  for (std::uint64_t i = 1; i <= kShards + 1; ++i)
    keys.push_back({std::byte(i)});
  std::vector<InitialShardInput> shards;
  for (std::size_t i = 0; i < kShards; ++i) {
    shards.push_back({.shard = ShardId::from_raw(i + 1),
                      .spec = shard::ShardSpecRef::unchecked(keys[i], keys[i + 1])});
  }
  CAD_CHECK(home_.register_shards(now(), tenant(), kRun, shards, OpId::from_raw(1)).has_value(),
            "etcd is well at the start");
}

bool Fleet::all_done(CoordinationFacade& home) const {
  const auto progress = home.get_run_progress(now(), tenant(), kRun);
  return progress && progress->done == kShards;
}

void Fleet::run(int workers, const std::function<void()>& trouble) {
  create_run();
  std::vector<std::unique_ptr<node::BackgroundThread>> threads;
  for (int i = 1; i <= workers; ++i) {
    threads.push_back(std::make_unique<node::BackgroundThread>());
    threads.back()->run([this, i] { work(i); });
  }
  trouble();
  trouble_over_ = true;
  for (const auto& thread : threads)
    thread->stop();
}

void Fleet::work(int worker) {
  EtcdHome home(options_);
  const auto scratch = std::make_unique<AcquireScratch>();
  base::Signal never;
  std::optional<base::Elapsed> deadline;
  while (!trouble_over_ || !all_done(home)) {
    if (trouble_over_ && !deadline) deadline = clock_.elapsed() + kPatience;
    if (deadline && clock_.elapsed() > *deadline) return note("the work does not end");
    const auto claimed = home.claim_next_available(
        now(), tenant(), kRun, WorkerId::from_raw(static_cast<std::uint64_t>(worker)), *scratch);
    if (!claimed) {
      unknown_count_ += is_transient(claimed) ? 1 : 0;
      if (!is_transient(claimed) && !claimed.error().is<NoneAvailable>())
        note(fmt::format("a claim is refused: {}", to_text(claimed.error())));
      never.wait_for(kPause);
      continue;
    }
    const std::uint64_t step =
        step_of(claimed->snapshot.cursor.last_key().value_or(base::ByteView{}));
    work_on(home, claimed->lease, step);
  }
}

void Fleet::work_on(CoordinationFacade& home, const Lease& lease, std::uint64_t step) {
  // Promised before the claim was: a later owner cannot have been promised anything under this lease.
  if (step < promised_step(lease.shard())) {
    note(fmt::format("shard {} is restored at step {}, {} was promised", lease.shard().raw(), step,
                     promised_step(lease.shard())));
  }
  base::Signal never;
  base::Elapsed deadline = clock_.elapsed() + kPatience;
  OpId op = OpId::from_raw(++op_);
  bool last = trouble_over_;
  ++step;
  for (;;) {
    const base::Bytes key = key_of(lease.shard(), step);
    const auto cursor = CursorUpdate::make(key);
    bool lost = false;
    bool accepted = false;
    bool unknown = false;
    const auto take = [&](const auto& answer) {
      accepted = answer.has_value();
      unknown = is_transient(answer);
      if (accepted || unknown) return;
      lost = answer.error().template is<StaleFence>() || answer.error().template is<LeaseExpired>();
      if (!lost) note(fmt::format("a step is refused: {}", to_text(answer.error())));
    };
    if (last) {
      take(home.complete(now(), tenant(), lease, cursor, op));
    } else {
      take(home.checkpoint(now(), tenant(), lease, cursor, op));
    }
    if (unknown) {  // The same op id again.
      ++unknown_count_;
      if (clock_.elapsed() > deadline) return note("etcd does not come back");
      never.wait_for(kPause);
      continue;
    }
    if (!accepted) return;
    promise(lease.shard(), step);
    if (last) return;
    if (step % 8 == 0) (void)home.renew(now(), tenant(), lease);
    ++step;
    op = OpId::from_raw(++op_);
    last = trouble_over_;
    deadline = clock_.elapsed() + kPatience;
  }
}

}  // namespace cadastre::coord::etcd
