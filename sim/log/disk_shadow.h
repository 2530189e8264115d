// DiskShadow: what the synced part of a node's disk holds of one group, kept beside the disk by whoever ends
// its syncs: the log's positions with a digest of each body, and the hard state.

#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>

#include "base/xxh3.h"
#include "log/storage.h"

namespace cadastre::sim {

class DiskShadow {
 public:
  struct Slot {
    log::Term term;
    std::uint64_t digest = 0;  // Of the body and its type.
  };

  // A write that is synced now.
  void apply(const log::GroupWrite& write) {
    if (write.truncated) {
      truncated_ = *write.truncated;
      slots_.erase(slots_.begin(), slots_.upper_bound(truncated_.index));
    }
    if (write.installs) {
      slots_.clear();  // In place of the whole log.
      installing_ = write.installs->at.index;
    }
    if (write.installed) installing_.reset();
    if (!write.entries.empty())
      slots_.erase(slots_.lower_bound(write.entries.front().at.index), slots_.end());
    for (const log::Entry& entry : write.entries)
      put(entry);
    if (write.state) hard_ = *write.state;
  }
  // What a new process finds.
  void restore(const log::GroupImage& image, std::span<const log::Entry> entries) {
    truncated_ = image.truncated;
    hard_ = image.state;
    installing_.reset();
    if (image.installing) installing_ = image.installing->at.index;
    slots_.clear();
    for (const log::Entry& entry : entries)
      put(entry);
  }

  [[nodiscard]] const log::HardState& hard() const noexcept { return hard_; }
  [[nodiscard]] log::Index last() const noexcept {
    return slots_.empty() ? truncated_.index : slots_.rbegin()->first;
  }
  // Nothing if the log does not have it, or not any more.
  [[nodiscard]] const Slot* at(log::Index index) const {
    const auto found = slots_.find(index);
    return found == slots_.end() ? nullptr : &found->second;
  }
  // Whether the entry is there, or was and is in the state.
  [[nodiscard]] bool has(log::Position position) const {
    if (position.index <= truncated_.index) return true;
    const Slot* slot = at(position.index);
    return slot != nullptr && slot->term == position.term;
  }
  [[nodiscard]] log::Position truncated() const noexcept { return truncated_; }
  // The log begins at a snapshot to which the state has not switched, as far as the disk says; nothing: it does not.
  [[nodiscard]] std::optional<log::Index> installing() const noexcept { return installing_; }

 private:
  void put(const log::Entry& entry) {
    slots_[entry.at.index] = {
        entry.at.term,
        base::xxh3_64(entry.body.bytes(), static_cast<std::uint64_t>(entry.type) + 1)};
  }

  log::HardState hard_;
  log::Position truncated_;
  std::optional<log::Index> installing_;
  std::map<log::Index, Slot> slots_;
};

}  // namespace cadastre::sim
