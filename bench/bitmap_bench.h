// The parts of `./dev bench bitmap`: the workloads P-1 to P-9 of bitmap-tables.md 7.1, each written once
// over SetStore and run on ours and on every peer.
//
// Sets have 10 million ids unless --ids says otherwise. Every part has a time limit; a store that is too
// slow for the plan is measured on what it got done, and its rows say how much that was. All peers share
// what is left of kRunLimit; what one has no time for is named in the report. Parts that have targets come
// first.

#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "bench/bitmap_figures.h"
#include "bench/bitmap_measure.h"
#include "bench/peers/set_store.h"
#include "bench/report.h"
#include "bitmap/ids.h"

namespace cadastre::bench {

inline constexpr std::string_view kHotKey = "hot";      // random 32-bit ids, arrived in no order
inline constexpr std::string_view kOtherKey = "other";  // another such set
inline constexpr std::string_view kSmallKey =
    "small";                                      // a thousand ids, half of them in the hot set
inline constexpr std::size_t kLoadIds = 100'000;  // of one transaction of a load

inline constexpr std::chrono::seconds kRunLimit{13 * 60};
// After that not even parts with targets begin: on a machine that is busy with other things the report is
// incomplete, and says so, rather than late.
inline constexpr std::chrono::seconds kRunLimitHard{14 * 60};

struct BitmapOptions {
  std::string only;  // a workload such as P-5, or nothing: all
  std::string peer;  // part of a name, or nothing: all
  std::size_t ids = 10'000'000;
  bool through_map = false;  // ours writes so

  [[nodiscard]] bool wants(std::string_view workload) const {
    return only.empty() || only == workload;
  }
};

// Made once for all stores.
struct BitmapInputs {
  std::vector<Id> hot;  // ascending
  std::vector<Id> hot_shuffled;
  std::vector<Id> other;  // ascending
  std::vector<Id> other_shuffled;
  std::vector<Id> small;
  std::vector<Id> random64;  // in no order
};

enum class Storing : std::uint8_t {
  kOurs,
  kBitmaps,  // whole bitmaps or parts of them
  kRows,     // a row, or a member, for each id: dense sets cost what sparse ones do
  kNothing,  // in memory only: reads count, writes do not
};

// One store under measurement.
struct Candidate {
  std::string_view name;
  Storing storing = Storing::kBitmaps;
  std::function<std::unique_ptr<SetStore>(const std::string& directory)> make;
  std::string version;
  bool compacts_by_itself = false;  // In time; before it is read here we make it do so.
  bool buffers_unsynced = false;    // What is not synced stays in its own memory.
};

// An empty store in a directory of its own, which goes with it.
class FreshStore {
 public:
  FreshStore(const Candidate& candidate, std::string directory);
  FreshStore(const FreshStore&) = delete;
  FreshStore& operator=(const FreshStore&) = delete;
  ~FreshStore();

  [[nodiscard]] SetStore& operator*() { return *store_; }
  [[nodiscard]] SetStore* operator->() { return store_.get(); }

 private:
  std::string directory_;
  std::unique_ptr<SetStore> store_;
};

struct Bench {
  const BitmapOptions& options;
  const BitmapInputs& inputs;
  const Candidate& candidate;
  std::string directory;  // for stores; does not exist yet
  Figures& figures;
  Deadline time;      // of this store
  Deadline run_time;  // of the run, for parts that have targets

  // So much for transactions of single inserts. Ours are never cut short.
  [[nodiscard]] Limits limits(std::chrono::milliseconds all) const {
    return {.all = all, .first_step = candidate.storing == Storing::kOurs ? kNoLimit : all};
  }
  // Whether there is time left for a part; if not, the part is named in the report.
  [[nodiscard]] bool has_time_for(std::string_view part);
  // The same for a part with targets, which may take of the others' time.
  [[nodiscard]] bool may_run(std::string_view part);
};

// Bytes on disk, and those that are not free, for each of so many ids.
void add_space(Figures& figures, std::string_view what, SetStore& store, std::uint64_t ids);

// Fills an empty store; P-2's shuffled load.
void load_hot_set(Bench& bench, SetStore& store);
// On a store that holds the hot set.
void bench_inserts(Bench& bench, SetStore& store);        // P-1
void bench_contains(Bench& bench, SetStore& store);       // P-5
void bench_stream(Bench& bench, SetStore& store);         // P-6
void bench_intersection(Bench& bench, SetStore& store);   // P-7, random; loads the other sets
void bench_stream_memory(Bench& bench, SetStore& store);  // P-6; after P-7, for it loads other sets
void bench_more_reads(Bench& bench, SetStore& store);     // P-6 without targets
void bench_more_algebra(Bench& bench, SetStore& store);   // P-7 without targets
void bench_removals(Bench& bench, SetStore& store);       // P-8; last, for it leaves half
void bench_readers(Bench& bench, SetStore& store);        // P-9
// On fresh stores.
void bench_loads(Bench& bench);      // P-2, sorted and over many keys
void bench_ascending(Bench& bench);  // P-3
void bench_random64(Bench& bench);   // P-4
void bench_shapes(Bench& bench);     // P-7, dense and clustered

// What a streaming read keeps in memory does not depend on the set.
void report_heap(Report& report, const Figures& ours);

}  // namespace cadastre::bench
