// A real disk that is full: RocksDB on a small file system in memory, which takes root to mount.

#include <sys/mount.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "log/conformance/engine_suite_testing.h"
#include "log/conformance/environments_testing.h"

namespace cadastre::log::conformance {
namespace {

constexpr GroupId kGroup{7};

// A file system of this many bytes.
class SmallDisk final : public EngineDisk {
 public:
  explicit SmallDisk(std::size_t bytes) {
    const std::string size = "size=" + std::to_string(bytes);
    if (::mount("none", scratch_.path().c_str(), "tmpfs", 0, size.c_str()) != 0)
      refused_ = std::strerror(errno);
  }
  ~SmallDisk() override {
    if (refused_.empty()) (void)::umount2(scratch_.path().c_str(), MNT_DETACH);
  }

  [[nodiscard]] const std::string& refused() const noexcept { return refused_; }
  [[nodiscard]] bool grow(std::size_t bytes) const {
    const std::string size = "size=" + std::to_string(bytes);
    return ::mount("none", scratch_.path().c_str(), "tmpfs", MS_REMOUNT, size.c_str()) == 0;
  }

  [[nodiscard]] base::Result<std::unique_ptr<LogStorage>, OpenError> open() override {
    RocksOptions options;
    options.directory = scratch_.path() / "log";
    options.identity = kIdentity;
    return CAD_TRY(RocksStorage::open(options));
  }
  void append(LogStorage&, const WriteSet&) override {}
  [[nodiscard]] WriteResult sync(LogStorage& storage, const WriteSet& set) override {
    return storage.write(set);
  }
  void crash(Unsynced) override {}
  [[nodiscard]] std::vector<Unsynced> fates() const override { return {Unsynced::kDropped}; }

 private:
  ScratchDirectory scratch_;
  std::string refused_;
};

TEST(DiskFull, StopsTheNodeAndLosesNothingThatWasCompleted) {  // L-49, 14.3
  SmallDisk* disk = nullptr;
  const Environment environment{"small",
                                [&] {
                                  auto made = std::make_unique<SmallDisk>(6 * kMiB);
                                  disk = made.get();
                                  return made;
                                },
                                open_local};
  Node node(environment);
  if (!disk->refused().empty()) GTEST_SKIP() << "cannot mount: " << disk->refused();
  const auto started = node.try_start({kGroup});
  ASSERT_TRUE(started) << started.error().detail;
  std::vector<std::shared_ptr<Outcome>> outcomes;
  for (int i = 0; i < 100 && !node.host().dead(); ++i) {
    outcomes.push_back(node.propose(kGroup, std::string(100'000, 'x') + std::to_string(i)));
    node.rest();
  }
  ASSERT_TRUE(node.host().dead());
  EXPECT_NE(node.runner().failed.find("No space left"), std::string::npos) << node.runner().failed;
  std::size_t completed = 0;
  for (const auto& outcome : outcomes)
    completed += outcome->applied() ? 1 : 0;
  EXPECT_GT(completed, 10U);
  EXPECT_LT(completed, outcomes.size());
  EXPECT_EQ(outcomes.back()->times, 0);
  node.crash();
  EXPECT_EQ(outcomes.back()->error(), "outcome_unknown");

  ASSERT_TRUE(disk->grow(64 * kMiB));  // The operator makes room.
  const auto again = node.try_start({kGroup});
  ASSERT_TRUE(again) << again.error().detail;
  const std::vector<std::string>& executed = node.machine(kGroup).state().commands;
  ASSERT_GE(executed.size(), completed);
  for (std::size_t i = 0; i < executed.size(); ++i)
    EXPECT_EQ(executed[i], outcomes[i]->command) << i;
  const auto more = node.propose(kGroup, "more");
  node.rest();
  EXPECT_TRUE(more->applied()) << more->error();
}

}  // namespace
}  // namespace cadastre::log::conformance
