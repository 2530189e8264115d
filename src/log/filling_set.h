// FillingSet: the write set that gathers while another one is in the disk: the outputs of all groups, as one
// atomic write (L-12, L-42).
//
// It notes on each group what the disk will hold: last position, hard state, configurations. Belongs to
// the log thread.

#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "log/engine.h"
#include "log/group_log.h"
#include "log/storage.h"
#include "log/types.h"

namespace cadastre::log {

class FillingSet {
 public:
  // What an output wants to survive; takes its entries. A commit index that moved alone makes no set of
  // its own (L-44): it rides on the group's next record.
  void add(GroupLog& group, Output& output);
  // Entries up to here go.
  void truncate(GroupLog& group, Position upto);
  // The configuration that takes effect once this set is synced (L-55).
  void change_conf(GroupLog& group, ConfRecord record);
  // A snapshot in place of the whole log; what comes with it is added behind it (L-58, L-59).
  void install(GroupLog& group, ConfRecord record, const PendingInstall& pending);
  // The state machine has switched to it.
  void installed(GroupLog& group) { of(group).installed = true; }
  // The node was removed from the group, which is halted: the mark that it does nothing any more (L-90).
  void bury(GroupLog& group);
  // The commit index, if the disk has an older one.
  void keep_commit(GroupLog& group);

  [[nodiscard]] bool empty() const noexcept { return set_.empty(); }
  [[nodiscard]] std::size_t bytes() const noexcept { return set_.bytes; }
  [[nodiscard]] WriteSet take(SetNumber number);

 private:
  [[nodiscard]] GroupWrite& of(GroupLog& group);
  void put_state(GroupLog& group, GroupWrite& write);

  WriteSet set_;
};

}  // namespace cadastre::log
