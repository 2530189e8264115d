#include "tests/coord/replicated_node.h"

#include <chrono>
#include <memory>
#include <string>
#include <utility>

#include "base/check.h"
#include "coord/errors.h"
#include "log/types.h"

namespace cadastre::coord::replicated {

constexpr log::GroupId kGroup{1};

bool ReplicatedNode::failed(std::string why) {
  error_ = std::move(why);
  end();
  return false;
}

bool ReplicatedNode::start() {
  end();
  error_.clear();
  store_ = std::make_unique<SnapshotStore>(disk_.files());
  auto machine = Machine::open({*store_, background_, logger_}, 7);
  if (!machine) return failed(machine.error().detail);
  machine_ = *std::move(machine);
  runner_ = std::make_unique<log::StepRunner>();
  auto storage = disk_.open_log();
  if (!storage) return failed(storage.error().detail);
  storage_ = *std::move(storage);
  auto host = log::Host::open({*storage_, *runner_, clock_});
  if (!host) return failed(host.error().detail);
  host_ = *std::move(host);
  auto group = host_->open_group({.group = kGroup, .machine = *machine_});
  if (!group) return failed(group.error().detail);
  group_ = *group;
  machine_->verify();
  backend_ = std::make_unique<ReplicatedBackend>(*group_, *machine_);
  // An operation comes to rest answered, or the disk has failed and everybody is told so.
  facade_ = std::make_unique<SyncOverAsync>(*backend_, [this] {
    settle();
    if (!runner_->failed.empty()) host_.reset();
    return true;
  });
  settle();
  if (!runner_->failed.empty()) return failed(runner_->failed);
  if (!machine_->configured()) {
    backend_->configure(settings_, [](const auto& /*answer*/) {});
    settle();
    if (!runner_->failed.empty()) return failed(runner_->failed);
    CAD_CHECK(machine_->configured(), "a fresh state gets its settings");
  }
  return true;
}

void ReplicatedNode::end() {
  facade_.reset();
  host_.reset();  // Tells whoever waits.
  backend_.reset();
  group_ = nullptr;
  storage_.reset();
  runner_.reset();
  machine_.reset();
  store_.reset();
}

void ReplicatedNode::keep_house() {
  for (int i = 0; i < 3; ++i) {
    clock_.advance(std::chrono::minutes(2));
    (void)host_->run_log();
    settle();
  }
}

Everything everything_of(const memory::MemoryBackend& records) {
  return {records.dump_shards(), records.dump_runs(), records.dump_cooldowns()};
}

Everything everything_of(Machine& machine) {
  return machine.read([](const memory::MemoryBackend& records) { return everything_of(records); });
}

}  // namespace cadastre::coord::replicated
