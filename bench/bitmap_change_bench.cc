// P-8, P-9: half of a set removed and the rest packed; readers beside a writer.

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
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
constexpr std::uint64_t kIds32 = std::uint64_t{1} << 32;

Rate remove_half(Bench& bench, SetStore& store) {
  const auto half =
      std::span<const Id>(bench.inputs.hot_shuffled).first(bench.inputs.hot.size() / 2);
  std::size_t at = 0;
  return measure_rate(half.size(), kRemoveLimit, [&](std::uint64_t most, const Deadline&) {
    const std::size_t count = std::min<std::size_t>(most, kLoadIds);
    store.begin();
    store.remove_many(kHotKey, half.subspan(at, count));
    store.commit();
    at += count;
    return count;
  });
}

// Lookups on short snapshots until the time is over; how many.
std::uint64_t look_up(const Bench& bench,
                      SetStore& store,
                      std::uint64_t seed,
                      const Deadline& deadline) {
  constexpr std::uint64_t kLookupsPerSnapshot = 1000;
  base::SeededRandom random(seed);
  std::uint64_t done = 0;
  const auto reader = store.reader();
  while (!deadline.has_passed()) {
    reader->renew();
    for (std::uint64_t i = 0; i < kLookupsPerSnapshot && !deadline.has_passed(); ++i, ++done)
      keep(reader->contains(kHotKey, bench.inputs.hot[random.below(bench.inputs.hot.size())]));
  }
  return done;
}

// Batches of a thousand single inserts until the time is over; how many ids.
std::uint64_t insert_batches(SetStore& store, const Deadline& deadline) {
  constexpr std::uint64_t kBatch = 1000;
  base::SeededRandom random(77);
  std::uint64_t done = 0;
  while (!deadline.has_passed()) {
    store.begin();
    for (std::uint64_t i = 0; i < kBatch && !deadline.has_passed(); ++i, ++done)
      store.insert(kHotKey, Id{random.below(kIds32)});
    store.commit();
  }
  return done;
}

// Ours, and the least that a bitmap takes.
bool is_compact_bound(const Bench& bench) {
  return bench.candidate.storing == Storing::kOurs || bench.candidate.storing == Storing::kNothing;
}

}  // namespace

void bench_removals(Bench& bench, SetStore& store) {
  std::uint64_t before = 0;
  for (const std::string_view key : {kHotKey, kOtherKey, kSmallKey}) {
    if (is_compact_bound(bench)) store.compact(key);
    before += store.reader()->count(key);
  }
  if (is_compact_bound(bench)) {
    add_space(bench.figures, "P-8 space for an id, compacted", store, before);
  }
  if (bench.candidate.storing == Storing::kNothing) return;
  const Rate rate = remove_half(bench, store);
  bench.figures.add_rate("P-8 remove half", rate);
  if (rate.done < rate.planned) return;  // The sizes of another set would say nothing.
  add_space(bench.figures, "P-8 space for an id, half removed", store, before - rate.done);
  const double elapsed = time_once([&] { store.compact(kHotKey); });
  bench.figures.add({.what = "P-8 compact", .unit = "ns", .value = elapsed});
  add_space(bench.figures, "P-8 space for an id, removed, compacted", store, before - rate.done);
}

void bench_readers(Bench& bench, SetStore& store) {
  std::atomic<std::uint64_t> lookups = 0;
  std::uint64_t inserts = 0;
  const double ns = time_once([&] {
    const Deadline deadline(kReadersLimit);
    base::run_in_threads(kReaders + 1, [&](int thread) {
      if (thread == kReaders) {
        inserts = insert_batches(store, deadline);
      } else {
        lookups += look_up(bench, store, static_cast<std::uint64_t>(thread), deadline);
      }
    });
  });
  constexpr double kSecondNs = 1e9;
  const auto add = [&](std::string_view what, std::uint64_t count) {
    bench.figures.add_rate(what, {.per_second = static_cast<double>(count) / ns * kSecondNs});
  };
  add("P-9 contains by 8 readers beside a writer", lookups);
  add("P-9 insert, 1,000 a transaction, beside 8 readers", inserts);
}

}  // namespace cadastre::bench
