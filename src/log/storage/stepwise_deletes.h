// An environment of RocksDB's that takes large files away in steps.
//
// Where freed blocks are discarded at once (a mount option of many images), one unlink of a write-ahead file of 64 MiB holds
// up every sync of that file system for a tenth of a second and more: of this log, and of all that share the disk. So such a
// file is cut shorter step by step, each synced, and then unlinked.
//
//   N.log, N.sst ─► N.dbtmp, and the name synced ─► shorter ─► … ─► gone
//
// A file that is on its way has a name that RocksDB removes when it opens, in every release: a crash leaves no file that
// could be taken for a damaged one. A file with other names (links) is unlinked as it is, and so is any other one that cannot
// go in steps.

#pragma once

#include <cstdint>
#include <memory>

#include "log/limits.h"

namespace rocksdb {
class Env;
}  // namespace rocksdb

namespace cadastre::log {

inline constexpr std::uint64_t kDeleteStepBytes = 4 * kMiB;

// Otherwise as `below`, which outlives it.
[[nodiscard]] std::unique_ptr<rocksdb::Env> stepwise_deletes(
    rocksdb::Env& below, std::uint64_t step_bytes = kDeleteStepBytes);

}  // namespace cadastre::log
