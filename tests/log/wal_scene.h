// A scene of the tests about write-ahead files: a log of a few sets, kept untouched, and one kind of
// damage at many places of its copies, each opened in four ways. The outcomes are counted and printed:
// they are the rows of the table in docs/decisions/0004.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iosfwd>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <rocksdb/env.h>

#include "base/check.h"
#include "tests/log/crash_file_system.h"
#include "tests/log/raw_log.h"

namespace cadastre::log {

// How often each outcome came.
struct Tally {
  std::size_t refused = 0, whole = 0, without_last = 0, fewer = 0, hole = 0;

  void add(Outcome outcome);
  friend bool operator==(const Tally&, const Tally&) = default;
};
void PrintTo(const Tally& tally, std::ostream* out);

// A damage opened in all ways. Under slow checks and sanitizers only in ours: they say nothing new about
// RocksDB's, and the tests would take minutes.
struct Row {
  Tally tolerant, point, absolute, judged;
};
inline constexpr bool kAllWays = !base::kSlowChecks;
// All that were tried are as expected.
void expect_row(const Row& seen, const Row& expected);

struct Extent {
  std::size_t begin, end;
};

class Scene {
 public:
  using FileDamage = std::function<void(std::string& wal, std::size_t at)>;
  using DirectoryDamage = std::function<void(const std::string& directory, std::size_t at)>;

  // Sets 1, 2, ... with values of these sizes in one file.
  explicit Scene(const std::vector<std::size_t>& value_bytes);

  // Sets 1 to 4 in one file and 5 to 8 in the next, as a crash leaves them while the first is flushed.
  [[nodiscard]] static std::unique_ptr<Scene> of_two_files();

  [[nodiscard]] std::uint64_t sets() const { return ends_.size() - 1; }
  // Where a set lies in its file; unknown for the first set of a second file.
  [[nodiscard]] Extent set(std::uint64_t n) const { return {ends_.at(n - 1), ends_.at(n)}; }
  [[nodiscard]] Extent last_set() const { return set(sets()); }
  // The bytes of the last file.
  [[nodiscard]] std::string wal() const;

  [[nodiscard]] Tally open(Way way,
                           const std::vector<std::size_t>& places,
                           const DirectoryDamage& damage) const;
  [[nodiscard]] Row open(std::string_view title,
                         const std::vector<std::size_t>& places,
                         const DirectoryDamage& damage) const;
  // The damage is done to the last file.
  [[nodiscard]] Row open_last(std::string_view title,
                              const std::vector<std::size_t>& places,
                              const FileDamage& damage) const;
  [[nodiscard]] Tally open_last(Way way,
                                const std::vector<std::size_t>& places,
                                const FileDamage& damage) const;

 private:
  Scene() = default;

  const TemporaryDirectory home_;
  const std::string kept_ = home_ / "kept";
  const std::shared_ptr<CrashFileSystem> files_ = std::make_shared<CrashFileSystem>();
  const std::unique_ptr<rocksdb::Env> env_ = make_crash_env(files_);
  std::vector<std::size_t> ends_;
};

// Two sets with values of these sizes, the first of a log, end `left` bytes before the first block does.
inline constexpr std::size_t kHalfBlockValue = 16300;
[[nodiscard]] std::size_t half_block_value_leaving(std::size_t left);

// Every `step`-th offset of an extent.
[[nodiscard]] std::vector<std::size_t> every_byte(Extent extent, std::size_t step = 1);

// The kinds of damage: behind `at` the file ends, is zero, is garbage; or it is longer by `bytes` zeros.
void cut(std::string& wal, std::size_t at);
void zero_from(std::string& wal, std::size_t at);
void spoil_from(std::string& wal, std::size_t at);
void grow(std::string& wal, std::size_t bytes);
// `at` counts bits.
void flip_bit(std::string& wal, std::size_t at);
void zero(std::string& wal, Extent extent);

}  // namespace cadastre::log
