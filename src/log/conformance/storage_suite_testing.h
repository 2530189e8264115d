// The LogStorage suite: what every storage of the log promises, written once for all of them.
//
// A storage joins with a StorageFactory; a case begins with an empty disk.

#pragma once

#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "base/check.h"
#include "base/result.h"
#include "log/conformance/engine_suite_testing.h"
#include "log/conformance/log_model_testing.h"
#include "log/storage.h"
#include "log/storage/records.h"

namespace cadastre::log::conformance {

// A disk, which outlives the storages that are opened on it.
class StorageDisk {
 public:
  StorageDisk() = default;
  StorageDisk(const StorageDisk&) = delete;
  StorageDisk& operator=(const StorageDisk&) = delete;
  virtual ~StorageDisk() = default;

  [[nodiscard]] virtual base::Result<std::unique_ptr<LogStorage>, OpenError> open(
      NodeIdentity identity) = 0;
};

struct StorageFactory {
  std::string name;
  std::function<std::unique_ptr<StorageDisk>()> make_disk;

  // NOLINTNEXTLINE(readability-identifier-naming): GoogleTest looks for this name
  friend void PrintTo(const StorageFactory& factory, std::ostream* out) { *out << factory.name; }
};

[[nodiscard]] inline std::string name_of(const testing::TestParamInfo<StorageFactory>& info) {
  return info.param.name;
}

// Compares what was recovered, and what can be read, with the model.
inline void expect_equal(const LogModel& model,
                         const LogStorage::Recovered& recovered,
                         LogStorage& storage) {
  EXPECT_EQ(recovered.last_set, model.last_set());
  ASSERT_EQ(recovered.groups.size(), model.groups().size());
  std::size_t place = 0;
  for (const auto& [id, group] : model.groups()) {
    const GroupImage& image = recovered.groups[place++];
    ASSERT_EQ(image.group, id);
    EXPECT_EQ(image.incarnation, Incarnation{1});
    EXPECT_EQ(image.engine, EngineKind::kLocal);
    EXPECT_EQ(image.state, group.state);
    EXPECT_EQ(image.truncated, group.truncated);
    ASSERT_EQ(image.last, group.last());
    std::uint64_t bytes = 0;
    std::vector<TermRun> terms;
    for (const Entry& entry : group.entries) {
      bytes += entry.body.size();
      if (terms.empty() || terms.back().term != entry.at.term)
        terms.push_back({entry.at.index, entry.at.term});
    }
    EXPECT_EQ(image.entry_bytes, bytes);
    EXPECT_EQ(image.terms, terms);
    if (group.entries.empty()) continue;
    const auto read =
        storage.read(id, Incarnation{1}, group.entries.front().at.index, image.last.index, 1 << 30);
    ASSERT_TRUE(read) << read.error().detail;
    ASSERT_EQ(read->size(), group.entries.size());
    for (std::size_t i = 0; i < read->size(); ++i) {
      ASSERT_EQ((*read)[i].at, group.entries[i].at);
      ASSERT_TRUE(base::equal((*read)[i].body.bytes(), group.entries[i].body.bytes()));
    }
  }
}

class StorageSuite : public testing::TestWithParam<StorageFactory> {
 public:
  void SetUp() override {
    disk_ = GetParam().make_disk();
    reopen();
  }

  [[nodiscard]] LogModel& model() noexcept { return model_; }
  [[nodiscard]] LogStorage& storage() const { return *storage_; }
  [[nodiscard]] StorageDisk& disk() const { return *disk_; }

  void write(LogModel::Changes& changes) {
    const auto written = storage_->write(changes.set());
    ASSERT_TRUE(written) << written.error().detail;
  }
  // One process after the other; what it finds is the model.
  void reopen() {
    storage_.reset();
    const LogStorage::Recovered recovered = reopen_unchecked();
    expect_equal(model_, recovered, *storage_);
  }
  // What it finds, whatever the model says.
  LogStorage::Recovered reopen_unchecked() {
    auto opened = disk_->open(kIdentity);
    CAD_CHECK(opened.has_value(), "a storage of the suite opens");
    storage_ = std::move(*opened);
    auto recovered = storage_->recover();
    EXPECT_TRUE(recovered) << recovered.error().detail;
    return recovered ? std::move(*recovered) : LogStorage::Recovered{};
  }
  void close() { storage_.reset(); }

 private:
  LogModel model_;
  std::unique_ptr<StorageDisk> disk_;
  std::unique_ptr<LogStorage> storage_;
};

}  // namespace cadastre::log::conformance
