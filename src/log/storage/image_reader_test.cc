#include "log/storage/image_reader.h"

#include <functional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "log/storage/records_testing.h"

namespace cadastre::log {
namespace {

constexpr GroupKey kOne{GroupId{1}, Incarnation{1}};
constexpr GroupKey kTwo{GroupId{2}, Incarnation{1}};
constexpr NodeIdentity kIdentity{ClusterId{9}, NodeId{8}};

void put_entry(RecordMap& records, GroupKey group, Position at, std::string_view body) {
  const Entry entry{at, EntryType::kNormal, Body::copy_of(base::as_bytes(body))};
  const auto head = encode_entry_head(entry);
  Bytes value(head.begin(), head.end());
  value.insert(value.end(), entry.body.bytes().begin(), entry.body.bytes().end());
  put_sealed(records, entry_key(group, at.index), value);
}

void put_conf(RecordMap& records, const ConfRecord& record) {
  put_sealed(records, conf_key(kOne, record.index), encode_conf(record));
}

// Group 1: truncated at 1/2, entries 1/3, 1/4, 2/5, commit 4, configurations of 1 and 4. Group 2: made, and
// one entry.
RecordMap whole() {
  RecordMap records;
  put_sealed(records, node_key(), encode_node({.identity = kIdentity}));
  put_sealed(records, group_key(kOne, RecordKind::kGroup), encode_group(EngineKind::kRaft));
  put_sealed(records, group_key(kOne, RecordKind::kTruncated),
             encode_truncated({Term{1}, Index{2}}));
  put_conf(records, {Index{1}, {.voters = {NodeId{8}}}});
  put_conf(records, {Index{4}, {.voters = {NodeId{8}, NodeId{9}}}});
  put_entry(records, kOne, {Term{1}, Index{3}}, "abc");
  put_entry(records, kOne, {Term{1}, Index{4}}, "");
  put_entry(records, kOne, {Term{2}, Index{5}}, "de");
  put_sealed(records, group_key(kOne, RecordKind::kState),
             encode_state({.state = {.term = Term{3}, .vote = NodeId{8}, .commit = Index{4}},
                           .last = {Term{2}, Index{5}}}));
  put_sealed(records, group_key(kTwo, RecordKind::kGroup), encode_group(EngineKind::kLocal));
  put_entry(records, kTwo, {Term{1}, Index{1}}, "");
  put_sealed(records, group_key(kTwo, RecordKind::kState),
             encode_state({.state = {.term = Term{1}, .vote = {}, .commit = {}},
                           .last = {Term{1}, Index{1}}}));
  put_sealed(records, set_key(), encode_set(SetNumber{6}));
  return records;
}

void put_state(RecordMap& records, const HardState& state, Position last) {
  put_sealed(records, group_key(kOne, RecordKind::kState), encode_state({state, last}));
}

TEST(ImageReader, ReadsEveryGroupWithItsTerms) {
  const RecordMap records = whole();
  RecordMapCursor cursor(records);
  const auto recovered = read_images(cursor);
  ASSERT_TRUE(recovered) << recovered.error().detail;
  EXPECT_EQ(recovered->last_set, SetNumber{6});
  ASSERT_EQ(recovered->groups.size(), 2U);
  const GroupImage& one = recovered->groups[0];
  EXPECT_EQ(one.group, GroupId{1});
  EXPECT_EQ(one.incarnation, Incarnation{1});
  EXPECT_EQ(one.engine, EngineKind::kRaft);
  EXPECT_EQ(one.state, (HardState{.term = Term{3}, .vote = NodeId{8}, .commit = Index{4}}));
  EXPECT_EQ(one.truncated, (Position{Term{1}, Index{2}}));
  EXPECT_EQ(one.last, (Position{Term{2}, Index{5}}));
  EXPECT_EQ(one.terms, (std::vector<TermRun>{{Index{3}, Term{1}}, {Index{5}, Term{2}}}));
  EXPECT_EQ(one.entry_bytes, 5U);
  ASSERT_EQ(one.confs.size(), 2U);
  EXPECT_EQ(one.confs.front().index, Index{1});
  EXPECT_EQ(one.confs.back(), (ConfRecord{Index{4}, {.voters = {NodeId{8}, NodeId{9}}}}));
  EXPECT_EQ(conf_at(one.confs, Index{3})->index, Index{1});  // L-72
  EXPECT_EQ(conf_at(one.confs, Index{0}), nullptr);
  const GroupImage& two = recovered->groups[1];
  EXPECT_EQ(two.engine, EngineKind::kLocal);
  EXPECT_EQ(two.truncated, Position{});
  EXPECT_EQ(two.last, (Position{Term{1}, Index{1}}));
}

TEST(ImageReader, AGroupMayEndWhereItIsTruncated) {
  RecordMap records = whole();
  put_sealed(records, group_key(kOne, RecordKind::kTruncated),
             encode_truncated({Term{2}, Index{5}}));
  for (const std::uint64_t index : {3U, 4U, 5U})
    records.erase(base::to_owned(entry_key(kOne, Index{index}).view()));
  RecordMapCursor cursor(records);
  const auto recovered = read_images(cursor);
  ASSERT_TRUE(recovered) << recovered.error().detail;
  EXPECT_EQ(recovered->groups[0].last, (Position{Term{2}, Index{5}}));
  EXPECT_TRUE(recovered->groups[0].terms.empty());
}

TEST(ImageReader, ATombstoneEndsTheGroupUnderIt) {  // L-90
  RecordMap records = whole();
  put_sealed(records, group_key({GroupId{1}, Incarnation{2}}, RecordKind::kGroup),
             encode_group(EngineKind::kTombstone));
  RecordMapCursor cursor(records);
  const auto recovered = read_images(cursor);
  ASSERT_TRUE(recovered) << recovered.error().detail;
  ASSERT_EQ(recovered->groups.size(), 2U);
  EXPECT_TRUE(recovered->groups[0].removed);
  EXPECT_EQ(recovered->groups[0].incarnation, Incarnation{1});
  EXPECT_EQ(recovered->groups[0].engine, EngineKind::kRaft);
  EXPECT_FALSE(recovered->groups[1].removed);
}

struct Broken {
  const char* what;
  std::function<void(RecordMap&)> damage;
  const char* detail;
};

std::vector<Broken> broken_rules() {  // L-48, L-52
  const auto erase = [](const RecordKey& key) {
    return [key](RecordMap& records) {
      records.erase(base::to_owned(key.view()));
    };
  };
  const auto flip = [](const RecordKey& key) {
    return [key](RecordMap& records) {
      record(records, key)[0] ^= std::byte{1};
    };
  };
  const HardState state{.term = Term{3}, .vote = NodeId{8}, .commit = Index{4}};
  const Position last{Term{2}, Index{5}};
  return {
      {"no state record", erase(group_key(kOne, RecordKind::kState)), "state record is missing"},
      {"no group record", erase(group_key(kOne, RecordKind::kGroup)), "group record is missing"},
      {"no truncation record", erase(group_key(kOne, RecordKind::kTruncated)), "entry 3 follows"},
      {"a gap behind the truncation", erase(entry_key(kOne, Index{3})), "entry 4 follows entry 2"},
      {"a gap between entries", erase(entry_key(kOne, Index{4})), "entry 5 follows entry 3"},
      {"the last entry is gone", erase(entry_key(kOne, Index{5})), "the log ends at 1/4"},
      {"all entries are gone",
       [](RecordMap& records) {
         for (const std::uint64_t index : {3U, 4U, 5U})
           records.erase(base::to_owned(entry_key(kOne, Index{index}).view()));
       },
       "the log ends at 1/2"},
      {"an entry behind the last",
       [](RecordMap& records) { put_entry(records, kOne, {Term{2}, Index{6}}, ""); },
       "the log ends at 2/6"},
      {"an entry below the first",
       [](RecordMap& records) { put_entry(records, kOne, {Term{1}, Index{2}}, ""); },
       "entry 2 follows entry 2"},
      {"an entry 0 behind the highest of all indexes",
       [](RecordMap& records) {
         for (const std::uint64_t index : {3U, 4U, 5U})
           records.erase(base::to_owned(entry_key(kOne, Index{index}).view()));
         put_sealed(records, group_key(kOne, RecordKind::kTruncated),
                    encode_truncated({Term{1}, Index{~std::uint64_t{0}}}));
         put_entry(records, kOne, {Term{2}, Index{0}}, "");
       },
       "entry 0 follows entry 18446744073709551615"},
      {"the last entry has another term",
       [=](RecordMap& records) { put_state(records, state, {Term{3}, Index{5}}); },
       "the log ends at 2/5"},
      {"a term that goes back",
       [](RecordMap& records) { put_entry(records, kOne, {Term{3}, Index{4}}, ""); },
       "the term goes back at entry 5"},
      {"a term below the truncated one",
       [](RecordMap& records) { put_entry(records, kOne, {Term{0}, Index{3}}, ""); },
       "the term goes back at entry 3"},
      {"a state whose term is below the last entry's",
       [=](RecordMap& records) {
         put_state(records, {.term = Term{1}, .vote = {}, .commit = Index{4}}, last);
       },
       "below its last entry's"},
      {"a commit index behind the last",
       [=](RecordMap& records) {
         put_state(records, {.term = Term{3}, .vote = {}, .commit = Index{6}}, last);
       },
       "committed what is not there"},
      {"a replicated group without a configuration",
       [](RecordMap& records) {
         for (const std::uint64_t index : {1U, 4U})
           records.erase(base::to_owned(conf_key(kOne, Index{index}).view()));
       },
       "a replicated group has a configuration"},
      {"a configuration of a local group",
       [](RecordMap& records) {
         put_sealed(records, conf_key(kTwo, Index{1}), encode_conf({Index{1}, {}}));
       },
       "a replicated group has a configuration"},
      {"a configuration that is not committed",
       [](RecordMap& records) { put_conf(records, {Index{5}, {.voters = {NodeId{8}}}}); },
       "its configuration is not committed"},
      {"a configuration that is too short",
       [](RecordMap& records) { put_sealed(records, conf_key(kOne, Index{4}), Bytes(7)); },
       "its configuration of entry 4 does not read"},
      {"a group in two incarnations",
       [](RecordMap& records) {
         const GroupKey later{GroupId{1}, Incarnation{2}};
         put_sealed(records, group_key(later, RecordKind::kState), encode_state({}));
         put_sealed(records, group_key(later, RecordKind::kGroup),
                    encode_group(EngineKind::kLocal));
       },
       "two incarnations"},
      {"a tombstone that something lies on",
       [](RecordMap& records) {
         const GroupKey later{GroupId{1}, Incarnation{2}};
         put_sealed(records, group_key(later, RecordKind::kState), encode_state({}));
         put_sealed(records, group_key(later, RecordKind::kGroup),
                    encode_group(EngineKind::kTombstone));
       },
       "a tombstone with nothing under it"},
      {"a tombstone of a group that never was",
       [](RecordMap& records) {
         put_sealed(records, group_key({GroupId{5}, Incarnation{2}}, RecordKind::kGroup),
                    encode_group(EngineKind::kTombstone));
       },
       "a tombstone with nothing under it"},
      {"a record of a kind that nobody writes",
       [](RecordMap& records) {
         RecordKey key = group_key(kOne, RecordKind::kState);
         key.bytes[13] = std::byte{7};
         put_sealed(records, key, {});
       },
       "a record with the key 01"},
      {"a state record that is too short",
       [](RecordMap& records) {
         put_sealed(records, group_key(kOne, RecordKind::kState), Bytes(8));
       },
       "state record does not read"},
      {"a truncation record that is too short",
       [](RecordMap& records) {
         put_sealed(records, group_key(kOne, RecordKind::kTruncated), Bytes(8));
       },
       "truncation record does not read"},
      {"a pending install that is too short",
       [](RecordMap& records) {
         put_sealed(records, group_key(kOne, RecordKind::kInstall), Bytes(63));
       },
       "pending install does not read"},
      {"a pending install elsewhere than where the log begins",
       [](RecordMap& records) {
         put_sealed(records, group_key(kOne, RecordKind::kInstall),
                    encode_install({.source = {}, .checkpoint = {}, .at = {Term{1}, Index{3}}}));
       },
       "does not begin at its pending install"},
      {"a group record of an unknown engine",
       [](RecordMap& records) {
         put_sealed(records, group_key(kOne, RecordKind::kGroup), Bytes(4));
       },
       "group record does not read"},
      {"an entry that is too short",
       [](RecordMap& records) { put_sealed(records, entry_key(kOne, Index{4}), Bytes(11)); },
       "entry 4 does not read"},
      {"a bit of the state", flip(group_key(kOne, RecordKind::kState)), "does not match its sum"},
      {"a bit of the truncation", flip(group_key(kOne, RecordKind::kTruncated)),
       "does not match its sum"},
      {"a bit of the group record", flip(group_key(kOne, RecordKind::kGroup)),
       "does not match its sum"},
      {"a bit of an entry", flip(entry_key(kOne, Index{4})), "does not match its sum"},
      {"a bit of the set's number", flip(set_key()), "last write set does not read"},
      {"no number of a set, though groups were written", erase(set_key()),
       "number of the last write set is missing"},
      {"a record behind the set's number",
       [](RecordMap& records) { records[Bytes{std::byte{3}}] = {}; }, "behind the last"},
      {"a record in place of the set's number",
       [](RecordMap& records) {
         records.erase(base::to_owned(set_key().view()));
         records[Bytes{std::byte{2}, std::byte{0}}] = {};
       },
       "nobody writes here"},
  };
}

TEST(ImageReader, EveryBrokenRuleIsDamageAndIsNamed) {  // L-52
  for (const Broken& broken : broken_rules()) {
    RecordMap records = whole();
    broken.damage(records);
    RecordMapCursor cursor(records);
    const auto recovered = read_images(cursor);
    ASSERT_FALSE(recovered) << broken.what;
    EXPECT_EQ(recovered.error().code, OpenError::kDamaged) << broken.what;
    EXPECT_NE(recovered.error().detail.find(broken.detail), std::string::npos)
        << broken.what << ": " << recovered.error().detail;
  }
}

TEST(ImageReader, AnEmptyLogHasNoGroups) {
  RecordMap records;
  put_sealed(records, node_key(), encode_node({.identity = kIdentity}));
  RecordMapCursor cursor(records);
  const auto recovered = read_images(cursor);
  ASSERT_TRUE(recovered);
  EXPECT_TRUE(recovered->groups.empty());
  EXPECT_EQ(recovered->last_set, SetNumber{0});
}

TEST(ImageReader, AWalkThatTheDiskEndsIsDamage) {
  const RecordMap records = whole();
  RecordMapCursor cursor(records);
  cursor.failed = "000007.sst: block checksum mismatch";
  const auto recovered = read_images(cursor);
  ASSERT_FALSE(recovered);
  EXPECT_EQ(recovered.error().code, OpenError::kDamaged);
  EXPECT_EQ(recovered.error().detail, cursor.failed);
}

TEST(NodeRecord, ANewerFormatADamagedAndAForeignOneAreToldApart) {
  const auto read = [](const RecordMap& records) {
    RecordMapCursor cursor(records);
    return read_node_record(cursor);
  };
  ASSERT_TRUE(read(whole()));
  EXPECT_EQ(read(whole())->identity, kIdentity);

  RecordMap newer = whole();
  put_sealed(newer, node_key(), encode_node({.format = 2, .identity = kIdentity}));
  EXPECT_EQ(read(newer).error().code, OpenError::kNewer);

  RecordMap damaged = whole();
  record(damaged, node_key())[8] ^= std::byte{1};
  EXPECT_EQ(read(damaged).error().code, OpenError::kDamaged);

  RecordMap cut = whole();
  put_sealed(cut, node_key(), Bytes{std::byte{1}, std::byte{0}});
  EXPECT_EQ(read(cut).error().code, OpenError::kDamaged);

  RecordMap foreign = whole();
  foreign.erase(base::to_owned(node_key().view()));
  EXPECT_EQ(read(foreign).error().code, OpenError::kForeign);
  EXPECT_EQ(read({}).error().code, OpenError::kForeign);
}

base::Result<std::vector<Entry>, LogReadError> read(const RecordMap& records,
                                                    std::uint64_t low,
                                                    std::uint64_t high,
                                                    std::size_t bytes_max = 1000) {
  RecordMapCursor cursor(records);
  return read_entries(
      cursor, {.group = kOne, .low = Index{low}, .high = Index{high}, .bytes_max = bytes_max});
}

TEST(ReadEntries, ReturnsTheRangeUntilItsBytesAreUsedUp) {  // L-45
  const auto all = read(whole(), 3, 5);
  ASSERT_TRUE(all);
  ASSERT_EQ(all->size(), 3U);
  EXPECT_EQ((*all)[2].at, (Position{Term{2}, Index{5}}));
  EXPECT_EQ(base::as_text((*all)[2].body.bytes()), "de");
  EXPECT_EQ(read(whole(), 3, 5, 0)->size(), 1U);
  EXPECT_EQ(read(whole(), 3, 5, 4)->size(), 2U);
  EXPECT_EQ(read(whole(), 3, 5, 5)->size(), 3U);
  EXPECT_EQ(read(whole(), 4, 4)->size(), 1U);
}

TEST(ReadEntries, WhatIsNotThereIsGoneAndAHoleIsDamage) {  // L-45
  EXPECT_EQ(read(whole(), 2, 3).error().code, LogReadError::kGone);
  EXPECT_EQ(read(whole(), 6, 6).error().code, LogReadError::kGone);
  EXPECT_EQ(read(whole(), 5, 6).error().code, LogReadError::kDamaged);
  RecordMap hole = whole();
  hole.erase(base::to_owned(entry_key(kOne, Index{4}).view()));
  EXPECT_EQ(read(hole, 3, 5).error().code, LogReadError::kDamaged);
  RecordMap flipped = whole();
  record(flipped, entry_key(kOne, Index{4}))[13] ^= std::byte{1};
  EXPECT_EQ(read(flipped, 3, 5).error().code, LogReadError::kDamaged);
  RecordMap back = whole();
  put_entry(back, kOne, {Term{3}, Index{4}}, "");
  EXPECT_EQ(read(back, 3, 5).error().code, LogReadError::kDamaged);
}

TEST(ReadEntries, ADiskThatDoesNotAnswerIsToldApart) {
  const RecordMap records = whole();
  RecordMapCursor cursor(records);
  cursor.failed = "input/output error";
  const auto entries =
      read_entries(cursor, {.group = kOne, .low = Index{3}, .high = Index{5}, .bytes_max = 1000});
  ASSERT_FALSE(entries);
  EXPECT_EQ(entries.error().code, LogReadError::kFailed);
}

}  // namespace
}  // namespace cadastre::log
