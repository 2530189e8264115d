// Snapshot: a group's state at a position in place of all entries up to it, as engines speak of it.
//
// `data` is the manifest of a checkpoint whose files travel on their own (checkpoint.h, L-70); `conf` is who belonged
// to the group at that very position, whatever has changed since (L-72). A pure value.

#pragma once

#include <cstdint>

#include "base/bytes.h"
#include "log/conf_state.h"
#include "log/types.h"

namespace cadastre::log {

struct Snapshot {
  Position at;
  ConfState conf;
  base::Bytes data;

  friend bool operator==(const Snapshot&, const Snapshot&) noexcept = default;
};

// What became of a snapshot that a peer was sent.
enum class SnapshotFate : std::uint8_t {
  kInstalled,
  kFailed,  // Or nothing was heard of it for too long.
};

}  // namespace cadastre::log
