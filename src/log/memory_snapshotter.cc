#include "log/memory_snapshotter.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/blake3.h"

namespace cadastre::log {
namespace {

std::string directory_of(std::string_view kind, const CheckpointName& name) {
  return fmt::format("/{}/{}-{}-{}", kind, name.group.value(), name.node.value(), name.id.value());
}
std::string made(const CheckpointName& name) {
  return directory_of("made", name);
}
std::string staged(const CheckpointName& name) {
  return directory_of("staged", name);
}

}  // namespace

bool CheckpointShelf::put(const std::filesystem::path& directory, base::Bytes content) {
  return volumes_.try_emplace(directory.string(), Volume{std::move(content), std::nullopt}).second;
}

const base::Bytes* CheckpointShelf::find(const std::filesystem::path& directory) const {
  const auto found = volumes_.find(directory.string());
  return found == volumes_.end() ? nullptr : &found->second.content;
}

void CheckpointShelf::crash(const std::function<bool()>& survives) {
  std::erase_if(volumes_,
                [&](const auto& volume) { return !volume.second.manifest && !survives(); });
}

MemorySnapshotter::~MemorySnapshotter() {
  for (Sealing& task : sealing_)
    task.done(base::fail(SnapshotError::kStopped, "the node is going down"));
  for (Staging& task : staging_)
    task.done(base::fail(SnapshotError::kStopped, "the node is going down"));
}

CheckpointTarget MemorySnapshotter::place(const CheckpointName& name) {
  return {made(name)};
}

void MemorySnapshotter::seal(const CheckpointFacts& facts, SealDone done) {
  sealing_.push_back({facts, std::move(done)});
}

std::optional<base::Elapsed> MemorySnapshotter::last_read(const CheckpointName& name) const {
  const auto found = read_at_.find(name);
  if (found == read_at_.end()) return std::nullopt;
  return found->second;
}

void MemorySnapshotter::release(const CheckpointName& name) {
  shelf_.volumes_.erase(made(name));
  read_at_.erase(name);
}

void MemorySnapshotter::stage(const CheckpointManifest& manifest, StageDone done) {
  staging_.push_back({manifest, std::move(done)});
}

std::optional<StagedCheckpoint> MemorySnapshotter::find_staged(const CheckpointName& name) {
  const auto found = shelf_.volumes_.find(staged(name));
  if (found == shelf_.volumes_.end() || !found->second.manifest) return std::nullopt;
  return StagedCheckpoint{found->first, *found->second.manifest};
}

void MemorySnapshotter::release_staged(const CheckpointName& name) {
  shelf_.volumes_.erase(staged(name));
}

void MemorySnapshotter::sweep(std::span<const CheckpointName> wanted) {
  std::erase_if(shelf_.volumes_, [&](const auto& volume) {
    return std::ranges::none_of(
        wanted, [&](const CheckpointName& name) { return volume.first == staged(name); });
  });
}

bool MemorySnapshotter::step() {
  if (!sealing_.empty()) {
    Sealing task = std::move(sealing_.front());
    sealing_.pop_front();
    finish(std::move(task));
    return true;
  }
  if (staging_.empty()) return false;
  step_staging();
  return true;
}

void MemorySnapshotter::finish(Sealing task) {
  const CheckpointFacts& facts = task.facts;
  const auto found = shelf_.volumes_.find(made({facts.group, facts.node, facts.id}));
  if (found == shelf_.volumes_.end())
    return task.done(base::fail(SnapshotError::kStorage, "nothing was written there"));
  found->second.manifest = CheckpointManifest{.cluster = facts.cluster,
                                              .group = facts.group,
                                              .at = facts.at,
                                              .node = facts.node,
                                              .id = facts.id,
                                              .total_bytes = found->second.content.size(),
                                              .entries = facts.entries,
                                              .list_bytes = 0,
                                              .list_hash = base::blake3(found->second.content),
                                              .summary = facts.summary};
  task.done(*found->second.manifest);
}

// Bytes first, the manifest in a step of its own.
void MemorySnapshotter::step_staging() {
  Staging& task = staging_.front();
  const CheckpointName name{task.manifest.group, task.manifest.node, task.manifest.id};
  if (!std::exchange(task.fetched, true)) {
    const auto failed = fetch(task);
    if (!failed) return;
    StageDone done = std::move(task.done);
    staging_.pop_front();
    return done(base::fail(*failed, "node " + to_string(name.node) + " gave no such checkpoint"));
  }
  Staging finished = std::move(task);
  staging_.pop_front();
  const auto found = shelf_.volumes_.find(staged(name));
  if (found == shelf_.volumes_.end())
    return finished.done(base::fail(SnapshotError::kStorage, "it was deleted meanwhile"));
  found->second.manifest = finished.manifest;
  finished.done(StagedCheckpoint{found->first, finished.manifest});
}

std::optional<SnapshotError> MemorySnapshotter::fetch(const Staging& task) {
  const CheckpointName name{task.manifest.group, task.manifest.node, task.manifest.id};
  auto content = fetch_(name);
  if (!content) return SnapshotError::kUnreachable;
  if (base::blake3(*content) != task.manifest.list_hash) return SnapshotError::kDamaged;
  shelf_.volumes_[staged(name)] = {*std::move(content), std::nullopt};
  return std::nullopt;
}

std::optional<base::Bytes> MemorySnapshotter::read(const CheckpointName& name) {
  const auto found = shelf_.volumes_.find(made(name));
  if (found == shelf_.volumes_.end() || !found->second.manifest) return std::nullopt;
  read_at_[name] = clock_.elapsed();
  return found->second.content;
}

}  // namespace cadastre::log
