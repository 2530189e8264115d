#include "bitmap/key_cursor.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <utility>
#include <variant>

#include "base/bytes.h"
#include "base/result.h"
#include "bitmap/error.h"
#include "bitmap/faults.h"
#include "bitmap/ids.h"
#include "bitmap/key_codec.h"
#include "bitmap/limits.h"
#include "bitmap/stored.h"
#include "kv/kv.h"

namespace cadastre::bitmap {
namespace {

bool begins_with(ByteView bytes, ByteView prefix) noexcept {
  return bytes.size() >= prefix.size() && base::equal(bytes.first(prefix.size()), prefix);
}

}  // namespace

Result<std::optional<RecordOwner>, Error> owner_of(ByteView stored_key) {
  const auto decoded = decode_key(stored_key);
  if (!decoded) return base::fail(corrupt(decoded.error(), stored_key));
  if (const auto* segment = std::get_if<SegmentKey>(&*decoded)) {
    return RecordOwner{segment->base_key, segment->shard};
  }
  if (const auto* stats = std::get_if<StatsKey>(&*decoded)) {
    return RecordOwner{stats->base_key, stats->shard};
  }
  if (std::holds_alternative<DescriptorKey>(*decoded)) return std::nullopt;
  return base::fail(corrupt(KeyFault::kBadLength, stored_key));  // A rolled segment has no place.
}

Result<std::optional<Shard>, Error> find_shard(kv::Cursor& cursor, ByteView base_key, Shard from) {
  const auto entry = CAD_TRY(stored(cursor.seek_ceiling(stats_key(base_key, from))));
  if (!entry) return std::nullopt;
  const auto owner = CAD_TRY(owner_of(entry->key));
  if (!owner || !base::equal(owner->base_key, base_key)) return std::nullopt;
  return owner->shard;
}

Result<KeyCursor, Error> KeyCursor::open(kv::Reader& reader,
                                         ByteView prefix,
                                         std::optional<ByteView> after) {
  if (prefix.size() > kBaseKeyBytesMax || (after && after->size() > kBaseKeyBytesMax)) {
    return base::fail(misuse(Misuse::kKeyTooLong));
  }
  KeyCursor keys(CAD_TRY(stored(reader.cursor())), prefix);
  keys.start_length(prefix.size());
  if (after) {
    const auto behind = prefix_end(key_prefix(*after));
    if (behind && base::compare(*behind, *keys.from_) > 0) keys.from_ = *behind;
  }
  return keys;
}

void KeyCursor::start_length(std::size_t base_key_bytes) noexcept {
  from_ = base_key_bytes > kBaseKeyBytesMax
              ? std::nullopt
              : std::optional(listing_prefix(base_key_bytes, prefix_));
}

Result<std::optional<base::Bytes>, Error> KeyCursor::next() {
  while (from_) {
    const auto entry = CAD_TRY(stored(cursor_->seek_ceiling(*from_)));
    const auto owner = entry ? CAD_TRY(owner_of(entry->key)) : std::nullopt;
    if (!owner) {
      from_ = std::nullopt;
      break;
    }
    const ByteView key = owner->base_key;
    if (begins_with(key, prefix_)) {
      from_ = prefix_end(key_prefix(key));
      return base::to_owned(key);
    }
    // Either keys of this length that come later, or the first key of a greater length, which may
    // still stand before the prefix.
    const StoredKey wanted = listing_prefix(std::max(key.size(), prefix_.size()), prefix_);
    if (base::compare(wanted, entry->key) > 0) {
      from_ = wanted;
    } else {
      start_length(key.size() + 1);
    }
  }
  return std::nullopt;
}

}  // namespace cadastre::bitmap
