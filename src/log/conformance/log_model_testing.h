// LogModel: what the logs of a node should hold, as plain lists, and the write sets that lead there.

#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/check.h"
#include "log/storage.h"

namespace cadastre::log::conformance {

class LogModel {
 public:
  struct Group {
    HardState state;
    Position truncated;
    std::vector<Entry> entries;  // Of (truncated, last].

    [[nodiscard]] Position last() const { return entries.empty() ? truncated : entries.back().at; }
  };

  [[nodiscard]] const std::map<GroupId, Group>& groups() const noexcept { return groups_; }
  [[nodiscard]] const Group& group(GroupId id) const { return groups_.at(id); }
  [[nodiscard]] SetNumber last_set() const noexcept { return last_set_; }

  // Changes of one set: the model has them at once.
  class Changes {
   public:
    explicit Changes(LogModel& model) noexcept : model_(model) {}

    // Entries of this term behind the last, or in place of what lies from `first` on.
    Changes& append(GroupId id, Term term, const std::vector<std::string>& bodies) {
      const bool there = model_.groups_.contains(id);
      return replace(id, term, there ? model_.group(id).last().index + 1 : Index{1}, bodies);
    }
    Changes& replace(GroupId id, Term term, Index first, const std::vector<std::string>& bodies) {
      GroupWrite& write = write_of(id);
      Group& group = model_.groups_[id];
      CAD_CHECK(first > group.truncated.index, "what is truncated stays");
      std::erase_if(group.entries, [&](const Entry& entry) { return entry.at.index >= first; });
      for (const std::string& body : bodies) {
        const Entry entry{{term, first}, EntryType::kNormal, Body::copy_of(base::as_bytes(body))};
        group.entries.push_back(entry);
        write.entries.push_back(entry);
        first = first + 1;
      }
      group.state.term = term;
      write.state = group.state;
      write.last = group.last();
      return *this;
    }
    Changes& truncate(GroupId id, Index upto) {
      GroupWrite& write = write_of(id);
      Group& group = model_.groups_[id];
      write.truncated_before = group.truncated.index;
      while (!group.entries.empty() && group.entries.front().at.index <= upto) {
        group.truncated = group.entries.front().at;
        group.entries.erase(group.entries.begin());
      }
      write.truncated = group.truncated;
      write.last = group.last();
      return *this;
    }
    Changes& set_state(GroupId id, const HardState& state) {
      GroupWrite& write = write_of(id);
      model_.groups_[id].state = state;
      write.state = state;
      write.last = model_.group(id).last();
      return *this;
    }

    [[nodiscard]] WriteSet set() {
      model_.last_set_ = SetNumber{model_.last_set_.value() + 1};
      return {.number = model_.last_set_, .groups = std::move(writes_), .bytes = 0};
    }

   private:
    GroupWrite& write_of(GroupId id) {
      for (GroupWrite& write : writes_) {
        if (write.group == id) return write;
      }
      const bool is_new = !model_.groups_.contains(id);
      GroupWrite& write = writes_.emplace_back();
      write.group = id;
      write.incarnation = Incarnation{1};
      if (is_new) write.created = EngineKind::kLocal;
      write.last_before = model_.groups_[id].last().index;
      return write;
    }

    LogModel& model_;
    std::vector<GroupWrite> writes_;
  };

  [[nodiscard]] Changes change() { return Changes(*this); }

 private:
  std::map<GroupId, Group> groups_;
  SetNumber last_set_;
};

}  // namespace cadastre::log::conformance
