#include "log/host.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/check.h"
#include "log/local/local_engine.h"
#include "log/recovery.h"
#include "log/round.h"

namespace cadastre::log {

base::Result<std::unique_ptr<Host>, OpenError> Host::open(const HostParts& parts) {
  LogStorage::Recovered recovered = CAD_TRY(parts.storage.recover());
  return std::unique_ptr<Host>(new Host(parts, std::move(recovered)));
}

Host::Host(const HostParts& parts, LogStorage::Recovered recovered)
    : parts_(parts),
      images_(std::move(recovered.groups)),
      intake_(parts.runner),
      writer_(parts.runner),
      loop_({intake_, writer_, parts.runner, parts.clock, parts.storage, metrics_, parts_.settings},
            recovered.last_set) {}

Host::~Host() {
  loop_.abandon();
  const base::MutexLock lock(mutex_);
  for (auto& [id, opened] : groups_) {
    for (Done& done : opened.log->queue.close())
      done(base::fail(ProposeError::kOutcomeUnknown, "the process is going down"));
    for (EntryWaiters& waiters : opened.log->waiters.take_all()) {
      for (Done& done : waiters.done)
        done(base::fail(ProposeError::kOutcomeUnknown, "the process is going down"));
    }
    opened.log->applier.abandon();
  }
}

std::vector<GroupId> Host::stored_groups() const {
  std::vector<GroupId> ids;
  for (const GroupImage& image : images_)
    ids.push_back(image.group);
  return ids;
}

base::Result<void, OpenError> Host::replay(const GroupImage& image, StateMachine& machine) {
  Round round;
  while (machine.applied().index < image.last.index) {
    const auto entries =
        parts_.storage.read(image.group, image.incarnation, machine.applied().index + 1,
                            image.last.index, kRoundBytesMax);
    if (!entries) return base::fail(OpenError::kDamaged, entries.error().detail);
    std::vector<const Entry*> some;
    for (const Entry& entry : *entries) {
      some.push_back(&entry);
      if (some.size() == kRoundEntriesMax) break;
    }
    const auto ran = round.run(machine, some);
    if (ran) continue;
    const OpenError code =
        ran.error().code == HaltReason::kNewer ? OpenError::kNewer : OpenError::kDamaged;
    return base::fail(code, fmt::format("group {}: {}", image.group.value(), ran.error().detail));
  }
  return {};
}

base::Result<Group*, OpenError> Host::open_group(const GroupOptions& options) {
  const auto found = std::ranges::find(images_, options.group, &GroupImage::group);
  const bool is_new = found == images_.end();
  GroupImage image;
  if (is_new) {
    image.group = options.group;
    image.incarnation = Incarnation{1};
  } else {
    image = *found;
  }
  if (image.engine != EngineKind::kLocal) {
    return base::fail(
        OpenError::kForeign,
        fmt::format("group {} is replicated: open it with its peers", image.group.value()));
  }
  CAD_TRY(check_state(image, options.machine.durable()));
  CAD_TRY(replay(image, options.machine));

  Opened opened;
  const ApplierParts parts{.group = options.group,
                           .machine = options.machine,
                           .runner = parts_.runner,
                           .clock = parts_.clock,
                           .listener = options.listener};
  opened.log = std::make_unique<GroupLog>(image, std::make_unique<LocalEngine>(image), parts,
                                          intake_, parts_.settings.retention);
  if (is_new) opened.log->created = EngineKind::kLocal;
  opened.face = std::make_unique<Group>(*opened.log, loop_, parts_.clock);
  GroupLog& log = *opened.log;
  Group* face = opened.face.get();
  {
    const base::MutexLock lock(mutex_);
    CAD_CHECK(groups_.size() < kGroupsMax, "a node has at most 4,096 groups");
    const bool added = groups_.try_emplace(options.group, std::move(opened)).second;
    CAD_CHECK(added, "a group is opened once");
  }
  loop_.attach(log);
  return face;
}

bool Host::run_writer() {
  const auto set = begin_write();
  if (!set) return false;
  finish_write(parts_.storage.write(*set));
  return true;
}

GroupLog* Host::find(GroupId group) const {
  const base::MutexLock lock(mutex_);
  const auto found = groups_.find(group);
  return found == groups_.end() ? nullptr : found->second.log.get();
}

bool Host::run_applier(GroupId group) {
  if (dead()) return false;
  GroupLog* log = find(group);
  return log != nullptr && log->applier.run();
}

bool Host::drained() const {
  if (dead()) return true;
  if (!loop_.drained()) return false;
  const base::MutexLock lock(mutex_);
  return std::ranges::all_of(groups_,
                             [](const auto& group) { return group.second.log->applier.idle(); });
}

}  // namespace cadastre::log
