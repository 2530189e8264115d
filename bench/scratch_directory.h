// ScratchDirectory: a directory of its own below the current one, gone with the object.

#pragma once

#include <filesystem>
#include <string>

namespace cadastre::bench {

class ScratchDirectory {
 public:
  explicit ScratchDirectory(const std::string& name);
  ScratchDirectory(const ScratchDirectory&) = delete;
  ScratchDirectory& operator=(const ScratchDirectory&) = delete;
  ~ScratchDirectory();

  [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace cadastre::bench
