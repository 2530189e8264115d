// P-2, P-3, P-4: sets that come into being. Sorted, shuffled, over a million keys; ascending as time
// does; random in 64 bits.

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "base/random.h"
#include "bench/bitmap_bench.h"
#include "bench/bitmap_figures.h"
#include "bench/bitmap_measure.h"
#include "bench/bitmap_sets.h"
#include "bench/bitmap_targets.h"
#include "bench/harness.h"
#include "bench/peers/set_store.h"
#include "bench/table_store.h"
#include "bitmap/ids.h"

namespace cadastre::bench {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kLoadLimit{6000};
constexpr milliseconds kAscendingLimit{2000};
constexpr milliseconds kContainsLimit{1500};
constexpr std::size_t kBatch = 1000;  // keys or ids of a transaction

// Transactions of kLoadIds ids.
Rate load_within(SetStore& store,
                 std::string_view key,
                 std::span<const Id> ids,
                 milliseconds limit) {
  std::size_t at = 0;
  return measure_rate(ids.size(), {.all = limit}, [&](std::uint64_t most, StepClock&) {
    const std::size_t count = std::min<std::size_t>(most, kLoadIds);
    store.begin();
    store.insert_many(key, ids.subspan(at, count));
    store.commit();
    at += count;
    return count;
  });
}

// Many small sets: each key in one call, a thousand keys in a transaction.
void load_many_keys(Bench& bench) {
  constexpr std::size_t kIdsPerKey = 10;  // The number of keys follows --ids.
  constexpr std::uint64_t kIds32 = std::uint64_t{1} << 32;
  base::SeededRandom random(5);
  const auto sizes = zipf_sizes(bench.options.ids / kIdsPerKey, random);
  FreshStore store(bench.candidate, bench.directory);
  std::size_t key = 0;
  std::uint64_t ids_stored = 0;
  std::vector<Id> ids;
  const Rate keys =
      measure_rate(sizes.size(), {.all = kLoadLimit}, [&](std::uint64_t most, StepClock&) {
        const std::size_t count = std::min<std::size_t>(most, kBatch);
        store->begin();
        for (std::size_t i = 0; i < count; ++i, ++key) {
          ids.resize(sizes[key]);
          std::ranges::generate(ids, [&] { return Id{random.below(kIds32)}; });
          store->insert_many(fmt::format("key-{:09}", key), ids);
          ids_stored += ids.size();
        }
        store->commit();
        return count;
      });
  bench.figures.add_rate("P-2 keys with Zipf's sizes", keys);
  add_space(bench.figures, "P-2 space for an id, Zipf's sizes", *store, ids_stored);
}

// Ids count up, each under the next of `keys` keys.
class Ascending {
 public:
  Ascending(SetStore& store, std::size_t keys) : store_(store) {
    for (std::size_t i = 0; i < keys; ++i)
      keys_.push_back(fmt::format("key-{:04}", i));
  }

  // A series that has gone on for long already.
  void preload(Bench& bench) {
    std::vector<Id> ids(bench.options.ids);
    for (Id& id : ids)
      id = Id{next_++};
    bench.figures.add_rate("P-3 ascending, 100,000 at once",
                           load_within(store_, keys_.front(), ids, kNoLimit));
    if (auto* const ours = dynamic_cast<TableStore*>(&store_)) {
      bench.figures.add_bytes(kAscendingBytes,
                              static_cast<double>(ours->value_bytes(keys_.front())));
    }
  }

  [[nodiscard]] Rate run(const Limits& limits,
                         std::uint64_t planned,
                         std::uint64_t per_transaction) {
    const auto transaction = [&](std::uint64_t most, StepClock& clock) {
      const std::uint64_t count = std::min(most, per_transaction);
      std::uint64_t done = 0;
      store_.begin();
      while (done < count) {
        store_.insert(keys_[next_ % keys_.size()], Id{next_});
        ++next_;
        ++done;
        if (done < count && clock.must_stop_after(done)) break;
      }
      store_.commit();
      return done;
    };
    return measure_rate(planned, limits, transaction);
  }

  // The next kBatch ids of the first key in one call.
  [[nodiscard]] Rate run_at_once(std::uint64_t planned) {
    const auto transaction = [&](std::uint64_t most, StepClock&) {
      std::vector<Id> ids(std::min<std::size_t>(most, kBatch));
      for (Id& id : ids)
        id = Id{next_++};
      store_.begin();
      store_.insert_many(keys_.front(), ids);
      store_.commit();
      return ids.size();
    };
    return measure_rate(planned, {.all = kAscendingLimit}, transaction);
  }

 private:
  SetStore& store_;
  std::vector<std::string> keys_;
  std::uint64_t next_ = 0;
};

}  // namespace

void add_space(Figures& figures, std::string_view what, SetStore& store, std::uint64_t ids) {
  const Space space = store.space();
  const auto per_id = [&](std::uint64_t bytes) {
    return static_cast<double>(bytes) / static_cast<double>(ids);
  };
  if (space.file_bytes != 0) {
    figures.add_bytes(fmt::format("{}, file", what), per_id(space.file_bytes));
  }
  figures.add_bytes(fmt::format("{}, live", what),
                    per_id(space.live_bytes.value_or(space.file_bytes)));
}

void load_hot_set(Bench& bench, SetStore& store) {
  if (!bench.options.wants("P-2")) {
    store.preload(kHotKey, bench.inputs.hot_shuffled);
    return;
  }
  const Rate rate = load_within(store, kHotKey, bench.inputs.hot_shuffled, kNoLimit);
  bench.figures.add_rate("P-2 load, shuffled", rate);
  // What a store comes to by itself is what it takes.
  if (bench.candidate.compacts_by_itself) store.compact(kHotKey);
  add_space(bench.figures, "P-2 space for an id, shuffled", store, rate.done);
}

void bench_loads(Bench& bench) {
  {
    FreshStore store(bench.candidate, bench.directory);
    bench.figures.add_rate("P-2 load, sorted",
                           load_within(*store, kHotKey, bench.inputs.hot, kLoadLimit));
  }
  load_many_keys(bench);
}

void bench_ascending(Bench& bench) {
  constexpr std::uint64_t kPlanned = 1'000'000;
  constexpr std::size_t kManyKeys = 1000;
  const Limits limits = bench.limits(kAscendingLimit);
  {
    FreshStore store(bench.candidate, bench.directory);
    Ascending ids(*store, 1);
    // What a row costs does not depend on how many there are: those stores begin empty, to their favour.
    if (bench.candidate.storing != Storing::kRows) ids.preload(bench);
    bench.figures.add_rate("P-3 ascending, 1 a transaction", ids.run(limits, kPlanned, 1));
    bench.figures.add_rate(kAscendingBatch, ids.run(limits, kPlanned, kBatch));
    bench.figures.add_rate(kAscendingAtOnce, ids.run_at_once(kPlanned));
  }
  FreshStore store(bench.candidate, bench.directory);
  Ascending ids(*store, kManyKeys);
  bench.figures.add_rate("P-3 ascending, 1,000 keys, 1 a transaction",
                         ids.run(limits, kPlanned, 1));
  bench.figures.add_rate("P-3 ascending, 1,000 keys, 1,000 a transaction",
                         ids.run(limits, kPlanned, kBatch));
}

void bench_random64(Bench& bench) {
  const std::vector<Id>& ids = bench.inputs.random64;
  FreshStore store(bench.candidate, bench.directory);
  const Rate rate =
      load_within(*store, kHotKey, ids,
                  bench.candidate.storing == Storing::kOurs ? 4 * kLoadLimit : kLoadLimit);
  bench.figures.add_rate("P-4 load, random 64-bit ids", rate);
  add_space(bench.figures, "P-4 space for an id, random 64-bit", *store, rate.done);
  const auto reader = store->reader();
  std::size_t next = 0;
  const auto contains = [&](std::uint64_t iterations) {
    for (std::uint64_t i = 0; i < iterations; ++i)
      keep(reader->contains(kHotKey, ids[next++ % rate.done]));
  };
  bench.figures.add_walks("P-4 contains, random 64-bit, hit",
                          measure_calls(kContainsLimit, contains));
}

}  // namespace cadastre::bench
