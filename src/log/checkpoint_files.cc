#include "log/checkpoint_files.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "base/blake3.h"

namespace cadastre::log {
namespace {

using Error = CheckpointFilesError;
using std::filesystem::path;

constexpr std::size_t kReadBytes = std::size_t{1} << 20;
constexpr std::uint64_t kSmallFileBytesMax = std::uint64_t{256} << 20;  // List or manifest.
constexpr mode_t kFileMode = 0600;

std::unexpected<base::Error<Error>> refused(const path& file, int code) {
  return base::fail(Error::kStorage,
                    fmt::format("{}: {}", file.string(),
                                std::error_code(code, std::generic_category()).message()));
}

class OpenFile {
 public:
  OpenFile(const path& file, int flags) noexcept
      : file_(::open(file.c_str(), flags | O_CLOEXEC, kFileMode)), error_(file_ < 0 ? errno : 0) {}
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  ~OpenFile() {
    if (file_ >= 0) ::close(file_);
  }
  [[nodiscard]] int get() const noexcept { return file_; }
  [[nodiscard]] int error() const noexcept { return error_; }

 private:
  int file_;
  int error_;
};

struct Digested {
  std::uint64_t bytes = 0;
  FileHash hash{};
};

base::Result<Digested, Error> digest(const path& file) {
  const OpenFile in(file, O_RDONLY);
  if (in.get() < 0) return refused(file, in.error());
  base::Blake3Hasher hasher;
  base::Bytes buffer(kReadBytes);
  Digested digested;
  for (;;) {
    const ssize_t got = ::read(in.get(), buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return refused(file, errno);
    if (got == 0) break;
    hasher.update(base::ByteView{buffer}.first(static_cast<std::size_t>(got)));
    digested.bytes += static_cast<std::uint64_t>(got);
  }
  if (fdatasync(in.get()) != 0) return refused(file, errno);
  digested.hash = hasher.finalize();
  return digested;
}

base::Result<base::Bytes, Error> read_small(const path& file) {
  std::error_code error;
  const std::uint64_t bytes = std::filesystem::file_size(file, error);
  if (error) return refused(file, error.value());
  if (bytes > kSmallFileBytesMax)
    return base::fail(Error::kDamaged,
                      fmt::format("{}: {} bytes are too many", file.string(), bytes));
  const OpenFile in(file, O_RDONLY);
  if (in.get() < 0) return refused(file, in.error());
  base::Bytes content(bytes);
  std::size_t done = 0;
  while (done < content.size()) {
    const ssize_t got = ::read(in.get(), content.data() + done, content.size() - done);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return refused(file, errno);
    if (got == 0) break;
    done += static_cast<std::size_t>(got);
  }
  content.resize(done);
  return content;
}

base::Result<void, Error> write_synced(const path& file, base::ByteView content) {
  const OpenFile out(file, O_WRONLY | O_CREAT | O_EXCL);
  if (out.get() < 0) return refused(file, out.error());
  while (!content.empty()) {
    const ssize_t put = ::write(out.get(), content.data(), content.size());
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return refused(file, errno);
    content = content.subspan(static_cast<std::size_t>(put));
  }
  if (fdatasync(out.get()) != 0) return refused(file, errno);
  return {};
}

base::Result<void, Error> sync_names(const path& directory) {
  const OpenFile names(directory, O_RDONLY | O_DIRECTORY);
  if (names.get() < 0) return refused(directory, names.error());
  if (fsync(names.get()) != 0) return refused(directory, errno);
  return {};
}

// Names of the regular files, sorted; list and manifest apart.
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

std::unexpected<base::Error<Error>> unreadable(const path& file,
                                               const base::Error<ManifestError>& error) {
  return base::fail(error.code == ManifestError::kVersion ? Error::kNewer : Error::kDamaged,
                    fmt::format("{}: {}", file.string(), error.detail));
}

base::Result<void, Error> verify_file(const path& directory, const CheckpointFile& file) {
  const path at = directory / file.name;
  const Digested found = CAD_TRY(digest(at));
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
    const Digested digested = CAD_TRY(digest(directory / name));
    manifest.total_bytes += digested.bytes;
    files.push_back({.name = std::move(name), .bytes = digested.bytes, .hash = digested.hash});
  }
  const base::Bytes list = encode_file_list(files);
  manifest.list_bytes = static_cast<std::uint32_t>(list.size());
  manifest.list_hash = base::blake3(list);
  CAD_TRY(write_synced(directory / kFileListName, list));
  CAD_TRY(sync_names(directory));  // The manifest says that everything else is there.
  CAD_TRY(write_synced(directory / kManifestName, encode_manifest(manifest)));
  CAD_TRY(sync_names(directory));
  return manifest;
}

base::Result<CheckpointManifest, Error> verify_checkpoint(const path& directory) {
  const path manifest_path = directory / kManifestName;
  std::error_code error;
  if (!std::filesystem::exists(manifest_path, error))
    return base::fail(Error::kForeign, directory.string() + " is no sealed checkpoint");
  auto manifest = decode_manifest(CAD_TRY(read_small(manifest_path)));
  if (!manifest) return unreadable(manifest_path, manifest.error());
  const path list_path = directory / kFileListName;
  const base::Bytes list = CAD_TRY(read_small(list_path));
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
