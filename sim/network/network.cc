#include "sim/network/network.h"

#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "base/bytes.h"
#include "base/check.h"
#include "base/random.h"
#include "base/xxh3.h"
#include "sim/chacha_random.h"
#include "sim/network/faults.h"
#include "sim/schedule/node_id.h"
#include "sim/schedule/scheduler.h"
#include "sim/schedule/sim_time.h"

namespace cadastre::sim {
namespace {

using std::chrono::nanoseconds;

nanoseconds drawn(base::Random& random, nanoseconds least, nanoseconds most) {
  CAD_CHECK(least.count() >= 0, "nothing arrives before it is sent");
  return nanoseconds(between(random, static_cast<std::uint64_t>(least.count()),
                             static_cast<std::uint64_t>(most.count())));
}

const LaneFaults& of_lane(const NetworkFaults& faults, Lane lane) {
  return lane == Lane::kControl ? faults.control : faults.bulk;
}

}  // namespace

// The task of a flight. If it is dropped, the flight is lost.
class Network::Arrival {
 public:
  Arrival(Network& network, std::uint32_t flight) noexcept : network_(&network), flight_(flight) {}
  Arrival(Arrival&& other) noexcept
      : network_(std::exchange(other.network_, nullptr)), flight_(other.flight_) {}
  Arrival(const Arrival&) = delete;
  Arrival& operator=(const Arrival&) = delete;
  Arrival& operator=(Arrival&&) = delete;
  ~Arrival() {
    if (network_ != nullptr) network_->lose(flight_);
  }

  void operator()() { std::exchange(network_, nullptr)->arrive(flight_); }

 private:
  Network* network_;
  std::uint32_t flight_;
};

Network::Network(Scheduler& scheduler, std::uint64_t seed, const NetworkFaults& faults)
    : scheduler_(scheduler), seed_(seed), faults_(faults) {}

Network::~Network() {
  for (std::size_t i = 0; i < flights_.size(); ++i) {
    if (flights_[i].kind != FlightKind::kNothing) scheduler_.cancel(flights_[i].task);
  }
}

Network::Pair& Network::pair(const Link& link) {
  CAD_CHECK(link.from != link.to, "a node does not need a network to reach itself");
  const auto [it, is_new] = pairs_.try_emplace(link);
  if (is_new) it->second.faults = faults_;
  return it->second;
}

FrameSink* Network::sink_of(NodeId node) const noexcept {
  return node.value() < sinks_.size() ? sinks_[static_cast<std::size_t>(node.value())] : nullptr;
}

void Network::attach(NodeId node, FrameSink& sink) {
  CAD_CHECK(node.value() <= kNodeIdMax, "nodes are numbered from 1, without large gaps");
  CAD_CHECK(sink_of(node) == nullptr, "a node has one sink at a time");
  const auto index = static_cast<std::size_t>(node.value());
  if (index >= sinks_.size()) sinks_.resize(index + 1);
  sinks_[index] = &sink;
}

void Network::detach(NodeId node) {
  CAD_CHECK(sink_of(node) != nullptr, "the node was attached");
  sinks_[static_cast<std::size_t>(node.value())] = nullptr;
  for (const auto& [link, unused] : pairs_) {
    if (link.to != node) continue;
    for (const Lane lane : {Lane::kControl, Lane::kBulk})
      reset({link, lane});
  }
}

base::SeededRandom Network::luck_of(const StreamId& id, std::uint64_t number) const noexcept {
  const std::array<std::uint64_t, 4> words = {id.link.from.value(), id.link.to.value(),
                                              index(id.lane), number};
  const auto bytes = std::bit_cast<std::array<std::byte, sizeof(words)>>(words);
  return base::SeededRandom(base::xxh3_64(base::ByteView(bytes), seed_));
}

SimTime Network::arrival_of(const Delay& delay, base::SeededRandom& random) {
  if (happens(random, delay.tail_ppm)) {
    ++counters_.tail;
    return scheduler_.now() + drawn(random, delay.most, delay.tail_most);
  }
  return scheduler_.now() + drawn(random, delay.least, delay.most);
}

void Network::send(const StreamId& id, base::Bytes frame) {
  Pair& pair = this->pair(id.link);
  Stream& stream = pair.streams[index(id.lane)];
  const LaneFaults& faults = of_lane(pair.faults, id.lane);
  base::SeededRandom random = luck_of(id, stream.sent++);
  ++counters_.sent;
  if (pair.blocked) {
    ++counters_.blocked;
    return;
  }
  if (happens(random, faults.reset_ppm)) {
    ++counters_.lost_in_reset;
    reset(id);
    return;
  }
  if (happens(random, faults.drop_ppm)) {
    ++counters_.dropped;
    return;
  }
  if (happens(random, faults.duplicate_ppm)) {
    ++counters_.duplicated;
    dispatch(id, FlightKind::kFrame, base::Bytes(frame), arrival_of(faults.delay, random));
  }
  SimTime arrival = arrival_of(faults.delay, random);
  if (happens(random, faults.reorder_ppm)) {
    ++counters_.reordered;
    arrival += drawn(random, nanoseconds(0), faults.reorder_most);
  } else {
    arrival = std::max(arrival, stream.last_arrival + nanoseconds(1));
    stream.last_arrival = arrival;
  }
  dispatch(id, FlightKind::kFrame, std::move(frame), arrival);
}

void Network::dispatch(const StreamId& id, FlightKind kind, base::Bytes frame, SimTime arrival) {
  if (unused_ == kNone) {
    unused_ = static_cast<std::uint32_t>(flights_.size());
    flights_.emplace_back();
  }
  const std::uint32_t index = unused_;
  Flight& flight = flights_[index];
  unused_ = flight.next;
  flight = {.stream = id, .frame = std::move(frame), .task = {}, .kind = kind};
  if (kind == FlightKind::kFrame) {
    Stream& stream = stream_of(id);
    flight.next = stream.first;
    if (stream.first != kNone) flights_[stream.first].previous = index;
    stream.first = index;
    ++in_flight_;
  }
  const NodeId owner = kind == FlightKind::kFrame ? id.link.to : id.link.from;
  flight.task = scheduler_.at(owner, arrival, Arrival(*this, index));
}

Network::Flight Network::take(std::uint32_t index) noexcept {
  Flight flight = std::exchange(flights_[index], Flight{});
  if (flight.kind == FlightKind::kFrame) {
    if (flight.previous != kNone) flights_[flight.previous].next = flight.next;
    if (flight.next != kNone) flights_[flight.next].previous = flight.previous;
    Stream& stream = stream_of(flight.stream);
    if (stream.first == index) stream.first = flight.next;
    --in_flight_;
  }
  flights_[index].next = unused_;
  unused_ = index;
  return flight;
}

void Network::arrive(std::uint32_t index) {
  Flight flight = take(index);
  const Link& link = flight.stream.link;
  if (flight.kind == FlightKind::kResetNotice) {
    if (FrameSink* sink = sink_of(link.from)) sink->on_reset(flight.stream);
    return;
  }
  FrameSink* sink = sink_of(link.to);
  if (blocked(link)) {
    ++counters_.blocked;
  } else if (sink == nullptr) {
    ++counters_.unheard;
  } else {
    ++counters_.delivered;
    sink->on_frame(flight.stream, std::move(flight.frame));
  }
}

void Network::lose(std::uint32_t index) noexcept {
  const Flight flight = take(index);
  if (flight.kind != FlightKind::kFrame) return;
  ++(flight.loss == Loss::kReset ? counters_.lost_in_reset : counters_.lost_in_crash);
}

void Network::reset(const StreamId& id) {
  Stream& stream = stream_of(id);
  if (stream.sent == 0) return;
  ++counters_.resets;
  while (stream.first != kNone) {
    Flight& flight = flights_[stream.first];
    flight.loss = Loss::kReset;
    CAD_CHECK(scheduler_.cancel(flight.task), "a flight has a pending task");
  }
  stream.last_arrival = SimTime{};  // Nothing is left to wait for.
  dispatch(id, FlightKind::kResetNotice, {}, scheduler_.now());
}

void Network::set_faults(const Link& link, const NetworkFaults& faults) {
  pair(link).faults = faults;
}

void Network::set_all_faults(const NetworkFaults& faults) {
  faults_ = faults;
  for (auto& [link, pair] : pairs_)
    pair.faults = faults;
}

void Network::partition(std::span<const NodeId> one_side, std::span<const NodeId> other_side) {
  for (const NodeId one : one_side) {
    for (const NodeId other : other_side) {
      block({one, other});
      block({other, one});
    }
  }
}

void Network::heal() {
  for (auto& [link, pair] : pairs_)
    pair.blocked = false;
}

bool Network::blocked(const Link& link) const {
  const auto it = pairs_.find(link);
  return it != pairs_.end() && it->second.blocked;
}

}  // namespace cadastre::sim
