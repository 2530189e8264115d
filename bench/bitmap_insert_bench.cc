// P-1: single inserts of random ids into a key that has ten million; how many a second, how long one
// takes, and how many bytes go to the file system for it.

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "base/random.h"
#include "base/threads_testing.h"
#include "bench/bitmap_bench.h"
#include "bench/bitmap_figures.h"
#include "bench/bitmap_measure.h"
#include "bench/bitmap_targets.h"
#include "bench/peers/set_store.h"
#include "bench/report.h"
#include "bitmap/ids.h"

namespace cadastre::bench {
namespace {

using std::chrono::milliseconds;

constexpr std::uint64_t kInserts = 200'000;
constexpr milliseconds kLimit{1500};
constexpr milliseconds kSyncLimit{2500};  // A device takes its time.
constexpr std::uint64_t kIds32 = std::uint64_t{1} << 32;
constexpr int kCallers = 8;

enum class Calls : std::uint8_t {
  kSingle,  // insert() for each id
  kMany,    // one insert_many() for a transaction
};

struct Plan {
  std::uint64_t per_transaction = 1;
  Calls calls = Calls::kSingle;
  Durability durability = Durability::kNone;
};

class Inserts {
 public:
  explicit Inserts(SetStore& store) : store_(store) {}

  [[nodiscard]] Rate run(const Plan& plan, const Limits& limits) {
    const auto transaction = [&](std::uint64_t most, StepClock& clock) {
      const std::uint64_t count = std::min(most, plan.per_transaction);
      store_.begin();
      const std::uint64_t done =
          plan.calls == Calls::kMany ? insert_many(count) : insert_each(count, clock);
      store_.commit();
      return done;
    };
    return measure_rate(kInserts, limits, transaction);
  }

 private:
  std::uint64_t insert_each(std::uint64_t count, StepClock& clock) {
    std::uint64_t done = 0;
    while (done < count) {
      store_.insert(kHotKey, Id{random_.below(kIds32)});
      ++done;
      if (done < count && clock.must_stop_after(done)) break;
    }
    return done;
  }

  std::uint64_t insert_many(std::uint64_t count) {
    std::vector<Id> ids(count);
    std::ranges::generate(ids, [this] { return Id{random_.below(kIds32)}; });
    store_.insert_many(kHotKey, ids);
    return count;
  }

  SetStore& store_;
  base::SeededRandom random_{101};
};

std::string name_of(const Plan& plan) {
  if (plan.calls == Calls::kMany) {
    return fmt::format("P-1 insert, {} at once", plan.per_transaction);
  }
  const bool is_sync = plan.durability == Durability::kSync;
  if (plan.per_transaction == 1) return std::string(is_sync ? kInsertSingleSync : kInsertSingle);
  if (plan.per_transaction == 1000 && !is_sync) return std::string(kInsertBatch);
  return fmt::format("P-1 insert, {} a transaction{}", plan.per_transaction,
                     is_sync ? ", synced" : "");
}

void add_latencies(Figures& figures, const std::string& what, const Rate& rate) {
  struct Share {
    std::string_view name;
    double share = 0;
  };
  for (const Share& one : {Share{"p50", 0.5}, Share{"p99", 0.99}, Share{"p99.9", 0.999}}) {
    figures.add({.what = fmt::format("{}, {}", what, one.name),
                 .unit = "ns",
                 .value = percentile(rate.step_ns, one.share)});
  }
}

// A store that keeps what is not synced in its own memory has handed over nothing yet.
bool shows_bytes(const Bench& bench, const Plan& plan) {
  return plan.calls == Calls::kSingle &&
         (plan.durability == Durability::kSync || !bench.candidate.buffers_unsynced);
}

std::string bytes_name_of(const Plan& plan) {
  const bool is_sync = plan.durability == Durability::kSync;
  if (plan.per_transaction == 1) {
    return std::string(is_sync ? kInsertSingleSyncBytes : kInsertSingleBytes);
  }
  return fmt::format("P-1 bytes written, {} a transaction{}", plan.per_transaction,
                     is_sync ? ", synced" : "");
}

// Of a transaction that was cut short it is not known how many bytes its inserts cost each: the whole one
// would have written at least as much, for all of its inserts.
void add_bytes(Figures& figures, const Plan& plan, const Rate& rate, double written) {
  const auto inserts = static_cast<double>(rate.is_bound ? plan.per_transaction : rate.done);
  figures.add_bytes(bytes_name_of(plan), written / inserts,
                    rate.is_bound ? Exactness::kBound : Exactness::kMeasured);
}

void run_plan(Bench& bench, SetStore& store, Inserts& inserts, const Plan& plan) {
  const std::uint64_t before = store.bytes_written();
  const bool is_sync = plan.durability == Durability::kSync;
  const Rate rate = inserts.run(plan, bench.limits(is_sync ? kSyncLimit : kLimit));
  const auto written = static_cast<double>(store.bytes_written() - before);
  const std::string what = name_of(plan);
  bench.figures.add_rate(what, rate);
  if (shows_bytes(bench, plan)) add_bytes(bench.figures, plan, rate, written);
  const bool is_ours = bench.candidate.storing == Storing::kOurs;
  if (is_ours && plan.per_transaction == 1) add_latencies(bench.figures, what, rate);
}

// Eight threads, each with one id at a time.
void run_callers(Bench& bench, SetStore& store) {
  std::atomic<std::uint64_t> done = 0;
  const auto callers = [&](std::uint64_t, StepClock&) {
    const Deadline deadline(kSyncLimit);
    base::run_in_threads(kCallers, [&](int caller) {
      base::SeededRandom random(static_cast<std::uint64_t>(caller) + 1000);
      while (!deadline.has_passed()) {
        store.insert_alone(kHotKey, Id{random.below(kIds32)});
        ++done;
      }
    });
    return done.load();
  };
  Rate rate = measure_rate(kInserts, {.all = kSyncLimit}, callers);
  rate.planned = rate.done;  // The time was the plan.
  bench.figures.add_rate(kInsertCallersSync, rate);
}

}  // namespace

void bench_inserts(Bench& bench, SetStore& store) {
  Inserts inserts(store);
  for (const Plan& plan :
       {Plan{1, Calls::kSingle}, Plan{1000, Calls::kSingle}, Plan{100'000, Calls::kSingle},
        Plan{1000, Calls::kMany}, Plan{100'000, Calls::kMany}}) {
    run_plan(bench, store, inserts, plan);
  }
  store.set_durability(Durability::kSync);
  for (const Plan& plan :
       {Plan{1, Calls::kSingle, Durability::kSync}, Plan{1000, Calls::kSingle, Durability::kSync},
        Plan{100'000, Calls::kSingle, Durability::kSync}}) {
    run_plan(bench, store, inserts, plan);
  }
  run_callers(bench, store);
  store.set_durability(Durability::kNone);
}

}  // namespace cadastre::bench
