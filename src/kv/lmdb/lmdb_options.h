// What can be chosen when a directory is opened with LMDB.

#pragma once

#include <cstdint>

#include "kv/limits.h"

namespace cadastre::kv::lmdb {

// What a commit that was answered may lose when the machine stops (power, kernel). When only the
// process stops, nothing is lost in any of them.
enum class Durability : std::uint8_t {
  kSync,        // Nothing. Two device flushes for each commit.
  kNoMetaSync,  // The last commit, as a whole. One flush; the one before it is safe.
  kNoSync,  // Any number of commits, and unless the file system keeps the order of writes the whole
            // store may be damaged. Store::sync makes all of it safe at that moment.
};

// How changed pages reach the file.
//
// Through the map a random change costs about half, as long as commits are not synced: those that are
// cost more. A wild pointer of this process can then damage the store. The whole map gets its room on
// the device when the store is opened and when it grows, so that no page which is touched later finds
// the device full (SIGBUS): choose map_bytes by the data.
enum class Writes : std::uint8_t {
  kByCall,  // The file grows as data does, and a full device is an error.
  kThroughMap,
};

enum class Access : std::uint8_t {
  kReadWrite,  // The directory is made if it is not there. No one else can open it.
  kReadOnly,   // Several processes at once, and media that cannot be written.
};

inline constexpr std::uint64_t kMapBytesDefault = std::uint64_t{64} << 30;
inline constexpr std::uint64_t kMapBytesMaxDefault = std::uint64_t{1} << 40;
static_assert(kMapBytesDefault < kMapBytesMaxDefault, "a full map has room to grow");

struct LmdbOptions {
  Access access = Access::kReadWrite;
  Durability durability = Durability::kSync;
  Writes writes = Writes::kByCall;
  // Address space, not disk, unless writes go through the map. Large from the start, because to grow the
  // map transactions have to pause.
  std::uint64_t map_bytes = kMapBytesDefault;
  std::uint64_t map_bytes_max = kMapBytesMaxDefault;
  std::uint32_t readers_max = kReadersMaxDefault;
  std::uint32_t spaces_max = kSpacesMaxDefault;
};

}  // namespace cadastre::kv::lmdb
