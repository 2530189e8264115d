// `./dev bench bitmap`: bitmap tables against their peers, on one disk, in one run. Behind `--`:
//
//   --only P-5       one workload
//   --peer SQLite    ours, and the peers whose names have this in them; `none` has no peers
//   --ids 1000000    smaller sets; the targets are for 10 million
//   --through-map    ours opens its store with Writes::kThroughMap

#include "bench/bitmap_bench.h"

#include <algorithm>
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

#include <fmt/format.h>
#include <lmdb.h>
#include <roaring/roaring_version.h>

#include "base/check.h"
#include "base/random.h"
#include "bench/bitmap_figures.h"
#include "bench/bitmap_measure.h"
#include "bench/bitmap_sets.h"
#include "bench/bitmap_targets.h"
#include "bench/peers/blob_store.h"
#include "bench/peers/croaring_store.h"
#include "bench/peers/redb_store.h"
#include "bench/peers/redis_store.h"
#include "bench/peers/rocksdb_store.h"
#include "bench/peers/rolled_store.h"
#include "bench/peers/set_store.h"
#include "bench/peers/sqlite_store.h"
#include "bench/report.h"
#include "bench/table_store.h"
#include "bitmap/ids.h"
#include "kv/lmdb/lmdb_options.h"

namespace cadastre::bench {
namespace {

template <class Store>
Candidate on_disk(std::string_view name, Storing storing, std::string version) {
  const auto make = [](const std::string& directory) {
    return std::make_unique<Store>(directory);
  };
  return {.name = name, .storing = storing, .make = make, .version = std::move(version)};
}

std::string lmdb_version() {
  return mdb_version(nullptr, nullptr, nullptr);
}

std::string croaring_version() {
  return fmt::format("CRoaring {}.{}.{}", int{ROARING_VERSION_MAJOR}, int{ROARING_VERSION_MINOR},
                     int{ROARING_VERSION_REVISION});
}

// Ours comes first: the others' rows are set against it. Fast ones follow and leave their time to the slow.
std::vector<Candidate> candidates(bool through_map) {
  const std::string on_lmdb = fmt::format("{}, {}", lmdb_version(), croaring_version());
  const auto writes = through_map ? kv::lmdb::Writes::kThroughMap : kv::lmdb::Writes::kByCall;
  std::vector<Candidate> all = {
      {.name = "ours",
       .storing = Storing::kOurs,
       .make =
           [writes](const std::string& directory) {
             return std::make_unique<TableStore>(directory, writes);
           },
       .version = on_lmdb + (through_map ? ", writes through the map" : "")},
      {.name = kCroaring,
       .storing = Storing::kNothing,
       .make = [](const std::string&) { return std::make_unique<CroaringStore>(); },
       .version = croaring_version()},
      on_disk<RocksdbStore>(kRocksdb, Storing::kBitmaps, rocksdb_version()),
      on_disk<SqliteStore>(kSqlite, Storing::kRows, sqlite_version()),
      on_disk<RedisStore>(kRedis, Storing::kRows, redis_version()),
      on_disk<BlobStore>(kBlob, Storing::kBitmaps, on_lmdb),
      {.name = kRust,
       .storing = Storing::kBitmaps,
       .make = make_redb_store,
       .version = redb_versions().value_or(""),
       .buffers_unsynced = true},
      on_disk<RolledStore>(kRolled, Storing::kBitmaps, on_lmdb)};
  std::ranges::find(all, kRocksdb, &Candidate::name)->compacts_by_itself = true;
  std::ranges::find(all, kRedis, &Candidate::name)->buffers_unsynced = true;
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
  if (wants("P-6")) bench_stream(bench, *store);
  if (wants("P-7") && bench.may_run("P-7")) bench_intersection(bench, *store);
  if (is_stored && wants("P-1") && bench.may_run("P-1")) bench_inserts(bench, *store);
  // From here on nothing has a target, except for ours and CRoaring, which have the time.
  if (bench.candidate.compacts_by_itself) store->compact(kHotKey);
  if (wants("P-6")) bench_more_reads(bench, *store);
  if (wants("P-7")) bench_more_algebra(bench, *store);
  if (wants("P-6")) bench_stream_memory(bench, *store);
  if (is_stored && wants("P-9") && bench.has_time_for("P-9")) bench_readers(bench, *store);
  if (wants("P-8") && bench.has_time_for("P-8")) bench_removals(bench, *store);
}

void run(Bench& bench) {
  const auto wants = [&](std::string_view workload) {
    return bench.options.wants(workload);
  };
  const Storing storing = bench.candidate.storing;
  const bool needs_hot_set = bench.options.only != "P-3" && bench.options.only != "P-4";
  if (needs_hot_set && bench.may_run("the large set")) run_on_hot_set(bench);
  if (storing != Storing::kNothing) {
    if (wants("P-3") && bench.may_run("P-3")) bench_ascending(bench);
    if (wants("P-2") && bench.has_time_for("P-2 sorted, and over many keys")) bench_loads(bench);
    if (wants("P-4") && bench.has_time_for("P-4")) bench_random64(bench);
  }
  if (storing == Storing::kRows || !wants("P-7")) return;
  if (bench.has_time_for("P-7 dense and clustered")) bench_shapes(bench);
}

// Every target is in the report: as a row, or by name.
void report_targets_without_row(Report& report,
                                const BitmapOptions& options,
                                const Candidate& candidate) {
  for (const Target& target : target_ratios()) {
    const std::string_view workload = target.what.substr(0, target.what.find(' '));
    if (target.peer != candidate.name || !options.wants(workload)) continue;
    if (report.has_row(target.what, target.peer)) continue;
    report.add_missing(std::string(target.what), std::string(target.peer),
                       fmt::format("promised {:g} x, NOT MEASURED", target.ratio));
  }
}

bool is_wanted(const Candidate& candidate, const BitmapOptions& options) {
  return candidate.storing == Storing::kOurs ||
         candidate.name.find(options.peer) != std::string_view::npos;
}

void fill(Report& report, const BitmapOptions& options, const std::string& directory) {
  const Deadline end(kRunLimit);
  const Deadline hard_end(kRunLimitHard);
  const BitmapInputs inputs = make_inputs(options.ids);
  std::vector<Candidate> wanted = candidates(options.through_map);
  std::erase_if(wanted, [&](const Candidate& one) { return !is_wanted(one, options); });
  Figures ours;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const Candidate& candidate = wanted[i];
    if (candidate.version.empty()) {
      report.add_missing("all", std::string(candidate.name), "not there: no cargo, or no crates");
      continue;
    }
    report.add_version(std::string(candidate.name), candidate.version);
    const bool is_ours = candidate.storing == Storing::kOurs;
    const auto share = end.left() / static_cast<int>(wanted.size() - i);
    Figures theirs;
    Bench bench{options,
                inputs,
                candidate,
                directory + "/store",
                is_ours ? ours : theirs,
                Deadline(is_ours ? kRunLimit : share),
                hard_end};
    run(bench);
    if (is_ours) {
      report_ours(report, ours);
      report_heap(report, ours);
    } else {
      report_against(report, ours, candidate.name, theirs);
      report_targets_without_row(report, options, candidate);
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

bool Bench::has_time_for(std::string_view part) {
  if (!time.has_passed()) return true;
  figures.add_missing(part, "not run: its share of the time was over");
  return false;
}

bool Bench::may_run(std::string_view part) {
  if (!run_time.has_passed()) return true;
  figures.add_missing(part, "not run: the time of the run was over");
  return false;
}

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
  options.through_map = std::erase_if(arguments, [](std::string_view argument) {
                          return argument == "--through-map";
                        }) != 0;
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
