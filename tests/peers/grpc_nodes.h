// Nodes of one cluster with real transports on loopback, each on a port that the system chose.

#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/check.h"
#include "base/clock.h"
#include "base/random.h"
#include "client/alarm_timer.h"
#include "log/address_book.h"
#include "server/grpc/peer_transport.h"
#include "tests/peers/recorder.h"

namespace cadastre::peers {

inline constexpr log::ClusterId kCluster{7};

class GrpcNode {
 public:
  struct How {
    log::NodeId id;
    log::PeerIncarnation incarnation{1};
    std::uint16_t port = 0;
    std::optional<server::PeerTls> tls = std::nullopt;
    std::optional<log::NodeAddress> announced = std::nullopt;
    std::chrono::milliseconds first_word_wait = server::kFirstWordWait;
  };

  explicit GrpcNode(const How& how)
      : random_(how.id.value()),
        transport_({.self = {kCluster, how.id},
                    .incarnation = how.incarnation,
                    .clock = clock_,
                    .random = random_,
                    .timer = timer_}) {
    const auto started = transport_.start({.address = {.host = "127.0.0.1", .port = how.port},
                                           .tls = how.tls,
                                           .announced = how.announced,
                                           .first_word_wait = how.first_word_wait},
                                          recorder_, recorder_);
    CAD_CHECK(started.has_value(), "a test's transport can listen");
  }

  [[nodiscard]] server::GrpcPeerTransport& transport() noexcept { return transport_; }
  [[nodiscard]] Recorder& recorder() noexcept { return recorder_; }
  [[nodiscard]] const server::PeerCounters& counters() const noexcept {
    return transport_.counters();
  }
  [[nodiscard]] std::uint16_t port() const noexcept { return transport_.port(); }
  [[nodiscard]] std::string address() const { return fmt::format("127.0.0.1:{}", port()); }

  // Knows the peers at these ports.
  void knows(const std::map<log::NodeId, std::string>& peers) {
    std::vector<log::PeerAddress> addresses;
    for (const auto& [node, address] : peers)
      addresses.push_back({node, {address, {}}});
    transport_.set_peers(addresses);
  }

 private:
  base::SystemClock clock_;
  base::SeededRandom random_;
  client::AlarmTimer timer_;
  Recorder recorder_;
  server::GrpcPeerTransport transport_;
};

inline log::Frame frame(log::NodeId from,
                        log::NodeId to,
                        log::GroupId group,
                        std::string_view text) {
  return {group, from, to, log::Body::copy_of(base::as_bytes(text))};
}
inline std::vector<log::Frame> one_frame(log::NodeId from,
                                         log::NodeId to,
                                         log::GroupId group,
                                         std::string_view text) {
  std::vector<log::Frame> frames;
  frames.push_back(frame(from, to, group, text));
  return frames;
}

}  // namespace cadastre::peers
