// P-5, P-6, P-7: lookups, full reads, and counts of set operations.

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "base/check.h"
#include "base/function_ref.h"
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
#include "bitmap/segment_form.h"

namespace cadastre::bench {
namespace {

using std::chrono::milliseconds;

constexpr std::size_t kProbes = std::size_t{1} << 16;  // a power of two: indexed by mask
constexpr std::uint64_t kIds32 = std::uint64_t{1} << 32;
constexpr milliseconds kReadLimit{1500};
constexpr milliseconds kWalkLimit{25'000};  // of a peer's; ours take as long as they take

std::vector<Id> some_of(const std::vector<Id>& set, std::size_t count) {
  base::SeededRandom random(21);
  std::vector<Id> ids(count);
  std::ranges::generate(ids, [&] { return set[random.below(set.size())]; });
  return ids;
}

std::vector<Id> some_absent_from(const std::vector<Id>& set, std::size_t count) {
  base::SeededRandom random(22);
  std::vector<Id> ids;
  while (ids.size() < count) {
    const Id id{random.below(kIds32)};
    if (!std::ranges::binary_search(set, id)) ids.push_back(id);
  }
  return ids;
}

Walks time_contains(SetReader& reader, const std::vector<Id>& probes) {
  std::uint64_t next = 0;
  return measure_calls(kReadLimit, [&](std::uint64_t iterations) {
    for (std::uint64_t i = 0; i < iterations; ++i)
      keep(reader.contains(kHotKey, probes[next++ % kProbes]));
  });
}

void add_lookup_latencies(Figures& figures, SetReader& reader, const std::vector<Id>& probes) {
  std::vector<double> ns;
  for (const Id id : probes)
    ns.push_back(time_once([&] { keep(reader.contains(kHotKey, id)); }));
  figures.add({.what = "P-5 contains, p50", .unit = "ns", .value = percentile(ns, 0.5)});
  figures.add({.what = "P-5 contains, p99", .unit = "ns", .value = percentile(ns, 0.99)});
  figures.add({.what = "P-5 contains, p99.9", .unit = "ns", .value = percentile(ns, 0.999)});
}

std::uint64_t stream_count(SetReader& reader, IdRange range) {
  std::uint64_t ids = 0;
  std::uint64_t sum = 0;  // Every id is looked at.
  reader.stream(kHotKey, range, [&](std::span<const Id> block) {
    ids += block.size();
    for (const Id id : block)
      sum += id.value();
  });
  keep(sum);
  return ids;
}

// Whole, or said not to be; repeated while there is time.
void time_walks(Bench& bench,
                SetReader& reader,
                std::string_view what,
                base::FunctionRef<void()> walk) {
  const bool is_ours = bench.candidate.storing == Storing::kOurs;
  bench.figures.add_walks(what,
                          measure_walks(reader, is_ours ? kNoLimit : kWalkLimit, kReadLimit, walk));
}

// The same, if the store has time left.
void time_more_walks(Bench& bench,
                     SetReader& reader,
                     std::string_view what,
                     base::FunctionRef<void()> walk) {
  if (bench.has_time_for(what)) time_walks(bench, reader, what, walk);
}

std::string_view name_of(SetOperation operation) {
  switch (operation) {
    case SetOperation::kIntersection: return "intersection";
    case SetOperation::kUnion: return "union";
    case SetOperation::kDifference: return "difference";
  }
  CAD_CHECK(false, "there are three operations");
}

struct Pair {
  std::string_view shape;
  std::string_view a;
  std::string_view b;
};
constexpr Pair kRandomPair{"random", kHotKey, kOtherKey};
constexpr Pair kUnequalPair{"with 1,000 ids", kHotKey, kSmallKey};

void time_operations(Bench& bench,
                     SetReader& reader,
                     const Pair& pair,
                     std::initializer_list<SetOperation> operations) {
  for (const SetOperation operation : operations) {
    time_more_walks(bench, reader, fmt::format("P-7 {}, {}", name_of(operation), pair.shape),
                    [&] { keep(reader.count_of(operation, pair.a, pair.b)); });
  }
}

}  // namespace

void bench_contains(Bench& bench, SetStore& store) {
  const std::vector<Id> hits = some_of(bench.inputs.hot, kProbes);
  const std::vector<Id> misses = some_absent_from(bench.inputs.hot, kProbes);
  const auto reader = store.reader();
  CAD_CHECK(reader->contains(kHotKey, hits.front()), "what was loaded is found");
  bench.figures.add_walks(kContainsHit, time_contains(*reader, hits));
  bench.figures.add_walks(kContainsMiss, time_contains(*reader, misses));
  constexpr std::size_t kBatch = 10'000;
  std::vector<Id> batch(hits.begin(), hits.begin() + kBatch);
  std::ranges::sort(batch);
  const auto repeats = std::ranges::unique(batch);
  batch.erase(repeats.begin(), repeats.end());
  time_more_walks(bench, *reader, "P-5 contains, 10,000 sorted at once",
                  [&] { keep(reader->count_present(kHotKey, batch)); });
  if (auto* const ours = dynamic_cast<TableStore*>(&store)) {
    add_lookup_latencies(bench.figures, *reader, hits);
    ours->set_point_reads(bitmap::ReadCheck::kChecksum);
    bench.figures.add_walks(kContainsVerified, time_contains(*ours->reader(), hits));
    ours->set_point_reads(bitmap::ReadCheck::kStructure);
  }
}

void bench_stream(Bench& bench, SetStore& store) {
  const auto reader = store.reader();
  time_walks(bench, *reader, kStream, [&] {
    const std::uint64_t streamed = stream_count(*reader, kAllIds);
    CAD_CHECK(reader->has_given_up() || streamed >= bench.inputs.hot.size(),
              "a stream brings every id");
  });
}

void bench_intersection(Bench& bench, SetStore& store) {
  // For rows the order of arrival decides how long a load takes and little else.
  const bool is_sorted = bench.candidate.storing == Storing::kRows;
  store.preload(kOtherKey, is_sorted ? bench.inputs.other : bench.inputs.other_shuffled);
  store.preload(kSmallKey, bench.inputs.small);
  if (bench.candidate.compacts_by_itself) store.compact(kOtherKey);
  const auto reader = store.reader();
  time_walks(bench, *reader, kIntersectRandom,
             [&] { keep(reader->intersection_count(kHotKey, kOtherKey)); });
}

void bench_more_reads(Bench& bench, SetStore& store) {
  const auto reader = store.reader();
  time_more_walks(bench, *reader, "P-6 materialise", [&] { keep(reader->materialise(kHotKey)); });
  constexpr std::uint64_t kPart = 100;
  const IdRange range{Id{kIds32 / 2}, Id{kIds32 / 2 + kIds32 / kPart}};
  time_more_walks(bench, *reader, "P-6 stream, range of 1 %",
                  [&] { keep(stream_count(*reader, range)); });
}

void bench_more_algebra(Bench& bench, SetStore& store) {
  using enum SetOperation;
  const auto reader = store.reader();
  time_operations(bench, *reader, kRandomPair, {kUnion, kDifference});
  time_operations(bench, *reader, kUnequalPair, {kIntersection, kUnion, kDifference});
}

void bench_shapes(Bench& bench) {
  struct Named {
    std::string_view name;
    SetShape shape;
  };
  for (const Named& one :
       {Named{"dense", SetShape::kDense}, Named{"clustered", SetShape::kClustered}}) {
    FreshStore store(bench.candidate, bench.directory);
    store->preload(kHotKey, make_set(one.shape, bench.options.ids, 31));
    store->preload(kOtherKey, make_set(one.shape, bench.options.ids, 32));
    for (const std::string_view key : {kHotKey, kOtherKey})
      store->compact(key);
    const auto reader = store->reader();
    time_operations(bench, *reader, {one.name, kHotKey, kOtherKey},
                    {SetOperation::kIntersection, SetOperation::kUnion, SetOperation::kDifference});
    time_more_walks(bench, *reader, fmt::format("P-6 stream, {}", one.name),
                    [&] { keep(stream_count(*reader, kAllIds)); });
  }
}

}  // namespace cadastre::bench
