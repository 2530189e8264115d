// ClosedGroup: one group in a data directory that no process has open, for the tools that work on such: convert.h and
// recover.h. Holds the directory's lock while it lives.

#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/directory_lock.h"
#include "base/result.h"
#include "log/entry.h"
#include "log/storage.h"
#include "log/storage/records.h"
#include "log/storage/rocks_storage.h"
#include "log/types.h"
#include "node/node_seal.h"

namespace cadastre::node {

enum class ClosedError : std::uint8_t {
  kLocked,      // A process has the directory: stop it first.
  kNoData,      // There is no such group in it.
  kRefused,     // What was asked for is not to be done: the detail says why.
  kForeign,     // The directory is another's.
  kDamaged,     // What was written is not there.
  kCannotOpen,  // The operating system refuses.
};

class ClosedGroup {
 public:
  // The log is the first of these nodes' that it belongs to.
  [[nodiscard]] static base::Result<std::unique_ptr<ClosedGroup>, ClosedError> open(
      const std::filesystem::path& directory,
      const std::vector<log::NodeIdentity>& owners,
      log::GroupId group);

  [[nodiscard]] const std::filesystem::path& directory() const noexcept { return directory_; }
  [[nodiscard]] log::NodeIdentity owner() const noexcept { return owner_; }
  [[nodiscard]] const log::GroupImage& image() const noexcept { return image_; }

  // Entries from `low` to `high`, both included, at most some MiB of them.
  [[nodiscard]] base::Result<std::vector<log::Entry>, ClosedError> read(log::Index low,
                                                                        log::Index high);
  // One synced set; the image is what the log has afterwards.
  [[nodiscard]] base::Result<void, ClosedError> write(log::GroupWrite write);

  // Closes the log and gives it to another node. Nothing else is called afterwards.
  [[nodiscard]] base::Result<void, ClosedError> give_to(log::NodeIdentity to);

 private:
  ClosedGroup(std::filesystem::path directory, base::DirectoryLock lock)
      : directory_(std::move(directory)), lock_(std::move(lock)) {}

  [[nodiscard]] base::Result<void, ClosedError> look(log::GroupId group);

  const std::filesystem::path directory_;
  const base::DirectoryLock lock_;
  log::NodeIdentity owner_;
  std::unique_ptr<log::RocksStorage> storage_;
  log::SetNumber last_set_;
  log::GroupImage image_;
};

// An error of the log or of the seal, as one of a closed directory.
[[nodiscard]] ClosedError translated(log::OpenError code) noexcept;
[[nodiscard]] ClosedError translated(SealError code) noexcept;

}  // namespace cadastre::node
