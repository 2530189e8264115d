// Nodes that know each other by certificates (L-68).

#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "tests/peers/grpc_nodes.h"
#include "tests/peers/node_certificates.h"
#include "tests/peers/raw_stream.h"

namespace cadastre::peers {
namespace {

using log::GroupId;
using log::Lane;
using log::NodeId;
using server::PeerRefusal;
using Seen = Recorder::Seen;

constexpr NodeId kOne{1};
constexpr NodeId kTwo{2};

struct PeerTls : testing::Test {
  // Whether a node 1 with that certificate is heard by node 2 with this one.
  bool is_heard(std::string_view one_name, std::string_view two_name) {
    GrpcNode two({.id = kTwo, .tls = certificates.of(two_name)});
    GrpcNode one({.id = kOne, .tls = certificates.of(one_name)});
    one.knows({{kTwo, two.address()}});
    const auto came = [](const Seen& seen) {
      return !seen.frames.empty();
    };
    const auto done = [&] {
      return came(two.recorder().seen()) || one.counters().refused_there != 0 ||
             one.counters().refused.at(static_cast<std::size_t>(PeerRefusal::kIdentity)) != 0 ||
             one.recorder().seen().unreachable[kTwo] >= 2;
    };
    for (int tries = 0; tries < 300 && !done(); ++tries) {
      one.transport().send(kTwo, Lane::kControl, one_frame(kOne, kTwo, GroupId{1}, "x"));
      (void)two.recorder().wait_until(came, std::chrono::milliseconds(100));
    }
    refused_by_two = two.counters().refused.at(static_cast<std::size_t>(PeerRefusal::kIdentity));
    refused_by_one = one.counters().refused.at(static_cast<std::size_t>(PeerRefusal::kIdentity));
    return came(two.recorder().seen());
  }

  const NodeCertificates certificates;
  std::uint64_t refused_by_two = 0;
  std::uint64_t refused_by_one = 0;
};

TEST_F(PeerTls, NodesOfOneAuthorityHearEachOther) {
  EXPECT_TRUE(is_heard("one", "two"));
  EXPECT_EQ(refused_by_one + refused_by_two, 0U);
}

TEST_F(PeerTls, AStrangersCertificateIsNotLetIn) {
  EXPECT_FALSE(is_heard("stranger", "two"));
  EXPECT_EQ(refused_by_two, 0U);  // The handshake fails: no stream begins.
}

TEST_F(PeerTls, ACertificateOfAnotherNodeIsRefused) {
  for (const char* other : {"two", "foreign", "nameless", "both"}) {
    EXPECT_FALSE(is_heard(other, "two")) << other;
    EXPECT_GE(refused_by_two, 1U) << other;
  }
}

TEST_F(PeerTls, NothingIsSentToANodeWithAnotherOnesCertificate) {
  for (const char* other : {"one", "nameless"}) {
    EXPECT_FALSE(is_heard("one", other)) << other;
    EXPECT_GE(refused_by_one, 1U) << other;
  }
}

TEST_F(PeerTls, APlainPeerIsNotLetIn) {
  GrpcNode two({.id = kTwo, .tls = certificates.of("two")});
  RawStream plain(two.port());
  (void)plain.write(log::encode_preamble({.lane = Lane::kControl,
                                          .cluster = kCluster,
                                          .from = kOne,
                                          .to = kTwo,
                                          .incarnation = log::PeerIncarnation{1}}));
  EXPECT_FALSE(plain.is_let_in());
}

TEST_F(PeerTls, AKeyThatDoesNotFitIsRefusedAtTheStart) {
  server::PeerTls tls = certificates.of("one");
  tls.private_key = certificates.of("two").private_key;
  base::SystemClock clock;
  base::SeededRandom random(1);
  client::AlarmTimer timer;
  Recorder recorder;
  server::GrpcPeerTransport transport({.self = {kCluster, kOne},
                                       .incarnation = log::PeerIncarnation{1},
                                       .clock = clock,
                                       .random = random,
                                       .timer = timer});
  EXPECT_FALSE(transport.start({.address = {}, .tls = tls}, recorder, recorder));
}

}  // namespace
}  // namespace cadastre::peers
