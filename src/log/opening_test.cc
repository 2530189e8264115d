#include "log/opening.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/blake3.h"
#include "base/clock.h"
#include "base/crc32c.h"
#include "log/ledger_testing.h"
#include "log/limits.h"
#include "log/memory_snapshotter.h"
#include "log/storage/memory_storage.h"

namespace cadastre::log {
namespace {

constexpr GroupId kGroup{7};
constexpr NodeIdentity kIdentity{ClusterId{1}, NodeId{1}};

Entry entry(std::uint64_t term, std::uint64_t index, const std::string& command) {
  BodyBuilder body;
  body.add({base::as_bytes(command), base::crc32c(base::as_bytes(command))});
  return {{Term{term}, Index{index}}, EntryType::kNormal, body.close(0)};
}
Entry change(std::uint64_t term, std::uint64_t index) {
  return {{Term{term}, Index{index}}, EntryType::kConfChange, Body::copy_of(Bytes(4))};
}

// A replicated group with these entries behind its founding, on a disk in memory.
class OpeningTest : public testing::Test {
 public:
  GroupImage write(std::vector<Entry> entries, Index commit, Index conf_index) {
    GroupWrite write;
    write.group = kGroup;
    write.incarnation = Incarnation{1};
    write.created = EngineKind::kRaft;
    write.truncated = kFounding;
    write.confs.push_back({conf_index, {.voters = {NodeId{1}}}});
    write.last_before = kFounding.index;
    write.last = entries.back().at;
    write.state = HardState{.term = write.last.term, .vote = {}, .commit = commit};
    write.entries = std::move(entries);
    EXPECT_TRUE(storage.recover());
    EXPECT_TRUE(storage.write({.number = SetNumber{1}, .groups = {write}, .bytes = 0}));
    const auto recovered = storage.recover();
    EXPECT_TRUE(recovered) << recovered.error().detail;
    return recovered->groups.front();
  }
  std::vector<std::string> executed() const { return machine.state().commands; }

  MemoryDisk disk;
  MemoryStorage storage{disk, kIdentity};
  LedgerDisk ledger;
  LedgerMachine machine{ledger};
};

using Commands = std::vector<std::string>;

TEST_F(OpeningTest, AStateThatHasNothingBeginsWhereAllFoundersDo) {  // L-85
  GroupImage image = newborn_image(kGroup, {NodeId{3}, NodeId{1}, NodeId{2}});
  ASSERT_TRUE(prepare(image, machine, storage));
  EXPECT_EQ(machine.applied(), kFounding);
  EXPECT_EQ(image.last, kFounding);
  EXPECT_EQ(image.state, (HardState{.term = Term{1}, .vote = {}, .commit = Index{1}}));
  EXPECT_EQ(image.confs.back().conf.voters, (std::vector{NodeId{1}, NodeId{2}, NodeId{3}}));
}

TEST_F(OpeningTest, AJoinerKnowsNobodyAndNothing) {  // L-85
  GroupImage image = newborn_image(kGroup, {});
  ASSERT_TRUE(prepare(image, machine, storage));
  EXPECT_EQ(machine.applied(), Position{});
  EXPECT_EQ(image.last, Position{});
  EXPECT_EQ(image.confs.back(), ConfRecord{});
}

TEST_F(OpeningTest, OnlyWhatIsKnownToBeCommittedIsReplayed) {  // L-57
  GroupImage image =
      write({entry(1, 2, "a"), entry(1, 3, "b"), entry(1, 4, "c")}, Index{3}, Index{1});
  ASSERT_TRUE(prepare(image, machine, storage));
  EXPECT_EQ(executed(), (Commands{"a", "b"}));
}

// Counts what is read of a disk.
class CountedReads final : public LogStorage {
 public:
  explicit CountedReads(LogStorage& under) : under_(under) {}

  base::Result<Recovered, OpenError> recover() override { return under_.recover(); }
  base::Result<void, WriteError> write(const WriteSet& set) override { return under_.write(set); }
  base::Result<std::vector<Entry>, LogReadError> read(GroupId group,
                                                      Incarnation incarnation,
                                                      Index low,
                                                      Index high,
                                                      std::size_t bytes_max) override {
    auto run = under_.read(group, incarnation, low, high, bytes_max);
    if (run) entries += run->size();
    return run;
  }
  StorageUsage usage() const override { return under_.usage(); }

  std::size_t entries = 0;

 private:
  LogStorage& under_;
};

TEST_F(OpeningTest, ReplayReadsNothingTwice) {
  constexpr std::uint64_t kEntries = 10 * kRoundEntriesMax + 7;  // Many rounds in one read.
  std::vector<Entry> entries;
  for (std::uint64_t i = 0; i < kEntries; ++i)
    entries.push_back(entry(1, 2 + i, std::to_string(i)));
  GroupImage image = write(entries, entries.back().at.index, Index{1});
  CountedReads counted(storage);
  ASSERT_TRUE(prepare(image, machine, counted));
  EXPECT_EQ(executed().size(), kEntries);
  EXPECT_EQ(counted.entries, kEntries);
}

TEST_F(OpeningTest, ReplayStopsBeforeAChangeThatIsNotInForce) {  // L-56, L-57
  const std::vector<Entry> entries{entry(1, 2, "a"), change(1, 3), entry(1, 4, "c")};
  GroupImage image = write(entries, Index{4}, Index{1});
  ASSERT_TRUE(prepare(image, machine, storage));
  EXPECT_EQ(executed(), Commands{"a"});
  EXPECT_EQ(machine.applied().index, Index{2});
}

TEST_F(OpeningTest, ReplayPassesChangesThatAreInForce) {  // L-56
  const std::vector<Entry> entries{entry(1, 2, "a"), change(1, 3), entry(1, 4, "c")};
  GroupImage image = write(entries, Index{4}, Index{3});
  ASSERT_TRUE(prepare(image, machine, storage));
  EXPECT_EQ(executed(), (Commands{"a", "c"}));
  EXPECT_EQ(machine.applied().index, Index{4});
}

TEST_F(OpeningTest, TheCommitIndexIsLiftedToWhatTheStateHas) {  // L-53, R16
  GroupImage image = write({entry(1, 2, "a"), entry(1, 3, "b")}, Index{1}, Index{1});
  ledger.flushed.applied = {Term{1}, Index{3}};
  LedgerMachine flushed(ledger);
  ASSERT_TRUE(prepare(image, flushed, storage));
  EXPECT_EQ(image.state.commit, Index{3});
}

TEST_F(OpeningTest, ALogThatWasCutShortIsRefused) {  // L-53, R16
  GroupImage image = write({entry(1, 2, "a"), entry(2, 3, "b")}, Index{1}, Index{1});
  for (const Position durable : {Position{Term{1}, Index{4}}, Position{Term{1}, Index{3}}}) {
    ledger.flushed.applied = durable;
    LedgerMachine flushed(ledger);
    const auto prepared = prepare(image, flushed, storage);
    ASSERT_FALSE(prepared) << durable;
    EXPECT_EQ(prepared.error().code, OpenError::kDamaged);
    EXPECT_NE(prepared.error().detail.find("the log lost synced entries"), std::string::npos);
  }
}

class InstallOpeningTest : public OpeningTest {
 public:
  InstallOpeningTest() {
    ledger.shelf = &shelf;
    image = newborn_image(kGroup, {});
    image.truncated = image.last = {Term{3}, Index{9}};
    image.state = {.term = Term{3}, .vote = {}, .commit = Index{9}};
  }
  // What another node's state was at 3/9, staged here by an earlier process.
  void put_staged() {
    LedgerState state;
    state.applied = {Term{3}, Index{9}};
    state.commands = {"one", "two"};
    const Bytes content = encode_ledger(state);
    MemorySnapshotter earlier(shelf, clock, [&](const CheckpointName&) { return content; });
    const CheckpointManifest manifest{.group = kGroup,
                                      .at = state.applied,
                                      .node = NodeId{2},
                                      .id = CheckpointId{5},
                                      .list_hash = base::blake3(content)};
    earlier.stage(manifest, [](const auto&) {});
    while (earlier.step()) {}
    image.installing = PendingInstall{.source = NodeId{2},
                                      .checkpoint = CheckpointId{5},
                                      .list_hash = manifest.list_hash,
                                      .at = manifest.at};
  }

  base::ManualClock clock;
  CheckpointShelf shelf;
  MemorySnapshotter snapshotter{shelf, clock, nullptr};
  GroupImage image;
};

TEST_F(InstallOpeningTest, AnInterruptedInstallIsCompletedFirst) {  // L-76
  put_staged();
  ASSERT_TRUE(complete_install(image, machine, &snapshotter));
  EXPECT_EQ(machine.durable(), (Position{Term{3}, Index{9}}));
  EXPECT_EQ(executed(), (Commands{"one", "two"}));
  ASSERT_TRUE(complete_install(image, machine, &snapshotter));  // Again: it is there.
  EXPECT_EQ(machine.installs, 1);
  ASSERT_TRUE(prepare(image, machine, storage));
}

TEST_F(InstallOpeningTest, WithoutTheFilesNothingIsOpened) {  // L-76
  put_staged();
  const std::vector<CheckpointName> none;
  EXPECT_EQ(complete_install(image, machine, nullptr).error().code, OpenError::kDamaged);
  PendingInstall other = *image.installing;
  other.list_hash.fill(std::byte{1});
  std::swap(*image.installing, other);
  EXPECT_EQ(complete_install(image, machine, &snapshotter).error().code, OpenError::kDamaged);
  std::swap(*image.installing, other);
  snapshotter.sweep(none);
  const auto gone = complete_install(image, machine, &snapshotter);
  EXPECT_EQ(gone.error().code, OpenError::kDamaged);
  EXPECT_NE(gone.error().detail.find("checkpoint 5 of node 2"), std::string::npos);
  EXPECT_EQ(machine.applied(), Position{});
}

}  // namespace
}  // namespace cadastre::log
