#include "kv/step_cursor.h"

#include <optional>

#include "base/bytes.h"
#include "base/result.h"
#include "kv/error.h"
#include "kv/kv.h"
#include "kv/transaction_state.h"

namespace cadastre::kv {

StepCursor::StepCursor(TransactionState& state) noexcept : state_(state) {
  ++state_.cursors;
}

StepCursor::~StepCursor() {
  --state_.cursors;
}

Result<std::optional<EntryView>, Error> StepCursor::seek_ceiling(ByteView key) {
  CAD_TRY(state_.usable());
  return placed(key.empty() ? move_to_first() : move_to_ceiling(key), Position::kAfterLast);
}

Result<std::optional<EntryView>, Error> StepCursor::seek_floor(ByteView key) {
  CAD_TRY(state_.usable());
  if (key.empty()) return placed(std::nullopt, Position::kBeforeFirst);
  const Found ceiling = move_to_ceiling(key);
  if (!ceiling) return placed(ceiling, Position::kLost);
  if (!*ceiling) return placed(move_to_last(), Position::kBeforeFirst);
  if (base::equal((*ceiling)->key, key)) return placed(ceiling, Position::kOnEntry);
  return placed(move_back(), Position::kBeforeFirst);
}

Result<std::optional<EntryView>, Error> StepCursor::next() {
  CAD_TRY(standing());
  if (position_ == Position::kAfterLast) return std::nullopt;
  return placed(position_ == Position::kOnEntry ? move_forward() : move_to_first(),
                Position::kAfterLast);
}

Result<std::optional<EntryView>, Error> StepCursor::prev() {
  CAD_TRY(standing());
  if (position_ == Position::kBeforeFirst) return std::nullopt;
  return placed(position_ == Position::kOnEntry ? move_back() : move_to_last(),
                Position::kBeforeFirst);
}

Result<void, Error> StepCursor::standing() const {
  CAD_TRY(state_.usable());
  if (position_ == Position::kNowhere) return {};
  if (position_ == Position::kLost || mutations_seen_ != state_.mutations)
    return base::fail(Error{ErrorCode::kStaleCursor});
  return {};
}

StepCursor::Found StepCursor::placed(const Found& found, Position if_nothing) {
  mutations_seen_ = state_.mutations;
  if (!found)
    position_ = Position::kLost;
  else
    position_ = *found ? Position::kOnEntry : if_nothing;
  return found;
}

}  // namespace cadastre::kv
