// What describes a checkpoint: a manifest of a few hundred bytes, and the list of its files with their
// hashes (spec section 7). Files travel and are kept beside it; nothing here touches a disk.
//
// Integers are little-endian.
//
//   manifest, version 1
//   offset  size  field
//        0     4  magic       "CDSM"
//        4     2  version     1
//        6     2  hash kind   1: BLAKE3, 256 bits
//        8     8  cluster
//       16     8  group
//       24     8  index       the state's position
//       32     8  term
//       40     8  node        that made it
//       48     8  id          of the checkpoint, unique on that node
//       56     8  total       bytes of all files
//       64     8  entries     an estimate, for progress bars
//       72     4  list_bytes
//       76    32  list hash
//      108   2+n  summary     what its sender says along with it: the context of the configuration (conf_context.h)
//       ..     4  crc32c      of everything before
//
//   file list, version 1
//        0     4  magic       "CDSL"
//        4     2  version     1
//        6     2  zero
//        8     4  count
//       12     .  files       2+n name, u64 size, 32 hash, u8 level, 2+n smallest key, 2+n largest key
//       ..     4  crc32c      of everything before
//
// A name is plain: 1 to 255 bytes, no separator, neither "." nor "..". A reader rejects an unknown version and
// every length it does not expect, and checks names before anyone makes a path of them (L-70).

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "log/limits.h"
#include "log/types.h"

namespace cadastre::log {

using CheckpointId = base::Strong<struct CheckpointIdTag>;
using FileHash = std::array<std::byte, 32>;

inline constexpr std::size_t kSummaryBytesMax = kConfContextBytesMax;
static_assert(kSummaryBytesMax <= 0xffff, "the length of a summary has two bytes");
inline constexpr std::size_t kFileNameBytesMax = 255;
inline constexpr std::size_t kCheckpointFilesMax = 1'000'000;
inline constexpr std::uint64_t kFileListBytesMax = std::uint64_t{256} << 20;

struct CheckpointManifest {
  ClusterId cluster = {};
  GroupId group = {};
  Position at = {};
  NodeId node = {};
  CheckpointId id = {};
  std::uint64_t total_bytes = 0;
  std::uint64_t entries = 0;
  std::uint32_t list_bytes = 0;
  FileHash list_hash{};
  base::Bytes summary = {};

  friend bool operator==(const CheckpointManifest&, const CheckpointManifest&) = default;
};

struct CheckpointFile {
  std::string name;
  std::uint64_t bytes = 0;
  FileHash hash{};
  std::uint8_t level = 0;     // Of a table file, for whoever fetches in order.
  base::Bytes smallest = {};  // The same; empty elsewhere.
  base::Bytes largest = {};

  friend bool operator==(const CheckpointFile&, const CheckpointFile&) = default;
};

enum class ManifestError : std::uint8_t {
  kVersion,  // Of a newer release: start that one.
  kDamaged,  // Not what was written: fetch or make it again.
};

[[nodiscard]] bool is_plain_name(std::string_view name) noexcept;

[[nodiscard]] base::Bytes encode_manifest(const CheckpointManifest& manifest);
[[nodiscard]] base::Result<CheckpointManifest, ManifestError> decode_manifest(base::ByteView bytes);

// Every name is plain and there once.
[[nodiscard]] base::Bytes encode_file_list(const std::vector<CheckpointFile>& files);
[[nodiscard]] base::Result<std::vector<CheckpointFile>, ManifestError> decode_file_list(
    base::ByteView bytes);

}  // namespace cadastre::log
