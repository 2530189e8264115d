#include "log/storage/rocks_directory.h"

#include <algorithm>
#include <array>
#include <string>
#include <system_error>

namespace cadastre::log {
namespace {

constexpr std::array<std::string_view, 5> kNames{"CURRENT", "IDENTITY", "LOCK", "LOG", kOwnerFile};
constexpr std::array<std::string_view, 3> kPrefixes{"MANIFEST-", "OPTIONS-", "LOG.old."};
constexpr std::array<std::string_view, 3> kSuffixes{".log", ".sst", ".dbtmp"};

bool all_digits(std::string_view text) noexcept {
  return !text.empty() && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

}  // namespace

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
