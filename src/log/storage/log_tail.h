// The end of a log database, judged before RocksDB opens it: what a crash tore is cut off, damage is an
// error with file and offset (docs/decisions/0004, wal_scan.h).

#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"
#include "log/storage.h"

namespace cadastre::log {

// Bytes behind the last whole record of a file.
struct TornTail {
  std::filesystem::path file;
  std::uint64_t offset = 0;  // Where the file is cut.
  std::uint64_t bytes = 0;   // What is cut off.
  std::string fault;         // Of what begins there; empty: padding only.
};

// Reads the manifest and every write-ahead file of a directory that has a CURRENT; changes nothing.
// kDamaged names file, offset and fault.
[[nodiscard]] base::Result<std::vector<TornTail>, OpenError> judge_tail(
    const std::filesystem::path& directory);

// Cuts the tails off, durably.
[[nodiscard]] base::Result<void, OpenError> cut_tails(const std::vector<TornTail>& tails);

}  // namespace cadastre::log
