#include "server/checkpoint_staging.h"

#include <fcntl.h>

#include <algorithm>
#include <map>
#include <set>
#include <system_error>
#include <type_traits>
#include <utility>

#include <fmt/format.h>

#include "base/check.h"
#include "server/limits.h"

namespace cadastre::server {
namespace {

namespace fs = std::filesystem;
using log::SnapshotError;

constexpr std::size_t kHashBytes = std::size_t{1} << 20;

template <class T>
base::Result<T, SnapshotError> on_disk(base::Result<T, log::CheckpointFilesError> result) {
  if (!result) return base::fail(SnapshotError::kStorage, std::move(result.error().detail));
  if constexpr (std::is_void_v<T>) {
    return {};
  } else {
    return *std::move(result);
  }
}

std::unexpected<base::Error<SnapshotError>> refused(const fs::path& path, std::error_code code) {
  return base::fail(SnapshotError::kStorage, path.string() + ": " + code.message());
}

// What an attempt was to bring; nothing if its list is not whole.
std::vector<log::CheckpointFile> list_in(const fs::path& attempt) {
  const auto bytes = log::read_small_file(attempt / log::kFileListName);
  if (!bytes) return {};
  auto files = log::decode_file_list(*bytes);
  if (!files) return {};
  return *std::move(files);
}

std::uint32_t piece(std::uint64_t left) noexcept {
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(left, kFetchBytesMax));
}

}  // namespace

std::optional<log::DiskSpace> space_at(const fs::path& directory) {
  std::error_code code;
  const fs::space_info space = fs::space(directory, code);
  if (code) return std::nullopt;
  return log::DiskSpace{space.available, space.capacity};
}

base::Result<std::optional<FileRange>, SnapshotError> CheckpointStaging::next() {
  if (!begun_) CAD_TRY(begin());
  if (complete_) return std::nullopt;
  if (!listed_) {
    if (list_.size() < manifest_.list_bytes) {
      return FileRange{std::string(log::kFileListName), list_.size(),
                       piece(manifest_.list_bytes - list_.size())};
    }
    CAD_TRY(take_list());
  }
  while (file_ < files_.size()) {
    if (!out_.is_open()) CAD_TRY(open_file());
    if (at_ < file().bytes) return FileRange{file().name, at_, piece(file().bytes - at_)};
    CAD_TRY(close_file());
  }
  CAD_TRY(seal());
  return std::nullopt;
}

CheckpointStaging::Done CheckpointStaging::take(base::ByteView bytes) {
  if (!listed_) {
    if (bytes.size() != piece(manifest_.list_bytes - list_.size()))
      return base::fail(SnapshotError::kDamaged, "the source sent another number of bytes");
    list_.insert(list_.end(), bytes.begin(), bytes.end());
    return {};
  }
  CAD_CHECK(out_.is_open(), "bytes come for the range that was asked for");
  if (bytes.size() != piece(file().bytes - at_))
    return base::fail(SnapshotError::kDamaged, "the source sent another number of bytes");
  CAD_TRY(on_disk(out_.write_at(at_, bytes)));
  hasher_.update(bytes);
  at_ += bytes.size();
  return {};
}

// A directory that is complete already, or has the list of this manifest, or nothing that can be used.
CheckpointStaging::Done CheckpointStaging::begin() {
  if (manifest_.list_bytes > log::kFileListBytesMax)
    return base::fail(SnapshotError::kDamaged, "the list of files is too long");
  std::error_code code;
  if (fs::exists(directory_ / log::kManifestName, code)) {
    const auto found = log::verify_checkpoint(directory_);
    complete_ = found && *found == manifest_;
    if (!complete_) fs::remove_all(directory_, code);
  }
  begun_ = true;
  if (complete_) {
    take_over({});
    return {};
  }
  fs::create_directory(directory_, code);
  if (code) return refused(directory_, code);
  CAD_TRY(on_disk(log::sync_directory(directory_.parent_path())));
  const fs::path list = directory_ / log::kFileListName;
  if (!fs::exists(list, code)) return {};
  list_ = CAD_TRY(on_disk(log::read_small_file(list)));
  has_list_ = list_.size() == manifest_.list_bytes && base::blake3(list_) == manifest_.list_hash;
  if (has_list_) return {};
  list_.clear();
  if (!fs::remove(list, code)) return refused(list, code);
  return {};
}

CheckpointStaging::Done CheckpointStaging::take_list() {
  if (base::blake3(list_) != manifest_.list_hash)
    return base::fail(SnapshotError::kDamaged, "the list of files is not the manifest's");
  auto files = log::decode_file_list(list_);
  if (!files) return base::fail(SnapshotError::kDamaged, std::move(files.error().detail));
  std::uint64_t total = 0;
  for (const log::CheckpointFile& file : *files) {
    if (file.name == log::kFileListName || file.name == log::kManifestName)
      return base::fail(SnapshotError::kDamaged, "a file has a name that is not its own");
    if (file.bytes > manifest_.total_bytes - total)
      return base::fail(SnapshotError::kDamaged, "the files are longer than the manifest says");
    total += file.bytes;
  }
  if (total != manifest_.total_bytes)
    return base::fail(SnapshotError::kDamaged, "the files are shorter than the manifest says");
  // First, so that an attempt that finds no room leaves to the next one what it took over.
  if (!std::exchange(has_list_, true))
    CAD_TRY(on_disk(log::write_synced_file(directory_ / log::kFileListName, list_)));
  take_over(*files);
  CAD_TRY(check_room(*files));
  files_ = *std::move(files);
  listed_ = true;
  return {};
}

// By hash and length: names are the sources'. Whether the bytes are right is seen when they are hashed.
void CheckpointStaging::take_over(const std::vector<log::CheckpointFile>& files) {
  std::map<log::FileHash, const log::CheckpointFile*> wanted;
  for (const log::CheckpointFile& file : files)
    wanted.emplace(file.hash, &file);
  for (const fs::path& earlier : std::exchange(given_up_, {})) {
    for (const log::CheckpointFile& kept : list_in(earlier)) {
      const auto found = wanted.find(kept.hash);
      if (found == wanted.end() || found->second->bytes != kept.bytes) continue;
      const fs::path here = directory_ / found->second->name;
      std::error_code code;
      if (!fs::exists(here, code)) fs::rename(earlier / kept.name, here, code);
    }
    std::error_code code;
    fs::remove_all(earlier, code);  // What cannot be removed the next start sweeps.
  }
}

// What an earlier attempt left has its room already.
CheckpointStaging::Done CheckpointStaging::check_room(
    const std::vector<log::CheckpointFile>& files) const {
  std::uint64_t needed = 0;
  for (const log::CheckpointFile& file : files) {
    std::error_code code;
    const std::uintmax_t there = fs::file_size(directory_ / file.name, code);
    needed += file.bytes - (code ? 0 : std::min<std::uint64_t>(there, file.bytes));
  }
  const auto disk = room_.measure(directory_);
  if (!disk) return {};
  const std::uint64_t reserve = log::critical_bound(room_.settings, *disk);
  if (needed == 0 || (disk->free_bytes >= needed && disk->free_bytes - needed >= reserve))
    return {};
  return base::fail(SnapshotError::kStorage,
                    fmt::format("{}: {} bytes are missing and {} free, of which {} stay free: make "
                                "room on the disk",
                                directory_.string(), needed, disk->free_bytes, reserve));
}

// Hashes what is there.
CheckpointStaging::Done CheckpointStaging::open_file() {
  out_ = CAD_TRY(
      on_disk(log::DiskFile::open(directory_ / file().name, O_RDWR | O_CREAT | O_NOFOLLOW)));
  hasher_ = {};
  at_ = 0;
  for (;;) {
    const base::Bytes some = CAD_TRY(on_disk(out_.read_at(at_, kHashBytes)));
    hasher_.update(some);
    at_ += some.size();
    if (some.size() < kHashBytes || at_ > file().bytes) break;
  }
  resumed_ = at_ != 0;
  if (at_ <= file().bytes) return {};
  hasher_ = {};
  at_ = 0;
  resumed_ = false;
  return on_disk(out_.cut_to(0));
}

CheckpointStaging::Done CheckpointStaging::close_file() {
  if (hasher_.finalize() == file().hash) {
    CAD_TRY(on_disk(out_.sync()));
    out_ = {};
    ++file_;
    return {};
  }
  if (!resumed_)
    return base::fail(SnapshotError::kDamaged, file().name + ": its bytes are not the sealed ones");
  hasher_ = {};
  at_ = 0;
  resumed_ = false;
  return on_disk(out_.cut_to(0));
}

// Everything else is there and synced: the manifest says so from now on.
CheckpointStaging::Done CheckpointStaging::seal() {
  std::set<std::string_view> listed;
  for (const log::CheckpointFile& file : files_)
    listed.insert(file.name);
  for (const std::string& name : CAD_TRY(on_disk(log::state_files(directory_)))) {
    if (listed.contains(name)) continue;
    std::error_code code;
    if (!fs::remove(directory_ / name, code)) return refused(directory_ / name, code);
  }
  CAD_TRY(on_disk(log::sync_directory(directory_)));
  CAD_TRY(on_disk(
      log::write_synced_file(directory_ / log::kManifestName, log::encode_manifest(manifest_))));
  CAD_TRY(on_disk(log::sync_directory(directory_)));
  complete_ = true;
  return {};
}

}  // namespace cadastre::server
