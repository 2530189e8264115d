// What a node asks another one for: a range of a file of a checkpoint (L-70). The answer is the range's bytes and nothing
// else, or a refusal. Integers are little-endian.
//
//   request, version 1
//   offset  size  field
//        0     4  magic       "CDFR"
//        4     2  version     1
//        6     2  name_bytes  1 to 255
//        8     8  cluster
//       16     8  from        who asks
//       24     8  to          who is asked, and made the checkpoint
//       32     8  group
//       40     8  id          of the checkpoint
//       48     8  offset      in the file
//       56     4  bytes       1 to kFetchBytesMax; the range ends within the file
//       60     n  name        plain (log/checkpoint.h)
//       ..     4  crc32c      of everything before
//
// A reader rejects an unknown version, every length it does not expect, and a name that is not plain.
//
// Pure functions.

#pragma once

#include <optional>

#include "base/bytes.h"
#include "base/result.h"
#include "log/snapshotter.h"
#include "log/types.h"
#include "server/checkpoint_staging.h"
#include "server/peer_admission.h"

namespace cadastre::server {

struct FetchRequest {
  log::ClusterId cluster = {};
  log::NodeId from = {};
  log::CheckpointName checkpoint = {};  // Its node is the one that is asked.
  FileRange range = {};

  friend bool operator==(const FetchRequest&, const FetchRequest&) = default;
};

inline constexpr std::size_t kFetchRequestBytesMax = 60 + log::kFileNameBytesMax + 4;

// The name is plain and the range of a length that can be asked for.
[[nodiscard]] base::Bytes encode_fetch_request(const FetchRequest& request);
// kDamaged, kVersion or kTooLong.
[[nodiscard]] base::Result<FetchRequest, PeerRefusal> decode_fetch_request(base::ByteView bytes);

// Why the request is not answered at all, as for a stream (peer_admission.h); nothing: it may be.
[[nodiscard]] std::optional<PeerRefusal> refuse_fetch(const FetchRequest& request,
                                                      const PeerIdentity& self,
                                                      const Authenticated& end) noexcept;

}  // namespace cadastre::server
