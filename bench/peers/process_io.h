// What a process has handed to the file system, and what a directory takes on it.

#pragma once

#include <cstdint>
#include <string>

namespace cadastre::bench {

// Bytes of all write calls of the process so far (wchar of /proc/PID/io; "self" is this one).
[[nodiscard]] std::uint64_t bytes_handed_over(const std::string& pid);
// Blocks of all files below the directory.
[[nodiscard]] std::uint64_t directory_bytes(const std::string& directory);

}  // namespace cadastre::bench
