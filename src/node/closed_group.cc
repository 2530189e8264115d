#include "node/closed_group.h"

#include <algorithm>
#include <memory>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/directory_lock.h"
#include "base/result.h"
#include "log/limits.h"
#include "log/storage.h"
#include "log/storage/rocks_storage.h"
#include "log/types.h"
#include "node/node_seal.h"

namespace cadastre::node {
namespace {

constexpr const char* kLogName = "log";

base::Result<base::DirectoryLock, ClosedError> lock(const std::filesystem::path& directory) {
  std::error_code code;
  if (!std::filesystem::exists(directory / kLogName, code)) {
    return base::fail(ClosedError::kNoData,
                      directory.string() + " is no data directory: it has no log");
  }
  auto locked =
      base::DirectoryLock::acquire((directory / "LOCK").string(), base::LockKind::kWriter);
  if (locked) return *std::move(locked);
  const base::LockRefused& why = locked.error();
  if (why.system_code == 0) {
    return base::fail(ClosedError::kLocked, fmt::format("{} is open in process {}: stop it first",
                                                        directory.string(), why.holder_pid));
  }
  return base::fail(ClosedError::kCannotOpen,
                    directory.string() + ": " +
                        std::error_code(why.system_code, std::generic_category()).message());
}

}  // namespace

ClosedError translated(log::OpenError code) noexcept {
  switch (code) {
    case log::OpenError::kCannotOpen: return ClosedError::kCannotOpen;
    case log::OpenError::kLocked: return ClosedError::kLocked;
    case log::OpenError::kForeign:
    case log::OpenError::kNewer: return ClosedError::kForeign;
    case log::OpenError::kDamaged: return ClosedError::kDamaged;
  }
  return ClosedError::kCannotOpen;
}

ClosedError translated(SealError code) noexcept {
  switch (code) {
    case SealError::kForeign: return ClosedError::kForeign;
    case SealError::kRefused: return ClosedError::kRefused;
    case SealError::kDamaged: return ClosedError::kDamaged;
    case SealError::kCannotIo: return ClosedError::kCannotOpen;
  }
  return ClosedError::kCannotOpen;
}

base::Result<std::unique_ptr<ClosedGroup>, ClosedError> ClosedGroup::open(
    const std::filesystem::path& directory,
    const std::vector<log::NodeIdentity>& owners,
    log::GroupId group) {
  auto held =
      CAD_TRY(lock(directory));  // Not within `new`: an error would leave its memory behind.
  std::unique_ptr<ClosedGroup> closed(new ClosedGroup(directory, std::move(held)));
  std::string why;
  for (const log::NodeIdentity& owner : owners) {
    auto storage = log::RocksStorage::open({.directory = directory / kLogName, .identity = owner});
    if (storage) {
      closed->storage_ = *std::move(storage);
      closed->owner_ = owner;
      CAD_TRY(closed->look(group));
      return closed;
    }
    why = storage.error().detail;
    if (storage.error().code != log::OpenError::kForeign)
      return base::fail(translated(storage.error().code), std::move(why));
  }
  return base::fail(ClosedError::kForeign, std::move(why));
}

base::Result<void, ClosedError> ClosedGroup::look(log::GroupId group) {
  auto recovered = storage_->recover();
  if (!recovered) return base::fail(translated(recovered.error().code), recovered.error().detail);
  last_set_ = recovered->last_set;
  const auto found = std::ranges::find(recovered->groups, group, &log::GroupImage::group);
  if (found == recovered->groups.end()) {
    return base::fail(ClosedError::kNoData, fmt::format("{} has nothing of group {}",
                                                        directory_.string(), group.value()));
  }
  image_ = std::move(*found);
  return {};
}

base::Result<std::vector<log::Entry>, ClosedError> ClosedGroup::read(log::Index low,
                                                                     log::Index high) {
  auto entries = storage_->read(image_.group, image_.incarnation, low, high, log::kReadBytesMax);
  if (!entries) return base::fail(ClosedError::kDamaged, entries.error().detail);
  return *std::move(entries);
}

base::Result<void, ClosedError> ClosedGroup::write(log::GroupWrite write) {
  write.group = image_.group;
  write.incarnation = image_.incarnation;
  write.last_before = image_.last.index;
  write.truncated_before = image_.truncated.index;
  write.last = write.entries.empty() ? image_.last : write.entries.back().at;
  const log::GroupId group = image_.group;
  log::WriteSet set;
  set.number = log::SetNumber{last_set_.value() + 1};
  set.groups.push_back(std::move(write));
  if (const auto written = storage_->write(set); !written)
    return base::fail(ClosedError::kCannotOpen, written.error().detail);
  return look(group);
}

base::Result<void, ClosedError> ClosedGroup::give_to(log::NodeIdentity to) {
  storage_.reset();
  const auto given =
      log::RocksStorage::give_to({.directory = directory_ / kLogName, .identity = owner_}, to);
  if (!given) return base::fail(translated(given.error().code), given.error().detail);
  return {};
}

}  // namespace cadastre::node
