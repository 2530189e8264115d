#include "node/space_watch.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "log/limits.h"

namespace cadastre::node {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kBallastPart = 32;  // Of a small disk.

std::string_view name_of(log::Space space) noexcept {
  switch (space) {
    case log::Space::kPlenty: return "plenty";
    case log::Space::kLow: return "low";
    case log::Space::kCritical: return "critical";
  }
  return "unknown";
}

}  // namespace

std::uint64_t ballast_bytes(const log::DiskSpace& disk) noexcept {
  return std::min(log::kBallastBytes, disk.total_bytes / kBallastPart);
}

BallastStep decide_ballast(const log::SpaceSettings& settings,
                           const log::DiskSpace& disk,
                           log::Space space,
                           bool there) {
  if (space == log::Space::kCritical) return there ? BallastStep::kGiveAway : BallastStep::kLeave;
  if (there) return BallastStep::kLeave;
  const std::uint64_t bytes = ballast_bytes(disk);
  if (disk.free_bytes < bytes) return BallastStep::kLeave;
  // As if it had been low: whoever makes the ballast must not become low by it.
  const log::DiskSpace with{disk.free_bytes - bytes, disk.total_bytes};
  const bool plenty = judge_space(settings, with, log::Space::kLow) == log::Space::kPlenty;
  return plenty ? BallastStep::kMake : BallastStep::kLeave;
}

SpaceWatch::SpaceWatch(fs::path directory,
                       const log::SpaceSettings& settings,
                       const base::Logger& logger,
                       std::function<void(log::Space)> told)
    : directory_(std::move(directory)),
      settings_(settings),
      logger_(logger),
      told_(std::move(told)) {}

void SpaceWatch::look() {
  std::error_code code;
  const fs::space_info info = fs::space(directory_, code);
  if (code) {
    logger_.warn("the disk does not say how much room it has", {{"reason", code.message()}});
    return;
  }
  const log::DiskSpace disk{info.available, info.capacity};
  free_bytes_.store(disk.free_bytes);
  const log::Space now = judge_space(settings_, disk, space_.load());
  tell(now, disk);
  const fs::path ballast = directory_ / kBallastName;
  switch (decide_ballast(settings_, disk, now, fs::exists(ballast, code))) {
    case BallastStep::kLeave: break;
    case BallastStep::kMake: make_ballast(ballast_bytes(disk)); break;
    case BallastStep::kGiveAway:
      fs::remove(ballast, code);
      logger_.error("the ballast was given away: make room on the disk",
                    {{"free_bytes", disk.free_bytes}});
      break;
  }
}

void SpaceWatch::tell(log::Space now, const log::DiskSpace& disk) {
  if (space_.exchange(now) == now) return;
  const std::initializer_list<base::LogField> fields{{"space", name_of(now)},
                                                     {"free_bytes", disk.free_bytes}};
  if (now == log::Space::kPlenty) {
    logger_.info("there is room on the disk again", fields);
  } else {
    logger_.error("the disk is nearly full: new commands are refused", fields);
  }
  told_(now);
}

void SpaceWatch::make_ballast(std::uint64_t bytes) const {
  const fs::path path = directory_ / kBallastName;
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  if (file < 0) return;  // The next look tries again.
  const bool made = ::posix_fallocate(file, 0, static_cast<off_t>(bytes)) == 0;
  ::close(file);
  std::error_code code;
  if (!made) fs::remove(path, code);
}

}  // namespace cadastre::node
