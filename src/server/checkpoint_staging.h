// CheckpointStaging: a checkpoint of another node on its way into a directory: what is still missing, and the bytes that
// come (L-74). Knows no network: whoever has it asks for one range after the other.
//
//   for (;;) {
//     const auto missing = CAD_TRY(staging.next());
//     if (!missing) break;                            // it is complete, verified and durable
//     CAD_TRY(staging.take(…the range's bytes…));
//   }
//
//   the file list ─► each file of it ─► FILES ─► CHECKPOINT      the manifest is written last (checkpoint_files.h)
//
// Invariants
//   1. Nothing but what hashes to the manifest's promise is ever complete.
//   2. A path is made of a name only after the list that has it was verified and its names found plain (L-70).
//   3. When next() gives nothing, every file and every directory entry is synced (L-76).
//
// What an earlier attempt left is hashed: whole files are kept, a file cut short goes on at its end. If its hash is wrong
// in the end, what was left was: it is fetched anew, once.
//
// An attempt at another checkpoint of the group, which was given up, leaves what both have: tables that did not change since.
// Such files are moved, whole or cut short, by the lists of both; the rest of that attempt goes.
//
// Blocks on the disk. One caller at a time, on any thread.

#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/blake3.h"
#include "base/bytes.h"
#include "base/result.h"
#include "log/checkpoint.h"
#include "log/checkpoint_disk.h"
#include "log/disk_space.h"
#include "log/snapshotter.h"

namespace cadastre::server {

// Bytes of one file of a checkpoint.
struct FileRange {
  std::string file;
  std::uint64_t offset = 0;
  std::uint32_t bytes = 0;

  friend bool operator==(const FileRange&, const FileRange&) = default;
};

// How much room there is on the disk of a directory; nothing: it does not say.
using MeasureSpace = std::optional<log::DiskSpace> (*)(const std::filesystem::path&);
[[nodiscard]] std::optional<log::DiskSpace> space_at(const std::filesystem::path& directory);

// What staging leaves alone: with less room than the critical bound a node takes no entries either (L-50).
struct StagingRoom {
  log::SpaceSettings settings = {};
  MeasureSpace measure = &space_at;
};

class CheckpointStaging {
 public:
  // The directory's parent exists.
  CheckpointStaging(std::filesystem::path directory,
                    log::CheckpointManifest manifest,
                    const StagingRoom& room = {})
      : directory_(std::move(directory)), manifest_(std::move(manifest)), room_(room) {}

  // Directories of attempts that were given up, none of them a checkpoint: their files are this one's from now on. Before next().
  void inherit(std::vector<std::filesystem::path> given_up) { given_up_ = std::move(given_up); }

  // What is missing next, at most kFetchBytesMax; asked again it is the same. kDamaged: nothing that the source has can
  // complete it.
  [[nodiscard]] base::Result<std::optional<FileRange>, log::SnapshotError> next();
  // The bytes of the range that next() gave, all of them.
  [[nodiscard]] base::Result<void, log::SnapshotError> take(base::ByteView bytes);

  [[nodiscard]] const std::filesystem::path& directory() const noexcept { return directory_; }
  [[nodiscard]] const log::CheckpointManifest& manifest() const noexcept { return manifest_; }

 private:
  using Done = base::Result<void, log::SnapshotError>;

  [[nodiscard]] Done begin();
  [[nodiscard]] Done take_list();
  void take_over(const std::vector<log::CheckpointFile>& files);
  [[nodiscard]] Done check_room(const std::vector<log::CheckpointFile>& files) const;
  [[nodiscard]] Done open_file();
  [[nodiscard]] Done close_file();
  [[nodiscard]] Done seal();
  [[nodiscard]] const log::CheckpointFile& file() const { return files_[file_]; }

  const std::filesystem::path directory_;
  const log::CheckpointManifest manifest_;
  const StagingRoom room_;
  std::vector<std::filesystem::path> given_up_;

  bool begun_ = false;
  bool complete_ = false;
  base::Bytes list_;       // As much of it as is here.
  bool listed_ = false;    // All of it, and verified.
  bool has_list_ = false;  // On the disk, too.
  std::vector<log::CheckpointFile> files_;
  std::size_t file_ = 0;  // The one under way; all before it are right.

  // Of the file under way.
  log::DiskFile out_;
  base::Blake3Hasher hasher_;
  std::uint64_t at_ = 0;  // So many bytes are here and hashed.
  bool resumed_ = false;  // The first of them are an earlier attempt's.
};

}  // namespace cadastre::server
