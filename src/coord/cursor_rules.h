// Whether a cursor may take the place of a shard's stored one.

#pragma once

#include "base/result.h"
#include "coord/errors.h"
#include "coord/shard_record.h"
#include "shard/cursor.h"
#include "shard/shard_spec.h"

namespace cadastre::coord {

using CursorMoveError =
    OneOf<CursorKeyTooLarge, CursorTokenTooLarge, CursorRegression, CursorOutOfBounds>;

// For a checkpoint or a completion, in this order: a key is present, its size, the token's size, not
// below the stored key, inside the spec as it is now.
[[nodiscard]] Result<void, CursorRuleError> check_cursor(const ShardRecordView& record,
                                                         const CursorUpdate& cursor) noexcept;

// The same without the first rule, for a cursor that has a key.
[[nodiscard]] Result<void, CursorMoveError> check_cursor_move(const ShardRecordView& record,
                                                              const CursorUpdate& cursor) noexcept;

// The last key that completes a shard in which nothing was found: its stored one, else its start,
// else one zero byte. Borrows the record.
[[nodiscard]] CursorUpdate empty_completion(const ShardSpecRef& spec,
                                            const CursorUpdate& stored) noexcept;

}  // namespace cadastre::coord
