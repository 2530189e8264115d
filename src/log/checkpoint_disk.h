// Files of checkpoints on a disk: the few calls that sealing, staging and serving share, with the system's reason for
// each refusal. Blocks on the disk.

#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "log/checkpoint.h"
#include "log/checkpoint_files.h"

namespace cadastre::log {

// A descriptor, closed when it goes.
class DiskFile {
 public:
  DiskFile() noexcept = default;
  // `flags` are open(2)'s.
  [[nodiscard]] static base::Result<DiskFile, CheckpointFilesError> open(
      const std::filesystem::path& file, int flags);
  DiskFile(DiskFile&& other) noexcept
      : path_(std::move(other.path_)), file_(std::exchange(other.file_, -1)) {}
  DiskFile& operator=(DiskFile&& other) noexcept;
  DiskFile(const DiskFile&) = delete;
  DiskFile& operator=(const DiskFile&) = delete;
  ~DiskFile();

  [[nodiscard]] bool is_open() const noexcept { return file_ >= 0; }
  // From there on; less only where the file ends.
  [[nodiscard]] base::Result<base::Bytes, CheckpointFilesError> read_at(std::uint64_t offset,
                                                                        std::size_t bytes) const;
  [[nodiscard]] base::Result<void, CheckpointFilesError> write_at(std::uint64_t offset,
                                                                  base::ByteView content) const;
  [[nodiscard]] base::Result<void, CheckpointFilesError> cut_to(std::uint64_t bytes) const;
  [[nodiscard]] base::Result<void, CheckpointFilesError> sync() const;

 private:
  DiskFile(std::filesystem::path path, int file) noexcept : path_(std::move(path)), file_(file) {}

  std::filesystem::path path_;
  int file_ = -1;
};

struct DigestedFile {
  std::uint64_t bytes = 0;
  FileHash hash{};
};

// Synced when it returns, too.
[[nodiscard]] base::Result<DigestedFile, CheckpointFilesError> digest_file(
    const std::filesystem::path& file);
// A list or a manifest.
[[nodiscard]] base::Result<base::Bytes, CheckpointFilesError> read_small_file(
    const std::filesystem::path& file);
// A file that was not there.
[[nodiscard]] base::Result<void, CheckpointFilesError> write_synced_file(
    const std::filesystem::path& file, base::ByteView content);
[[nodiscard]] base::Result<void, CheckpointFilesError> sync_directory(
    const std::filesystem::path& directory);
// Names of the regular files, sorted; list and manifest apart. Refuses whatever is no plain file.
[[nodiscard]] base::Result<std::vector<std::string>, CheckpointFilesError> state_files(
    const std::filesystem::path& directory);

}  // namespace cadastre::log
