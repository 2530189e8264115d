// Which streams and frames of other nodes are let in (L-68).

#include "server/peer_admission.h"

#include <optional>
#include <string>

#include <gtest/gtest.h>

#include "log/frame_limits.h"

namespace cadastre::server {
namespace {

using log::ClusterId;
using log::NodeId;
using log::PeerIncarnation;
using log::Preamble;

constexpr PeerIdentity kSelf{ClusterId{7}, NodeId{2}};
const Authenticated kPlain{};

Preamble from_one() {
  return {.lane = log::Lane::kBulk,
          .cluster = ClusterId{7},
          .from = NodeId{1},
          .to = NodeId{2},
          .incarnation = PeerIncarnation{5}};
}

std::optional<PeerRefusal> refusal(PeerAdmission& admission,
                                   const Preamble& preamble,
                                   const Authenticated& end = kPlain) {
  const auto admitted = admission.admit(log::encode_preamble(preamble), end);
  if (!admitted) return admitted.error().code;
  EXPECT_EQ(*admitted, preamble);
  return std::nullopt;
}

TEST(PeerAdmission, AStreamOfAnotherClusterOrForAnotherNodeIsRefused) {  // L-68
  PeerAdmission admission(kSelf);
  EXPECT_EQ(refusal(admission, from_one()), std::nullopt);
  Preamble other = from_one();
  other.cluster = ClusterId{8};
  EXPECT_EQ(refusal(admission, other), PeerRefusal::kCluster);
  other = from_one();
  other.to = NodeId{3};
  EXPECT_EQ(refusal(admission, other), PeerRefusal::kNode);
  other = from_one();
  other.from = NodeId{2};  // This node itself.
  EXPECT_EQ(refusal(admission, other), PeerRefusal::kNode);
  other.from = log::kNoNode;
  EXPECT_EQ(refusal(admission, other), PeerRefusal::kNode);
}

TEST(PeerAdmission, AStreamThatDoesNotBeginWithAPreambleIsRefused) {  // L-68
  PeerAdmission admission(kSelf);
  const auto code = [&](base::ByteView bytes) {
    return admission.admit(bytes, kPlain).error().code;
  };
  EXPECT_EQ(code({}), PeerRefusal::kDamaged);
  EXPECT_EQ(code(base::as_bytes("GET / HTTP/1.1")), PeerRefusal::kDamaged);
  base::Bytes bytes = log::encode_preamble(from_one());
  bytes[4] = std::byte{2};
  EXPECT_EQ(code(bytes), PeerRefusal::kVersion);
  bytes = log::encode_preamble(from_one());
  bytes.push_back(std::byte{0});
  EXPECT_EQ(code(bytes), PeerRefusal::kTooLong);
}

TEST(PeerAdmission, TheCertificateMustNameTheNodeOfThePreamble) {  // L-68
  PeerAdmission admission(kSelf);
  const auto with = [&](std::optional<PeerIdentity> identity) {
    return refusal(admission, from_one(), {.by_tls = true, .identity = identity});
  };
  EXPECT_EQ(with(PeerIdentity{ClusterId{7}, NodeId{1}}), std::nullopt);
  EXPECT_EQ(with(PeerIdentity{ClusterId{7}, NodeId{3}}), PeerRefusal::kIdentity);
  EXPECT_EQ(with(PeerIdentity{ClusterId{8}, NodeId{1}}), PeerRefusal::kIdentity);
  EXPECT_EQ(with(std::nullopt), PeerRefusal::kIdentity);
}

TEST(PeerAdmission, AnOlderProcessIsRefusedAfterANewerOne) {  // L-68
  PeerAdmission admission(kSelf);
  const Preamble old_process = from_one();
  Preamble new_process = from_one();
  new_process.incarnation = PeerIncarnation{6};
  EXPECT_EQ(refusal(admission, old_process), std::nullopt);
  EXPECT_EQ(refusal(admission, old_process), std::nullopt);  // Its other lane, or again.
  EXPECT_TRUE(admission.is_current(old_process));
  EXPECT_EQ(refusal(admission, new_process), std::nullopt);
  EXPECT_FALSE(admission.is_current(old_process));
  EXPECT_TRUE(admission.is_current(new_process));
  EXPECT_EQ(refusal(admission, old_process), PeerRefusal::kIncarnation);
}

TEST(PeerAdmission, WhoIsRefusedLeavesNoTrace) {
  PeerAdmission admission(kSelf);
  Preamble newest = from_one();
  newest.incarnation = PeerIncarnation{9};
  const Authenticated third{.by_tls = true, .identity = PeerIdentity{ClusterId{7}, NodeId{3}}};
  EXPECT_EQ(refusal(admission, newest, third), PeerRefusal::kIdentity);
  EXPECT_EQ(refusal(admission, from_one()), std::nullopt);
}

TEST(PeerAdmission, KeepsABoundedNumberOfNodesInMind) {  // L-8
  PeerAdmission admission({ClusterId{7}, NodeId{100'000}});
  Preamble stream = from_one();
  stream.to = NodeId{100'000};
  for (std::uint64_t node = 1; node <= log::kPeersMax; ++node) {
    stream.from = NodeId{node};
    EXPECT_EQ(refusal(admission, stream), std::nullopt);
  }
  stream.from = NodeId{log::kPeersMax + 1};
  EXPECT_EQ(refusal(admission, stream), PeerRefusal::kNode);
  stream.from = NodeId{1};
  EXPECT_EQ(refusal(admission, stream), std::nullopt);
}

TEST(PeerAdmission, AFrameIsFromAndToTheNodesOfItsStream) {  // L-68
  log::FrameView frame{.group = log::GroupId{5}, .from = NodeId{1}, .to = NodeId{2}};
  EXPECT_EQ(PeerAdmission::refuse(from_one(), frame), std::nullopt);
  frame.from = NodeId{3};
  EXPECT_EQ(PeerAdmission::refuse(from_one(), frame), PeerRefusal::kIdentity);
  frame.from = NodeId{1};
  frame.to = NodeId{3};
  EXPECT_EQ(PeerAdmission::refuse(from_one(), frame), PeerRefusal::kNode);
}

TEST(PeerIdentity, HasOneForm) {  // L-68
  const PeerIdentity identity{ClusterId{18446744073709551615U}, NodeId{3}};
  EXPECT_EQ(to_uri(identity), "cadastre://cluster/18446744073709551615/node/3");
  EXPECT_EQ(identity_of(to_uri(identity)), identity);
  for (const char* bad :
       {"", "cluster/7/node/3", "cadastre://cluster/7/node/", "cadastre://cluster/7/node/3/",
        "cadastre://cluster/7/node/03", "cadastre://cluster/-7/node/3",
        "cadastre://cluster/18446744073709551616/node/3", "cadastre://cluster/7/node/3 ",
        "https://cluster/7/node/3"})
    EXPECT_FALSE(identity_of(bad)) << bad;
}

}  // namespace
}  // namespace cadastre::server
