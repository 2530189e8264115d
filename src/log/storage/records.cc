#include "log/storage/records.h"

#include <algorithm>

#include "base/check.h"
#include "base/crc32c.h"
#include "base/endian.h"
#include "log/limits.h"

namespace cadastre::log {
namespace {

constexpr std::byte kNodePrefix{0x00};
constexpr std::byte kGroupPrefix{0x01};
constexpr std::byte kSetPrefix{0x02};
constexpr std::size_t kWordBytes = 8;
constexpr std::size_t kNodeBytes = 32;
constexpr std::size_t kGroupBytes = 4;
constexpr std::size_t kInstallBytes = 4 * kWordBytes + std::tuple_size_v<FileHash>;
constexpr std::size_t kConfHeadBytes = 4 * sizeof(std::uint16_t);

RecordKey short_key(std::byte prefix) noexcept {
  RecordKey key;
  key.bytes[0] = prefix;
  key.size = 1;
  return key;
}

std::uint64_t word(ByteView value, std::size_t number) noexcept {
  return base::load_le<std::uint64_t>(value.data() + number * kWordBytes);
}

template <class... Words>
Bytes words(Words... values) {
  Bytes out(sizeof...(values) * kWordBytes);
  std::byte* to = out.data();
  ((base::store_le(to, std::uint64_t{values}), to += kWordBytes), ...);
  return out;
}

std::optional<RecordKind> kind_of(std::byte value) noexcept {
  const auto kind = static_cast<RecordKind>(value);
  switch (kind) {
    case RecordKind::kState:
    case RecordKind::kTruncated:
    case RecordKind::kConf:
    case RecordKind::kInstall:
    case RecordKind::kGroup:
    case RecordKind::kEntry: return kind;
  }
  return std::nullopt;
}

bool has_index(RecordKind kind) noexcept {
  return kind == RecordKind::kEntry || kind == RecordKind::kConf;
}

RecordKey indexed_key(GroupKey group, RecordKind kind, Index index) noexcept {
  RecordKey key = group_key(group, kind);
  base::store_be(key.bytes.data() + kGroupKeyBytes, index.value());
  key.size = kEntryKeyBytes;
  return key;
}

// Ascending, no id twice, none of them 0.
bool is_id_list(const std::vector<NodeId>& ids) noexcept {
  NodeId before = kNoNode;
  for (const NodeId id : ids) {
    if (id <= before) return false;
    before = id;
  }
  return true;
}

}  // namespace

RecordKey node_key() noexcept {
  return short_key(kNodePrefix);
}
RecordKey set_key() noexcept {
  return short_key(kSetPrefix);
}
RecordKey groups_begin() noexcept {
  return short_key(kGroupPrefix);
}
RecordKey groups_end() noexcept {
  return short_key(kSetPrefix);
}

RecordKey group_key(GroupKey group, RecordKind kind) noexcept {
  RecordKey key;
  key.bytes[0] = kGroupPrefix;
  base::store_be(key.bytes.data() + 1, group.group.value());
  base::store_be(key.bytes.data() + 9, group.incarnation.value());
  key.bytes[13] = static_cast<std::byte>(kind);
  key.size = kGroupKeyBytes;
  return key;
}

RecordKey entry_key(GroupKey group, Index index) noexcept {
  return indexed_key(group, RecordKind::kEntry, index);
}
RecordKey conf_key(GroupKey group, Index index) noexcept {
  return indexed_key(group, RecordKind::kConf, index);
}

std::optional<ParsedKey> parse_group_key(ByteView key) noexcept {
  if (key.size() != kGroupKeyBytes && key.size() != kEntryKeyBytes) return std::nullopt;
  if (key[0] != kGroupPrefix) return std::nullopt;
  const auto kind = kind_of(key[13]);
  if (!kind || has_index(*kind) != (key.size() == kEntryKeyBytes)) return std::nullopt;
  ParsedKey parsed{.group = {GroupId{base::load_be<std::uint64_t>(key.data() + 1)},
                             Incarnation{base::load_be<std::uint32_t>(key.data() + 9)}},
                   .kind = *kind,
                   .index = {}};
  if (has_index(*kind))
    parsed.index = Index{base::load_be<std::uint64_t>(key.data() + kGroupKeyBytes)};
  return parsed;
}

Bytes encode_node(const NodeRecord& record) {
  Bytes out(kNodeBytes);
  base::store_le(out.data(), record.format);
  base::store_le(out.data() + 4, record.incarnation);
  base::store_le(out.data() + 8, record.identity.cluster.value());
  base::store_le(out.data() + 16, record.identity.node.value());
  base::store_le(out.data() + 24, record.created_ms);
  return out;
}

Bytes encode_state(const StateRecord& record) {
  return words(record.state.term.value(), record.state.vote.value(), record.state.commit.value(),
               record.last.index.value(), record.last.term.value());
}

Bytes encode_truncated(Position at) {
  return words(at.index.value(), at.term.value());
}

Bytes encode_conf(const ConfRecord& record) {
  const std::array lists{&record.conf.voters, &record.conf.learners, &record.conf.voters_outgoing,
                         &record.conf.learners_next};
  std::size_t ids = 0;
  CAD_CHECK(fits_record(record), "a configuration is checked before it is kept");
  for (const auto* list : lists)
    ids += list->size();
  Bytes out(kConfHeadBytes + ids * kWordBytes);
  std::byte* count = out.data();
  std::byte* id = out.data() + kConfHeadBytes;
  for (const auto* list : lists) {
    base::store_le(count, static_cast<std::uint16_t>(list->size()));
    count += sizeof(std::uint16_t);
    for (const NodeId node : *list) {
      base::store_le(id, node.value());
      id += kWordBytes;
    }
  }
  out.insert(out.end(), record.context.begin(), record.context.end());
  return out;
}

std::optional<ConfRecord> decode_conf(Index index, ByteView value) {
  if (value.size() < kConfHeadBytes) return std::nullopt;
  ConfRecord record{.index = index, .conf = {}};
  const std::array lists{&record.conf.voters, &record.conf.learners, &record.conf.voters_outgoing,
                         &record.conf.learners_next};
  ByteView rest = value.subspan(kConfHeadBytes);
  for (std::size_t i = 0; i < lists.size(); ++i) {
    const std::size_t count = base::load_le<std::uint16_t>(value.data() + 2 * i);
    if (count > kMembersMax || rest.size() < count * kWordBytes) return std::nullopt;
    for (std::size_t id = 0; id < count; ++id)
      lists[i]->push_back(NodeId{word(rest, id)});
    if (!is_id_list(*lists[i])) return std::nullopt;
    rest = rest.subspan(count * kWordBytes);
  }
  if (rest.size() > kConfContextBytesMax) return std::nullopt;
  record.context = base::to_owned(rest);
  return record;
}

Bytes encode_install(const PendingInstall& install) {
  Bytes out(kInstallBytes);
  base::store_le(out.data(), install.source.value());
  base::store_le(out.data() + kWordBytes, install.checkpoint.value());
  base::store_le(out.data() + 2 * kWordBytes, install.at.index.value());
  base::store_le(out.data() + 3 * kWordBytes, install.at.term.value());
  std::ranges::copy(install.list_hash, out.begin() + 4 * kWordBytes);
  return out;
}

std::optional<PendingInstall> decode_install(ByteView value) noexcept {
  if (value.size() != kInstallBytes) return std::nullopt;
  PendingInstall install{.source = NodeId{word(value, 0)},
                         .checkpoint = CheckpointId{word(value, 1)},
                         .at = {Term{word(value, 3)}, Index{word(value, 2)}}};
  std::ranges::copy(value.subspan(4 * kWordBytes), install.list_hash.begin());
  return install;
}

Bytes encode_group(EngineKind engine) {
  Bytes out(kGroupBytes);
  out[0] = static_cast<std::byte>(engine);
  return out;
}

Bytes encode_set(SetNumber number) {
  return words(number.value());
}

std::array<std::byte, kEntryHeadBytes> encode_entry_head(const Entry& entry) noexcept {
  std::array<std::byte, kEntryHeadBytes> out{};
  out[0] = static_cast<std::byte>(entry.type);
  base::store_le(out.data() + 4, entry.at.term.value());
  return out;
}

std::array<std::byte, kRecordSumBytes> record_sum(ByteView key,
                                                  ByteView first,
                                                  ByteView second) noexcept {
  const std::uint32_t crc =
      base::crc32c_extend(base::crc32c_extend(base::crc32c(key), first), second);
  std::array<std::byte, kRecordSumBytes> out{};
  base::store_le(out.data(), crc);
  return out;
}

std::optional<ByteView> unsealed(ByteView key, ByteView value) noexcept {
  if (value.size() < kRecordSumBytes) return std::nullopt;
  const ByteView before = value.first(value.size() - kRecordSumBytes);
  const auto sum = record_sum(key, before);
  if (!base::equal(sum, value.last(kRecordSumBytes))) return std::nullopt;
  return before;
}

std::optional<NodeRecord> decode_node(ByteView value) noexcept {
  if (value.size() < 2) return std::nullopt;
  NodeRecord record;
  record.format = base::load_le<std::uint16_t>(value.data());
  if (record.format != kLogFormat) return record;  // Of a newer release: the rest is unknown.
  if (value.size() != kNodeBytes || value[2] != std::byte{0} || value[3] != std::byte{0})
    return std::nullopt;
  record.incarnation = base::load_le<std::uint32_t>(value.data() + 4);
  record.identity = {ClusterId{word(value, 1)}, NodeId{word(value, 2)}};
  record.created_ms = word(value, 3);
  return record;
}

std::optional<StateRecord> decode_state(ByteView value) noexcept {
  if (value.size() != 5 * kWordBytes) return std::nullopt;
  return StateRecord{.state = {Term{word(value, 0)}, NodeId{word(value, 1)}, Index{word(value, 2)}},
                     .last = {Term{word(value, 4)}, Index{word(value, 3)}}};
}

std::optional<Position> decode_truncated(ByteView value) noexcept {
  if (value.size() != 2 * kWordBytes) return std::nullopt;
  return Position{Term{word(value, 1)}, Index{word(value, 0)}};
}

std::optional<EngineKind> decode_group(ByteView value) noexcept {
  if (value.size() != kGroupBytes) return std::nullopt;
  for (const std::byte zero : value.subspan(1)) {
    if (zero != std::byte{0}) return std::nullopt;
  }
  const auto engine = static_cast<EngineKind>(value[0]);
  switch (engine) {
    case EngineKind::kLocal:
    case EngineKind::kRaft:
    case EngineKind::kTombstone: return engine;
  }
  return std::nullopt;
}

std::optional<SetNumber> decode_set(ByteView value) noexcept {
  if (value.size() != kWordBytes) return std::nullopt;
  return SetNumber{word(value, 0)};
}

std::optional<EntryHead> decode_entry(ByteView value) noexcept {
  if (value.size() < kEntryHeadBytes) return std::nullopt;
  const auto type = static_cast<EntryType>(value[0]);
  if (type != EntryType::kNormal && type != EntryType::kConfChange) return std::nullopt;
  for (const std::byte zero : value.subspan(1, 3)) {
    if (zero != std::byte{0}) return std::nullopt;
  }
  return EntryHead{.type = type,
                   .term = Term{base::load_le<std::uint64_t>(value.data() + 4)},
                   .body = value.subspan(kEntryHeadBytes)};
}

}  // namespace cadastre::log
