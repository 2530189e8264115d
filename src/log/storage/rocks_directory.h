// What may lie in the directory of a log database, and what does.

#pragma once

#include <filesystem>
#include <string_view>

#include "base/result.h"
#include "log/storage.h"

namespace cadastre::log {

inline constexpr std::string_view kOwnerFile = "OWNER";

enum class DirectoryContent : std::uint8_t {
  kNothing,   // Empty, or not there: a log can be made here.
  kDatabase,  // Only what RocksDB and we write.
};

// kForeign, with the name, if there is anything else.
[[nodiscard]] base::Result<DirectoryContent, OpenError> look_at_directory(
    const std::filesystem::path& directory);

// Whether a file of this name is RocksDB's or ours.
[[nodiscard]] bool is_log_file(std::string_view name) noexcept;

}  // namespace cadastre::log
