// The records of the log database: keys that sort by group and index, values with a sum over both.
//
// Integers are big-endian in keys and little-endian in values. g is the group, n its incarnation on
// this node, i an index. Every value ends with u32 crc32c of the key and of the value before it.
//
//   key                value
//   00                 node record: u16 format 1, u16 zero, u32 incarnation, u64 cluster, u64 node, u64
//                      created (ms); written once, compared at every open
//   01 g8 n4 01        state: u64 term, u64 vote, u64 commit, u64 last index, u64 last term
//   01 g8 n4 02        truncated: u64 index, u64 term
//   01 g8 n4 03 i8     configuration since entry i: four times u16 count, then the ids (u64) of voters,
//                      learners, outgoing voters and next learners, each ascending; then the context
//   01 g8 n4 04        pending install: u64 source node, u64 checkpoint, u64 index, u64 term, 32 hash of its file list
//   01 g8 n4 05        group record: u8 engine, u8 flags zero, u16 zero. Engine 3 is a tombstone, and alone in its
//                      incarnation: the node was removed from the group
//   01 g8 n4 10 i8     entry i: u8 type, u8 flags zero, u16 zero, u64 term, body
//   02                 u64 number of the write set, one more in each set
//
// Pure. A reader rejects every length and every bit it does not expect.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "base/bytes.h"
#include "log/conf_state.h"
#include "log/storage.h"
#include "log/types.h"

namespace cadastre::log {

inline constexpr std::size_t kRecordSumBytes = 4;
inline constexpr std::size_t kGroupKeyBytes = 14;
inline constexpr std::size_t kEntryKeyBytes = 22;
inline constexpr std::size_t kEntryHeadBytes = 12;
inline constexpr std::uint16_t kLogFormat = 1;

enum class RecordKind : std::uint8_t {  // Reaches the disk.
  kState = 0x01,
  kTruncated = 0x02,
  kConf = 0x03,
  kInstall = 0x04,
  kGroup = 0x05,
  kEntry = 0x10,
};

// Bytes of a key, without allocation.
struct RecordKey {
  std::array<std::byte, kEntryKeyBytes> bytes{};
  std::size_t size = 0;

  [[nodiscard]] ByteView view() const noexcept { return ByteView{bytes}.first(size); }
};

struct GroupKey {
  GroupId group;
  Incarnation incarnation;

  friend bool operator==(const GroupKey&, const GroupKey&) noexcept = default;
};

[[nodiscard]] RecordKey node_key() noexcept;
[[nodiscard]] RecordKey set_key() noexcept;
[[nodiscard]] RecordKey groups_begin() noexcept;  // Every group's records are in [begin, end).
[[nodiscard]] RecordKey groups_end() noexcept;
[[nodiscard]] RecordKey group_key(GroupKey group, RecordKind kind) noexcept;
[[nodiscard]] RecordKey entry_key(GroupKey group, Index index) noexcept;
[[nodiscard]] RecordKey conf_key(GroupKey group, Index index) noexcept;

// What a key of a group says, or nothing if it is no such key.
struct ParsedKey {
  GroupKey group;
  RecordKind kind;
  Index index;  // Of an entry or a configuration.
};
[[nodiscard]] std::optional<ParsedKey> parse_group_key(ByteView key) noexcept;

struct NodeIdentity {
  ClusterId cluster;
  NodeId node;

  friend bool operator==(const NodeIdentity&, const NodeIdentity&) noexcept = default;
};
struct NodeRecord {
  std::uint16_t format = kLogFormat;
  std::uint32_t incarnation = 1;
  NodeIdentity identity;
  std::uint64_t created_ms = 0;
};
struct StateRecord {
  HardState state;
  Position last;
};

// Values without their sum; sealed() adds it.
[[nodiscard]] Bytes encode_node(const NodeRecord& record);
[[nodiscard]] Bytes encode_state(const StateRecord& record);
[[nodiscard]] Bytes encode_truncated(Position at);
[[nodiscard]] Bytes encode_conf(const ConfRecord& record);
[[nodiscard]] Bytes encode_install(const PendingInstall& install);
[[nodiscard]] Bytes encode_group(EngineKind engine);
[[nodiscard]] Bytes encode_set(SetNumber number);
[[nodiscard]] std::array<std::byte, kEntryHeadBytes> encode_entry_head(const Entry& entry) noexcept;

// The sum that ends a value made of two parts.
[[nodiscard]] std::array<std::byte, kRecordSumBytes> record_sum(ByteView key,
                                                                ByteView first,
                                                                ByteView second = {}) noexcept;
// The value before its sum, or nothing if the sum is wrong.
[[nodiscard]] std::optional<ByteView> unsealed(ByteView key, ByteView value) noexcept;

// From an unsealed value; nothing if it does not read as one.
[[nodiscard]] std::optional<NodeRecord> decode_node(ByteView value) noexcept;
[[nodiscard]] std::optional<StateRecord> decode_state(ByteView value) noexcept;
[[nodiscard]] std::optional<Position> decode_truncated(ByteView value) noexcept;
[[nodiscard]] std::optional<ConfRecord> decode_conf(Index index, ByteView value);
[[nodiscard]] std::optional<PendingInstall> decode_install(ByteView value) noexcept;
[[nodiscard]] std::optional<EngineKind> decode_group(ByteView value) noexcept;
[[nodiscard]] std::optional<SetNumber> decode_set(ByteView value) noexcept;
struct EntryHead {
  EntryType type;
  Term term;
  ByteView body;
};
[[nodiscard]] std::optional<EntryHead> decode_entry(ByteView value) noexcept;

}  // namespace cadastre::log
