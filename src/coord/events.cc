#include "coord/events.h"

#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include <fmt/format.h>

#include "base/bytes.h"
#include "coord/identity.h"
#include "coord/states.h"

namespace cadastre::coord {
namespace {

// Name, category, finality and text of each kind.
struct Describe {
  struct Description {
    std::string_view name;
    EventCategory category = EventCategory::kShard;
    bool terminal = false;
    std::string fields;
  };

  static std::string shard(ShardId id) { return fmt::format("shard {}", id.raw()); }

  Description operator()(const ShardAcquired& e) const {
    return {
        "shard_acquired", EventCategory::kShard, false,
        fmt::format("{} by worker {}, epoch {}", shard(e.shard), e.worker.raw(), e.fence.raw())};
  }
  Description operator()(const ShardCheckpointed& e) const {
    return {"shard_checkpointed", EventCategory::kShard, false,
            fmt::format("{} at {}", shard(e.shard), to_string(e.last_key))};
  }
  Description operator()(const ShardLeaseRenewed& e) const {
    return {"shard_lease_renewed", EventCategory::kShard, false,
            fmt::format("{} until {}", shard(e.shard), e.new_deadline.raw())};
  }
  Description operator()(const ShardReleased& e) const {
    return {"shard_released", EventCategory::kShard, false,
            fmt::format("{} at {}", shard(e.shard), to_string(e.last_key))};
  }
  Description operator()(const ShardResidualCreated& e) const {
    return {"shard_residual_created", EventCategory::kShard, false,
            fmt::format("{} from {}", shard(e.residual), shard(e.parent))};
  }
  Description operator()(const ShardUnparked& e) const {
    return {"shard_unparked", EventCategory::kShard, false,
            fmt::format("{}, epoch {}", shard(e.shard), e.new_fence.raw())};
  }
  Description operator()(const ShardCompleted& e) const {
    return {"shard_completed", EventCategory::kShard, true, shard(e.shard)};
  }
  Description operator()(const ShardParked& e) const {
    return {"shard_parked", EventCategory::kShard, true,
            fmt::format("{}: {}", shard(e.shard), words(e.reason))};
  }
  Description operator()(const ShardSplit& e) const {
    return {"shard_split", EventCategory::kShard, true,
            fmt::format("{} into {}", shard(e.parent), e.children.size())};
  }
  Description operator()(const RunCreated& /*e*/) const {
    return {"run_created", EventCategory::kRun, false, ""};
  }
  Description operator()(const RunActivated& e) const {
    return {"run_activated", EventCategory::kRun, false, fmt::format("{} shards", e.shard_count)};
  }
  Description operator()(const RunEnded& e) const {
    const std::string_view name = e.status == RunStatus::kDone     ? "run_completed"
                                  : e.status == RunStatus::kFailed ? "run_failed"
                                                                   : "run_cancelled";
    return {name, EventCategory::kRun, true, ""};
  }
};

Describe::Description describe(const EventKind& kind) {
  return std::visit(Describe{}, kind);
}

}  // namespace

RedactedKey::RedactedKey(std::optional<ByteView> key) {
  if (key) key_ = base::to_owned(*key);
}

std::string to_string(const RedactedKey& key) {
  return key.key_ ? fmt::format("Some(<{} bytes>)", key.key_->size()) : "None";
}

EventCategory category(const EventKind& kind) noexcept {
  return describe(kind).category;
}

bool is_terminal(const EventKind& kind) noexcept {
  return describe(kind).terminal;
}

std::string_view name(const EventKind& kind) noexcept {
  return describe(kind).name;
}

std::string to_text(const StateTransitionEvent& event) {
  const auto described = describe(event.kind);
  return fmt::format("{} run {} at {}: {} {}", to_string(event.tenant), event.run.raw(),
                     event.at.raw(), described.name, described.fields);
}

}  // namespace cadastre::coord
