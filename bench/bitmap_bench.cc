// `./dev bench bitmap`: bitmap tables against their peers, on one disk, in one run. Behind `--`:
//
//   --only P-5       one workload
//   --peer SQLite    ours, and the peers whose names have this in them; `none` has no peers
//   --ids 1000000    smaller sets; the targets are for 10 million

#include "bench/bitmap_bench.h"

#include <charconv>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/random.h"
#include "bench/bitmap_figures.h"
#include "bench/bitmap_measure.h"
#include "bench/bitmap_sets.h"
#include "bench/bitmap_targets.h"
#include "bench/peers/blob_store.h"
#include "bench/peers/croaring_store.h"
#include "bench/peers/redis_store.h"
#include "bench/peers/rocksdb_store.h"
#include "bench/peers/rolled_store.h"
#include "bench/peers/set_store.h"
#include "bench/peers/sqlite_store.h"
#include "bench/report.h"
#include "bench/table_store.h"
#include "bitmap/ids.h"

namespace cadastre::bench {
namespace {

template <class Store>
Candidate on_disk(std::string_view name, Storing storing) {
  return {name, storing, [](const std::string& directory) {
            return std::make_unique<Store>(directory);
          }};
}

// Ours comes first: the others' rows are set against it.
std::vector<Candidate> candidates() {
  std::vector<Candidate> all = {on_disk<TableStore>("ours", Storing::kOurs),
                                {"CRoaring in memory", Storing::kNothing,
                                 [](const std::string&) {
                                   return std::make_unique<CroaringStore>();
                                 }},
                                on_disk<BlobStore>("blob in LMDB", Storing::kBitmaps),
                                on_disk<RolledStore>("rolled on LMDB", Storing::kBitmaps),
                                on_disk<RocksdbStore>("RocksDB merge", Storing::kBitmaps),
                                on_disk<SqliteStore>("SQLite in WAL mode", Storing::kRows),
                                on_disk<RedisStore>("Redis over a socket", Storing::kRows)};
  all[4].compacts_by_itself = true;
  return all;
}

BitmapInputs make_inputs(std::size_t ids) {
  constexpr std::size_t kSmallIds = 1000;
  BitmapInputs inputs;
  base::SeededRandom random(3);
  inputs.hot = make_set(SetShape::kRandom, ids, 1);
  inputs.hot_shuffled = shuffled(inputs.hot, random);
  inputs.other = make_set(SetShape::kRandom, ids, 2);
  inputs.other_shuffled = shuffled(inputs.other, random);
  inputs.random64 = shuffled(make_set(SetShape::kRandom64, ids, 4), random);
  const auto half = inputs.hot_shuffled.begin() + kSmallIds / 2;
  inputs.small.assign(inputs.hot_shuffled.begin(), half);
  const auto others = make_set(SetShape::kRandom, kSmallIds / 2, 9);
  inputs.small.insert(inputs.small.end(), others.begin(), others.end());
  return inputs;
}

void run_on_hot_set(Bench& bench) {
  const auto wants = [&](std::string_view workload) {
    return bench.options.wants(workload);
  };
  const bool is_stored = bench.candidate.storing != Storing::kNothing;
  FreshStore store(bench.candidate, bench.directory);
  load_hot_set(bench, *store);
  if (bench.candidate.compacts_by_itself) store->compact(kHotKey);
  if (wants("P-5")) bench_contains(bench, *store);
  if (wants("P-6")) bench_full_reads(bench, *store);
  if (wants("P-7")) bench_algebra(bench, *store);
  if (is_stored && wants("P-1")) bench_inserts(bench, *store);
  if (is_stored && wants("P-9")) bench_readers(bench, *store);
  if (wants("P-8")) bench_removals(bench, *store);
}

void run(Bench& bench) {
  const auto wants = [&](std::string_view workload) {
    return bench.options.wants(workload);
  };
  const Storing storing = bench.candidate.storing;
  if (bench.options.only != "P-3" && bench.options.only != "P-4") run_on_hot_set(bench);
  if (storing != Storing::kNothing) {
    if (wants("P-2")) bench_loads(bench);
    if (wants("P-3")) bench_ascending(bench);
    if (wants("P-4")) bench_random64(bench);
  }
  if (storing != Storing::kRows && wants("P-7")) bench_shapes(bench);
}

// What a stream keeps in memory does not depend on the set: a tenth more is noise of the allocator.
void report_heap(Report& report, const Figures& ours) {
  constexpr double kNoise = 1.1;
  const Figure* const large = ours.find(kStreamHeap);
  const Figure* const small = ours.find("P-6 heap while it streams, 1,000 ids");
  if (large == nullptr || small == nullptr) return;
  report.add({.what = large->what,
              .unit = large->unit,
              .ours = large->value,
              .peer = "ours with 1,000 ids",
              .theirs = small->value,
              .target = 1 / kNoise});
}

void fill(Report& report, const BitmapOptions& options, const std::string& directory) {
  const BitmapInputs inputs = make_inputs(options.ids);
  Figures ours;
  for (const Candidate& candidate : candidates()) {
    const bool is_ours = candidate.storing == Storing::kOurs;
    if (!is_ours && candidate.name.find(options.peer) == std::string_view::npos) continue;
    Figures theirs;
    Bench bench{options, inputs, candidate, directory + "/store", is_ours ? ours : theirs};
    run(bench);
    if (is_ours) {
      report_ours(report, ours);
      report_heap(report, ours);
    } else {
      report_against(report, ours, candidate.name, theirs);
    }
  }
  constexpr double kMebibyte = 1 << 20;
  report.add({.what = "peak resident memory of the run, maps included",
              .unit = "MiB",
              .ours = static_cast<double>(peak_resident_bytes()) / kMebibyte});
}

// Takes an option and its value out of the arguments.
std::optional<std::string> take_option(std::vector<char*>& arguments, std::string_view name) {
  for (std::size_t i = 1; i + 1 < arguments.size(); ++i) {
    if (arguments[i] != name) continue;
    std::string value = arguments[i + 1];
    const auto at = arguments.begin() + static_cast<std::ptrdiff_t>(i);
    arguments.erase(at, at + 2);
    return value;
  }
  return std::nullopt;
}

// Beside the report, which is where the disk to be measured is. Gone at the end.
class DataDirectory {
 public:
  explicit DataDirectory(const std::vector<char*>& arguments) {
    const std::filesystem::path out = std::filesystem::absolute(arguments.back());
    path_ = (out.parent_path() / "sets_XXXXXX").string();
    CAD_CHECK(mkdtemp(path_.data()) != nullptr, "a directory can be made beside the report");
  }
  DataDirectory(const DataDirectory&) = delete;
  DataDirectory& operator=(const DataDirectory&) = delete;
  ~DataDirectory() { std::filesystem::remove_all(path_); }

  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace

FreshStore::FreshStore(const Candidate& candidate, std::string directory)
    : directory_(std::move(directory)), store_(candidate.make(directory_)) {}

FreshStore::~FreshStore() {
  store_.reset();
  std::filesystem::remove_all(directory_);
}

int bitmap_main(int argc, char** argv) {
  std::vector<char*> arguments(argv, argv + argc);
  BitmapOptions options;
  options.only = take_option(arguments, "--only").value_or("");
  options.peer = take_option(arguments, "--peer").value_or("");
  if (const auto ids = take_option(arguments, "--ids")) {
    const char* const end = ids->data() + ids->size();
    if (std::from_chars(ids->data(), end, options.ids).ptr != end || options.ids < 100'000) {
      std::fputs("--ids is a number of at least 100000\n", stderr);
      return 2;
    }
  }
  const auto fill_report = [&](Report& report) {
    const DataDirectory directory(arguments);
    fill(report, options, directory.path());
  };
  return run_benchmark("bitmap", static_cast<int>(arguments.size()), arguments.data(), fill_report);
}

}  // namespace cadastre::bench

int main(int argc, char** argv) {
  return cadastre::bench::bitmap_main(argc, argv);
}
