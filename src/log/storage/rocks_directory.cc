#include "log/storage/rocks_directory.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cinttypes>
#include <cstdio>
#include <string>
#include <system_error>

#include <fmt/format.h>

#include "log/crash_notes.h"

namespace cadastre::log {
namespace {

constexpr std::array<std::string_view, 9> kNames{"CURRENT",  "IDENTITY",     "LOCK",
                                                 "LOG",      kOwnerFile,     kNodeFile,
                                                 "NODE.new", kCrashNoteName, kCrashNoteNewName};
constexpr std::array<std::string_view, 3> kPrefixes{"MANIFEST-", "OPTIONS-", "LOG.old."};
constexpr std::array<std::string_view, 3> kSuffixes{".log", ".sst", ".dbtmp"};

bool all_digits(std::string_view text) noexcept {
  return !text.empty() && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

constexpr std::string_view kNodeWords = "cadastre log, format 1, cluster {} node {}\n";
constexpr std::size_t kNodeFileBytesMax = 256;

std::unexpected<base::Error<OpenError>> refused(const std::filesystem::path& path, int code) {
  return base::fail(
      OpenError::kCannotOpen,
      path.string() + ": " + std::error_code(code, std::generic_category()).message());
}

// A whole small file, synced, then its name: 0 or an errno.
int write_synced(const std::filesystem::path& path, std::string_view content) {
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (file < 0) return errno;
  int code = 0;
  if (::write(file, content.data(), content.size()) != static_cast<ssize_t>(content.size()))
    code = errno == 0 ? ENOSPC : errno;
  if (code == 0 && fdatasync(file) != 0) code = errno;
  ::close(file);
  return code;
}

int sync_names(const std::filesystem::path& directory) {
  const int file = ::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (file < 0) return errno;
  const int code = fsync(file) == 0 ? 0 : errno;
  ::close(file);
  return code;
}

}  // namespace

base::Result<std::optional<NodeIdentity>, OpenError> read_node_file(
    const std::filesystem::path& directory) {
  const std::filesystem::path path = directory / kNodeFile;
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0 && errno == ENOENT) return std::nullopt;
  if (file < 0) return refused(path, errno);
  std::array<char, kNodeFileBytesMax> content{};
  const ssize_t bytes = ::read(file, content.data(), content.size() - 1);
  const int code = bytes < 0 ? errno : 0;
  ::close(file);
  if (code != 0) return refused(path, code);
  std::uint64_t cluster = 0;
  std::uint64_t node = 0;
  const bool reads =
      std::sscanf(content.data(), "cadastre log, format 1, cluster %" SCNu64 " node %" SCNu64,
                  &cluster, &node) == 2;
  if (!reads ||
      fmt::format(fmt::runtime(kNodeWords), cluster, node) != std::string_view(content.data()))
    return base::fail(OpenError::kDamaged, path.string() + " does not read, from offset 0 on");
  return NodeIdentity{ClusterId{cluster}, NodeId{node}};
}

base::Result<void, OpenError> write_node_file(const std::filesystem::path& directory,
                                              NodeIdentity identity) {
  const std::filesystem::path path = directory / kNodeFile;
  const std::filesystem::path fresh = directory / "NODE.new";
  const std::string words =
      fmt::format(fmt::runtime(kNodeWords), identity.cluster.value(), identity.node.value());
  if (const int code = write_synced(fresh, words); code != 0) return refused(fresh, code);
  if (std::rename(fresh.c_str(), path.c_str()) != 0) return refused(path, errno);
  if (const int code = sync_names(directory); code != 0) return refused(directory, code);
  return {};
}

base::Result<void, OpenError> remove_node_file(const std::filesystem::path& directory) {
  const std::filesystem::path path = directory / kNodeFile;
  if (std::remove(path.c_str()) != 0 && errno != ENOENT) return refused(path, errno);
  if (const int code = sync_names(directory); code != 0) return refused(directory, code);
  return {};
}

bool is_log_file(std::string_view name) noexcept {
  if (std::ranges::find(kNames, name) != kNames.end()) return true;
  for (const std::string_view prefix : kPrefixes) {
    if (!name.starts_with(prefix)) continue;
    std::string_view rest = name.substr(prefix.size());
    if (rest.ends_with(".dbtmp")) rest.remove_suffix(6);
    return all_digits(rest);
  }
  return std::ranges::any_of(kSuffixes, [&](std::string_view suffix) {
    return name.ends_with(suffix) && all_digits(name.substr(0, name.size() - suffix.size()));
  });
}

base::Result<DirectoryContent, OpenError> look_at_directory(
    const std::filesystem::path& directory) {
  std::error_code error;
  if (!std::filesystem::exists(directory, error)) {
    if (error)
      return base::fail(OpenError::kCannotOpen, directory.string() + ": " + error.message());
    return DirectoryContent::kNothing;
  }
  bool has_current = false;
  std::string some_file;
  std::filesystem::directory_iterator files(directory, error);
  if (error) return base::fail(OpenError::kCannotOpen, directory.string() + ": " + error.message());
  for (; files != std::filesystem::directory_iterator(); files.increment(error)) {
    if (error)
      return base::fail(OpenError::kCannotOpen, directory.string() + ": " + error.message());
    const std::string name = files->path().filename().string();
    if (!files->is_regular_file(error) || !is_log_file(name))
      return base::fail(OpenError::kForeign, files->path().string() + " is no file of a log");
    has_current = has_current || name == "CURRENT";
    if (name.ends_with(".sst") || name.ends_with(".log")) some_file = files->path().string();
  }
  if (has_current) return DirectoryContent::kDatabase;
  if (!some_file.empty())
    return base::fail(OpenError::kDamaged,
                      some_file + " is there, but CURRENT is missing beside it");
  return DirectoryContent::kNothing;  // A database that was being made when its process ended.
}

}  // namespace cadastre::log
