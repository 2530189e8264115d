#include "log/storage/log_tail.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "base/bytes.h"
#include "log/limits.h"
#include "log/storage/wal_scan.h"

namespace cadastre::log {
namespace {

constexpr std::size_t kCurrentBytesMax = 64;  // "MANIFEST-" and a number.

std::unexpected<base::Error<OpenError>> refused(const std::filesystem::path& path, int code) {
  return base::fail(OpenError::kCannotOpen,
                    fmt::format("{}: {}", path.string(),
                                std::error_code(code, std::generic_category()).message()));
}

class Descriptor {
 public:
  Descriptor(const std::filesystem::path& path, int flags) noexcept
      : file_(::open(path.c_str(), flags | O_CLOEXEC)), error_(file_ < 0 ? errno : 0) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (file_ >= 0) ::close(file_);
  }
  [[nodiscard]] int get() const noexcept { return file_; }
  [[nodiscard]] int error() const noexcept { return error_; }

 private:
  int file_;
  int error_;
};

// A file's bytes, mapped. The directory's lock keeps others from cutting it meanwhile.
class MappedFile {
 public:
  static base::Result<MappedFile, OpenError> open(const std::filesystem::path& path) {
    const Descriptor file(path, O_RDONLY);
    if (file.get() < 0) return refused(path, file.error());
    struct stat status{};
    if (fstat(file.get(), &status) != 0) return refused(path, errno);
    const auto bytes = static_cast<std::size_t>(status.st_size);
    if (bytes == 0) return MappedFile(nullptr, 0);
    void* const start = mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE, file.get(), 0);
    if (start == MAP_FAILED) return refused(path, errno);
    return MappedFile(start, bytes);
  }
  MappedFile(MappedFile&& other) noexcept
      : start_(std::exchange(other.start_, nullptr)), bytes_(other.bytes_) {}
  MappedFile& operator=(MappedFile&&) = delete;
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  ~MappedFile() {
    if (start_ != nullptr) munmap(start_, bytes_);
  }

  [[nodiscard]] base::ByteView bytes() const noexcept {
    return {static_cast<const std::byte*>(start_), start_ == nullptr ? 0 : bytes_};
  }

 private:
  MappedFile(void* start, std::size_t bytes) noexcept : start_(start), bytes_(bytes) {}

  void* start_;
  std::size_t bytes_;
};

std::unexpected<base::Error<OpenError>> damaged(const std::filesystem::path& path,
                                                const WalFault& fault) {
  std::string detail =
      fmt::format("{}: {} at offset {}", path.string(), name(fault.kind), fault.offset);
  if (fault.later) detail += fmt::format(", though a later write set begins at {}", *fault.later);
  return base::fail(OpenError::kDamaged, std::move(detail));
}

// The write-ahead files, by ascending number.
base::Result<std::vector<std::filesystem::path>, OpenError> wal_paths(
    const std::filesystem::path& directory) {
  std::vector<std::filesystem::path> paths;
  std::error_code error;
  for (std::filesystem::directory_iterator files(directory, error);
       !error && files != std::filesystem::directory_iterator(); files.increment(error)) {
    if (files->path().extension() == ".log") paths.push_back(files->path());
  }
  if (error) return refused(directory, error.value());
  std::ranges::sort(paths, {}, [](const std::filesystem::path& path) {
    const std::string stem = path.stem().string();
    return std::make_pair(stem.size(), stem);
  });
  return paths;
}

void note_tail(std::vector<TornTail>& tails,
               const std::filesystem::path& path,
               std::uint64_t end,
               std::uint64_t bytes) {
  if (end < bytes) tails.push_back({path, end, bytes - end, {}});
}

base::Result<void, OpenError> judge_current(const std::filesystem::path& directory,
                                            std::vector<TornTail>& tails) {
  const std::filesystem::path current = directory / "CURRENT";
  std::string manifest;
  {
    const MappedFile file = CAD_TRY(MappedFile::open(current));
    manifest = base::as_text(file.bytes().first(std::min(file.bytes().size(), kCurrentBytesMax)));
  }
  if (!manifest.starts_with("MANIFEST-") || !manifest.ends_with('\n'))
    return base::fail(OpenError::kDamaged, current.string() + ": it names no manifest at offset 0");
  manifest.pop_back();
  const std::filesystem::path path = directory / manifest;
  if (!std::filesystem::exists(path))
    return base::fail(OpenError::kDamaged, path.string() + " is missing, though CURRENT names it");
  const MappedFile file = CAD_TRY(MappedFile::open(path));
  const auto end = judge_manifest(file.bytes());
  if (!end) return damaged(path, end.error());
  note_tail(tails, path, *end, file.bytes().size());
  return {};
}

}  // namespace

base::Result<std::vector<TornTail>, OpenError> judge_tail(const std::filesystem::path& directory) {
  std::vector<TornTail> tails;
  CAD_TRY(judge_current(directory, tails));
  const std::vector<std::filesystem::path> paths = CAD_TRY(wal_paths(directory));
  std::vector<MappedFile> files;
  std::vector<base::ByteView> views;
  for (const std::filesystem::path& path : paths) {
    files.push_back(CAD_TRY(MappedFile::open(path)));
    views.push_back(files.back().bytes());
  }
  const auto judged = judge_wals(views, kSetBytesHard);
  if (!judged) return damaged(paths[judged.error().file], judged.error().fault);
  for (std::size_t i = 0; i < paths.size(); ++i) {
    note_tail(tails, paths[i], judged->ends[i], views[i].size());
    if (judged->torn && judged->torn->file == i && !tails.empty())
      tails.back().fault = name(judged->torn->fault.kind);
  }
  return tails;
}

base::Result<void, OpenError> cut_tails(const std::vector<TornTail>& tails) {
  for (const TornTail& tail : tails) {
    const Descriptor file(tail.file, O_RDWR);
    if (file.get() < 0) return refused(tail.file, file.error());
    if (ftruncate(file.get(), static_cast<off_t>(tail.offset)) != 0)
      return refused(tail.file, errno);
    if (fdatasync(file.get()) != 0) return refused(tail.file, errno);
  }
  return {};
}

}  // namespace cadastre::log
