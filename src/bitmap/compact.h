// Packing: a shard's containers in as few segments as its fill allows (3.7).

#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>

#include "base/bytes.h"
#include "base/result.h"
#include "bitmap/config.h"
#include "bitmap/error.h"
#include "bitmap/id_stream.h"
#include "bitmap/ids.h"
#include "kv/kv.h"

namespace cadastre::bitmap {

// How much one call may read; at least one segment is.
struct CompactBudget {
  std::size_t bytes = std::size_t{64} << 20;
};

// Where the next call goes on.
struct CompactCursor {
  Shard shard;
  Id fence;

  friend bool operator==(const CompactCursor&, const CompactCursor&) = default;
};

struct CompactReport {
  std::uint64_t segments_before = 0;  // of what this call looked at
  std::uint64_t segments_after = 0;
  std::uint64_t bytes_before = 0;
  std::uint64_t bytes_after = 0;
  std::optional<CompactCursor> next;  // none: the key is done
};

// Segments of about equal size, close to kBulkFillPercentDefault of S. What is packed already is not
// written again.
[[nodiscard]] Result<CompactReport, Error> compact_key(kv::Writer& writer,
                                                       kv::Cursor& cursor,
                                                       const Config& config,
                                                       base::ByteView base_key,
                                                       CompactBudget budget,
                                                       std::optional<CompactCursor> from);

// Writes all of an ascending stream into shard 0 of a key that has no records.
[[nodiscard]] Result<void, Error> write_packed_shard(kv::Writer& writer,
                                                     const Config& config,
                                                     base::ByteView base_key,
                                                     IdStream& stream);

}  // namespace cadastre::bitmap
