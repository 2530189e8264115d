// Loop: a node whose disk is nearly full (L-50) or does not answer (L-51) takes no new commands and
// lets others lead. Looked at when the house is kept; a transfer that came to nothing is tried again then.

#include <string>
#include <utility>

#include "log/loop.h"
#include "log/membership.h"

namespace cadastre::log {

void Loop::set_space(Space space) {
  if (space_.exchange(space) != space) parts_.runner.wake_log();
}

void Loop::heed_space() {
  const Space space = space_.load();
  if (std::exchange(space_heeded_, space) == space) return;
  peers_.refuse_appends(space == Space::kCritical);
  for (const auto& [id, group] : groups_)
    group->queue.refuse_users(users_refused(*group));
}

std::string Loop::users_refused(const GroupLog& group) const {
  if (space_heeded_ != Space::kPlenty) return "the disk of this node is nearly full";
  if (group.retention.bytes() > parts_.settings.group_log_bytes_hard)
    return "the group's log is too large: its state has to be flushed";
  return {};
}

void Loop::retreat(base::Elapsed now) {
  const bool late = in_disk_ && in_disk_->age.late();
  if (!late && space_heeded_ == Space::kPlenty) return;
  for (GroupLog* group : replicated_)
    retreat(*group, now);
}

void Loop::retreat(GroupLog& group, base::Elapsed now) {
  if (group.halted || stopping_ || group.leading == Term{0} || group.transfer) return;
  const NodeId to = successor_of(view_of(group, now), {});
  if (to == kNoNode) return;  // Nobody could: it leads on, and refuses.
  TransferRequest request{to, {}, [](const base::Result<void, TransferError>&) {
                          }};
  begin_transfer(group, request, now);
}

}  // namespace cadastre::log
