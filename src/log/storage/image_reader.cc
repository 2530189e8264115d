#include "log/storage/image_reader.h"

#include <optional>
#include <utility>

#include <fmt/format.h>

namespace cadastre::log {
namespace {

std::unexpected<base::Error<OpenError>> damaged(std::string detail) {
  return base::fail(OpenError::kDamaged, std::move(detail));
}

std::string name_of(GroupKey group) {
  return fmt::format("group {}", group.group.value());
}

// Collects the records of one group, which lie together: group record and entries behind state and
// truncated, by their kinds.
class ImageBuilder {
 public:
  explicit ImageBuilder(GroupKey group) : group_(group) {
    image_.group = group.group;
    image_.incarnation = group.incarnation;
  }

  [[nodiscard]] GroupKey group() const noexcept { return group_; }

  base::Result<void, OpenError> add(const ParsedKey& key, ByteView value) {
    switch (key.kind) {
      case RecordKind::kState: return add_state(value);
      case RecordKind::kTruncated: return add_truncated(value);
      case RecordKind::kConf: return add_conf(key.index, value);
      case RecordKind::kInstall: return add_install(value);
      case RecordKind::kGroup: return add_group(value);
      case RecordKind::kEntry: return add_entry(key.index, value);
    }
    return damaged(name_of(group_) + ": a record of an unknown kind");
  }

  // A group that ends above what was read of it: nothing but the mark of its end.
  [[nodiscard]] bool is_tombstone() const noexcept {
    return has_group_ && image_.engine == EngineKind::kTombstone && !state_ && !last_ &&
           image_.confs.empty() && image_.truncated == Position{};
  }

  base::Result<GroupImage, OpenError> finish() {
    const std::string name = name_of(group_);
    if (image_.engine == EngineKind::kTombstone)
      return damaged(name + ": a tombstone with nothing under it");
    if (!has_group_) return damaged(name + ": its group record is missing");
    if (!state_) return damaged(name + ": its state record is missing");
    const Position last = last_.value_or(image_.truncated);
    if (!(state_->last == last)) {
      return damaged(fmt::format("{}: the log ends at {}, its state record says {}", name,
                                 to_string(last), to_string(state_->last)));
    }
    if (state_->state.term < last.term)
      return damaged(name + ": its term is below its last entry's");
    if (state_->state.commit > last.index)
      return damaged(name + ": it has committed what is not there");
    if ((image_.engine == EngineKind::kRaft) == image_.confs.empty())
      return damaged(name + ": a replicated group has a configuration, a local one has none");
    if (!image_.confs.empty() && image_.confs.back().index > state_->state.commit)
      return damaged(name + ": its configuration is not committed");
    if (image_.installing && !(image_.installing->at == image_.truncated))
      return damaged(name + ": the log does not begin at its pending install");
    image_.state = state_->state;
    image_.last = last;
    return std::move(image_);
  }

 private:
  base::Result<void, OpenError> add_state(ByteView value) {
    state_ = decode_state(value);
    if (!state_) return damaged(name_of(group_) + ": its state record does not read");
    return {};
  }
  base::Result<void, OpenError> add_truncated(ByteView value) {
    const auto at = decode_truncated(value);
    if (!at) return damaged(name_of(group_) + ": its truncation record does not read");
    image_.truncated = *at;
    return {};
  }
  base::Result<void, OpenError> add_conf(Index index, ByteView value) {
    auto record = decode_conf(index, value);
    if (!record) {
      return damaged(fmt::format("{}: its configuration of entry {} does not read", name_of(group_),
                                 index.value()));
    }
    image_.confs.push_back(std::move(*record));
    return {};
  }
  base::Result<void, OpenError> add_install(ByteView value) {
    image_.installing = decode_install(value);
    if (!image_.installing) return damaged(name_of(group_) + ": its pending install does not read");
    return {};
  }
  base::Result<void, OpenError> add_group(ByteView value) {
    const auto engine = decode_group(value);
    if (!engine) return damaged(name_of(group_) + ": its group record does not read");
    image_.engine = *engine;
    has_group_ = true;
    return {};
  }
  base::Result<void, OpenError> add_entry(Index index, ByteView value) {
    const Position before = last_.value_or(image_.truncated);
    if (entries_between(before.index, index) != 1) {
      return damaged(fmt::format("{}: entry {} follows entry {}", name_of(group_), index.value(),
                                 before.index.value()));
    }
    const auto entry = decode_entry(value);
    if (!entry) {
      return damaged(fmt::format("{}: entry {} does not read", name_of(group_), index.value()));
    }
    if (entry->term < before.term) {
      return damaged(
          fmt::format("{}: the term goes back at entry {}", name_of(group_), index.value()));
    }
    if (image_.terms.empty() || image_.terms.back().term != entry->term)
      image_.terms.push_back({index, entry->term});
    image_.entry_bytes += entry->body.size();
    last_ = Position{entry->term, index};
    return {};
  }

  GroupKey group_;
  GroupImage image_;
  std::optional<StateRecord> state_;
  std::optional<Position> last_;
  bool has_group_ = false;
};

// Another group, or the end of the one before.
base::Result<void, OpenError> close(ImageBuilder& group, std::vector<GroupImage>& groups) {
  const bool same = !groups.empty() && groups.back().group == group.group().group;
  if (same && group.is_tombstone() && !groups.back().removed) {
    groups.back().removed = true;
    return {};
  }
  GroupImage image = CAD_TRY(group.finish());
  if (same) return damaged(name_of(group.group()) + ": it is there in two incarnations");
  groups.push_back(std::move(image));
  return {};
}

// `written`: whether there was a set that wrote a group.
base::Result<SetNumber, OpenError> read_set_number(RecordCursor& records, bool written) {
  const RecordKey key = set_key();
  records.seek(key.view());
  if (!records.error().empty()) return damaged(records.error());
  if (!records.valid()) {
    if (written) return damaged("the number of the last write set is missing");
    return SetNumber{0};
  }
  if (!base::equal(records.key(), key.view())) return damaged("a record that nobody writes here");
  const auto value = unsealed(records.key(), records.value());
  const auto number = value ? decode_set(*value) : std::nullopt;
  if (!number) return damaged("the number of the last write set does not read");
  records.next();
  if (records.valid()) return damaged("a record behind the last");
  return *number;
}

}  // namespace

base::Result<NodeRecord, OpenError> read_node_record(RecordCursor& records) {
  const RecordKey key = node_key();
  records.seek(key.view());
  if (!records.error().empty()) return damaged(records.error());
  if (!records.valid() || !base::equal(records.key(), key.view()))
    return base::fail(OpenError::kForeign, "a database without our node record");
  const auto value = unsealed(records.key(), records.value());
  if (!value) return damaged("the node record does not match its sum");
  const auto record = decode_node(*value);
  if (!record) return damaged("the node record does not read");
  if (record->format != kLogFormat)
    return base::fail(OpenError::kNewer, fmt::format("log format {}", record->format));
  return *record;
}

base::Result<LogStorage::Recovered, OpenError> read_images(RecordCursor& records) {
  LogStorage::Recovered recovered;
  std::optional<ImageBuilder> group;
  const RecordKey end = groups_end();
  for (records.seek(groups_begin().view());
       records.valid() && base::less(records.key(), end.view()); records.next()) {
    const auto key = parse_group_key(records.key());
    if (!key) return damaged("a record with the key " + base::to_hex(records.key()));
    if (!group || !(group->group() == key->group)) {
      if (group) CAD_TRY(close(*group, recovered.groups));
      group.emplace(key->group);
    }
    const auto value = unsealed(records.key(), records.value());
    if (!value) {
      return damaged(fmt::format("{}: the record {} does not match its sum", name_of(key->group),
                                 base::to_hex(records.key())));
    }
    CAD_TRY(group->add(*key, *value));
  }
  if (!records.error().empty()) return damaged(records.error());
  if (group) CAD_TRY(close(*group, recovered.groups));
  recovered.last_set = CAD_TRY(read_set_number(records, !recovered.groups.empty()));
  return recovered;
}

base::Result<std::vector<Entry>, LogReadError> read_entries(RecordCursor& records,
                                                            const EntryRange& range) {
  std::vector<Entry> entries;
  std::size_t bytes = 0;
  records.seek(entry_key(range.group, range.low).view());
  for (Index index = range.low; index <= range.high; index = index + 1, records.next()) {
    if (!records.error().empty()) return base::fail(LogReadError::kFailed, records.error());
    const RecordKey key = entry_key(range.group, index);
    if (!records.valid() || !base::equal(records.key(), key.view())) {
      return base::fail(entries.empty() ? LogReadError::kGone : LogReadError::kDamaged,
                        fmt::format("{} has no entry {}", name_of(range.group), index.value()));
    }
    const auto value = unsealed(records.key(), records.value());
    const auto entry = value ? decode_entry(*value) : std::nullopt;
    if (!entry || (!entries.empty() && entry->term < entries.back().at.term)) {
      return base::fail(LogReadError::kDamaged, fmt::format("{}: entry {} is not what was written",
                                                            name_of(range.group), index.value()));
    }
    bytes += entry->body.size();
    if (!entries.empty() && bytes > range.bytes_max) break;
    entries.push_back({{entry->term, index}, entry->type, Body::copy_of(entry->body)});
  }
  return entries;
}

}  // namespace cadastre::log
