// The body of an entry that changes the membership: what raft-rs wrote, and what the proposer said along
// with it.
//
//   offset  size  field
//        0     4  change_bytes  u32, little-endian
//        4     n  change        eraftpb.ConfChangeV2
//    4 + n     m  context       conf_context.h

#pragma once

#include <optional>

#include "base/bytes.h"
#include "log/body.h"

namespace cadastre::log {

struct ConfBody {
  ByteView change;
  ByteView context;
};

[[nodiscard]] Body join_conf_body(const ConfBody& parts);
// Nothing if the bytes are too short for what they say.
[[nodiscard]] std::optional<ConfBody> split_conf_body(ByteView body) noexcept;

}  // namespace cadastre::log
