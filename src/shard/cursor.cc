#include "shard/cursor.h"

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include "base/bytes.h"
#include "base/check.h"
#include "base/result.h"
#include "shard/key_range.h"
#include "shard/limits.h"
#include "shard/shard_spec.h"
#include "shard/text_writer.h"
#include "shard/view_guard.h"

namespace cadastre::shard::inline CAD_SHARD_FLAVOUR {
namespace {

bool same(const std::optional<ByteView>& a, const std::optional<ByteView>& b) noexcept {
  if (!a || !b) return a.has_value() == b.has_value();
  return base::equal(*a, *b);
}

}  // namespace

std::string_view code_name(const CursorError& error) noexcept {
  switch (error.code) {
    case CursorError::Code::kEmptyLastKey: return "empty_last_key";
    case CursorError::Code::kKeyTooLarge: return "key_too_large";
    case CursorError::Code::kTokenTooLarge: return "token_too_large";
  }
  return "unknown";
}

char* format_to(char* first, char* last, const CursorError& error) noexcept {
  TextWriter out(first, last);
  switch (error.code) {
    case CursorError::Code::kEmptyLastKey:
      return out.text("a cursor's last key is not empty").end();
    case CursorError::Code::kKeyTooLarge: out.text("cursor key of "); break;
    case CursorError::Code::kTokenTooLarge: out.text("cursor token of "); break;
  }
  return out.number(error.size).text(" bytes exceeds the limit of ").number(error.max).end();
}

CursorUpdate CursorUpdate::make(ByteView key, ByteView token) noexcept {
  CAD_CHECK(!key.empty(), "a cursor's last key is not empty");
  CursorUpdate cursor;
  cursor.last_key_ = key;
  if (!token.empty()) cursor.token_ = token;
  return cursor;
}

Result<CursorUpdate, CursorError> CursorUpdate::try_make(ByteView key, ByteView token) noexcept {
  using Code = CursorError::Code;
  if (key.empty()) return base::fail(CursorError{Code::kEmptyLastKey});
  if (key.size() > kMaxKeySize) {
    return base::fail(CursorError{Code::kKeyTooLarge, key.size(), kMaxKeySize});
  }
  if (token.size() > kMaxTokenSize) {
    return base::fail(CursorError{Code::kTokenTooLarge, token.size(), kMaxTokenSize});
  }
  return make(key, token);
}

bool operator==(const CursorUpdate& a, const CursorUpdate& b) noexcept {
  return same(a.last_key_, b.last_key_) && same(a.token_, b.token_);
}

std::optional<CursorSemantics> parse_cursor_semantics(std::uint8_t stored) noexcept {
  switch (stored) {
    case 0: return CursorSemantics::kCompleted;
    case 1: return CursorSemantics::kDispatched;
    default: return std::nullopt;
  }
}

CursorAdvance check_cursor_advance(const CursorUpdate& before, const CursorUpdate& after) noexcept {
  const auto old_key = before.last_key();
  const auto new_key = after.last_key();
  if (!old_key) return CursorAdvance::kForward;
  if (!new_key) return CursorAdvance::kResetToNone;
  return base::less(*new_key, *old_key) ? CursorAdvance::kRegression : CursorAdvance::kForward;
}

CursorBounds check_cursor_bounds(const CursorUpdate& cursor, const ShardSpecRef& spec) noexcept {
  const auto key = cursor.last_key();
  if (!key) return CursorBounds::kNoKey;
  if (!key_at_or_above_start(*key, spec.start())) return CursorBounds::kBelowRange;
  if (!key_below_end(*key, spec.end())) return CursorBounds::kAboveRange;
  return CursorBounds::kInBounds;
}

RestoredShardState::RestoredShardState(ShardSpec spec,
                                       const CursorUpdate& cursor,
                                       CursorSemantics semantics)
    : spec_(std::move(spec)),
      last_key_(base::to_owned(cursor.last_key().value_or(ByteView{}))),
      token_(base::to_owned(cursor.token().value_or(ByteView{}))),
      semantics_(semantics) {}

CursorUpdate RestoredShardState::cursor() const noexcept {
  if (last_key_.empty()) return CursorUpdate::initial();
  return CursorUpdate::make(last_key_, token_);
}

}  // namespace cadastre::shard::inline CAD_SHARD_FLAVOUR
