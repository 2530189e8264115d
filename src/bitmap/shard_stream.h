// Streams over the segments of one shard, read where they lie.

#pragma once

#include "base/bytes.h"
#include "base/result.h"
#include "bitmap/error.h"
#include "bitmap/id_stream.h"
#include "bitmap/ids.h"
#include "kv/kv.h"

namespace cadastre::bitmap {

// Every segment's checksum and place are looked at before its first container is given out.
// Lives as long as the reader's transaction, or until it changes.
[[nodiscard]] Result<Stream, Error> stream_shard(kv::Reader& reader,
                                                 base::ByteView base_key,
                                                 Shard shard,
                                                 Direction direction);

}  // namespace cadastre::bitmap
