#include "sim/log/checkpoint_carrier.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/blake3.h"
#include "base/check.h"
#include "log/limits.h"

namespace cadastre::sim {
namespace {

using log::CheckpointName;
using log::SnapshotError;
using std::chrono::milliseconds;
using std::chrono::nanoseconds;

constexpr nanoseconds kWorkMost = milliseconds(20);
constexpr std::uint64_t kLongWorkIn = 20;  // One in so many takes up to kLongWorkMost.
constexpr nanoseconds kLongWorkMost = milliseconds(800);
constexpr nanoseconds kAskAgain = milliseconds(200);
// Production gives up after a minute (L-75), a run is shorter than that.
constexpr nanoseconds kPatience = milliseconds(1500);
static_assert(2 * kAskAgain < kPatience, "a lost piece is asked for again");

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

CheckpointCarrier::~CheckpointCarrier() {
  for (auto& [name, task] : sealing_)
    task.done(base::fail(SnapshotError::kStopped, "the node is going down"));
  for (auto& [name, task] : staging_)
    task.done(base::fail(SnapshotError::kStopped, "the node is going down"));
}

void CheckpointCarrier::work(Task task) {
  const auto below = [&](nanoseconds most) {
    return nanoseconds(parts_.random.below(static_cast<std::uint64_t>(most.count()) + 1));
  };
  nanoseconds lasts = below(parts_.random.below(kLongWorkIn) == 0 ? kLongWorkMost : kWorkMost);
  if (slow_) lasts = *std::exchange(slow_, std::nullopt);
  parts_.scheduler.after(parts_.self, lasts, std::move(task));
}

// --- A sender's -----------------------------------------------------------------------------------------------

log::CheckpointTarget CheckpointCarrier::place(const CheckpointName& name) {
  return {made(name)};
}

void CheckpointCarrier::seal(const log::CheckpointFacts& facts, log::SealDone done) {
  const CheckpointName name{facts.group, facts.node, facts.id};
  sealing_.emplace(name, Sealing{facts, std::move(done)});
  CAD_CHECK(sealing_.size() <= log::kCheckpointsMakingMax, "so many checkpoints of a node at once");
  work([this, name] { finish_seal(name); });
}

void CheckpointCarrier::finish_seal(const CheckpointName& name) {
  auto task = sealing_.extract(name);
  const log::CheckpointFacts& facts = task.mapped().facts;
  const auto content = parts_.shelf.find(made(name));
  if (!content || fails_now())
    return task.mapped().done(base::fail(SnapshotError::kStorage, "the disk refuses"));
  PieceShelf::Directory& directory = parts_.shelf.make(made(name));
  directory.manifest = log::CheckpointManifest{.cluster = facts.cluster,
                                               .group = facts.group,
                                               .at = facts.at,
                                               .node = facts.node,
                                               .id = facts.id,
                                               .total_bytes = content->size(),
                                               .entries = facts.entries,
                                               .list_bytes = 0,
                                               .list_hash = base::blake3(*content),
                                               .summary = facts.summary};
  directory.manifest_synced = true;
  task.mapped().done(*directory.manifest);
}

std::optional<base::Elapsed> CheckpointCarrier::last_read(const CheckpointName& name) const {
  const auto found = read_at_.find(name);
  if (found == read_at_.end()) return std::nullopt;
  return found->second;
}

void CheckpointCarrier::release(const CheckpointName& name) {
  parts_.shelf.remove(made(name));
  read_at_.erase(name);
}

void CheckpointCarrier::on_request(NodeId from, const PieceRequest& request) {
  const PieceShelf::Directory* const directory = parts_.shelf.open(made(request.name));
  const bool there = directory != nullptr && PieceShelf::is_complete(*directory);
  PieceAnswer answer{request, std::nullopt};
  if (there) {
    read_at_[request.name] = parts_.clock.elapsed();
    answer.bytes = directory->pieces.at(request.piece).bytes;
  }
  parts_.answer(from, answer);
}

// --- A receiver's ---------------------------------------------------------------------------------------------

void CheckpointCarrier::stage(const log::CheckpointManifest& manifest, log::StageDone done) {
  const CheckpointName name{manifest.group, manifest.node, manifest.id};
  (void)parts_.shelf.make(staged(name));  // With what an earlier attempt brought.
  staging_.emplace(name, Staging{manifest, std::move(done), parts_.scheduler.now()});
  ask_next(name);
}

void CheckpointCarrier::ask_next(const CheckpointName& name) {
  const auto task = staging_.find(name);
  if (task == staging_.end()) return;
  const PieceShelf::Directory& directory = parts_.shelf.make(staged(name));
  std::uint64_t piece = 0;
  while (directory.pieces.contains(piece))
    ++piece;
  if (piece == kPieces) return work([this, name] { verify(name); });
  if (parts_.scheduler.now() - task->second.progress >= kPatience)
    return fail_stage(name, SnapshotError::kUnreachable, "no piece has come for long");
  task->second.awaited = piece;
  parts_.scheduler.cancel(task->second.timer);
  task->second.timer =
      parts_.scheduler.after(parts_.self, kAskAgain, [this, name] { ask_next(name); });
  parts_.ask(NodeId{name.node.value()}, {name, piece});  // Last: the answer may end the staging.
}

void CheckpointCarrier::on_answer(const PieceAnswer& answer) {
  const CheckpointName& name = answer.request.name;
  const auto task = staging_.find(name);
  if (task == staging_.end() || task->second.awaited != answer.request.piece) return;  // Too late.
  task->second.awaited.reset();
  if (!answer.bytes)
    return fail_stage(name, SnapshotError::kUnreachable, "its maker has it no longer");
  parts_.shelf.make(staged(name)).pieces[answer.request.piece] = {*answer.bytes, false};
  task->second.progress = parts_.scheduler.now();
  parts_.scheduler.cancel(task->second.timer);
  work([this, name] { ask_next(name); });
}

void CheckpointCarrier::verify(const CheckpointName& name) {
  const auto content = parts_.shelf.find(staged(name));
  const bool right =
      content && base::blake3(*content) == staging_.at(name).manifest.list_hash && !fails_now();
  if (!right) {
    parts_.shelf.remove(staged(name));
    return fail_stage(name, SnapshotError::kDamaged, "it is not what the manifest promises");
  }
  work([this, name] { sync_pieces(name); });
}

void CheckpointCarrier::sync_pieces(const CheckpointName& name) {
  if (fails_now()) return fail_stage(name, SnapshotError::kStorage, "the disk refuses");
  for (auto& [number, piece] : parts_.shelf.make(staged(name)).pieces)
    piece.synced = true;
  work([this, name] { write_manifest(name); });
}

void CheckpointCarrier::write_manifest(const CheckpointName& name) {
  parts_.shelf.make(staged(name)).manifest = staging_.at(name).manifest;
  work([this, name] { finish_stage(name); });
}

void CheckpointCarrier::finish_stage(const CheckpointName& name) {
  parts_.shelf.make(staged(name)).manifest_synced = true;
  auto task = staging_.extract(name);
  task.mapped().done(log::StagedCheckpoint{staged(name), task.mapped().manifest});
}

void CheckpointCarrier::fail_stage(const CheckpointName& name,
                                   SnapshotError error,
                                   std::string_view why) {
  auto task = staging_.extract(name);
  parts_.scheduler.cancel(task.mapped().timer);
  task.mapped().done(base::fail(error, std::string(why)));
}

std::optional<log::StagedCheckpoint> CheckpointCarrier::find_staged(const CheckpointName& name) {
  const PieceShelf::Directory* const directory = parts_.shelf.open(staged(name));
  if (directory == nullptr || !directory->manifest) return std::nullopt;
  return log::StagedCheckpoint{staged(name), *directory->manifest};
}

void CheckpointCarrier::release_staged(const CheckpointName& name) {
  parts_.shelf.remove(staged(name));
}

void CheckpointCarrier::sweep(std::span<const CheckpointName> wanted) {
  std::vector<std::string> kept;
  for (const CheckpointName& name : wanted)
    kept.push_back(staged(name));
  parts_.shelf.keep_only(kept);
}

bool CheckpointCarrier::holds(log::GroupId group, log::Index at) const {
  return std::ranges::any_of(parts_.shelf.directories(), [&](const auto& entry) {
    const auto& [path, directory] = entry;
    return path.starts_with("/staged/") && directory.manifest &&
           directory.manifest->group == group && directory.manifest->at.index == at;
  });
}

}  // namespace cadastre::sim
