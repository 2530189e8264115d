#include "bench/lease_reads.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <latch>
#include <memory>
#include <string>

#include <fmt/format.h>
#include <rocksdb/db.h>
#include <rocksdb/options.h>

#include "base/check.h"
#include "bench/scratch_directory.h"
#include "log/propose.h"

namespace cadastre::bench {
namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr std::uint64_t kRows = 100'000;
constexpr std::size_t kValueBytes = 100;
constexpr std::uint64_t kReadsInTurn = 4'096;
constexpr std::uint64_t kStride = 7'919;  // A prime: neighbours in time are none in the table.

// What a state machine would be read from: all of it in memory.
class Table {
 public:
  Table() : directory_("reads") {
    rocksdb::Options options;
    options.create_if_missing = true;
    rocksdb::DB* opened = nullptr;
    CAD_CHECK(rocksdb::DB::Open(options, directory_.path().string(), &opened).ok(),
              "an empty directory takes a table");
    db_.reset(opened);
    for (std::uint64_t row = 0; row < kRows; ++row) {
      CAD_CHECK(db_->Put({}, key_of(row), std::string(kValueBytes, 'v')).ok(),
                "a table takes its rows");
    }
  }

  void read_next() {
    at_ = (at_ + kStride) % kRows;
    rocksdb::PinnableSlice value;
    const auto read = db_->Get({}, db_->DefaultColumnFamily(), key_of(at_), &value);
    CAD_CHECK(read.ok() && value.size() == kValueBytes, "a row is there");
  }

 private:
  static std::string key_of(std::uint64_t row) { return fmt::format("{:012}", row); }

  const ScratchDirectory directory_;
  std::unique_ptr<rocksdb::DB> db_;
  std::uint64_t at_ = 0;
};

class Reader {
 public:
  explicit Reader(log::Group& group) : group_(group) {}

  // A read that saw the lease end is begun anew, as its callers do.
  void guarded_read() {
    for (;;) {
      const log::ReadPoint at = barrier();
      table_.read_next();
      if (!group_.still_holds(at)) continue;
      by_lease_ += at.lease ? 1 : 0;
      return;
    }
  }
  void unguarded_read() { table_.read_next(); }
  [[nodiscard]] std::uint64_t by_lease() const noexcept { return by_lease_; }

 private:
  log::ReadPoint barrier() {
    std::latch told(1);
    log::ReadPoint point;
    group_.read_barrier(log::ReadMode::kLeaseIfValid, [&](const log::ReadAnswer& answer) {
      CAD_CHECK(answer.has_value(), "a leader answers readers");
      point = *answer;
      told.count_down();
    });
    told.wait();
    return point;
  }

  log::Group& group_;
  Table table_;
  std::uint64_t by_lease_ = 0;
};

}  // namespace

GuardedReads run_guarded_reads(log::Group& group, double seconds) {
  Reader reader(group);
  std::uint64_t turns = 0;
  SteadyClock::duration guarded{};
  SteadyClock::duration unguarded{};
  const auto until = SteadyClock::now() + std::chrono::duration<double>(seconds);
  while (SteadyClock::now() < until) {
    const auto began = SteadyClock::now();
    for (std::uint64_t i = 0; i < kReadsInTurn; ++i)
      reader.guarded_read();
    const auto between = SteadyClock::now();
    for (std::uint64_t i = 0; i < kReadsInTurn; ++i)
      reader.unguarded_read();
    guarded += between - began;
    unguarded += SteadyClock::now() - between;
    ++turns;
  }
  const auto reads = static_cast<double>(turns * kReadsInTurn);
  return {.guarded = reads / std::chrono::duration<double>(guarded).count(),
          .unguarded = reads / std::chrono::duration<double>(unguarded).count(),
          .by_lease = static_cast<double>(reader.by_lease()) / reads};
}

}  // namespace cadastre::bench
