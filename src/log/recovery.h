// What a group's log and its state must agree on before the group is opened (L-53).

#pragma once

#include <optional>

#include "base/result.h"
#include "log/storage.h"
#include "log/types.h"

namespace cadastre::log {

// The term of the log's entry at this index; nothing if the log does not hold it.
[[nodiscard]] std::optional<Term> term_at(const GroupImage& image, Index index) noexcept;

// kDamaged if the log lost synced entries, or the state lost flushed ones.
[[nodiscard]] base::Result<void, OpenError> check_state(const GroupImage& image, Position durable);

}  // namespace cadastre::log
