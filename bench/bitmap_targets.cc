#include "bench/bitmap_targets.h"

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <string_view>

namespace cadastre::bench {
namespace {

constexpr std::array kRatios = {
    Target{kInsertBatch, kBlob, 5000},
    Target{kInsertBatch, kRust, 2000},
    Target{kInsertBatch, kRolled, 100},
    Target{kInsertBatch, kSqlite, 2.5},
    Target{kInsertBatch, kRocksdb, 0.5},
    Target{kInsertSingle, kBlob, 3000},
    Target{kInsertSingle, kRust, 1000},
    Target{kInsertSingle, kRolled, 20},
    Target{kInsertSingle, kSqlite, 2},
    Target{kInsertSingle, kRocksdb, 0.3},
    Target{kInsertSingleSync, kBlob, 50},
    Target{kInsertSingleSync, kRust, 50},
    Target{kInsertSingleSync, kRolled, 1.5},
    Target{kInsertSingleSync, kSqlite, 0.55},
    Target{kInsertSingleSync, kRocksdb, 0.5},
    Target{kInsertSingleSync, kRedis, 0.3},
    Target{kInsertCallersSync, kSqlite, 1.5},
    Target{kInsertSingleBytes, kBlob, 700},
    Target{kInsertSingleSyncBytes, kRust, 700},
    Target{kInsertSingleBytes, kRolled, 1},
    Target{kInsertSingleBytes, kSqlite, 1 / 5.0},
    Target{kInsertSingleBytes, kRocksdb, 1 / 200.0},
    Target{kSpaceLive, kBlob, 1 / 1.2},
    Target{kSpaceLive, kRust, 1 / 1.2},
    Target{kSpaceLive, kRolled, 4},
    Target{kSpaceLive, kSqlite, 7},
    Target{kSpaceLive, kRocksdb, 1 / 1.3},
    Target{kSpaceLive, kRedis, 20},
    Target{kSpaceLive, kCroaring, 1 / 1.6},
    Target{kSpaceCompacted, kCroaring, 1 / 1.3},
    Target{kAscendingBatch, kBlob, 1000},
    Target{kAscendingBatch, kRust, 1000},
    Target{kAscendingBatch, kRolled, 10},
    Target{kAscendingBatch, kSqlite, 5},
    Target{kAscendingBatch, kRocksdb, 2},
    Target{kAscendingBatch, kRedis, 2},
    // The specification says "batch"; it may mean either.
    Target{kAscendingAtOnce, kBlob, 1000},
    Target{kAscendingAtOnce, kRust, 1000},
    Target{kAscendingAtOnce, kRolled, 10},
    Target{kAscendingAtOnce, kSqlite, 5},
    Target{kAscendingAtOnce, kRocksdb, 2},
    Target{kAscendingAtOnce, kRedis, 2},
    Target{kContainsHit, kBlob, 1000},
    Target{kContainsHit, kRust, 1000},
    Target{kContainsHit, kRolled, 1000},
    Target{kContainsHit, kSqlite, 8},
    Target{kContainsHit, kRocksdb, 5},
    Target{kContainsHit, kRedis, 10},
    Target{kStream, kBlob, 5},
    Target{kStream, kRust, 5},
    Target{kStream, kRolled, 50},
    Target{kStream, kSqlite, 150},
    Target{kStream, kRocksdb, 5},
    Target{kStream, kRedis, 100},
    Target{kIntersectRandom, kBlob, 4},
    Target{kIntersectRandom, kRust, 4},
    Target{kIntersectRandom, kRolled, 50},
    Target{kIntersectRandom, kSqlite, 50},
    Target{kIntersectRandom, kRocksdb, 4},
    Target{kIntersectRandom, kRedis, 50},
    Target{kIntersectRandom, kCroaring, 1 / 3.0},
    Target{kIntersectDense, kCroaring, 1 / 1.5},
};

}  // namespace

std::span<const Target> target_ratios() {
  return kRatios;
}

std::optional<double> target_ratio(std::string_view what, std::string_view peer) {
  const auto* const at = std::ranges::find_if(
      kRatios, [&](const Target& target) { return target.what == what && target.peer == peer; });
  if (at == kRatios.end()) return std::nullopt;
  return at->ratio;
}

std::optional<double> target_figure(std::string_view what) {
  constexpr double kMicrosecondNs = 1000;
  constexpr double kAscendingBytesMax = 64 * 1024;
  if (what == kContainsHit || what == kContainsMiss) return kMicrosecondNs;
  if (what == kAscendingBytes) return kAscendingBytesMax;
  return std::nullopt;
}

}  // namespace cadastre::bench
