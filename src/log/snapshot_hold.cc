#include "log/snapshot_hold.h"

#include <utility>

namespace cadastre::log {

bool SnapshotHold::arrived(Message message) {
  if (!current_) {
    current_ = Current{std::move(message)};
    return true;
  }
  if (message.name() == current_->message.name()) {
    const bool same = message.manifest == current_->message.manifest;
    if (same && !current_->stepped) current_->message.frame = std::move(message.frame);
  } else if (!next_ || next_->manifest.at.index <= message.manifest.at.index) {
    next_ = std::move(message);
  }
  return false;
}

}  // namespace cadastre::log
