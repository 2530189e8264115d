#include "node/local_log.h"

#include <unistd.h>

#include <array>
#include <filesystem>
#include <future>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <stdlib.h>

#include "base/threads_testing.h"
#include "log/ledger_testing.h"

namespace cadastre::node {
namespace {

using log::LedgerDisk;
using log::LedgerMachine;

class LocalLogTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "cadastre-node-XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    scratch = name;
  }
  void TearDown() override { std::filesystem::remove_all(scratch); }

  [[nodiscard]] std::unique_ptr<LocalLog> open() {
    auto log = LocalLog::open({.directory = scratch / "log"}, clock, logger);
    EXPECT_TRUE(log) << log.error().detail;
    return log ? std::move(*log) : nullptr;
  }

  std::filesystem::path scratch;
  base::SystemClock clock;
  std::unique_ptr<base::LogSink> sink = base::stderr_log_sink();
  base::Logger logger{*sink, clock, base::LogForm::kText};
};

log::Answer propose(log::Group& group, const std::string& command) {
  std::promise<log::Answer> answered;
  std::array proposals{log::Proposal{base::as_bytes(command), [&](log::Answer answer) {
                                       answered.set_value(std::move(answer));
                                     }}};
  group.propose(proposals, log::Class::kUser);
  return answered.get_future().get();
}

TEST_F(LocalLogTest, ManyCallersOnManyGroupsLoseNothingOverARestart) {
  constexpr int kCallers = 4;
  constexpr std::size_t kGroups = 8;
  constexpr int kCommands = 50;
  std::array<LedgerDisk, kGroups> disks;
  std::array<std::uint64_t, kGroups> digests{};
  {
    std::array<std::unique_ptr<LedgerMachine>, kGroups> machines;
    std::vector<log::Group*> groups;
    const auto log = open();
    for (std::size_t i = 0; i < kGroups; ++i) {
      machines[i] = std::make_unique<LedgerMachine>(disks[i]);
      auto group = log->host().open_group({.group = log::GroupId{i}, .machine = *machines[i]});
      ASSERT_TRUE(group) << group.error().detail;
      groups.push_back(*group);
    }
    base::run_in_threads(kCallers, [&](int caller) {
      for (int i = 0; i < kCommands; ++i) {
        for (log::Group* group : groups)
          EXPECT_TRUE(propose(*group, std::to_string(caller) + "/" + std::to_string(i)));
      }
    });
    EXPECT_TRUE(log->stop(std::chrono::seconds(10)));
    for (std::size_t i = 0; i < kGroups; ++i) {
      EXPECT_EQ(machines[i]->state().commands.size(), std::size_t{kCallers * kCommands});
      digests[i] = machines[i]->state().digest;
    }
  }
  std::array<std::unique_ptr<LedgerMachine>, kGroups> machines;
  const auto log = open();
  for (std::size_t i = 0; i < kGroups; ++i) {
    machines[i] = std::make_unique<LedgerMachine>(disks[i]);
    ASSERT_TRUE(log->host().open_group({.group = log::GroupId{i}, .machine = *machines[i]}));
    EXPECT_EQ(machines[i]->state().digest, digests[i]);
  }
  log->stop(std::chrono::seconds(10));
}

TEST_F(LocalLogTest, ASecondOpenerLearnsWhoIsFirst) {
  const auto first = open();
  const auto second = LocalLog::open({.directory = scratch / "log"}, clock, logger);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, log::OpenError::kLocked);
  EXPECT_NE(second.error().detail.find(std::to_string(getpid())), std::string::npos);
}

TEST_F(LocalLogTest, AfterItsStopCommandsAreRefused) {
  LedgerDisk disk;
  LedgerMachine machine(disk);
  const auto log = open();
  log::Group& group = **log->host().open_group({.group = log::GroupId{1}, .machine = machine});
  ASSERT_TRUE(propose(group, "in time"));
  ASSERT_TRUE(log->stop(std::chrono::seconds(10)));
  const log::Answer late = propose(group, "too late");
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().code, log::ProposeError::kStopped);
}

}  // namespace
}  // namespace cadastre::node
