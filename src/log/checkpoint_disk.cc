#include "log/checkpoint_disk.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

#include <fmt/format.h>

#include "base/blake3.h"

namespace cadastre::log {
namespace {

using Error = CheckpointFilesError;
using std::filesystem::path;

constexpr std::size_t kReadBytes = std::size_t{1} << 20;
constexpr std::uint64_t kSmallFileBytesMax = kFileListBytesMax;
constexpr mode_t kFileMode = 0600;

std::unexpected<base::Error<Error>> refused(const path& file, int code) {
  return base::fail(Error::kStorage,
                    fmt::format("{}: {}", file.string(),
                                std::error_code(code, std::generic_category()).message()));
}

}  // namespace

base::Result<DiskFile, Error> DiskFile::open(const path& file, int flags) {
  const int opened = ::open(file.c_str(), flags | O_CLOEXEC, kFileMode);
  if (opened < 0) return refused(file, errno);
  return DiskFile(file, opened);
}

DiskFile& DiskFile::operator=(DiskFile&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(file_, other.file_);
  return *this;
}

DiskFile::~DiskFile() {
  if (file_ >= 0) ::close(file_);
}

base::Result<base::Bytes, Error> DiskFile::read_at(std::uint64_t offset, std::size_t bytes) const {
  base::Bytes content(bytes);
  std::size_t done = 0;
  while (done < bytes) {
    const ssize_t got =
        ::pread(file_, content.data() + done, bytes - done, static_cast<off_t>(offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return refused(path_, errno);
    if (got == 0) break;
    done += static_cast<std::size_t>(got);
  }
  content.resize(done);
  return content;
}

base::Result<void, Error> DiskFile::write_at(std::uint64_t offset, base::ByteView content) const {
  while (!content.empty()) {
    const ssize_t put = ::pwrite(file_, content.data(), content.size(), static_cast<off_t>(offset));
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return refused(path_, errno);
    content = content.subspan(static_cast<std::size_t>(put));
    offset += static_cast<std::uint64_t>(put);
  }
  return {};
}

base::Result<void, Error> DiskFile::cut_to(std::uint64_t bytes) const {
  if (::ftruncate(file_, static_cast<off_t>(bytes)) != 0) return refused(path_, errno);
  return {};
}

base::Result<void, Error> DiskFile::sync() const {
  if (::fdatasync(file_) != 0) return refused(path_, errno);
  return {};
}

base::Result<DigestedFile, Error> digest_file(const path& file) {
  const DiskFile in = CAD_TRY(DiskFile::open(file, O_RDONLY));
  base::Blake3Hasher hasher;
  DigestedFile digested;
  for (;;) {
    const base::Bytes some = CAD_TRY(in.read_at(digested.bytes, kReadBytes));
    hasher.update(some);
    digested.bytes += some.size();
    if (some.size() < kReadBytes) break;
  }
  CAD_TRY(in.sync());
  digested.hash = hasher.finalize();
  return digested;
}

base::Result<base::Bytes, Error> read_small_file(const path& file) {
  std::error_code error;
  const std::uint64_t bytes = std::filesystem::file_size(file, error);
  if (error) return refused(file, error.value());
  if (bytes > kSmallFileBytesMax)
    return base::fail(Error::kDamaged,
                      fmt::format("{}: {} bytes are too many", file.string(), bytes));
  const DiskFile in = CAD_TRY(DiskFile::open(file, O_RDONLY));
  return in.read_at(0, bytes);
}

base::Result<void, Error> write_synced_file(const path& file, base::ByteView content) {
  const DiskFile out = CAD_TRY(DiskFile::open(file, O_WRONLY | O_CREAT | O_EXCL));
  CAD_TRY(out.write_at(0, content));
  return out.sync();
}

base::Result<void, Error> sync_directory(const path& directory) {
  const int names = ::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (names < 0) return refused(directory, errno);
  const int code = ::fsync(names) == 0 ? 0 : errno;
  ::close(names);
  if (code != 0) return refused(directory, code);
  return {};
}

base::Result<std::vector<std::string>, Error> state_files(const path& directory) {
  std::vector<std::string> names;
  std::error_code error;
  for (std::filesystem::directory_iterator files(directory, error);
       !error && files != std::filesystem::directory_iterator(); files.increment(error)) {
    const std::string name = files->path().filename().string();
    if (!files->is_regular_file(error) || !is_plain_name(name))
      return base::fail(Error::kForeign, files->path().string() + " is no plain file");
    if (name != kFileListName && name != kManifestName) names.push_back(name);
  }
  if (error) return refused(directory, error.value());
  std::ranges::sort(names);
  return names;
}

}  // namespace cadastre::log
