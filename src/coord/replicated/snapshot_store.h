// SnapshotStore: the newest snapshot in a directory. A new one is written beside the old one, synced, renamed
// over it, and the directory is synced: whatever happens, one whole snapshot is there, or none ever was.
//
//   snapshot       the newest
//   snapshot.new   one that is being written; left over by a crash, it is overwritten
//
// What a disk can do is an interface, so that a test can have one that loses what was not synced.
// Blocks on the disk. One caller at a time.

#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "base/attributes.h"
#include "base/bytes.h"
#include "base/result.h"

namespace cadastre::coord::replicated {

inline constexpr std::string_view kSnapshotName = "snapshot";
inline constexpr std::string_view kSnapshotNewName = "snapshot.new";

enum class FileError : std::uint8_t {
  kFailed,  // The disk refuses: `detail` names file and reason.
};

// One directory of a disk.
class SnapshotFiles {
 public:
  SnapshotFiles() = default;
  SnapshotFiles(const SnapshotFiles&) = delete;
  SnapshotFiles& operator=(const SnapshotFiles&) = delete;
  virtual ~SnapshotFiles() = default;

  // Nothing if there is no such file.
  [[nodiscard]] virtual base::Result<std::optional<base::Bytes>, FileError> read(
      std::string_view name) = 0;
  // A new file with these bytes, in place of any old one of the name; durable when it returns.
  [[nodiscard]] virtual base::Result<void, FileError> write_synced(std::string_view name,
                                                                   base::ByteView bytes) = 0;
  [[nodiscard]] virtual base::Result<void, FileError> rename(std::string_view from,
                                                             std::string_view to) = 0;
  [[nodiscard]] virtual base::Result<void, FileError> sync_names() = 0;
};

// The operating system's. The directory exists.
class PosixSnapshotFiles final : public SnapshotFiles {
 public:
  explicit PosixSnapshotFiles(std::filesystem::path directory) : directory_(std::move(directory)) {}

  [[nodiscard]] base::Result<std::optional<base::Bytes>, FileError> read(
      std::string_view name) override;
  [[nodiscard]] base::Result<void, FileError> write_synced(std::string_view name,
                                                           base::ByteView bytes) override;
  [[nodiscard]] base::Result<void, FileError> rename(std::string_view from,
                                                     std::string_view to) override;
  [[nodiscard]] base::Result<void, FileError> sync_names() override;

 private:
  const std::filesystem::path directory_;
};

class SnapshotStore {
 public:
  explicit SnapshotStore(SnapshotFiles& files CAD_LIFETIMEBOUND) noexcept : files_(files) {}

  [[nodiscard]] base::Result<std::optional<base::Bytes>, FileError> load() {
    return files_.read(kSnapshotName);
  }
  // Durable when it returns. On an error the one before, or this one, is there.
  [[nodiscard]] base::Result<void, FileError> save(base::ByteView snapshot);

 private:
  SnapshotFiles& files_;
};

}  // namespace cadastre::coord::replicated
