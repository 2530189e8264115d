// Worker: what one simulated worker believes. It may be wrong: its leases may have expired or gone to
// others, its clock may be off, and it may have missed answers.

#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string_view>

#include "base/bytes.h"
#include "coord/identity.h"
#include "coord/lease.h"
#include "sim/coord/request.h"
#include "sim/coord/shard_name.h"

namespace cadastre::sim {

inline constexpr std::size_t kSupersededMax = 64;

// A lease and the work it came with.
struct Holding {
  coord::Lease lease;
  base::Bytes start;
  base::Bytes end;
  base::Bytes last_key;
};

class Worker {
 public:
  Worker(std::size_t tenant, coord::WorkerId id) noexcept : tenant_(tenant), id_(id) {}

  [[nodiscard]] std::size_t tenant() const noexcept { return tenant_; }
  [[nodiscard]] coord::WorkerId id() const noexcept { return id_; }

  // By shard.
  [[nodiscard]] const std::map<ShardName, Holding>& held() const noexcept { return held_; }
  // Leases it has lost, the newest last, at most kSupersededMax.
  [[nodiscard]] const std::deque<Holding>& superseded() const noexcept { return superseded_; }
  // Its last accepted checkpoint of each shard.
  [[nodiscard]] const std::map<ShardName, Request>& checkpoints() const noexcept {
    return checkpoints_;
  }
  // The request whose answer it never got.
  [[nodiscard]] const std::optional<Request>& unanswered() const noexcept { return unanswered_; }

  void learn(const Request& request, const Answer& answer);
  void miss_answer(const Request& request) { unanswered_ = request; }
  void forget_unanswered() noexcept { unanswered_.reset(); }
  void crash();

  std::int64_t skew = 0;
  // It does nothing before this step of the world.
  std::uint64_t paused_until = 0;

 private:
  void learn_grant(const Answer& answer);
  void learn_outcome(const Request& request, const Answer& answer);
  void learn_renewals(const Request& request, const Answer& answer);
  void learn_renewal(const coord::Lease& lease, coord::LogicalTime deadline);
  void learn_refusal(const coord::Lease& lease, std::string_view code);
  void lose(const ShardName& name);

  std::size_t tenant_;
  coord::WorkerId id_;
  std::map<ShardName, Holding> held_;
  std::deque<Holding> superseded_;
  std::map<ShardName, Request> checkpoints_;
  std::optional<Request> unanswered_;
};

}  // namespace cadastre::sim
