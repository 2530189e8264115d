// A real disk that is full: RocksDB on a small file system in memory. Where that may not be mounted, a
// limit of the process on the size of its files stands in for it.

#include <sys/mount.h>
#include <sys/resource.h>

#include <csignal>
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

class SmallDisk final : public EngineDisk {
 public:
  explicit SmallDisk(std::size_t bytes) {
    const std::string size = "size=" + std::to_string(bytes);
    mounted_ = ::mount("none", scratch_.path().c_str(), "tmpfs", 0, size.c_str()) == 0;
    if (mounted_) return;
    CAD_CHECK(::getrlimit(RLIMIT_FSIZE, &before_) == 0, "a process knows its limits");
    (void)std::signal(SIGXFSZ, SIG_IGN);  // The write fails instead.
    const ::rlimit limit{.rlim_cur = bytes, .rlim_max = before_.rlim_max};
    CAD_CHECK(::setrlimit(RLIMIT_FSIZE, &limit) == 0, "a process may limit itself");
  }
  ~SmallDisk() override {
    grow();
    if (mounted_) (void)::umount2(scratch_.path().c_str(), MNT_DETACH);
  }

  void grow() const {
    if (mounted_) {
      CAD_CHECK(::mount("none", scratch_.path().c_str(), "tmpfs", MS_REMOUNT, "size=64m") == 0,
                "a file system grows");
    } else {
      CAD_CHECK(::setrlimit(RLIMIT_FSIZE, &before_) == 0, "a soft limit can be lifted");
    }
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
  bool mounted_ = false;
  ::rlimit before_{};
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
  const auto started = node.try_start({kGroup});
  ASSERT_TRUE(started) << started.error().detail;
  std::vector<std::shared_ptr<Outcome>> outcomes;
  for (int i = 0; i < 100 && !node.host().dead(); ++i) {
    outcomes.push_back(node.propose(kGroup, std::string(100'000, 'x') + std::to_string(i)));
    node.rest();
  }
  ASSERT_TRUE(node.host().dead());
  const std::string& failed = node.runner().failed;
  EXPECT_TRUE(failed.contains("No space left") || failed.contains("File too large")) << failed;
  std::size_t completed = 0;
  for (const auto& outcome : outcomes)
    completed += outcome->applied() ? 1 : 0;
  EXPECT_GT(completed, 10U);
  EXPECT_LT(completed, outcomes.size());
  EXPECT_EQ(outcomes.back()->times, 0);
  node.crash();
  EXPECT_EQ(outcomes.back()->error(), "outcome_unknown");

  disk->grow();  // The operator makes room.
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
