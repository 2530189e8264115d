#include "sim/log/piece_shelf.h"

#include <algorithm>

namespace cadastre::sim {

bool PieceShelf::put(const std::filesystem::path& directory, base::ByteView content) {
  const auto [place, added] = directories_.try_emplace(directory.string());
  if (!added) return false;
  const std::size_t most = content.size() / kPieces + 1;
  for (std::uint64_t number = 0; number < kPieces; ++number) {
    const base::ByteView some = content.first(std::min(most, content.size()));
    place->second.pieces[number] = {base::Bytes(some.begin(), some.end()), true};
    content = content.subspan(some.size());
  }
  return true;
}

std::optional<base::Bytes> PieceShelf::find(const std::filesystem::path& directory) const {
  const auto found = directories_.find(directory.string());
  if (found == directories_.end() || found->second.pieces.size() != kPieces) return std::nullopt;
  base::Bytes content;
  for (const auto& [number, piece] : found->second.pieces)
    content.insert(content.end(), piece.bytes.begin(), piece.bytes.end());
  return content;
}

PieceShelf::Directory* PieceShelf::open(const std::string& directory) {
  const auto found = directories_.find(directory);
  return found == directories_.end() ? nullptr : &found->second;
}

void PieceShelf::keep_only(std::span<const std::string> wanted) {
  std::erase_if(directories_, [&](const auto& directory) {
    return std::ranges::find(wanted, directory.first) == wanted.end();
  });
}

bool PieceShelf::is_complete(const Directory& directory) noexcept {
  return directory.manifest && directory.pieces.size() == kPieces;
}

void PieceShelf::crash(const std::function<bool()>& survives) {
  for (auto& [path, directory] : directories_) {
    std::erase_if(directory.pieces,
                  [&](const auto& piece) { return !piece.second.synced && !survives(); });
    if (!directory.manifest_synced && !survives()) directory.manifest.reset();
    for (auto& [number, piece] : directory.pieces)
      piece.synced = true;
    directory.manifest_synced = directory.manifest.has_value();
  }
}

}  // namespace cadastre::sim
