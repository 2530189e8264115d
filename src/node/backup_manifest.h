// The list of a backup's files.
//
// MANIFEST, version 1: lines of text, each ended by \n.
//
//   cadastre backup 1
//   <blake3, 64 hexadecimal digits> <size in bytes> <path below files/>     by path
//   end <blake3 of all bytes above this line>
//
// A reader refuses another first line, a line of another form, a path that leaves the directory, a
// missing end, a file that is missing or differs, and more than kBackupFilesMax files.
//
// Everything here is a pure function.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/blake3.h"
#include "base/result.h"

namespace cadastre::node {

inline constexpr std::size_t kBackupFilesMax = 1'000'000;
inline constexpr std::size_t kBackupManifestBytesMax = std::size_t{512} << 20;

struct BackupFile {
  base::Blake3Digest digest;
  std::uint64_t size = 0;
  std::string path;  // without `.` and `..`, no line end in it

  friend bool operator==(const BackupFile&, const BackupFile&) = default;
};

enum class ManifestError : std::uint8_t {
  kDamaged,  // It is not what was written; the detail names the line.
};

// The files by path, each path once.
[[nodiscard]] std::string format_backup_manifest(const std::vector<BackupFile>& files);
[[nodiscard]] base::Result<std::vector<BackupFile>, ManifestError> parse_backup_manifest(
    std::string_view text);

// Whether a path stays below the directory it is put into, and can be written as a line.
[[nodiscard]] bool is_plain_path(std::string_view path) noexcept;

}  // namespace cadastre::node
