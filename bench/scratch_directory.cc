#include "bench/scratch_directory.h"

#include <unistd.h>

#include <filesystem>
#include <string>
#include <system_error>

namespace cadastre::bench {

ScratchDirectory::ScratchDirectory(const std::string& name)
    : path_(std::filesystem::current_path() / ("bench." + name + "." + std::to_string(getpid()))) {
  std::filesystem::remove_all(path_);
  std::filesystem::create_directory(path_);
}

ScratchDirectory::~ScratchDirectory() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace cadastre::bench
