// PieceShelf: the directories of checkpoints on a simulated node's disk, which outlive its processes.
//
// A checkpoint is cut into pieces, as a real one is files, and its manifest is written last: without it, it is no
// checkpoint. A crash takes of what is not synced any pieces and manifests, each by its own luck.
//
// One thread.

#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>

#include "base/bytes.h"
#include "log/checkpoint.h"

namespace cadastre::sim {

inline constexpr std::uint64_t kPieces = 4;  // Of every checkpoint; the last may be empty.

class PieceShelf {
 public:
  struct Piece {
    base::Bytes bytes;
    bool synced = false;
  };
  struct Directory {
    std::map<std::uint64_t, Piece> pieces;  // By number.
    std::optional<log::CheckpointManifest> manifest = std::nullopt;
    bool manifest_synced = false;
  };

  // A state machine's side: whole, and synced when it returns. False: something is there already.
  [[nodiscard]] bool put(const std::filesystem::path& directory, base::ByteView content);
  // Nothing if there is no such directory, or a piece of it is missing.
  [[nodiscard]] std::optional<base::Bytes> find(const std::filesystem::path& directory) const;

  // Of whoever moves checkpoints. Nothing if there is no such directory.
  [[nodiscard]] Directory* open(const std::string& directory);
  [[nodiscard]] Directory& make(const std::string& directory) { return directories_[directory]; }
  void remove(const std::string& directory) { directories_.erase(directory); }
  void keep_only(std::span<const std::string> wanted);
  // Every piece and the manifest stay.
  [[nodiscard]] static bool is_complete(const Directory& directory) noexcept;

  // The power fails.
  void crash(const std::function<bool()>& survives);

  [[nodiscard]] const std::map<std::string, Directory>& directories() const noexcept {
    return directories_;
  }

 private:
  std::map<std::string, Directory> directories_;
};

}  // namespace cadastre::sim
