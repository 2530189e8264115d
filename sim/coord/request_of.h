// From a step to the request it stands for: which lease is presented, which ranges a plan has.

#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "coord/identity.h"
#include "sim/coord/request.h"
#include "sim/coord/step.h"
#include "sim/coord/worker.h"

namespace cadastre::sim {

struct WorldOptions;

// Borrows; for the length of one call.
struct Sender {
  const Worker& worker;
  const WorldOptions& options;
  coord::LogicalTime now;
};

// Nothing if the worker has nothing to present, or the step is none that sends.
[[nodiscard]] std::optional<Request> request_of(const Step& step, const Sender& sender);

// The one-byte keyspace in `count` ranges: shard i+1 is [i * 255 / count, (i+1) * 255 / count).
[[nodiscard]] std::vector<Piece> layout(std::size_t count);

// A mischievous request; mischief.cc.
[[nodiscard]] std::optional<Request> mischief_of(const Step& step, const Sender& sender);

// What every request of a step has.
[[nodiscard]] Request blank_request(const Step& step, const Sender& sender);
// The lease that the step presents with its work, or null.
[[nodiscard]] const Holding* presented(const Step& step, const Sender& sender);
// The holding's range cut at the step's keys.
[[nodiscard]] std::vector<Piece> cut(const Step& step, const Holding& holding);

}  // namespace cadastre::sim
