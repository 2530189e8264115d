// Every bound of the command line, and what happens when it is reached.

#pragma once

#include <cstddef>
#include <cstdint>

#include "bitmap/limits.h"
#include "shard/limits.h"

namespace cadastre::cli {

// A request, or a line of a file. A longer one is refused unread; a batch goes on behind it.
inline constexpr std::size_t kBatchLineBytesMax = std::size_t{1} << 20;

// A request to coordination, which may hold a whole manifest. The tree of a hostile one takes some
// twenty times its bytes, for as long as the request lasts.
inline constexpr std::size_t kCoordLineBytesMax = std::size_t{8} << 20;

// A request to a bitmap table, which may hold many ids.
inline constexpr std::size_t kBitmapLineBytesMax = std::size_t{8} << 20;

// Ids and keys of one answer: as many if the request does not say, and at most; the rest comes with the
// next page.
inline constexpr std::size_t kIdsLimitDefault = 1000;
inline constexpr std::size_t kIdsLimitMax = 1'000'000;
inline constexpr std::size_t kKeysLimitDefault = 1000;
inline constexpr std::size_t kKeysLimitMax = 100'000;

// What `bitmap verify` lists; it stops there and says so.
inline constexpr std::size_t kFindingsMax = 1000;

// A file of `bitmap export` and `bitmap import`; more is `result_too_large` and `file_too_large`.
inline constexpr std::size_t kPortableBytesMax = std::size_t{1} << 30;

inline constexpr std::size_t kReadBytes = std::size_t{64} << 10;  // one read(2)
inline constexpr std::size_t kWriteBytes = std::size_t{64}
                                           << 10;  // answers collected for a write(2)

// Nesting of a request's JSON. Requests need three levels; what is deeper is refused, not stored.
inline constexpr int kJsonDepthMax = 16;

// The largest integer that every JSON reader holds exactly; larger ones are printed as strings.
inline constexpr std::uint64_t kJsonIntegerMax = (std::uint64_t{1} << 53) - 1;

// What `shard check` keeps of its input; more is the error `manifest_too_large`.
inline constexpr std::size_t kCheckBytesMax =
    shard::kMaxInitialShards *
    (3 * shard::kMaxKeySize + shard::kMaxMetadataSize + shard::kMaxTokenSize);

// A token or a certificate; a larger file is `file_too_large`.
inline constexpr std::size_t kAccessFileBytesMax = std::size_t{1} << 20;

inline constexpr std::size_t kErrorTextBytesMax = 512;  // an algebra error's text; the rest is cut

static_assert(
    18 * shard::kMaxKeySize + 2 * (shard::kMaxMetadataSize + shard::kMaxTokenSize) <
        kBatchLineBytesMax,
    "the longest legal shard fits a line, each byte of its three keys written as \\u00XX");
static_assert(shard::kMaxInitialShards * 512 < kCoordLineBytesMax,
              "a full manifest of row keys and hints fits one request");
static_assert(bitmap::kOperandsMax * 6 * bitmap::kBaseKeyBytesMax < kBitmapLineBytesMax,
              "a set operation fits one request, each byte of its keys written as \\u00XX");
static_assert(kReadBytes <= kBatchLineBytesMax, "one read never exceeds a line's bound");

}  // namespace cadastre::cli
