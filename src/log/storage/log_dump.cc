#include "log/storage/log_dump.h"

#include <memory>
#include <utility>

#include <fmt/format.h>
#include <rocksdb/db.h>
#include <rocksdb/options.h>

#include "log/body.h"
#include "log/storage/log_tail.h"
#include "log/storage/rocks_directory.h"
#include "log/storage/rocks_read_only.h"

namespace cadastre::log {
namespace {

ByteView view(const rocksdb::Slice& slice) noexcept {
  return {reinterpret_cast<const std::byte*>(slice.data()), slice.size()};
}
rocksdb::Slice slice(ByteView bytes) noexcept {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// Walks the records and tells the sink; a group's own records come before its entries.
class Dumper {
 public:
  Dumper(const DumpOptions& options, DumpSink& sink) noexcept : options_(options), sink_(sink) {}

  void run(rocksdb::DB& database) {
    rocksdb::ReadOptions read;
    read.fill_cache = false;
    const std::unique_ptr<rocksdb::Iterator> records(database.NewIterator(read));
    tell_node(*records);
    const RecordKey end = groups_end();
    for (records->Seek(slice(groups_begin().view()));
         records->Valid() && base::less(view(records->key()), end.view()); records->Next())
      take(view(records->key()), view(records->value()));
    finish_group();
    if (!records->status().ok())
      sink_.on_damage("the walk ended early", records->status().ToString());
  }

 private:
  void tell_node(rocksdb::Iterator& records) {
    const auto value_at = [&](const RecordKey& key) -> std::optional<ByteView> {
      records.Seek(slice(key.view()));
      if (!records.Valid() || !base::equal(view(records.key()), key.view())) return std::nullopt;
      return unsealed(key.view(), view(records.value()));
    };
    SetNumber last_set;
    if (const auto value = value_at(set_key())) {
      if (const auto number = decode_set(*value)) last_set = *number;
    }
    const auto value = value_at(node_key());
    const auto node = value ? decode_node(*value) : std::nullopt;
    if (node) return sink_.on_node(*node, last_set);
    sink_.on_damage("the node record", "it is missing, or not what was written");
  }

  void take(ByteView key, ByteView value) {
    const auto parsed = parse_group_key(key);
    if (!parsed)
      return sink_.on_damage("the record " + base::to_hex(key), "nobody writes such a key");
    if (options_.group && parsed->group.group != *options_.group) return;
    if (!group_ || group_->group != parsed->group.group ||
        group_->incarnation != parsed->group.incarnation) {
      finish_group();
      group_ = DumpedGroup{parsed->group.group, parsed->group.incarnation, {}, {}, {}};
      last_ = {};
    }
    const auto content = unsealed(key, value);
    if (!content) {
      return sink_.on_damage(
          fmt::format("group {}, the record {}", parsed->group.group.value(), base::to_hex(key)),
          "it does not match its sum");
    }
    switch (parsed->kind) {
      case RecordKind::kState: group_->state = decode_state(*content); break;
      case RecordKind::kTruncated:
        group_->truncated = decode_truncated(*content).value_or(Position{});
        last_ = group_->truncated.index;
        break;
      case RecordKind::kConf:
      case RecordKind::kInstall: break;  // What the entries say is enough.
      case RecordKind::kGroup: group_->engine = decode_group(*content); break;
      case RecordKind::kEntry: take_entry(parsed->index, *content); break;
    }
  }

  void take_entry(Index index, ByteView content) {
    tell_group();
    const std::string where = fmt::format("group {}", group_->group.value());
    if (index != last_ + 1) {
      sink_.on_damage(where,
                      fmt::format("entry {} follows entry {}", index.value(), last_.value()));
    }
    last_ = index;
    const auto entry = decode_entry(content);
    if (!entry) return sink_.on_damage(where, fmt::format("entry {} does not read", index.value()));
    if (entry->type == EntryType::kConfChange)
      return sink_.on_entry({group_->group, {entry->term, index}, entry->body, 0, {}});
    const auto commands = read_body(entry->body);
    sink_.on_entry({group_->group,
                    {entry->term, index},
                    entry->body,
                    commands ? commands->size() : 0,
                    commands ? std::string() : commands.error().detail});
  }

  void tell_group() {
    if (!std::exchange(told_, true)) sink_.on_group(*group_);
  }

  void finish_group() {
    if (!group_) return;
    tell_group();
    if (group_->state && group_->state->last.index != last_) {
      sink_.on_damage(fmt::format("group {}", group_->group.value()),
                      fmt::format("the log ends at entry {}, its state record says {}",
                                  last_.value(), group_->state->last.index.value()));
    }
    group_.reset();
    told_ = false;
  }

  const DumpOptions& options_;
  DumpSink& sink_;
  std::optional<DumpedGroup> group_;
  bool told_ = false;
  Index last_;
};

}  // namespace

base::Result<void, OpenError> dump_log(const DumpOptions& options, DumpSink& sink) {
  const DirectoryContent content = CAD_TRY(look_at_directory(options.directory));
  if (content == DirectoryContent::kNothing)
    return base::fail(OpenError::kForeign, options.directory.string() + " holds no log");
  const std::string directory = options.directory.string();
  const auto judged = judge_tail(options.directory);
  if (!judged) sink.on_damage(directory, judged.error().detail);
  std::unique_ptr<rocksdb::DB> database;
  // A torn tail is no damage; where there is damage, everything that can be read is shown.
  const auto mode = judged ? rocksdb::WALRecoveryMode::kPointInTimeRecovery
                           : rocksdb::WALRecoveryMode::kSkipAnyCorruptedRecords;
  const rocksdb::Status status = open_read_only(options.directory, mode, database);
  if (!status.ok()) return base::fail(OpenError::kDamaged, status.ToString());
  Dumper(options, sink).run(*database);
  return {};
}

}  // namespace cadastre::log
