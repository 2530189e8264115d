// Network: carries frames between simulated nodes, badly.
//
// Each directed pair of nodes has two streams, one for each lane. A stream keeps its frames in line
// unless its faults say otherwise; streams do not wait for each other. Frames are opaque.
//
// What happens to a frame follows from the seed, the stream, the frame's number in it and the faults in
// force, and from nothing else: taking one fault out of a schedule leaves the luck of other frames as it
// was.
//
// Invariants
//   1. Frames of a stream that were neither reordered nor duplicated arrive in the order they were sent.
//   2. While a pair is blocked, nothing is delivered from the one to the other.
//   3. NetworkCounters' sum holds after every call and every task.
//
// A frame on its way is a task of its receiver: a pause of the receiver holds it back, a crash loses it.
// One thread, that of the scheduler.

#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <span>
#include <vector>

#include "base/bytes.h"
#include "base/random.h"
#include "sim/network/faults.h"
#include "sim/schedule/node_id.h"
#include "sim/schedule/scheduler.h"
#include "sim/schedule/sim_time.h"

namespace cadastre::sim {

enum class Lane : std::uint8_t {
  kControl,
  kBulk
};
inline constexpr std::size_t kLanes = 2;

struct Link {
  NodeId from;
  NodeId to;

  friend auto operator<=>(const Link&, const Link&) = default;
};

struct StreamId {
  Link link;
  Lane lane = Lane::kControl;

  friend auto operator<=>(const StreamId&, const StreamId&) = default;
};

// A node's end of all its streams. Called as a task of that node.
class FrameSink {
 public:
  FrameSink() = default;
  FrameSink(const FrameSink&) = delete;
  FrameSink& operator=(const FrameSink&) = delete;
  virtual ~FrameSink() = default;

  // At the receiver.
  virtual void on_frame(const StreamId& stream, base::Bytes frame) = 0;
  // At the sender: the stream broke, and what was in it may be lost. It is usable again at once.
  virtual void on_reset(const StreamId& stream) = 0;
};

class Network {
 public:
  // Borrows the scheduler.
  Network(Scheduler& scheduler, std::uint64_t seed, const NetworkFaults& faults);
  Network(const Network&) = delete;
  Network& operator=(const Network&) = delete;
  ~Network();

  // From now on `sink` hears what arrives at `node`. If the simulation outlives it, detach it first.
  void attach(NodeId node, FrameSink& sink);
  // The process is gone: streams to it break.
  void detach(NodeId node);

  void send(const StreamId& id, base::Bytes frame);

  // From the next frame on; frames on their way keep their time.
  void set_faults(const Link& link, const NetworkFaults& faults);
  void set_all_faults(const NetworkFaults& faults);

  // One way. A link is blocked or it is not: whoever lets blocks overlap counts them.
  void block(const Link& link) { pair(link).blocked = true; }
  void unblock(const Link& link) { pair(link).blocked = false; }
  // Both ways, between any two nodes of different sides.
  void partition(std::span<const NodeId> one_side, std::span<const NodeId> other_side);
  // Nothing is blocked any more.
  void heal();
  [[nodiscard]] bool blocked(const Link& link) const;

  // Loses what is in the stream, and tells the sender. A stream that was never used has nothing to break.
  void reset(const StreamId& id);

  [[nodiscard]] const NetworkCounters& counters() const noexcept { return counters_; }
  [[nodiscard]] std::size_t in_flight() const noexcept { return in_flight_; }

 private:
  static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

  class Arrival;

  struct Stream {
    std::uint64_t sent = 0;
    SimTime last_arrival;         // of the frames in line
    std::uint32_t first = kNone;  // of the frames in flight, in no order
  };

  struct Pair {
    NetworkFaults faults;
    std::array<Stream, kLanes> streams;  // by lane
    bool blocked = false;
  };

  enum class FlightKind : std::uint8_t {
    kNothing,
    kFrame,
    kResetNotice
  };
  enum class Loss : std::uint8_t {
    kCrash,
    kReset
  };

  struct Flight {
    StreamId stream;
    base::Bytes frame;
    TaskId task;
    std::uint32_t next = kNone;  // of its stream, or of the unused
    std::uint32_t previous = kNone;
    FlightKind kind = FlightKind::kNothing;
    Loss loss = Loss::kCrash;  // What it means if its task is dropped.
  };

  [[nodiscard]] Pair& pair(const Link& link);
  [[nodiscard]] Stream& stream_of(const StreamId& id) {
    return pair(id.link).streams[index(id.lane)];
  }
  [[nodiscard]] static std::size_t index(Lane lane) { return static_cast<std::size_t>(lane); }
  [[nodiscard]] FrameSink* sink_of(NodeId node) const noexcept;
  [[nodiscard]] base::SeededRandom luck_of(const StreamId& id, std::uint64_t number) const noexcept;
  [[nodiscard]] SimTime arrival_of(const Delay& delay, base::SeededRandom& random);

  void dispatch(const StreamId& id, FlightKind kind, base::Bytes frame, SimTime arrival);
  void arrive(std::uint32_t index);
  void lose(std::uint32_t index) noexcept;
  Flight take(std::uint32_t index) noexcept;

  // Constant after construction.
  Scheduler& scheduler_;
  const std::uint64_t seed_;

  NetworkFaults faults_;  // of pairs that have none of their own
  std::map<Link, Pair> pairs_;
  std::vector<FrameSink*> sinks_;  // by node id
  std::vector<Flight> flights_;
  std::uint32_t unused_ = kNone;
  std::size_t in_flight_ = 0;
  NetworkCounters counters_;
};

}  // namespace cadastre::sim
