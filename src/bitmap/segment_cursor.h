// SegmentCursor: the segments of one (base key, shard), in the order of their fences.
//
// A segment owns the ids from its fence up to the next one's, so the home of an id is found with one
// ordered lookup (3.1). There is no head to discover: whatever other record the lookup meets proves
// that the shard is empty.

#pragma once

#include <array>
#include <cstddef>
#include <optional>

#include "base/attributes.h"
#include "base/bytes.h"
#include "base/result.h"
#include "bitmap/error.h"
#include "bitmap/ids.h"
#include "bitmap/limits.h"
#include "kv/kv.h"

namespace cadastre::bitmap {

using base::ByteView;
using base::Result;

// Dies with the next mutation of the transaction or the next move of the cursor.
struct StoredSegment {
  Id fence;
  ByteView value;
};

class SegmentCursor {
 public:
  using Found = Result<std::optional<StoredSegment>, Error>;

  // Borrows the cursor. `base_key` is valid (check_base_key).
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-member-init): only what is used of key_ is written
  SegmentCursor(kv::Cursor& cursor, ByteView base_key, Shard shard) noexcept;

  // The segment whose interval holds `id`; nothing if the shard is empty.
  [[nodiscard]] Found locate(Id id);
  [[nodiscard]] Found first();
  [[nodiscard]] Found last();
  // From where the cursor stands; nothing behind the last or before the first.
  [[nodiscard]] Found next();
  [[nodiscard]] Found prev();

  // The stored key of the segment with this fence; valid until the next call.
  [[nodiscard]] ByteView key_of(Id fence) noexcept CAD_LIFETIMEBOUND;
  // Of the shard's statistics, and what all its records begin with.
  [[nodiscard]] ByteView prefix() const noexcept CAD_LIFETIMEBOUND;

 private:
  [[nodiscard]] Found answer(const Result<std::optional<kv::EntryView>, kv::Error>& entry) const;

  kv::Cursor* cursor_;
  std::size_t prefix_bytes_;
  std::array<std::byte, kStoredKeyBytesMax> key_;  // the prefix and a fence
};

}  // namespace cadastre::bitmap
