#include <string>
#include <vector>

#include "base/random.h"
#include "log/conformance/storage_suite_testing.h"
#include "log/conformance/storages_testing.h"

namespace cadastre::log::conformance {
namespace {

constexpr GroupId kOne{1};
constexpr GroupId kTwo{2};

INSTANTIATE_TEST_SUITE_P(Storages,
                         StorageSuite,
                         testing::Values(memory_storage(), rocks_storage()),
                         name_of);

std::vector<std::string> bodies(std::size_t count, std::size_t bytes = 3) {
  std::vector<std::string> made;
  for (std::size_t i = 0; i < count; ++i)
    made.emplace_back(bytes, static_cast<char>('a' + i % 26));
  return made;
}

TEST_P(StorageSuite, AnEmptyDiskHasNoGroupsAndStaysSo) {
  reopen();
  reopen();
}

TEST_P(StorageSuite, EveryRecordIsThereAfterEverySet) {  // 4.1, L-42
  write(model().change().append(kOne, Term{1}, {""}));
  reopen();
  write(model().change().append(kOne, Term{1}, {"a", std::string(100'000, 'b'), ""}));
  reopen();
  write(model().change().set_state(kOne, {.term = Term{4}, .vote = NodeId{9}, .commit = Index{3}}));
  reopen();
  write(model().change().truncate(kOne, Index{2}));
  reopen();
  write(model().change().truncate(kOne, Index{3}).append(kOne, Term{5}, {"both at once"}));
  reopen();
  write(model().change().append(kTwo, Term{1}, {"another group"}));
  reopen();
}

TEST_P(StorageSuite, ConfigurationsAreThereUntilTheyAreDropped) {  // 4.1, L-72
  const auto put = [&](std::uint64_t number, const std::vector<ConfRecord>& confs,
                       const std::vector<Index>& dropped) {
    GroupWrite write;
    write.group = kOne;
    write.incarnation = Incarnation{1};
    if (number == 1) {
      write.created = EngineKind::kRaft;
      write.truncated = kFounding;
    }
    write.confs = confs;
    write.confs_dropped = dropped;
    write.last_before = Index{number};
    write.last = {Term{1}, Index{number + 1}};
    write.entries.push_back({write.last, EntryType::kConfChange, Body::copy_of(Bytes(4))});
    write.state = HardState{.term = Term{1}, .vote = {}, .commit = write.last.index};
    const auto written =
        storage().write({.number = SetNumber{number}, .groups = {write}, .bytes = 0});
    ASSERT_TRUE(written) << written.error().detail;
  };
  const auto recovered = [&] {
    close();
    return reopen_unchecked();
  };
  const ConfRecord one{Index{1}, {.voters = {NodeId{1}}}};
  const ConfRecord three{Index{3},
                         {.voters = {NodeId{1}, NodeId{2}}, .learners = {NodeId{3}}},
                         base::to_owned(base::as_bytes("where node 3 is"))};
  put(1, {one}, {});
  EXPECT_EQ(recovered().groups.front().confs, std::vector{one});
  put(2, {three}, {});
  EXPECT_EQ(recovered().groups.front().confs, (std::vector{one, three}));
  put(3, {}, {one.index});
  EXPECT_EQ(recovered().groups.front().confs, std::vector{three});
  const auto read = storage().read(kOne, Incarnation{1}, Index{2}, Index{4}, 1 << 20);
  ASSERT_TRUE(read) << read.error().detail;
  EXPECT_EQ(read->front().type, EntryType::kConfChange);
}

TEST_P(StorageSuite, AnInstallTakesThePlaceOfTheWholeLog) {  // 4.1, L-58, L-59
  struct Case {
    const char* what;
    std::uint64_t entries;  // Of the log before.
    std::uint64_t at;
    std::uint64_t behind;  // Entries that come with it.
  };
  std::uint64_t set = 0;
  std::uint64_t id = 0;
  for (const Case& one :
       {Case{"a follower that is far behind", 5, 1'000, 0},
        Case{"with entries behind it", 5, 20, 3}, Case{"a stale suffix, some of it", 10, 8, 0},
        Case{"the same, with entries", 10, 8, 1}, Case{"a long one", 300, 8, 2},
        Case{"an empty log", 0, 50, 0}}) {
    SCOPED_TRACE(one.what);
    GroupWrite first;
    first.group = GroupId{++id};
    first.incarnation = Incarnation{1};
    first.created = EngineKind::kRaft;
    first.confs.push_back({Index{0}, {}});
    first.state = HardState{.term = Term{1}, .vote = {}, .commit = {}};
    for (std::uint64_t index = 1; index <= one.entries; ++index) {
      first.last = {Term{1}, Index{index}};
      first.entries.push_back({first.last, EntryType::kNormal, Body::copy_of(Bytes(4))});
    }
    ASSERT_TRUE(storage().write({.number = SetNumber{++set}, .groups = {first}, .bytes = 0}));

    PendingInstall pending{
        .source = NodeId{3}, .checkpoint = CheckpointId{77}, .at = {Term{4}, Index{one.at}}};
    pending.list_hash.fill(std::byte{0xab});
    const ConfRecord conf{Index{one.at}, {.voters = {NodeId{2}, NodeId{3}}}};
    GroupWrite second;
    second.group = first.group;
    second.incarnation = Incarnation{1};
    second.truncated = pending.at;
    second.installs = pending;
    second.confs_dropped = {Index{0}};
    second.confs = {conf};
    second.last_before = first.last.index;
    second.last = pending.at;
    for (std::uint64_t i = 1; i <= one.behind; ++i) {
      second.last = {Term{4}, Index{one.at + i}};
      second.entries.push_back({second.last, EntryType::kNormal, Body::copy_of(Bytes(9))});
    }
    second.state = HardState{.term = Term{4}, .vote = {}, .commit = Index{one.at}};
    ASSERT_TRUE(storage().write({.number = SetNumber{++set}, .groups = {second}, .bytes = 0}));

    const auto found = [&] {
      close();
      return reopen_unchecked().groups.back();
    };
    const GroupImage image = found();
    EXPECT_EQ(image.installing, pending);
    EXPECT_EQ(image.truncated, pending.at);
    EXPECT_EQ(image.last, second.last);
    EXPECT_EQ(image.confs, std::vector{conf});
    EXPECT_EQ(image.entry_bytes, 9 * one.behind);
    for (const std::uint64_t gone : {std::uint64_t{1}, one.at, one.at + one.behind + 1}) {
      EXPECT_FALSE(storage().read(image.group, Incarnation{1}, Index{gone}, Index{gone}, 100))
          << gone;
    }

    GroupWrite third;
    third.group = first.group;
    third.incarnation = Incarnation{1};
    third.installed = true;
    third.last_before = second.last.index;
    third.last = second.last;
    ASSERT_TRUE(storage().write({.number = SetNumber{++set}, .groups = {third}, .bytes = 0}));
    EXPECT_EQ(found().installing, std::nullopt);
    EXPECT_EQ(found().last, second.last);
  }
}

TEST_P(StorageSuite, SetsGoOnAfterAReopening) {
  for (int run = 0; run < 3; ++run) {
    for (int set = 0; set < 3; ++set)
      write(model().change().append(kOne, Term{1}, {std::to_string(set)}));
    reopen();
  }
  EXPECT_EQ(model().last_set(), SetNumber{9});
}

TEST_P(StorageSuite, AnOverwrittenSuffixNeverComesBack) {  // L-41, R2
  struct Case {
    std::size_t suffix;
    std::size_t replaced_by;
  };
  std::uint64_t term = 1;
  for (const Case& one : {Case{1, 1}, Case{5, 1}, Case{64, 1}, Case{65, 1}, Case{66, 1},
                          Case{200, 100}, Case{3, 10}}) {
    write(model().change().append(kOne, Term{term}, bodies(10)));
    const Index first = model().group(kOne).last().index + 1;
    write(model().change().append(kOne, Term{term}, bodies(one.suffix)));
    write(model().change().replace(kOne, Term{++term}, first, bodies(one.replaced_by)));
    reopen();
    write(model().change().append(kOne, Term{term}, bodies(1)));
    reopen();
  }
}

TEST_P(StorageSuite, TruncationTakesWhatItSaysAndNoMore) {  // L-46
  write(model().change().append(kOne, Term{1}, bodies(300)));
  for (const std::uint64_t upto : {1U, 2U, 65U, 129U, 130U, 299U, 300U}) {
    write(model().change().truncate(kOne, Index{upto}));
    EXPECT_EQ(storage().read(kOne, Incarnation{1}, Index{upto}, Index{upto}, 100).error().code,
              LogReadError::kGone);
    reopen();
  }
  write(model().change().append(kOne, Term{2}, bodies(2)));  // Behind a log that is empty.
  reopen();
}

TEST_P(StorageSuite, ReadsStayInsideTheirBounds) {  // L-45
  write(model().change().append(kOne, Term{1}, bodies(10, 100)).append(kTwo, Term{1}, bodies(3)));
  write(model().change().truncate(kOne, Index{3}));
  const auto count = [&](std::uint64_t low, std::uint64_t high, std::size_t bytes_max) {
    const auto read = storage().read(kOne, Incarnation{1}, Index{low}, Index{high}, bytes_max);
    EXPECT_TRUE(read) << read.error().detail;
    return read ? read->size() : 0;
  };
  EXPECT_EQ(count(4, 10, 10'000), 7U);
  EXPECT_EQ(count(4, 10, 0), 1U);
  EXPECT_EQ(count(4, 10, 199), 1U);
  EXPECT_EQ(count(4, 10, 200), 2U);
  EXPECT_EQ(count(10, 10, 100), 1U);
  EXPECT_EQ(count(5, 5, 100), 1U);
  const auto error = [&](GroupId group, std::uint32_t incarnation, std::uint64_t index) {
    return storage().read(group, Incarnation{incarnation}, Index{index}, Index{index}, 100);
  };
  EXPECT_EQ(error(kOne, 1, 3).error().code, LogReadError::kGone);
  EXPECT_EQ(error(kOne, 1, 0).error().code, LogReadError::kGone);
  EXPECT_EQ(error(kOne, 1, 11).error().code, LogReadError::kGone);
  EXPECT_EQ(error(kOne, 2, 5).error().code, LogReadError::kGone);
  EXPECT_EQ(error(GroupId{3}, 1, 1).error().code, LogReadError::kGone);
  EXPECT_EQ(storage().read(kOne, Incarnation{1}, Index{9}, Index{11}, 10'000).error().code,
            LogReadError::kDamaged);
}

TEST_P(StorageSuite, ManyGroupsShareASet) {  // L-12
  for (int round = 0; round < 3; ++round) {
    LogModel::Changes changes = model().change();
    for (std::uint64_t group = 1; group <= 50; ++group)
      changes.append(GroupId{group}, Term{1}, {std::to_string(group)});
    write(changes);
  }
  reopen();
}

TEST_P(StorageSuite, AnEntryOfTheLargestSizeIsKept) {  // L-10
  write(model().change().append(kOne, Term{1}, {std::string(kEntryBytesMax, 'x')}));
  reopen();
}

TEST_P(StorageSuite, AnotherNodesLogIsRefusedAndStaysAsItIs) {
  write(model().change().append(kOne, Term{1}, bodies(5)));
  close();
  for (const NodeIdentity other :
       {NodeIdentity{ClusterId{1}, NodeId{3}}, NodeIdentity{ClusterId{2}, NodeId{2}}}) {
    auto opened = disk().open(other);
    const auto code = opened ? (*opened)->recover().error() : opened.error();
    EXPECT_EQ(code.code, OpenError::kForeign);
    EXPECT_NE(code.detail.find("node 2 of cluster 1"), std::string::npos) << code.detail;
  }
  reopen();
}

TEST_P(StorageSuite, KnowsAboutHowLargeItIs) {  // L-26
  write(model().change().append(kOne, Term{1}, {std::string(3'000'000, 'x')}));
  EXPECT_GE(storage().usage().disk_bytes, 3'000'000U);
}

// Any history: appends, replaced suffixes, truncations and states of some groups, in sets of some.
TEST_P(StorageSuite, RandomHistoriesAreReadBackAsTheModelHasThem) {
  base::SeededRandom random(20'260'101);
  for (int set = 0; set < 200; ++set) {
    LogModel::Changes changes = model().change();
    for (std::uint64_t id = 1; id <= 3; ++id) {
      const GroupId group{id};
      const bool there = model().groups().contains(group);
      const Term term = there ? model().group(group).state.term : Term{1};
      const auto some = bodies(1 + random.below(80), random.below(50));
      switch (there ? random.below(5) : 0) {
        case 0: changes.append(group, term, some); break;
        case 1: {
          const LogModel::Group& now = model().group(group);
          const Index first = now.truncated.index + 1 + random.below(now.entries.size() + 1);
          changes.replace(group, Term{term.value() + 1}, first, some);
          break;
        }
        case 2: {
          const LogModel::Group& now = model().group(group);
          if (now.entries.empty()) break;
          changes.truncate(group, now.truncated.index + 1 + random.below(now.entries.size()));
          break;
        }
        case 3:
          changes.set_state(group, {.term = Term{term.value() + 1},
                                    .vote = NodeId{id},
                                    .commit = model().group(group).last().index});
          break;
        case 4: break;
      }
      if (model().groups().contains(group)) {  // Commit never passes what was cut off.
        HardState state = model().group(group).state;
        if (state.commit > model().group(group).last().index) {
          state.commit = model().group(group).last().index;
          changes.set_state(group, state);
        }
      }
    }
    write(changes);
    if (set % 5 == 0) reopen();
  }
}

}  // namespace
}  // namespace cadastre::log::conformance
