#include "bench/peers/etcd_cluster.h"

#include <chrono>
#include <string_view>

#include <fmt/format.h>

#include "etcd/rpc.pb.h"

#include "base/check.h"
#include "base/signal.h"
#include "bench/peers/grpc_loop.h"

namespace cadastre::bench {
namespace {

constexpr std::string_view kStatus = "/etcdserverpb.Maintenance/Status";

}  // namespace

EtcdStatus etcd_status(const std::string& address) {
  etcdserverpb::StatusResponse status;
  const std::string said = GrpcCalls(address).call({.method = kStatus, .request = {}});
  CAD_CHECK(status.ParseFromString(said), "etcd answers with its own messages");
  return {.member = status.header().member_id(), .leader = status.leader()};
}

EtcdCluster::EtcdCluster(const std::filesystem::path& directory, std::size_t members) {
  std::vector<EtcdPlace> places;
  std::string all;
  for (std::size_t i = 0; i < members; ++i) {
    places.push_back(EtcdPlace::pick(fmt::format("etcd{}", i + 1)));
    all += (i == 0 ? "" : ",") + places.back().introduction();
  }
  for (const EtcdPlace& place : places)
    members_.push_back(std::make_unique<EtcdServer>(directory, place, all));
  constexpr int kTries = 300;
  for (int tries = 0; tries < kTries && !agree(); ++tries)
    base::Signal().wait_for(std::chrono::milliseconds(100));
  CAD_CHECK(!leader_address_.empty(), "the members agree on a leader within half a minute");
}

bool EtcdCluster::agree() {
  std::uint64_t leader = 0;
  std::string address;
  for (const auto& member : members_) {
    const EtcdStatus status = etcd_status(member->address());
    if (status.leader == 0 || (leader != 0 && status.leader != leader)) return false;
    leader = status.leader;
    if (status.member == leader) address = member->address();
  }
  leader_address_ = address;
  return true;
}

std::vector<std::string> EtcdCluster::addresses() const {
  std::vector<std::string> out;
  for (const auto& member : members_)
    out.push_back(member->address());
  return out;
}

void EtcdCluster::kill(const std::string& address) {
  std::erase_if(members_, [&](const auto& member) { return member->address() == address; });
}

}  // namespace cadastre::bench
