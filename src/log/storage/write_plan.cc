#include "log/storage/write_plan.h"

#include <array>

#include "base/check.h"
#include "log/storage/records.h"

namespace cadastre::log {
namespace {

constexpr std::uint64_t kPointErasesMax = 64;  // Beyond it, one erase of the range.

void put_sealed(RecordSink& sink, const RecordKey& key, ByteView value) {
  const auto sum = record_sum(key.view(), value);
  const std::array<ByteView, 2> parts{value, ByteView{sum}};
  sink.put(key.view(), parts);
}

// Entries in (after, upto].
void erase_entries(RecordSink& sink, GroupKey group, Index after, Index upto) {
  if (upto <= after) return;
  if (entries_between(after, upto) > kPointErasesMax) {
    sink.erase_range(entry_key(group, after + 1).view(), entry_key(group, upto + 1).view());
    return;
  }
  for (Index index = after + 1; index <= upto; index = index + 1)
    sink.erase(entry_key(group, index).view());
}

void put_entry(RecordSink& sink, GroupKey group, const Entry& entry) {
  const RecordKey key = entry_key(group, entry.at.index);
  const auto head = encode_entry_head(entry);
  const auto sum = record_sum(key.view(), head, entry.body.bytes());
  const std::array<ByteView, 3> parts{ByteView{head}, entry.body.bytes(), ByteView{sum}};
  sink.put(key.view(), parts);
}

void write_group(RecordSink& sink, const GroupWrite& write) {
  const GroupKey group{write.group, write.incarnation};
  if (write.created)
    put_sealed(sink, group_key(group, RecordKind::kGroup), encode_group(*write.created));
  if (write.installed) sink.erase(group_key(group, RecordKind::kInstall).view());
  Index last_before = write.last_before;
  if (write.truncated) {
    CAD_CHECK(write.truncated->index <= write.last.index, "only what is there is truncated");
    const Index gone = write.installs ? write.last_before : write.truncated->index;
    erase_entries(sink, group, write.truncated_before, gone);
    put_sealed(sink, group_key(group, RecordKind::kTruncated), encode_truncated(*write.truncated));
  }
  if (write.installs) {
    CAD_CHECK(write.truncated == write.installs->at, "an install begins the log anew");
    last_before = write.truncated->index;
    put_sealed(sink, group_key(group, RecordKind::kInstall), encode_install(*write.installs));
  }
  for (const Index index : write.confs_dropped)
    sink.erase(conf_key(group, index).view());
  for (const ConfRecord& record : write.confs)
    put_sealed(sink, conf_key(group, record.index), encode_conf(record));
  if (!write.entries.empty()) {
    CAD_CHECK(write.entries.back().at == write.last, "the last entry is the log's last");
    CAD_CHECK(write.entries.front().at.index <= last_before + 1, "a log has no gap");
    erase_entries(sink, group, write.last.index, last_before);
    for (const Entry& entry : write.entries)
      put_entry(sink, group, entry);
  }
  if (write.state) {
    put_sealed(sink, group_key(group, RecordKind::kState),
               encode_state({.state = *write.state, .last = write.last}));
  }
}

}  // namespace

void write_records(const WriteSet& set, RecordSink& sink) {
  for (const GroupWrite& write : set.groups)
    write_group(sink, write);
  put_sealed(sink, set_key(), encode_set(set.number));
}

}  // namespace cadastre::log
