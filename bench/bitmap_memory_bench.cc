// P-6: the heap that a streaming read needs, beyond what was there before. Of ours it does not depend on the
// set, whatever the read is: each row stands beside the same read of a thousand ids.

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "base/function_ref.h"
#include "bench/bitmap_bench.h"
#include "bench/bitmap_figures.h"
#include "bench/bitmap_measure.h"
#include "bench/bitmap_targets.h"
#include "bench/peers/set_store.h"
#include "bench/report.h"
#include "bench/table_store.h"

namespace cadastre::bench {
namespace {

// The largest that is seen while the read hands out its blocks.
double most_heap(base::FunctionRef<void(VisitIds)> read) {
  constexpr std::uint64_t kBlocksPerLook = 64;
  const std::uint64_t before = heap_bytes();
  std::uint64_t most = before;
  std::uint64_t blocks = 0;
  read([&](std::span<const Id>) {
    if (blocks++ % kBlocksPerLook == 0) most = std::max(most, heap_bytes());
  });
  return static_cast<double>(most - before);
}

double stream_heap(SetStore& store, std::string_view key) {
  const auto reader = store.reader();
  return most_heap([&](VisitIds visit) { reader->stream(key, kAllIds, visit); });
}

double operation_heap(TableStore& store,
                      SetOperation operation,
                      std::string_view a,
                      std::string_view b) {
  return most_heap([&](VisitIds visit) { store.visit_combined(operation, a, b, visit); });
}

constexpr std::string_view kFew = ", 1,000 ids";
constexpr std::string_view kTinyKey = "tiny";  // half of the small set

void add_operation_heaps(Bench& bench, TableStore& store) {
  struct Named {
    std::string_view name;
    SetOperation operation;
  };
  for (const Named& one :
       {Named{kIntersectHeap, SetOperation::kIntersection}, Named{kUniteHeap, SetOperation::kUnion},
        Named{kSubtractHeap, SetOperation::kDifference}}) {
    bench.figures.add_bytes(fmt::format("{}{}", one.name, kFew),
                            operation_heap(store, one.operation, kSmallKey, kTinyKey));
    bench.figures.add_bytes(one.name, operation_heap(store, one.operation, kHotKey, kOtherKey));
  }
}

// Where no cache hides what a read needs.
bool shows_heap(const Bench& bench) {
  return !bench.candidate.compacts_by_itself && bench.candidate.storing != Storing::kRows &&
         bench.candidate.storing != Storing::kNothing;
}

}  // namespace

void bench_stream_memory(Bench& bench, SetStore& store) {
  if (!shows_heap(bench) || !bench.has_time_for(kStreamHeap)) return;
  if (auto* const ours = dynamic_cast<TableStore*>(&store)) {
    store.preload(kSmallKey, bench.inputs.small);  // P-7 may have done so, or not.
    store.preload(kOtherKey, bench.inputs.other);
    store.preload(kTinyKey, std::span(bench.inputs.small).first(bench.inputs.small.size() / 2));
    bench.figures.add_bytes(fmt::format("{}{}", kStreamHeap, kFew), stream_heap(store, kSmallKey));
    add_operation_heaps(bench, *ours);
  }
  bench.figures.add_bytes(kStreamHeap, stream_heap(store, kHotKey));
}

void report_heap(Report& report, const Figures& ours) {
  constexpr double kNoise = 1.1;  // A tenth more is the allocator's.
  for (const std::string_view what : {kStreamHeap, kIntersectHeap, kUniteHeap, kSubtractHeap}) {
    const Figure* const large = ours.find(what);
    const Figure* const small = ours.find(fmt::format("{}{}", what, kFew));
    if (large == nullptr || small == nullptr) continue;
    report.add({.what = large->what,
                .unit = large->unit,
                .ours = large->value,
                .peer = "ours with 1,000 ids",
                .theirs = small->value,
                .target = 1 / kNoise});
  }
}

}  // namespace cadastre::bench
