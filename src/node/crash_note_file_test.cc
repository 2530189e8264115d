#include "node/crash_note_file.h"

#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <future>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/clock.h"
#include "base/logger.h"
#include "log/ledger_testing.h"
#include "log/transport.h"
#include "node/local_log.h"

namespace cadastre::node {
namespace {

using log::GroupId;
using log::NodeId;

class Lines final : public base::LogSink {
 public:
  void write(base::LogLevel level, std::string_view /*line*/) override { levels.push_back(level); }

  std::vector<base::LogLevel> levels;
};

// Whose directory it is: a death test runs in a process of its own, on that of the one that began it.
pid_t owner() {
  GTEST_FLAG_SET(death_test_style, "threadsafe");  // Before it is asked who this is.
  return testing::internal::InDeathTestChild() ? getppid() : getpid();
}

class CrashNoteFileTest : public testing::Test {
 protected:
  CrashNoteFileTest() {
    if (!testing::internal::InDeathTestChild())
      std::filesystem::remove_all(directory);  // Of a process that had this number before.
    std::filesystem::create_directories(directory);
  }
  ~CrashNoteFileTest() override { std::filesystem::remove_all(directory); }

  const std::filesystem::path directory =
      std::filesystem::temp_directory_path() / ("cadastre-crash-" + std::to_string(owner()));
  base::ManualClock clock{base::Instant(std::chrono::hours(500'000))};
  Lines lines;
  base::Logger logger{lines, clock, base::LogForm::kText};
  CrashNoteFile file{directory, NodeId{2}, clock, logger};
};

TEST_F(CrashNoteFileTest, ThreeNotesOfAGroupQuarantineIt) {  // L-36
  EXPECT_TRUE(file.read().empty());
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(file.quarantined().empty()) << i;
    clock.advance(std::chrono::minutes(4));
    file.crashed(GroupId{7}, "raft-rs panicked\n  somewhere");
  }
  EXPECT_EQ(file.quarantined(), std::vector{GroupId{7}});
  EXPECT_EQ(lines.levels, std::vector{base::LogLevel::kError});
  const CrashNoteFile successor(directory, NodeId{9}, clock, logger);  // Did not die of it.
  EXPECT_TRUE(successor.quarantined().empty());
  const CrashNoteFile later(directory, NodeId{2}, clock, logger);  // Another process, much later.
  clock.advance(std::chrono::hours(1'000));
  EXPECT_EQ(later.quarantined(), std::vector{GroupId{7}});
  ASSERT_EQ(later.read().size(), 3U);
  EXPECT_EQ(later.read()[0].message, "raft-rs panicked   somewhere");
  EXPECT_EQ(later.read()[0].node, NodeId{2});
  EXPECT_FALSE(std::filesystem::exists(directory / log::kCrashNoteNewName));
}

TEST_F(CrashNoteFileTest, ADamagedFileIsIgnoredAndReplaced) {
  for (int i = 0; i < 3; ++i)
    file.crashed(GroupId{7}, "panicked");
  std::ofstream(directory / log::kCrashNoteName, std::ios::app) << "and so on";
  EXPECT_TRUE(file.quarantined().empty());
  EXPECT_EQ(lines.levels, std::vector{base::LogLevel::kWarn});
  file.crashed(GroupId{7}, "panicked");
  EXPECT_EQ(file.read().size(), 1U);
}

class Nobody final : public log::Transport {
 public:
  void send(NodeId /*to*/, log::Lane /*lane*/, std::vector<log::Frame> /*frames*/) override {}
  void send_snapshot_report(NodeId /*to*/,
                            GroupId /*group*/,
                            const log::SnapshotReport& /*report*/) override {}
  void disconnect(NodeId /*peer*/) override {}
};

// Node 2 of three, on a real directory.
class Voter {
 public:
  explicit Voter(const std::filesystem::path& directory) {
    auto opened = LocalLog::open({.directory = directory,
                                  .identity = {log::ClusterId{1}, NodeId{2}},
                                  .replication = {.self = NodeId{2},
                                                  .run = 1,
                                                  .transport = &nobody_,
                                                  .cluster = log::ClusterId{1}}},
                                 clock_, logger_);
    EXPECT_TRUE(opened) << opened.error().detail;
    if (opened) log_ = *std::move(opened);
  }
  [[nodiscard]] base::Result<log::Group*, log::OpenError> open_group() {
    return log_->host().open_group(
        {.group = GroupId{7},
         .machine = machine_,
         .replicated = log::ReplicaOptions{{NodeId{1}, NodeId{2}, NodeId{3}}, 1}});
  }
  // A heartbeat of node 1 in term 5 with the commit index 99, which cannot be.
  void hear_the_impossible(log::Group& group) {
    std::promise<void> looked;
    group.inspect([&](const auto&) { looked.set_value(); });
    looked.get_future().wait();  // The log thread has the group: it would drop frames of others.
    constexpr std::string_view kHeartbeat{"\x08\x08\x10\x02\x18\x01\x20\x05\x40\x63"};
    log_->host().on_frames(NodeId{1}, {{GroupId{7}, NodeId{1}, NodeId{2},
                                        log::Body::copy_of(base::as_bytes(kHeartbeat))}});
  }

 private:
  base::SystemClock clock_;
  const std::unique_ptr<base::LogSink> sink_ = base::stderr_log_sink();
  const base::Logger logger_{*sink_, clock_, base::LogForm::kText};
  Nobody nobody_;
  log::LedgerDisk disk_;
  log::LedgerMachine machine_{disk_};
  std::unique_ptr<LocalLog> log_;
};

void die_on(const std::filesystem::path& directory) {
  Voter voter(directory);
  const auto group = voter.open_group();
  if (!group) exit(1);
  voter.hear_the_impossible(**group);
  std::promise<void> never;
  (void)never.get_future().wait_for(std::chrono::seconds(60));
  exit(2);
}

using CrashNoteFileDeathTest = CrashNoteFileTest;

TEST_F(CrashNoteFileDeathTest, ANodeThatDiedThreeTimesOnAGroupLeavesItAlone) {  // L-36
  const std::filesystem::path log = directory / "log";
  if (!testing::internal::InDeathTestChild()) {
    Voter voter(log);
    const auto group = voter.open_group();
    const bool without_shim =
        !group && group.error().detail.find("no raft engine") != std::string::npos;
    if (without_shim) return;  // Such a build has nothing to die of.
    ASSERT_TRUE(group) << group.error().detail;
  }
  EXPECT_EXIT(die_on(log), testing::KilledBySignal(SIGABRT), "to_commit 99 is out of range");
  EXPECT_EXIT(die_on(log), testing::KilledBySignal(SIGABRT), "to_commit 99 is out of range");
  EXPECT_EXIT(die_on(log), testing::KilledBySignal(SIGABRT), "to_commit 99 is out of range");
  const std::vector<log::CrashNote> notes = CrashNoteFile(log, NodeId{2}, clock, logger).read();
  ASSERT_EQ(notes.size(), 3U);
  EXPECT_EQ(notes[0].group, GroupId{7});
  EXPECT_NE(notes[0].message.find("to_commit 99"), std::string::npos) << notes[0].message;
  Voter voter(log);
  const auto group = voter.open_group();
  ASSERT_FALSE(group);
  EXPECT_EQ(group.error().code, log::OpenError::kDamaged);
  EXPECT_EQ(group.error().detail, log::quarantine_reason(GroupId{7}, NodeId{2}));
}

}  // namespace
}  // namespace cadastre::node
