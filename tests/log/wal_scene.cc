#include "tests/log/wal_scene.h"

#include <algorithm>
#include <filesystem>
#include <ostream>
#include <span>

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "base/mutex.h"
#include "base/random.h"

namespace cadastre::log {
namespace {

namespace fs = std::filesystem;

std::string shown(const Tally& tally) {
  std::string text;
  const auto show = [&](std::size_t count, std::string_view word) {
    if (count != 0) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, word);
  };
  show(tally.refused, "refused");
  show(tally.whole, "whole");
  show(tally.without_last, "without the last");
  show(tally.fewer, "SYNCED SETS GONE");
  show(tally.hole, "A HOLE");
  return text;
}

Scene::DirectoryDamage in_last_file(const Scene::FileDamage& damage) {
  return [damage](const std::string& directory, std::size_t at) {
    const std::string path = wal_paths(directory).back();
    std::string bytes = read_bytes(path);
    damage(bytes, at);
    write_bytes(path, bytes);
  };
}

// Holds back the syncs of table files, so that a flush does not end.
class HeldFlush {
 public:
  void wait_if_table(const std::string& path) {
    if (!path.ends_with(".sst")) return;
    const base::MutexLock lock(mutex_);
    while (!released_)
      changed_.wait(mutex_);
  }
  void release() {
    const base::MutexLock lock(mutex_);
    released_ = true;
    changed_.notify_all();
  }

 private:
  base::Mutex mutex_;
  base::CondVar changed_;
  bool released_ CAD_GUARDED_BY(mutex_) = false;
};

}  // namespace

void Tally::add(Outcome outcome) {
  switch (outcome) {
    case Outcome::kRefused: ++refused; break;
    case Outcome::kAll: ++whole; break;
    case Outcome::kWithoutLast: ++without_last; break;
    case Outcome::kFewer: ++fewer; break;
    case Outcome::kHole: ++hole; break;
  }
}

void PrintTo(const Tally& tally, std::ostream* out) {
  *out << shown(tally);
}

void expect_row(const Row& seen, const Row& expected) {
  EXPECT_EQ(seen.judged, expected.judged);
  if (!kAllWays) return;
  EXPECT_EQ(seen.tolerant, expected.tolerant);
  EXPECT_EQ(seen.point, expected.point);
  EXPECT_EQ(seen.absolute, expected.absolute);
}

Scene::Scene(const std::vector<std::size_t>& value_bytes) {
  RawLog log(*env_, kept_, rocksdb::WALRecoveryMode::kAbsoluteConsistency);
  EXPECT_TRUE(log.status().ok()) << log.status().ToString();
  ends_.push_back(fs::file_size(wal_paths(kept_).back()));
  for (const std::size_t bytes : value_bytes) {
    EXPECT_TRUE(log.write(ends_.size(), bytes).ok());
    ends_.push_back(fs::file_size(wal_paths(kept_).back()));
  }
}

std::unique_ptr<Scene> Scene::of_two_files() {
  std::unique_ptr<Scene> scene(new Scene());
  const std::string live = scene->home_ / "live";
  HeldFlush held;
  scene->files_->set_sync_hook([&](const std::string& path) { held.wait_if_table(path); });
  {
    RawLog log(*scene->env_, live, rocksdb::WALRecoveryMode::kAbsoluteConsistency);
    EXPECT_TRUE(log.status().ok()) << log.status().ToString();
    scene->ends_.push_back(fs::file_size(wal_paths(live).back()));
    for (std::uint64_t set = 1; set <= 8; ++set) {
      const bool is_first_of_file = set == 5;
      EXPECT_TRUE(!is_first_of_file || log.begin_flush().ok());
      EXPECT_TRUE(log.write(set, 40).ok());
      scene->ends_.push_back(fs::file_size(wal_paths(live).back()));
    }
    fs::copy(live, scene->kept_, fs::copy_options::recursive);
    held.release();
  }
  scene->files_->set_sync_hook({});
  EXPECT_EQ(wal_paths(scene->kept_).size(), 2U);
  return scene;
}

std::string Scene::wal() const {
  return read_bytes(wal_paths(kept_).back());
}

Tally Scene::open(Way way,
                  const std::vector<std::size_t>& places,
                  const DirectoryDamage& damage) const {
  Tally tally;
  for (const std::size_t at : places) {
    const std::string trial = home_ / "trial";
    fs::copy(kept_, trial, fs::copy_options::recursive);
    damage(trial, at);
    tally.add(reopen(*env_, trial, way, sets()));
    files_->materialise(kKeepAll);
    fs::remove_all(trial);
  }
  return tally;
}

Row Scene::open(std::string_view title,
                const std::vector<std::size_t>& places,
                const DirectoryDamage& damage) const {
  if (!kAllWays) {
    Row ours;
    ours.judged = open(Way::kJudged, places, damage);
    return ours;
  }
  const Row row{.tolerant = open(Way::kTolerant, places, damage),
                .point = open(Way::kPoint, places, damage),
                .absolute = open(Way::kAbsolute, places, damage),
                .judged = open(Way::kJudged, places, damage)};
  fmt::print("{}\n  tolerant       {}\n  point in time  {}\n", title, shown(row.tolerant),
             shown(row.point));
  fmt::print("  absolute       {}\n  judged         {}\n", shown(row.absolute), shown(row.judged));
  return row;
}

Row Scene::open_last(std::string_view title,
                     const std::vector<std::size_t>& places,
                     const FileDamage& damage) const {
  return open(title, places, in_last_file(damage));
}

Tally Scene::open_last(Way way,
                       const std::vector<std::size_t>& places,
                       const FileDamage& damage) const {
  return open(way, places, in_last_file(damage));
}

std::size_t half_block_value_leaving(std::size_t left) {
  const Scene measured({kHalfBlockValue, kHalfBlockValue});
  return kHalfBlockValue + (kWalBlockBytes - measured.last_set().end) - left;
}

std::vector<std::size_t> every_byte(Extent extent, std::size_t step) {
  std::vector<std::size_t> places;
  for (std::size_t at = extent.begin; at < extent.end; at += step)
    places.push_back(at);
  return places;
}

void cut(std::string& wal, std::size_t at) {
  wal.resize(at);
}

void zero_from(std::string& wal, std::size_t at) {
  zero(wal, {at, wal.size()});
}

void spoil_from(std::string& wal, std::size_t at) {
  base::SeededRandom random(at);
  for (std::size_t i = at; i < wal.size(); ++i)
    wal[i] = static_cast<char>(random.next_u64());
}

void grow(std::string& wal, std::size_t bytes) {
  wal.resize(wal.size() + bytes);
}

void flip_bit(std::string& wal, std::size_t at) {
  wal[at / 8] = static_cast<char>(wal[at / 8] ^ (1 << (at % 8)));
}

void zero(std::string& wal, Extent extent) {
  std::ranges::fill(std::span(wal).subspan(extent.begin, extent.end - extent.begin), '\0');
}

}  // namespace cadastre::log
