// Cursors: how far a worker has come in its shard.
//
// CursorUpdate borrows a last key and an optional resume token. By construction a present key is not
// empty, a token exists only beside a key, and an empty token is an absent one. Absent and empty are
// different things: absence is never written as an empty view.

#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/attributes.h"
#include "base/bytes.h"
#include "base/result.h"
#include "shard/shard_spec.h"
#include "shard/view_guard.h"

namespace cadastre::shard::inline CAD_SHARD_FLAVOUR {

// In the order of detection.
struct CursorError {
  enum class Code : std::uint8_t {
    kEmptyLastKey,
    kKeyTooLarge,    // size, max
    kTokenTooLarge,  // size, max
  };

  Code code{};
  std::uint64_t size = 0;
  std::uint64_t max = 0;

  friend constexpr bool operator==(const CursorError&, const CursorError&) noexcept = default;
};

[[nodiscard]] std::string_view code_name(const CursorError& error) noexcept;
char* format_to(char* first, char* last, const CursorError& error) noexcept;

class CursorUpdate {
 public:
  // Nothing done yet.
  [[nodiscard]] static CursorUpdate initial() noexcept { return {}; }

  // For trusted callers: an empty key aborts, sizes are not looked at.
  [[nodiscard]] static CursorUpdate make(ByteView key CAD_LIFETIMEBOUND,
                                         ByteView token CAD_LIFETIMEBOUND = {}) noexcept;

  [[nodiscard]] static Result<CursorUpdate, CursorError> try_make(
      ByteView key CAD_LIFETIMEBOUND, ByteView token CAD_LIFETIMEBOUND = {}) noexcept;

  [[nodiscard]] std::optional<ByteView> last_key() const noexcept { return last_key_; }
  [[nodiscard]] std::optional<ByteView> token() const noexcept { return token_; }

  // By content.
  friend bool operator==(const CursorUpdate& a, const CursorUpdate& b) noexcept;

 private:
  CursorUpdate() noexcept = default;

  std::optional<ByteView> last_key_;
  std::optional<ByteView> token_;  // Only with a key; never empty.
};

// What a cursor's position means. The values are stored: never renumber.
enum class CursorSemantics : std::uint8_t {
  kCompleted = 0,   // everything up to the key is done
  kDispatched = 1,  // everything up to the key has been handed out
};

[[nodiscard]] std::optional<CursorSemantics> parse_cursor_semantics(std::uint8_t stored) noexcept;

enum class CursorAdvance : std::uint8_t {
  kForward,      // includes an equal key: an idempotent retry
  kResetToNone,  // there was a key and now there is none
  kRegression,   // the key went back
};

// By keys alone; tokens are not compared. Whether a checkpoint without a key is acceptable is the
// operation's business.
[[nodiscard]] CursorAdvance check_cursor_advance(const CursorUpdate& before,
                                                 const CursorUpdate& after) noexcept;

enum class CursorBounds : std::uint8_t {
  kNoKey,
  kInBounds,  // exactly when the spec contains the key
  kBelowRange,
  kAboveRange,
};

[[nodiscard]] CursorBounds check_cursor_bounds(const CursorUpdate& cursor,
                                               const ShardSpecRef& spec) noexcept;

// What a worker gets when it acquires a shard: spec, cursor and semantics, owned and immutable.
class RestoredShardState {
 public:
  RestoredShardState(ShardSpec spec, const CursorUpdate& cursor, CursorSemantics semantics);

  [[nodiscard]] const ShardSpec& spec() const noexcept CAD_LIFETIMEBOUND { return spec_; }
  [[nodiscard]] CursorUpdate cursor() const noexcept CAD_LIFETIMEBOUND;
  [[nodiscard]] CursorSemantics semantics() const noexcept { return semantics_; }

 private:
  ShardSpec spec_;
  base::Bytes last_key_;  // empty: absent
  base::Bytes token_;     // empty: absent
  CursorSemantics semantics_;
};

}  // namespace cadastre::shard::inline CAD_SHARD_FLAVOUR
