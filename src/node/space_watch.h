// SpaceWatch: looks at the disk of a data directory, judges how much room there is (log/disk_space.h), and keeps the
// ballast: a file that is given away when the disk is nearly full, so that the node can still close its log (L-50).
//
//   DIR/BALLAST   up to 256 MiB of nothing; made when there is plenty of room, deleted when there is hardly any
//
// look() is for a background thread, about once a second: it asks the file system. The rest is safe from any thread.

#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string_view>

#include "base/logger.h"
#include "log/disk_space.h"

namespace cadastre::node {

inline constexpr std::string_view kBallastName = "BALLAST";

enum class BallastStep : std::uint8_t {
  kLeave,
  kMake,
  kGiveAway,
};

// What to do with the ballast. It is made only where the disk has plenty with it, too.
[[nodiscard]] BallastStep decide_ballast(const log::SpaceSettings& settings,
                                         const log::DiskSpace& disk,
                                         log::Space space,
                                         bool there);
[[nodiscard]] std::uint64_t ballast_bytes(const log::DiskSpace& disk) noexcept;

class SpaceWatch {
 public:
  // The logger outlives it; `told` is called by look() whenever the level changed.
  SpaceWatch(std::filesystem::path directory,
             const log::SpaceSettings& settings,
             const base::Logger& logger,
             std::function<void(log::Space)> told);

  void look();

  [[nodiscard]] log::Space space() const noexcept { return space_.load(); }
  [[nodiscard]] std::uint64_t free_bytes() const noexcept { return free_bytes_.load(); }

 private:
  void tell(log::Space now, const log::DiskSpace& disk);
  void make_ballast(std::uint64_t bytes) const;

  const std::filesystem::path directory_;
  const log::SpaceSettings settings_;
  const base::Logger& logger_;
  const std::function<void(log::Space)> told_;
  std::atomic<log::Space> space_{log::Space::kPlenty};
  std::atomic<std::uint64_t> free_bytes_{0};
};

}  // namespace cadastre::node
