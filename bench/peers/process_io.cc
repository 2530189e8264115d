#include "bench/peers/process_io.h"

#include <sys/stat.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>

#include "base/check.h"

namespace cadastre::bench {

std::uint64_t bytes_handed_over(const std::string& pid) {
  std::ifstream io("/proc/" + pid + "/io");
  std::string field;
  std::uint64_t value = 0;
  while (io >> field >> value) {
    if (field == "wchar:") return value;
  }
  CAD_CHECK(false, "the kernel counts what a process writes");
}

std::uint64_t directory_bytes(const std::string& directory) {
  constexpr std::uint64_t kBlockBytes = 512;  // Of st_blocks, whatever the file system's are.
  std::uint64_t total = 0;
  std::error_code error;  // A file that goes away meanwhile counts as nothing.
  for (const auto& entry : std::filesystem::recursive_directory_iterator(directory, error)) {
    struct stat status{};
    if (stat(entry.path().c_str(), &status) == 0 && S_ISREG(status.st_mode)) {
      total += static_cast<std::uint64_t>(status.st_blocks) * kBlockBytes;
    }
  }
  return total;
}

}  // namespace cadastre::bench
