#include "log/checkpoint_files.h"

#include <algorithm>
#include <string>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "base/blake3.h"
#include "log/checkpoint_disk.h"

namespace cadastre::log {
namespace {

using Error = CheckpointFilesError;
using std::filesystem::path;

std::unexpected<base::Error<Error>> unreadable(const path& file,
                                               const base::Error<ManifestError>& error) {
  return base::fail(error.code == ManifestError::kVersion ? Error::kNewer : Error::kDamaged,
                    fmt::format("{}: {}", file.string(), error.detail));
}

base::Result<void, Error> verify_file(const path& directory, const CheckpointFile& file) {
  const path at = directory / file.name;
  const DigestedFile found = CAD_TRY(digest_file(at));
  if (found.bytes != file.bytes) {
    return base::fail(Error::kDamaged, fmt::format("{}: it has {} bytes, sealed were {}",
                                                   at.string(), found.bytes, file.bytes));
  }
  if (found.hash != file.hash)
    return base::fail(Error::kDamaged, at.string() + ": its bytes are not those that were sealed");
  return {};
}

}  // namespace

base::Result<CheckpointManifest, Error> seal_checkpoint(const path& directory,
                                                        const CheckpointFacts& facts) {
  std::vector<CheckpointFile> files;
  CheckpointManifest manifest{.cluster = facts.cluster,
                              .group = facts.group,
                              .at = facts.at,
                              .node = facts.node,
                              .id = facts.id,
                              .entries = facts.entries,
                              .summary = facts.summary};
  for (std::string& name : CAD_TRY(state_files(directory))) {
    const DigestedFile digested = CAD_TRY(digest_file(directory / name));
    manifest.total_bytes += digested.bytes;
    files.push_back({.name = std::move(name), .bytes = digested.bytes, .hash = digested.hash});
  }
  const base::Bytes list = encode_file_list(files);
  manifest.list_bytes = static_cast<std::uint32_t>(list.size());
  manifest.list_hash = base::blake3(list);
  CAD_TRY(write_synced_file(directory / kFileListName, list));
  CAD_TRY(sync_directory(directory));  // The manifest says that everything else is there.
  CAD_TRY(write_synced_file(directory / kManifestName, encode_manifest(manifest)));
  CAD_TRY(sync_directory(directory));
  return manifest;
}

base::Result<CheckpointManifest, Error> verify_checkpoint(const path& directory) {
  const path manifest_path = directory / kManifestName;
  std::error_code error;
  if (!std::filesystem::exists(manifest_path, error))
    return base::fail(Error::kForeign, directory.string() + " is no sealed checkpoint");
  auto manifest = decode_manifest(CAD_TRY(read_small_file(manifest_path)));
  if (!manifest) return unreadable(manifest_path, manifest.error());
  const path list_path = directory / kFileListName;
  const base::Bytes list = CAD_TRY(read_small_file(list_path));
  if (list.size() != manifest->list_bytes || base::blake3(list) != manifest->list_hash)
    return base::fail(Error::kDamaged, list_path.string() + ": it is not the list that was sealed");
  const auto files = decode_file_list(list);
  if (!files) return unreadable(list_path, files.error());
  const std::vector<std::string> names = CAD_TRY(state_files(directory));
  for (const std::string& name : names) {
    if (std::ranges::find(*files, name, &CheckpointFile::name) == files->end())
      return base::fail(Error::kForeign, (directory / name).string() + " is not in the list");
  }
  for (const CheckpointFile& file : *files)
    CAD_TRY(verify_file(directory, file));
  return std::move(*manifest);
}

}  // namespace cadastre::log
