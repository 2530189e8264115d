#include "coord/cursor_rules.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "base/check.h"
#include "base/result.h"
#include "coord/errors.h"
#include "coord/identity.h"
#include "coord/limits.h"
#include "coord/shard_record.h"
#include "shard/cursor.h"

namespace cadastre::coord {
namespace {

std::optional<std::uint64_t> length_of(std::optional<ByteView> bytes) noexcept {
  if (!bytes) return std::nullopt;
  return bytes->size();
}

}  // namespace

Result<void, CursorMoveError> check_cursor_move(const ShardRecordView& record,
                                                const CursorUpdate& cursor) noexcept {
  CAD_CHECK(cursor.last_key().has_value(), "a cursor that moves has a key");
  const ByteView key = *cursor.last_key();
  if (key.size() > kMaxKeySize) {
    return base::fail(CursorMoveError(CursorKeyTooLarge{key.size(), kMaxKeySize}));
  }
  if (cursor.token() && cursor.token()->size() > kMaxTokenSize) {
    return base::fail(CursorMoveError(CursorTokenTooLarge{cursor.token()->size(), kMaxTokenSize}));
  }
  if (shard::check_cursor_advance(record.cursor, cursor) != shard::CursorAdvance::kForward) {
    return base::fail(
        CursorMoveError(CursorRegression{length_of(record.cursor.last_key()), key.size()}));
  }
  if (shard::check_cursor_bounds(cursor, record.spec) != shard::CursorBounds::kInBounds) {
    return base::fail(CursorMoveError(
        CursorOutOfBounds{key.size(), record.spec.start().size(), record.spec.end().size()}));
  }
  return {};
}

Result<void, CursorRuleError> check_cursor(const ShardRecordView& record,
                                           const CursorUpdate& cursor) noexcept {
  if (!cursor.last_key()) return base::fail(CursorRuleError(CheckpointMissingKey{}));
  CAD_TRY(check_cursor_move(record, cursor));
  return {};
}

CursorUpdate empty_completion(const ShardSpecRef& spec, const CursorUpdate& stored) noexcept {
  static constexpr std::array<std::byte, 1> kLeastKey{};
  if (stored.last_key()) return CursorUpdate::make(*stored.last_key());
  if (!spec.is_start_unbounded()) return CursorUpdate::make(spec.start());
  return CursorUpdate::make(kLeastKey);
}

}  // namespace cadastre::coord
