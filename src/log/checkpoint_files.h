// A checkpoint in a directory: sealed once its state machine has written it, verified before it is used.
//
//   FILES        the file list: every other file with size and hash
//   CHECKPOINT   the manifest, written last: without it a directory is no checkpoint
//
// Blocks on the disk and hashes every byte: not for the applier's thread.

#pragma once

#include <cstdint>
#include <filesystem>

#include "base/result.h"
#include "log/checkpoint.h"

namespace cadastre::log {

inline constexpr std::string_view kFileListName = "FILES";
inline constexpr std::string_view kManifestName = "CHECKPOINT";

enum class CheckpointFilesError : std::uint8_t {
  kStorage,  // The disk refused: look at `detail`, try again.
  kDamaged,  // Not what was sealed: `detail` names the file. Make another.
  kForeign,  // No checkpoint: not sealed, or something else lies in it.
  kNewer,    // Of a newer release: start that one.
};

// What the files do not say of themselves.
struct CheckpointFacts {
  ClusterId cluster = {};
  GroupId group = {};
  Position at = {};
  NodeId node = {};
  CheckpointId id = {};
  std::uint64_t entries = 0;
  base::Bytes summary = {};
};

// Hashes the directory's files, writes list and manifest, and makes them durable.
[[nodiscard]] base::Result<CheckpointManifest, CheckpointFilesError> seal_checkpoint(
    const std::filesystem::path& directory, const CheckpointFacts& facts);

// Every file is there with its size and hash, and nothing else.
[[nodiscard]] base::Result<CheckpointManifest, CheckpointFilesError> verify_checkpoint(
    const std::filesystem::path& directory);

}  // namespace cadastre::log
