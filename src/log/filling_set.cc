#include "log/filling_set.h"

#include <algorithm>

#include "base/check.h"

namespace cadastre::log {

GroupWrite& FillingSet::of(GroupLog& group) {
  const auto found = std::ranges::find_if(set_.groups, [&](const GroupWrite& write) {
    return write.group == group.id && write.incarnation == group.incarnation;
  });
  if (found != set_.groups.end()) return *found;
  GroupWrite& write = set_.groups.emplace_back();
  write.group = group.id;
  write.incarnation = group.incarnation;
  write.last_before = group.last.index;
  write.last = group.last;
  write.created = std::exchange(group.created, std::nullopt);
  if (write.created == EngineKind::kRaft) {  // A replicated group is born with its first members.
    if (group.last.index != Index{0}) write.truncated = group.last;
    write.confs = group.confs;
    put_state(group, write);
  }
  return write;
}

void FillingSet::put_state(GroupLog& group, GroupWrite& write) {
  write.state = group.hard;
  group.commit_kept = group.hard.commit;
}

void FillingSet::add(GroupLog& group, Output& output) {
  if (output.state) group.hard = *output.state;
  if (!output.must_sync) return;
  GroupWrite& write = of(group);
  if (!output.entries.empty() && output.entries.front().at.index <= group.last.index) {
    const Index first = output.entries.front().at.index;
    std::erase_if(write.entries, [&](const Entry& entry) { return entry.at.index >= first; });
    group.retention.cut(first);
  }
  for (Entry& entry : output.entries) {
    const bool follows =
        write.entries.empty() || entry.at.index == write.entries.back().at.index + 1;
    CAD_CHECK(follows, "an engine appends without gaps");
    group.last = entry.at;
    group.terms.append(entry.at);
    group.retention.appended(entry.at.index, entry.body.size());
    set_.bytes += entry.body.size() + kEntryRecordBytes;
    write.entries.push_back(std::move(entry));
  }
  write.last = group.last;
  put_state(group, write);
}

void FillingSet::truncate(GroupLog& group, Position upto) {
  GroupWrite& write = of(group);
  // The set may wait for a slow one and be truncated further meanwhile: it erases from where the disk begins.
  if (!write.truncated) write.truncated_before = group.retention.truncated();
  write.truncated = upto;
  write.last = group.last;
  group.terms.truncate(upto);
  // Of configurations, the newest one at or below what is truncated stays (L-72).
  while (group.confs.size() > 1 && group.confs[1].index <= upto.index) {
    const Index oldest = group.confs.front().index;
    std::erase_if(write.confs, [&](const ConfRecord& record) { return record.index == oldest; });
    write.confs_dropped.push_back(oldest);
    group.confs.erase(group.confs.begin());
  }
}

void FillingSet::change_conf(GroupLog& group, ConfRecord record) {
  CAD_CHECK(group.hard.commit >= record.index, "only what is committed takes effect");
  GroupWrite& write = of(group);
  write.confs.push_back(record);
  group.confs.push_back(std::move(record));
  put_state(group, write);
}

void FillingSet::install(GroupLog& group, ConfRecord record, const PendingInstall& pending) {
  GroupWrite& write = of(group);
  if (!write.truncated) write.truncated_before = group.retention.truncated();
  write.truncated = pending.at;
  write.installs = pending;
  write.entries.clear();
  for (const ConfRecord& known : group.confs) {
    if (known.index != pending.at.index) write.confs_dropped.push_back(known.index);
  }
  write.confs = {std::move(record)};
  write.last = pending.at;
  group.confs = write.confs;
  group.last = pending.at;
  group.terms.replace(pending.at);
  group.retention.replaced(pending.at.index);
  group.hard.commit = std::max(group.hard.commit, pending.at.index);
  put_state(group, write);
}

void FillingSet::bury(GroupLog& group) {
  // A mark above nothing would be damage: a group that the disk does not know yet is born with its end.
  if (group.created) (void)of(group);
  GroupWrite& write = set_.groups.emplace_back();
  write.group = group.id;
  write.incarnation = Incarnation{group.incarnation.value() + 1};
  write.created = EngineKind::kTombstone;
}

void FillingSet::keep_commit(GroupLog& group) {
  if (group.hard.commit <= group.commit_kept) return;
  put_state(group, of(group));
}

WriteSet FillingSet::take(SetNumber number) {
  WriteSet set = std::exchange(set_, {});
  set.number = number;
  return set;
}

}  // namespace cadastre::log
