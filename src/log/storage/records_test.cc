#include "log/storage/records.h"

#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "log/limits.h"

namespace cadastre::log {
namespace {

constexpr GroupKey kGroup{GroupId{0x0102030405060708}, Incarnation{0x0a0b0c0d}};
constexpr StateRecord kState{.state = {.term = Term{5}, .vote = NodeId{6}, .commit = Index{7}},
                             .last = {Term{4}, Index{8}}};
constexpr NodeRecord kNode{
    .incarnation = 3, .identity = {ClusterId{0x11}, NodeId{0x22}}, .created_ms = 0x33};

const ConfRecord kConf{
    .index = Index{0x1122334455667788},
    .conf = {.voters = {NodeId{1}, NodeId{2}}, .learners = {NodeId{3}}},
    .context = base::to_owned(base::as_bytes("huy")),
};

constexpr std::size_t kConfLists = 8 + 3 * 8;  // Its context may have any length.

Entry entry() {
  return {{Term{4}, Index{0x1122334455667788}},
          EntryType::kNormal,
          Body::copy_of(base::as_bytes("body"))};
}

Bytes entry_value() {
  const auto head = encode_entry_head(entry());
  Bytes value(head.begin(), head.end());
  const Entry written = entry();
  value.insert(value.end(), written.body.bytes().begin(), written.body.bytes().end());
  return value;
}

PendingInstall install() {
  PendingInstall made{
      .source = NodeId{0x11}, .checkpoint = CheckpointId{0x22}, .at = {Term{3}, Index{9}}};
  made.list_hash.fill(std::byte{0xab});
  return made;
}

struct Golden {
  const char* name;
  RecordKey key;
  Bytes value;
  const char* key_hex;
  const char* value_hex;
  const char* sum_hex;
};

std::vector<Golden> goldens() {
  return {
      {"node", node_key(), encode_node(kNode), "00",
       "0100000003000000110000000000000022000000000000003300000000000000", "5d7544e5"},
      {"state", group_key(kGroup, RecordKind::kState), encode_state(kState),
       "0101020304050607080a0b0c0d01",
       "05000000000000000600000000000000070000000000000008000000000000000400000000000000",
       "723424fe"},
      {"truncated", group_key(kGroup, RecordKind::kTruncated),
       encode_truncated({Term{3}, Index{9}}), "0101020304050607080a0b0c0d02",
       "09000000000000000300000000000000", "9feba24b"},
      {"configuration", conf_key(kGroup, Index{0x1122334455667788}), encode_conf(kConf),
       "0101020304050607080a0b0c0d031122334455667788",
       "0200010000000000010000000000000002000000000000000300000000000000687579", "f4eaa6d0"},
      {"install", group_key(kGroup, RecordKind::kInstall), encode_install(install()),
       "0101020304050607080a0b0c0d04",
       "1100000000000000220000000000000009000000000000000300000000000000"
       "abababababababababababababababababababababababababababababababab",
       "98ab6221"},
      {"group", group_key(kGroup, RecordKind::kGroup), encode_group(EngineKind::kLocal),
       "0101020304050607080a0b0c0d05", "01000000", "ae60b962"},
      {"entry", entry_key(kGroup, entry().at.index), entry_value(),
       "0101020304050607080a0b0c0d101122334455667788", "000000000400000000000000626f6479",
       "6f13eed1"},
      {"set", set_key(), encode_set(SetNumber{77}), "02", "4d00000000000000", "60826e66"},
  };
}

Bytes sealed(const Golden& golden) {
  Bytes value = golden.value;
  const auto sum = record_sum(golden.key.view(), golden.value);
  value.insert(value.end(), sum.begin(), sum.end());
  return value;
}

TEST(Records, HaveTheBytesOfTheFormat) {  // 4.1
  for (const Golden& golden : goldens()) {
    EXPECT_EQ(base::to_hex(golden.key.view()), golden.key_hex) << golden.name;
    EXPECT_EQ(base::to_hex(golden.value), golden.value_hex) << golden.name;
    EXPECT_EQ(base::to_hex(record_sum(golden.key.view(), golden.value)), golden.sum_hex)
        << golden.name;
  }
}

TEST(Records, TheSumOfAnEntryCoversHeadAndBody) {
  const Entry written = entry();
  const auto head = encode_entry_head(written);
  EXPECT_EQ(base::to_hex(
                record_sum(entry_key(kGroup, written.at.index).view(), head, written.body.bytes())),
            "6f13eed1");
}

TEST(Records, ReadBack) {
  const auto node = decode_node(encode_node(kNode));
  ASSERT_TRUE(node);
  EXPECT_EQ(node->identity, kNode.identity);
  EXPECT_EQ(node->incarnation, 3U);
  EXPECT_EQ(node->created_ms, 0x33U);
  const auto state = decode_state(encode_state(kState));
  ASSERT_TRUE(state);
  EXPECT_EQ(state->state, kState.state);
  EXPECT_EQ(state->last, kState.last);
  EXPECT_EQ(decode_truncated(encode_truncated({Term{3}, Index{9}})), (Position{Term{3}, Index{9}}));
  EXPECT_EQ(decode_install(encode_install(install())), install());
  EXPECT_EQ(decode_group(encode_group(EngineKind::kLocal)), EngineKind::kLocal);
  EXPECT_EQ(decode_group(encode_group(EngineKind::kRaft)), EngineKind::kRaft);
  EXPECT_EQ(decode_set(encode_set(SetNumber{77})), SetNumber{77});
  const Bytes value = entry_value();
  const auto head = decode_entry(value);
  ASSERT_TRUE(head);
  EXPECT_EQ(head->term, Term{4});
  EXPECT_EQ(base::as_text(head->body), "body");
}

TEST(Records, EveryFlippedBitOfKeyOrValueIsNoticed) {  // L-48
  for (const Golden& golden : goldens()) {
    const Bytes value = sealed(golden);
    EXPECT_TRUE(unsealed(golden.key.view(), value)) << golden.name;
    for (std::size_t bit = 0; bit < value.size() * 8; ++bit) {
      Bytes damaged = value;
      damaged[bit / 8] ^= static_cast<std::byte>(1U << (bit % 8));
      EXPECT_FALSE(unsealed(golden.key.view(), damaged)) << golden.name << " bit " << bit;
    }
    Bytes key = base::to_owned(golden.key.view());
    for (std::size_t bit = 0; bit < key.size() * 8; ++bit) {
      Bytes other = key;
      other[bit / 8] ^= static_cast<std::byte>(1U << (bit % 8));
      EXPECT_FALSE(unsealed(other, value)) << golden.name << " key bit " << bit;
    }
  }
}

TEST(Records, EveryOtherLengthIsNoticed) {
  for (const Golden& golden : goldens()) {
    const Bytes value = sealed(golden);
    for (std::size_t size = 0; size < value.size(); ++size)
      EXPECT_FALSE(unsealed(golden.key.view(), ByteView{value}.first(size))) << golden.name;
  }
}

// Whether the value reads as the record of this name.
bool reads(std::string_view name, ByteView value) {
  if (name == "node") return decode_node(value).has_value();
  if (name == "state") return decode_state(value).has_value();
  if (name == "truncated") return decode_truncated(value).has_value();
  if (name == "configuration") return decode_conf(kConf.index, value).has_value();
  if (name == "install") return decode_install(value).has_value();
  if (name == "group") return decode_group(value).has_value();
  if (name == "set") return decode_set(value).has_value();
  return decode_entry(value).has_value();
}

TEST(Records, AValueOfAnotherLengthDoesNotRead) {
  const auto longer = [](Bytes value) {
    value.push_back(std::byte{0});
    return value;
  };
  EXPECT_FALSE(decode_node(longer(encode_node(kNode))));
  EXPECT_FALSE(decode_state(longer(encode_state(kState))));
  EXPECT_FALSE(decode_truncated(longer(encode_truncated({}))));
  EXPECT_FALSE(decode_install(longer(encode_install(install()))));
  EXPECT_FALSE(decode_group(longer(encode_group(EngineKind::kLocal))));
  EXPECT_FALSE(decode_set(longer(encode_set(SetNumber{1}))));
  for (const Golden& golden : goldens()) {
    for (std::size_t size = 0; size < golden.value.size(); ++size) {
      if (std::string_view(golden.name) == "entry" && size >= kEntryHeadBytes) break;
      if (std::string_view(golden.name) == "configuration" && size >= kConfLists) break;
      EXPECT_FALSE(reads(golden.name, ByteView{golden.value}.first(size))) << golden.name << size;
    }
    EXPECT_TRUE(reads(golden.name, golden.value)) << golden.name;
  }
}

TEST(Records, ReservedBitsAreRefused) {
  for (const std::size_t offset : {2U, 3U}) {
    Bytes node = encode_node(kNode);
    node[offset] = std::byte{1};
    EXPECT_FALSE(decode_node(node)) << offset;
  }
  for (const std::size_t offset : {1U, 2U, 3U}) {
    Bytes group = encode_group(EngineKind::kLocal);
    group[offset] = std::byte{1};
    EXPECT_FALSE(decode_group(group)) << offset;
  }
  for (const int engine : {0, 4, 255}) {
    Bytes group = encode_group(EngineKind::kLocal);
    group[0] = static_cast<std::byte>(engine);
    EXPECT_FALSE(decode_group(group)) << engine;
  }
  for (const std::size_t offset : {0U, 1U, 2U, 3U}) {
    Bytes value = entry_value();
    value[offset] = std::byte{1};
    EXPECT_FALSE(decode_entry(value)) << offset;
  }
}

TEST(Records, ANodeRecordOfANewerReleaseSaysItsFormatOnly) {
  Bytes node = encode_node(kNode);
  node[0] = std::byte{2};
  node.resize(5);
  const auto record = decode_node(node);
  ASSERT_TRUE(record);
  EXPECT_EQ(record->format, 2);
}

TEST(Records, KeysSortByGroupIncarnationKindAndIndex) {
  const GroupKey low{GroupId{1}, Incarnation{255}};
  const GroupKey high{GroupId{256}, Incarnation{1}};
  const GroupKey later{GroupId{256}, Incarnation{2}};
  const std::vector<RecordKey> keys = {
      node_key(),
      groups_begin(),
      group_key(low, RecordKind::kState),
      group_key(low, RecordKind::kTruncated),
      group_key(low, RecordKind::kGroup),
      entry_key(low, Index{255}),
      entry_key(low, Index{256}),
      entry_key(low, Index{~std::uint64_t{0}}),
      group_key(high, RecordKind::kState),
      entry_key(high, Index{1}),
      group_key(later, RecordKind::kState),
      groups_end(),
  };
  for (std::size_t i = 1; i < keys.size(); ++i)
    EXPECT_TRUE(base::less(keys[i - 1].view(), keys[i].view())) << i;
}

TEST(Records, KeysReadBack) {
  const auto state = parse_group_key(group_key(kGroup, RecordKind::kState).view());
  ASSERT_TRUE(state);
  EXPECT_EQ(state->group, kGroup);
  EXPECT_EQ(state->kind, RecordKind::kState);
  const auto parsed = parse_group_key(entry_key(kGroup, Index{9}).view());
  ASSERT_TRUE(parsed);
  EXPECT_EQ(parsed->group, kGroup);
  EXPECT_EQ(parsed->kind, RecordKind::kEntry);
  EXPECT_EQ(parsed->index, Index{9});
}

TEST(Records, KeysThatNobodyWritesDoNotRead) {
  EXPECT_FALSE(parse_group_key(node_key().view()));
  EXPECT_FALSE(parse_group_key(set_key().view()));
  const Bytes entry = base::to_owned(entry_key(kGroup, Index{9}).view());
  for (std::size_t size = 0; size < entry.size(); ++size)
    EXPECT_FALSE(parse_group_key(ByteView{entry}.first(size))) << size;
  for (int kind = 0; kind < 256; ++kind) {
    Bytes key = base::to_owned(group_key(kGroup, RecordKind::kState).view());
    key[13] = static_cast<std::byte>(kind);
    EXPECT_EQ(parse_group_key(key).has_value(), kind == 1 || kind == 2 || kind == 4 || kind == 5)
        << kind;  // 3 has an index.
  }
  Bytes foreign = entry;
  foreign[0] = std::byte{2};
  EXPECT_FALSE(parse_group_key(foreign));
}

TEST(Records, AConfigurationReadsBackAndNothingElseDoes) {
  const Bytes value = encode_conf(kConf);
  EXPECT_EQ(decode_conf(kConf.index, value), kConf);
  struct Case {
    const char* what;
    std::size_t at;
    std::uint8_t byte;
  };
  const std::vector<Case> cases = {
      {"more voters than bytes", 0, 9},
      {"more voters than a group may have", 1, 1},
      {"an id of 0", 8, 0},
      {"ids that do not rise", 8, 2},
  };
  for (const Case& wrong : cases) {
    Bytes bytes = value;
    bytes[wrong.at] = std::byte{wrong.byte};
    EXPECT_FALSE(decode_conf(kConf.index, bytes)) << wrong.what;
  }
  for (std::size_t size = 0; size < kConfLists; ++size)
    EXPECT_FALSE(decode_conf(kConf.index, ByteView{value}.first(size))) << size;
  Bytes long_context = value;
  long_context.resize(value.size() + kConfContextBytesMax);
  EXPECT_FALSE(decode_conf(kConf.index, long_context));
}

TEST(Records, AnEntryOfAnUnknownTypeDoesNotRead) {
  Bytes value = entry_value();
  value[0] = static_cast<std::byte>(EntryType::kConfChange);
  ASSERT_TRUE(decode_entry(value));
  EXPECT_EQ(decode_entry(value)->type, EntryType::kConfChange);
  for (const int type : {1, 3, 255}) {
    value[0] = static_cast<std::byte>(type);
    EXPECT_FALSE(decode_entry(value)) << type;
  }
}

}  // namespace
}  // namespace cadastre::log
