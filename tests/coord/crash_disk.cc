#include "tests/coord/crash_disk.h"

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/bytes.h"
#include "log/limits.h"
#include "log/storage/rocks_storage.h"

namespace cadastre::coord::replicated {
namespace {

const rocksdb::IOOptions kOptions;

base::Result<void, FileError> result_of(const rocksdb::IOStatus& status) {
  if (status.ok()) return {};
  return base::fail(FileError::kFailed, status.ToString());
}

}  // namespace

base::Result<std::optional<base::Bytes>, FileError> CrashFiles::read(std::string_view name) {
  if (!std::filesystem::exists(path(name))) return std::nullopt;
  return base::to_owned(base::as_bytes(log::read_bytes(path(name))));
}

base::Result<void, FileError> CrashFiles::write_synced(std::string_view name,
                                                       base::ByteView bytes) {
  std::unique_ptr<rocksdb::FSWritableFile> file;
  CAD_TRY(result_of(files_.NewWritableFile(path(name), {}, &file, nullptr)));
  const std::string_view text = base::as_text(bytes);
  // In two pieces, so that a crash can leave half of it.
  const std::size_t half = text.size() / 2;
  CAD_TRY(result_of(file->Append({text.data(), half}, kOptions, nullptr)));
  CAD_TRY(result_of(file->Append({text.data() + half, text.size() - half}, kOptions, nullptr)));
  CAD_TRY(result_of(file->Fsync(kOptions, nullptr)));
  return result_of(file->Close(kOptions, nullptr));
}

base::Result<void, FileError> CrashFiles::rename(std::string_view from, std::string_view to) {
  return result_of(files_.RenameFile(path(from), path(to), kOptions, nullptr));
}

base::Result<void, FileError> CrashFiles::sync_names() {
  std::unique_ptr<rocksdb::FSDirectory> names;
  CAD_TRY(result_of(files_.NewDirectory(directory_, kOptions, &names, nullptr)));
  return result_of(names->Fsync(kOptions, nullptr));
}

CrashDisk::CrashDisk() {
  const std::string directory = home_ / "coord";
  std::filesystem::create_directory(directory);
  snapshots_ = std::make_unique<CrashFiles>(*files_, directory);
}

base::Result<std::unique_ptr<log::LogStorage>, log::OpenError> CrashDisk::open_log() {
  return CAD_TRY(log::RocksStorage::open({.directory = home_ / "log",
                                          .identity = {log::ClusterId{1}, log::NodeId{1}},
                                          .env = env_.get(),
                                          .memtable_bytes = 64 * log::kKiB}));
}

}  // namespace cadastre::coord::replicated
