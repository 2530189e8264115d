// Copies of a data directory: made while no process has it open, checked before they become one again.
//
//   BACKUP/files/…      the directory's files, but for its locks
//   BACKUP/MANIFEST     what they are (node/backup_manifest.h)
//
// A copy is made beside its place and renamed: whatever goes wrong leaves no directory that looks like one.

#pragma once

#include <cstdint>
#include <filesystem>

#include "base/clock.h"
#include "base/logger.h"
#include "base/result.h"

namespace cadastre::node {

enum class BackupError : std::uint8_t {
  kLocked,     // A process has the directory: the detail names it. Stop it first.
  kNotEmpty,   // The target has something in it: choose another.
  kNoData,     // There is no data directory, or no backup.
  kIo,         // The operating system refuses; the detail has its reason.
  kOfCluster,  // The directory is a node's of a cluster, which has no backup but the other nodes.
  kDamaged,    // The backup is not what was written, or does not open.
};

struct Copied {
  std::uint64_t files = 0;
  std::uint64_t bytes = 0;
};

struct BackupParts {
  const base::Clock& clock;
  const base::Logger& logger;
};

// Of a server that is its own; crash notes, locks and ballast stay behind. The lock is held while the files are copied.
[[nodiscard]] base::Result<Copied, BackupError> back_up(const std::filesystem::path& directory,
                                                        const std::filesystem::path& to);
// Checks every byte against the manifest while it copies, then opens the result, by which every record is
// verified, and closes it again.
[[nodiscard]] base::Result<Copied, BackupError> restore(const std::filesystem::path& from,
                                                        const std::filesystem::path& directory,
                                                        const BackupParts& parts);

}  // namespace cadastre::node
