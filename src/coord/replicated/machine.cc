#include "coord/replicated/machine.h"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <system_error>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "base/check.h"
#include "base/mutex.h"
#include "base/result.h"
#include "coord/identity.h"
#include "coord/record_codec.h"
#include "coord/replicated/settings.h"
#include "coord/replicated/snapshot_codec.h"
#include "coord/replicated/snapshot_store.h"
#include "coord/replicated/state.h"
#include "coord/retention.h"
#include "log/entry.h"
#include "log/state_machine.h"
#include "log/types.h"

namespace cadastre::coord::replicated {
namespace {

struct Staged {
  base::Bytes bytes;
  SnapshotContent content;
};

// What lies in a staged checkpoint, if it is understood and is what the manifest says.
base::Result<Staged, log::InstallError> read_staged(const log::StagedCheckpoint& from) {
  PosixSnapshotFiles files(from.directory);
  auto loaded = SnapshotStore(files).load();
  if (!loaded) return base::fail(log::InstallError::kStorage, loaded.error().detail);
  if (!loaded->has_value())
    return base::fail(log::InstallError::kDamaged, from.directory.string() + " has no snapshot");
  auto content = decode_snapshot(**loaded);
  if (!content) {
    const bool newer = content.error().code == SnapshotError::kNewer;
    return base::fail(newer ? log::InstallError::kNewer : log::InstallError::kDamaged,
                      content.error().detail);
  }
  if (const log::Position at = content->head.applied; !(at == from.manifest.at)) {
    return base::fail(log::InstallError::kDamaged, "the snapshot is at " + to_string(at) +
                                                       ", its manifest says " +
                                                       to_string(from.manifest.at));
  }
  return Staged{**std::move(loaded), *std::move(content)};
}

}  // namespace

base::Result<std::unique_ptr<Machine>, OpenError> Machine::open(const MachineParts& parts,
                                                                std::uint64_t hash_seed) {
  const auto loaded = parts.store.load();
  if (!loaded) return base::fail(OpenError::kCannotRead, loaded.error().detail);
  if (!loaded->has_value()) {
    return std::unique_ptr<Machine>(
        new Machine(parts, hash_seed, std::make_unique<State>(hash_seed), {}));
  }
  const auto content = decode_snapshot(**loaded);
  if (!content) {
    const OpenError code =
        content.error().code == SnapshotError::kNewer ? OpenError::kNewer : OpenError::kDamaged;
    return base::fail(code, content.error().detail);
  }
  return std::unique_ptr<Machine>(new Machine(
      parts, hash_seed, std::make_unique<State>(*content, hash_seed), content->head.applied));
}

Machine::Machine(const MachineParts& parts,
                 std::uint64_t hash_seed,
                 std::unique_ptr<State> state,
                 log::Position applied)
    : parts_(parts),
      hash_seed_(hash_seed),
      state_(std::move(state)),
      applied_(applied),
      durable_(applied) {}

log::Position Machine::applied() const {
  const base::MutexLock lock(mutex_);
  return applied_;
}

log::Position Machine::durable() const {
  const base::MutexLock lock(flush_mutex_);
  return durable_;
}

base::Result<void, log::ApplyError> Machine::apply(std::span<const log::EntryView> round,
                                                   log::ResultSink& results) {
  const base::MutexLock lock(mutex_);
  for (const log::EntryView& entry : round) {
    CAD_CHECK(entry.at.index == applied_.index + 1, "each index once, in order");
    for (const ByteView command : entry.commands) {
      auto answer = state_->execute(command);
      if (!answer) return base::fail(log::ApplyError::kCommand, to_text(answer.error()));
      results.result(*std::move(answer));
    }
    applied_ = entry.at;
  }
  return {};
}

Machine::Image Machine::make_image() const {
  const base::MutexLock lock(mutex_);
  const SnapshotHead head{state_->configured(), applied_, state_->settings()};
  return {encode_snapshot(head, state_->records(), state_->times()), applied_};
}

void Machine::request_flush() {
  {
    const base::MutexLock lock(flush_mutex_);
    if (flushing_) return;  // The log asks again.
    flushing_ = true;
  }
  parts_.background.run([this, image = make_image()]() mutable { write_image(std::move(image)); });
}

void Machine::write_image(Image image) {
  seal(image.bytes);
  const auto saved = [&] {
    const base::MutexLock lock(save_mutex_);
    return save(image);
  }();
  if (!saved) {
    parts_.logger.warn("coordination snapshot not written", {{"reason", saved.error().detail}});
  }
  const base::MutexLock lock(flush_mutex_);
  flushing_ = false;
}

// What is durable never goes back: an image that was made before an install and comes after it is dropped.
base::Result<void, FileError> Machine::save(const Image& image) {
  if (image.at.index < durable().index) return {};
  CAD_TRY(parts_.store.save(image.bytes));
  const base::MutexLock lock(flush_mutex_);
  durable_ = image.at;
  return {};
}

base::Result<log::Position, log::CheckpointError> Machine::checkpoint(
    const log::CheckpointTarget& to) {
  std::error_code code;
  if (!std::filesystem::create_directory(to.directory, code)) {
    if (code) return base::fail(log::CheckpointError::kStorage, code.message());
    return base::fail(log::CheckpointError::kExists, to.directory.string());
  }
  Image image = make_image();
  seal(image.bytes);
  PosixSnapshotFiles files(to.directory);
  const auto saved = SnapshotStore(files).save(image.bytes);
  if (!saved) return base::fail(log::CheckpointError::kStorage, saved.error().detail);
  return image.at;
}

base::Result<void, log::InstallError> Machine::check(const log::StagedCheckpoint& staged) const {
  if (auto read = read_staged(staged); !read) return std::unexpected(std::move(read.error()));
  return {};
}

base::Result<void, log::InstallError> Machine::install(const log::StagedCheckpoint& from) {
  Staged staged = CAD_TRY(read_staged(from));
  const log::Position at = staged.content.head.applied;
  auto state = std::make_unique<State>(staged.content, hash_seed_);
  {
    const base::MutexLock lock(save_mutex_);
    const auto saved = save({std::move(staged.bytes), at});
    if (!saved) return base::fail(log::InstallError::kStorage, saved.error().detail);
  }
  const base::MutexLock lock(mutex_);
  state_ = std::move(state);
  applied_ = at;
  return {};
}

bool Machine::configured() const {
  const base::MutexLock lock(mutex_);
  return state_->configured();
}

Settings Machine::settings() const {
  const base::MutexLock lock(mutex_);
  return state_->settings();
}

LogicalTime Machine::largest_now(const TenantId& tenant) const {
  const base::MutexLock lock(mutex_);
  return state_->largest_now(tenant);
}

std::vector<Machine::Collectable> Machine::collectable(std::uint64_t retention,
                                                       std::size_t limit) const {
  std::vector<Collectable> found;
  const base::MutexLock lock(mutex_);
  for (const TenantTime& time : state_->times()) {
    if (found.size() == limit) break;
    const auto before = forget_before(time.largest_now, retention);
    const auto oldest = state_->records().oldest_completion(time.tenant);
    if (before && oldest && *oldest < *before) found.push_back({time.tenant, *before});
  }
  return found;
}

void Machine::verify() const {
  const base::MutexLock lock(mutex_);
  state_->verify();
}

}  // namespace cadastre::coord::replicated
