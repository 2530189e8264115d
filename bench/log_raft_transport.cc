#include "bench/log_raft_transport.h"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/check.h"
#include "base/clock.h"
#include "base/random.h"
#include "base/signal.h"
#include "base/threads_testing.h"
#include "bench/harness.h"
#include "bench/peers/socket_frames.h"
#include "bench/samples.h"
#include "client/alarm_timer.h"
#include "log/address_book.h"
#include "server/grpc/peer_transport.h"

namespace cadastre::bench {
namespace {

constexpr int kRounds = 5;
constexpr std::chrono::milliseconds kRoundTime{1500};
constexpr log::NodeId kOne{1};
constexpr log::NodeId kTwo{2};
constexpr std::string_view kSocket = "bare loopback socket";

constexpr log::GroupId kMeasured{1};
constexpr log::GroupId kHello{2};  // Before it begins.

// Calls somebody for each lot of frames that is measured, and somebody else for each of the others.
class Counting final : public log::TransportSink, public server::PeerHooks {
 public:
  Counting(std::function<void(std::size_t)> on, std::function<void()> on_hello)
      : on_(std::move(on)), on_hello_(std::move(on_hello)) {}
  void on_frames(log::NodeId /*from*/, std::vector<log::Frame> frames) override {
    std::size_t measured = 0;
    for (const log::Frame& frame : frames) {
      if (frame.group == kMeasured) {
        ++measured;
      } else {
        on_hello_();
      }
    }
    if (measured != 0) on_(measured);
  }
  void on_unreachable(log::NodeId /*to*/) override {}
  [[nodiscard]] bool has_group(log::GroupId /*group*/) const override { return true; }
  [[nodiscard]] std::optional<log::Index> not_here(log::GroupId /*group*/,
                                                   log::NodeId /*from*/) const override {
    return std::nullopt;
  }
  void on_not_here(log::NodeId, log::GroupId, log::Index) override {}
  void on_snapshot_report(log::NodeId, log::GroupId, const log::SnapshotReport&) override {}
  void on_address_hint(log::NodeId, const log::NodeAddress&) override {}

 private:
  const std::function<void(std::size_t)> on_;
  const std::function<void()> on_hello_;
};

// What goes from one to two, and from two to one.
struct Wire {
  std::function<void(log::Frame)> there;
  std::function<void(log::Frame)> back;
};

struct Load {
  const char* name;
  std::size_t bytes;   // Of a frame.
  std::size_t window;  // Frames on their way; 1: round trips.
};

struct Measured {
  double per_second = 0;
  double cpu_us = 0;  // Of all threads, for each frame or round trip.
};

log::Frame frame_of(const log::Body& body, log::NodeId from, log::GroupId group = kMeasured) {
  return {group, from, from == kOne ? kTwo : kOne, body};
}

// Drives a load over a wire until the time is over. An echo goes back for a round trip, else arrival counts.
struct Driver {
  std::atomic<std::uint64_t> arrived{0};
  base::Signal progress;
  bool echoes = false;
  Wire wire;
  log::Body body;

  void on_two(std::size_t frames) {
    if (echoes) return wire.back(frame_of(body, kTwo));
    arrived.fetch_add(frames);
    progress.raise();
  }
  void on_one(std::size_t frames) {
    arrived.fetch_add(frames);
    progress.raise();
  }

  Measured run(const Load& load) {
    const base::SystemClock clock;
    const double cpu = processor_seconds();
    const base::Elapsed began = clock.elapsed();
    const base::Elapsed end = began + kRoundTime;
    std::uint64_t sent = 0;
    while (clock.elapsed() < end) {
      while (sent - arrived.load() < load.window) {
        wire.there(frame_of(body, kOne));
        ++sent;
      }
      progress.wait();
    }
    while (arrived.load() < sent)
      progress.wait();
    const double seconds = std::chrono::duration<double>(clock.elapsed() - began).count();
    const auto done = static_cast<double>(sent);
    return {done / seconds, (processor_seconds() - cpu) * 1e6 / done};
  }

  void prepare(const Load& load) {
    echoes = load.window == 1;
    body = log::Body::copy_of(base::Bytes(load.bytes, std::byte{0x5a}));
    arrived.store(0);
  }
};

Measured over_socket(const Load& load) {
  Driver driver;
  driver.prepare(load);
  Counting at_one([&](std::size_t frames) { driver.on_one(frames); }, [] {});
  Counting at_two([&](std::size_t frames) { driver.on_two(frames); }, [] {});
  SocketFrames there(at_two);
  SocketFrames back(at_one);
  driver.wire = {[&](log::Frame frame) { there.send(std::move(frame)); },
                 [&](log::Frame frame) {
                   back.send(std::move(frame));
                 }};
  Measured measured;
  base::run_in_threads(5, [&](int thread) {
    if (thread == 0) return there.write_all();
    if (thread == 1) return there.read_all();
    if (thread == 2) return back.write_all();
    if (thread == 3) return back.read_all();
    measured = driver.run(load);
    there.stop();
    back.stop();
  });
  return measured;
}

Measured over_grpc(const Load& load) {
  Driver driver;
  driver.prepare(load);
  std::atomic<bool> met{false};
  base::Signal hello;
  Counting at_one([&](std::size_t frames) { driver.on_one(frames); },
                  [&] {
                    met = true;
                    hello.raise();
                  });
  Counting at_two([&](std::size_t frames) { driver.on_two(frames); },
                  [&] { driver.wire.back(frame_of(driver.body, kTwo, kHello)); });
  base::SystemClock clock;
  client::AlarmTimer timer;
  base::SeededRandom one_random(1);
  base::SeededRandom two_random(2);
  const auto parts = [&](log::NodeId id, base::Random& random) {
    return server::PeerParts{.self = {log::ClusterId{7}, id},
                             .incarnation = log::PeerIncarnation{1},
                             .clock = clock,
                             .random = random,
                             .timer = timer};
  };
  server::GrpcPeerTransport one(parts(kOne, one_random));
  server::GrpcPeerTransport two(parts(kTwo, two_random));
  CAD_CHECK(
      one.start({.address = {}}, at_one, at_one) && two.start({.address = {}}, at_two, at_two),
      "loopback has free ports");
  const std::vector<log::PeerAddress> peers = {
      {kOne, {fmt::format("127.0.0.1:{}", one.port()), {}}},
      {kTwo, {fmt::format("127.0.0.1:{}", two.port()), {}}}};
  one.set_peers(peers);
  two.set_peers(peers);
  const auto send = [](server::GrpcPeerTransport& from, log::Frame frame) {
    const log::NodeId to = frame.to;
    std::vector<log::Frame> frames;
    frames.push_back(std::move(frame));
    from.send(to, log::Lane::kBulk, std::move(frames));
  };
  driver.wire = {[&](log::Frame frame) { send(one, std::move(frame)); },
                 [&](log::Frame frame) {
                   send(two, std::move(frame));
                 }};
  for (int tries = 0; tries < 100 && !met; ++tries) {  // Then both streams are there.
    driver.wire.there(frame_of(driver.body, kOne, kHello));
    hello.wait_for(std::chrono::milliseconds(100));
  }
  CAD_CHECK(met, "the two nodes find each other");
  const std::uint64_t messages = one.counters().messages_sent;
  const std::uint64_t frames = one.counters().frames_sent;
  const Measured measured = driver.run(load);
  fmt::print("  {}: {:.1f} frames in a message of the stream\n", load.name,
             static_cast<double>(one.counters().frames_sent - frames) /
                 static_cast<double>(one.counters().messages_sent - messages));
  return measured;
}

}  // namespace

void add_transport_rows(Report& report) {
  for (const Load load : {Load{"round trips of 128 bytes", 128, 1},
                          Load{"64 frames of 512 bytes on their way", 512, 64},
                          Load{"64 frames of 8 KiB on their way", 8 * log::kKiB, 64},
                          Load{"16 frames of 512 KiB on their way", 512 * log::kKiB, 16}}) {
    std::vector<double> ours;
    std::vector<double> theirs;
    std::vector<double> our_cpu;
    std::vector<double> their_cpu;
    for (int round = 0; round < kRounds; ++round) {
      const Measured socket = over_socket(load);
      const Measured grpc = over_grpc(load);
      ours.push_back(grpc.per_second);
      theirs.push_back(socket.per_second);
      our_cpu.push_back(grpc.cpu_us);
      their_cpu.push_back(socket.cpu_us);
    }
    report.add({.what = fmt::format("transport, {}", load.name),
                .unit = "1/s",
                .better = Better::kHigher,
                .ours = median(ours),
                .peer = std::string(kSocket),
                .theirs = median(theirs),
                .spread = spread(ours)});
    report.add({.what = fmt::format("transport, {}: processor time of both ends", load.name),
                .unit = "us",
                .better = Better::kLower,
                .ours = median(our_cpu),
                .peer = std::string(kSocket),
                .theirs = median(their_cpu),
                .spread = spread(our_cpu)});
  }
}

}  // namespace cadastre::bench
