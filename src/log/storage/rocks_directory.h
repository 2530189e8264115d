// What may lie in the directory of a log database, and what does.

#pragma once

#include <filesystem>
#include <optional>
#include <string_view>

#include "base/result.h"
#include "log/storage.h"
#include "log/storage/records.h"

namespace cadastre::log {

inline constexpr std::string_view kOwnerFile = "OWNER";
// Whose log it is, in words. Written once the node record is synced, so that a directory that has it and
// lacks the record has lost something, and read before RocksDB touches anything.
inline constexpr std::string_view kNodeFile = "NODE";

enum class DirectoryContent : std::uint8_t {
  kNothing,   // Empty, or not there: a log can be made here.
  kDatabase,  // Only what RocksDB and we write.
};

// kForeign, with the name, if there is anything else.
[[nodiscard]] base::Result<DirectoryContent, OpenError> look_at_directory(
    const std::filesystem::path& directory);

// What NODE says; nothing if it is not there. kDamaged if it does not read.
[[nodiscard]] base::Result<std::optional<NodeIdentity>, OpenError> read_node_file(
    const std::filesystem::path& directory);
// Durable when it returns.
[[nodiscard]] base::Result<void, OpenError> write_node_file(const std::filesystem::path& directory,
                                                            NodeIdentity identity);

[[nodiscard]] base::Result<void, OpenError> remove_node_file(
    const std::filesystem::path& directory);

// Whether a file of this name is RocksDB's or ours.
[[nodiscard]] bool is_log_file(std::string_view name) noexcept;

}  // namespace cadastre::log
