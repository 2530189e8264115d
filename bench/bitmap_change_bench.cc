// P-8, P-9: half of a set removed and the rest packed; readers beside a writer.

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
#include <string_view>

#include "base/random.h"
#include "base/threads_testing.h"
#include "bench/bitmap_bench.h"
#include "bench/bitmap_figures.h"
#include "bench/bitmap_measure.h"
#include "bench/harness.h"
#include "bench/peers/set_store.h"
#include "bitmap/ids.h"

namespace cadastre::bench {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kRemoveLimit{8000};
constexpr milliseconds kReadersLimit{3000};
constexpr int kReaders = 8;
constexpr double kSecondNs = 1e9;
constexpr std::uint64_t kIds32 = std::uint64_t{1} << 32;

Rate remove_half(Bench& bench, SetStore& store) {
  const auto half =
      std::span<const Id>(bench.inputs.hot_shuffled).first(bench.inputs.hot.size() / 2);
  std::size_t at = 0;
  return measure_rate(half.size(), {.all = kRemoveLimit}, [&](std::uint64_t most, StepClock&) {
    const std::size_t count = std::min<std::size_t>(most, kLoadIds);
    store.begin();
    store.remove_many(kHotKey, half.subspan(at, count));
    store.commit();
    at += count;
    return count;
  });
}

// Lookups on short snapshots until the time is over, at least one; how many a second.
double look_up(const Bench& bench, SetStore& store, std::uint64_t seed) {
  constexpr std::uint64_t kLookupsPerSnapshot = 1000;
  base::SeededRandom random(seed);
  std::uint64_t done = 0;
  const auto reader = store.reader();
  const double ns = time_once([&] {
    const Deadline deadline(kReadersLimit);
    do {
      if (done % kLookupsPerSnapshot == 0) reader->renew();
      keep(reader->contains(kHotKey, bench.inputs.hot[random.below(bench.inputs.hot.size())]));
      ++done;
    } while (!deadline.has_passed());
  });
  return static_cast<double>(done) / ns * kSecondNs;
}

// Transactions of a thousand single inserts until the time is over.
Rate insert_batches(const Bench& bench, SetStore& store) {
  constexpr std::uint64_t kBatch = 1000;
  constexpr std::uint64_t kEndless = std::numeric_limits<std::uint64_t>::max();
  base::SeededRandom random(77);
  Rate rate =
      measure_rate(kEndless, bench.limits(kReadersLimit), [&](std::uint64_t, StepClock& clock) {
        std::uint64_t done = 0;
        store.begin();
        while (done < kBatch) {
          store.insert(kHotKey, Id{random.below(kIds32)});
          ++done;
          if (done < kBatch && clock.must_stop_after(done)) break;
        }
        store.commit();
        return done;
      });
  rate.planned = rate.done;  // The time was the plan.
  return rate;
}

// Ours, and the least that a bitmap takes.
bool is_compact_bound(const Bench& bench) {
  return bench.candidate.storing == Storing::kOurs || bench.candidate.storing == Storing::kNothing;
}

}  // namespace

void bench_removals(Bench& bench, SetStore& store) {
  const auto count_all = [&] {
    const auto reader = store.reader();
    std::uint64_t ids = 0;
    for (const std::string_view key : {kHotKey, kOtherKey, kSmallKey})
      ids += reader->count(key);
    return ids;
  };
  if (is_compact_bound(bench)) {
    for (const std::string_view key : {kHotKey, kOtherKey, kSmallKey})
      store.compact(key);
    add_space(bench.figures, "P-8 space for an id, compacted", store, count_all());
  }
  if (bench.candidate.storing == Storing::kNothing) return;
  const Rate rate = remove_half(bench, store);
  bench.figures.add_rate("P-8 remove half", rate);
  if (rate.done < rate.planned) {  // The sizes of another set would say nothing.
    bench.figures.add_missing("P-8 space, half removed, and compact", "the half was not removed");
    return;
  }
  const std::uint64_t left = count_all();
  add_space(bench.figures, "P-8 space for an id, half removed", store, left);
  if (!store.can_compact()) return;
  const double elapsed = time_once([&] { store.compact(kHotKey); });
  bench.figures.add({.what = "P-8 compact", .unit = "ns", .value = elapsed});
  add_space(bench.figures, "P-8 space for an id, removed, compacted", store, left);
}

void bench_readers(Bench& bench, SetStore& store) {
  std::array<double, kReaders> lookups{};
  Rate inserts;
  base::run_in_threads(kReaders + 1, [&](int thread) {
    if (thread == kReaders) {
      inserts = insert_batches(bench, store);
    } else {
      const auto reader = static_cast<std::size_t>(thread);
      lookups[reader] = look_up(bench, store, reader);
    }
  });
  bench.figures.add_rate("P-9 contains by 8 readers beside a writer",
                         {.per_second = std::accumulate(lookups.begin(), lookups.end(), 0.0)});
  bench.figures.add_rate("P-9 insert, 1,000 a transaction, beside 8 readers", inserts);
}

}  // namespace cadastre::bench
