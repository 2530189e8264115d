// ScratchDirectory: a directory of its own for one test, removed at its end; and what lies in one.

#pragma once

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <string_view>
#include <system_error>

#include "base/check.h"

namespace cadastre::log {

// Where it lies: on a disk, or in memory where the system has such a place, for tests that open many
// logs and are not about syncs.
enum class Medium : std::uint8_t {
  kDisk,
  kMemory
};

class ScratchDirectory {
 public:
  explicit ScratchDirectory(Medium medium = Medium::kDisk) {
    const std::filesystem::path memory = "/dev/shm";
    std::error_code ignored;
    const bool in_memory =
        medium == Medium::kMemory && std::filesystem::is_directory(memory, ignored);
    const auto parent = in_memory ? memory : std::filesystem::temp_directory_path();
    std::string pattern = (parent / "cadastre-log-XXXXXX").string();
    CAD_CHECK(::mkdtemp(pattern.data()) != nullptr, "tests can make a directory");
    path_ = pattern;
  }
  ScratchDirectory(const ScratchDirectory&) = delete;
  ScratchDirectory& operator=(const ScratchDirectory&) = delete;
  ~ScratchDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }

  void write(std::string_view name, std::string_view bytes) const {
    std::ofstream(path_ / name, std::ios::binary) << bytes;
  }

 private:
  std::filesystem::path path_;
};

[[nodiscard]] inline std::string bytes_of(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

// The content of every file, by name.
[[nodiscard]] inline std::map<std::string, std::string> content_of(
    const std::filesystem::path& directory) {
  std::map<std::string, std::string> content;
  for (const auto& file : std::filesystem::directory_iterator(directory))
    content[file.path().filename().string()] =
        file.is_regular_file() ? bytes_of(file.path()) : std::string();
  return content;
}

}  // namespace cadastre::log
