#include "log/storage/write_plan.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "log/storage/records.h"

namespace cadastre::log {
namespace {

constexpr GroupKey kOne{GroupId{1}, Incarnation{1}};

std::string name_of(ByteView bytes) {
  if (base::equal(bytes, set_key().view())) return "set";
  const auto key = parse_group_key(bytes);
  if (!key) return "?";
  const std::string group = to_string(key->group.group) + ".";
  switch (key->kind) {
    case RecordKind::kState: return group + "state";
    case RecordKind::kTruncated: return group + "truncated";
    case RecordKind::kConf: return group + "conf" + to_string(key->index);
    case RecordKind::kInstall: return group + "install";
    case RecordKind::kGroup: return group + "group";
    case RecordKind::kEntry: return group + to_string(key->index);
  }
  return "?";
}

// Writes down what happens to the records, in order.
class Transcript final : public RecordSink {
 public:
  void put(ByteView key, std::span<const ByteView> value) override {
    Bytes whole;
    for (const ByteView part : value)
      whole.insert(whole.end(), part.begin(), part.end());
    EXPECT_TRUE(unsealed(key, whole)) << name_of(key);
    lines.push_back("put " + name_of(key));
  }
  void erase(ByteView key) override { lines.push_back("erase " + name_of(key)); }
  void erase_range(ByteView begin, ByteView end) override {
    lines.push_back("erase " + name_of(begin) + " to " + name_of(end));
  }

  std::vector<std::string> lines;
};

std::vector<std::string> plan(const GroupWrite& write) {
  Transcript transcript;
  write_records({.number = SetNumber{1}, .groups = {write}}, transcript);
  EXPECT_EQ(transcript.lines.back(), "put set");
  transcript.lines.pop_back();
  return transcript.lines;
}

Entry entry(std::uint64_t term, std::uint64_t index) {
  return {{Term{term}, Index{index}}, EntryType::kNormal, {}};
}

GroupWrite write_to(GroupKey group) {
  GroupWrite write;
  write.group = group.group;
  write.incarnation = group.incarnation;
  return write;
}

GroupWrite append(std::uint64_t first, std::uint64_t last, std::uint64_t last_before) {
  GroupWrite write = write_to(kOne);
  for (std::uint64_t index = first; index <= last; ++index)
    write.entries.push_back(entry(2, index));
  write.last_before = Index{last_before};
  write.last = {Term{2}, Index{last}};
  return write;
}

using Lines = std::vector<std::string>;

TEST(WritePlan, WritesInTheOrderOfTheRule) {  // L-42
  GroupWrite write = append(8, 8, 9);
  write.created = EngineKind::kLocal;
  write.truncated = Position{Term{1}, Index{2}};
  write.state = HardState{.term = Term{2}, .vote = {}, .commit = {}};
  EXPECT_EQ(plan(write), (Lines{"put 1.group", "erase 1.1", "erase 1.2", "put 1.truncated",
                                "erase 1.9", "put 1.8", "put 1.state"}));
}

TEST(WritePlan, ConfigurationsStandBetweenTruncationAndEntries) {  // L-42
  GroupWrite write = append(8, 8, 7);
  write.truncated_before = Index{2};
  write.truncated = Position{Term{1}, Index{3}};
  write.confs_dropped = {Index{1}};
  write.confs.push_back({Index{6}, {.voters = {NodeId{1}}}});
  write.state = HardState{.term = Term{2}, .vote = {}, .commit = Index{6}};
  EXPECT_EQ(plan(write), (Lines{"erase 1.3", "put 1.truncated", "erase 1.conf1", "put 1.conf6",
                                "put 1.8", "put 1.state"}));
}

TEST(WritePlan, TheSetsNumberComesLastAfterAllGroups) {
  GroupWrite other = append(1, 1, 0);
  other.group = GroupId{2};
  Transcript transcript;
  write_records({.number = SetNumber{5}, .groups = {append(1, 2, 0), other}}, transcript);
  EXPECT_EQ(transcript.lines, (Lines{"put 1.1", "put 1.2", "put 2.1", "put set"}));
}

TEST(WritePlan, AppendingErasesNothing) {
  EXPECT_EQ(plan(append(5, 6, 4)), (Lines{"put 1.5", "put 1.6"}));
}

TEST(WritePlan, AnOverwrittenSuffixGoesInTheSameSet) {  // L-41
  EXPECT_EQ(plan(append(5, 5, 8)), (Lines{"erase 1.6", "erase 1.7", "erase 1.8", "put 1.5"}));
  EXPECT_EQ(plan(append(5, 8, 8)), (Lines{"put 1.5", "put 1.6", "put 1.7", "put 1.8"}));
}

TEST(WritePlan, ALongSuffixIsErasedAsARange) {  // L-41
  const Lines points = plan(append(1, 1, 65));
  EXPECT_EQ(points.size(), 64U + 1U);
  EXPECT_EQ(points.front(), "erase 1.2");
  EXPECT_EQ(plan(append(1, 1, 66)), (Lines{"erase 1.2 to 1.67", "put 1.1"}));
}

TEST(WritePlan, TruncationErasesWhatIsStillThere) {  // L-46
  GroupWrite write = write_to(kOne);
  write.truncated_before = Index{3};
  write.truncated = Position{Term{1}, Index{5}};
  write.last_before = Index{7};
  write.last = {Term{1}, Index{7}};
  EXPECT_EQ(plan(write), (Lines{"erase 1.4", "erase 1.5", "put 1.truncated"}));
  write.truncated = Position{Term{1}, Index{103}};
  write.last_before = Index{200};
  write.last = {Term{1}, Index{200}};
  EXPECT_EQ(plan(write), (Lines{"erase 1.4 to 1.104", "put 1.truncated"}));
}

TEST(WritePlan, TheStateRecordNamesTheLastEntry) {  // L-41
  class StateOnly final : public RecordSink {
   public:
    void put(ByteView key, std::span<const ByteView> value) override {
      if (name_of(key) == "1.state") state = decode_state(value.front());
    }
    void erase(ByteView) override {}
    void erase_range(ByteView, ByteView) override {}
    std::optional<StateRecord> state;
  };
  GroupWrite write = append(5, 6, 4);
  write.state = HardState{.term = Term{3}, .vote = NodeId{4}, .commit = Index{5}};
  StateOnly sink;
  write_records({.number = SetNumber{1}, .groups = {write}}, sink);
  ASSERT_TRUE(sink.state);
  EXPECT_EQ(sink.state->state, *write.state);
  EXPECT_EQ(sink.state->last, (Position{Term{2}, Index{6}}));
}

}  // namespace
}  // namespace cadastre::log
