// Entry: one slot of a group's log. EntryView: what a state machine sees of it.

#pragma once

#include <span>
#include <vector>

#include "log/body.h"
#include "log/types.h"

namespace cadastre::log {

struct Entry {
  Position at;
  EntryType type = EntryType::kNormal;
  Body body;
};

// Borrows from the applier's round. No commands: the entry opens a term, and `applied` moves all the
// same.
struct EntryView {
  Position at;
  std::span<const ByteView> commands;
};

}  // namespace cadastre::log
