// Walks over what a table holds: the base keys, and the shards of one key that are not empty.

#pragma once

#include <cstddef>
#include <memory>
#include <optional>

#include "base/attributes.h"
#include "base/bytes.h"
#include "base/result.h"
#include "bitmap/error.h"
#include "bitmap/ids.h"
#include "bitmap/key_codec.h"
#include "kv/kv.h"

namespace cadastre::bitmap {

// Whose record a stored key is. Borrows from it.
struct RecordOwner {
  ByteView base_key;
  Shard shard;
};
// Nothing for the descriptor; a key that no table has is damage.
[[nodiscard]] Result<std::optional<RecordOwner>, Error> owner_of(
    ByteView stored_key CAD_LIFETIMEBOUND);

// The first shard at or above `from` that has a record under this key; one lookup.
[[nodiscard]] Result<std::optional<Shard>, Error> find_shard(kv::Cursor& cursor,
                                                             ByteView base_key,
                                                             Shard from);

// Base keys that begin with a prefix, in the order of (length, bytes): that of the store (B-10). Costs
// one lookup for each key and for each length of keys that is present.
class KeyCursor {
 public:
  // From behind `after`, if there is one.
  [[nodiscard]] static Result<KeyCursor, Error> open(kv::Reader& reader,
                                                     ByteView prefix,
                                                     std::optional<ByteView> after);
  [[nodiscard]] Result<std::optional<base::Bytes>, Error> next();

 private:
  KeyCursor(std::unique_ptr<kv::Cursor> cursor, ByteView prefix)
      : cursor_(std::move(cursor)), prefix_(base::to_owned(prefix)) {}
  void start_length(std::size_t base_key_bytes) noexcept;

  std::unique_ptr<kv::Cursor> cursor_;
  base::Bytes prefix_;
  std::optional<StoredKey> from_;  // where to look next; none at the end
};

}  // namespace cadastre::bitmap
