// The verdicts on cursors as the vector files write them.

#pragma once

#include <string_view>

#include "shard/cursor.h"

namespace cadastre::shard {

[[nodiscard]] inline std::string_view verdict_name(CursorAdvance verdict) {
  switch (verdict) {
    case CursorAdvance::kForward: return "forward";
    case CursorAdvance::kResetToNone: return "reset_to_none";
    case CursorAdvance::kRegression: return "regression";
  }
  return "unknown";
}

[[nodiscard]] inline std::string_view verdict_name(CursorBounds verdict) {
  switch (verdict) {
    case CursorBounds::kNoKey: return "no_key";
    case CursorBounds::kInBounds: return "in_bounds";
    case CursorBounds::kBelowRange: return "below_range";
    case CursorBounds::kAboveRange: return "above_range";
  }
  return "unknown";
}

}  // namespace cadastre::shard
