// The peer of the replicated log does what it is compared for: three members of etcd keep each put on a majority, and
// its reads see what was put last, at every member.

#include <chrono>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "bench/log_callers.h"
#include "bench/peers/etcd_cluster.h"
#include "bench/peers/etcd_server.h"
#include "bench/peers/grpc_loop.h"
#include "bench/scratch_directory.h"

namespace cadastre::bench {
namespace {

class ThreeMembers : public testing::Test {
 protected:
  ThreeMembers() : directory_("etcd"), cluster_(directory_.path()) {}

  EtcdCluster& cluster() { return cluster_; }

  static void put(const std::string& address, std::uint64_t number, std::size_t bytes) {
    (void)GrpcCalls(address).call(
        {.method = EtcdServer::kPutMethod, .request = EtcdServer::put_request(number, bytes)});
  }
  // What a reader of the key of that put gets, as it goes on the wire.
  static std::string read(const std::string& address, std::uint64_t number) {
    return GrpcCalls(address).call(
        {.method = EtcdServer::kRangeMethod, .request = EtcdServer::range_request(number)});
  }
  [[nodiscard]] std::vector<std::string> followers() const {
    std::vector<std::string> out = cluster_.addresses();
    std::erase(out, cluster_.leader_address());
    return out;
  }

 private:
  ScratchDirectory directory_;
  EtcdCluster cluster_;
};

TEST_F(ThreeMembers, FollowOneLeader) {
  std::set<std::uint64_t> members;
  std::set<std::uint64_t> leaders;
  for (const std::string& address : cluster().addresses()) {
    const EtcdStatus status = etcd_status(address);
    members.insert(status.member);
    leaders.insert(status.leader);
  }
  EXPECT_EQ(members.size(), 3U);
  ASSERT_EQ(leaders.size(), 1U);
  EXPECT_EQ(etcd_status(cluster().leader_address()).member, *leaders.begin());
}

TEST_F(ThreeMembers, ReadBackWhatWasPutAtEveryMember) {
  put(cluster().leader_address(), 7, kCommandBytes);
  for (const std::string& address : cluster().addresses()) {
    EXPECT_NE(read(address, 7).find(std::string(kCommandBytes, 'x')), std::string::npos);
    EXPECT_EQ(read(address, 8).find("xxx"), std::string::npos) << "nobody put it";
  }
}

TEST_F(ThreeMembers, PutOnAMajorityAndNotOnLess) {
  const std::vector<std::string> others = followers();
  cluster().kill(others[0]);
  put(cluster().leader_address(), 1, kCommandBytes);  // Two of three.
  cluster().kill(others[1]);
  const auto answer = GrpcCalls(cluster().leader_address())
                          .try_call({.method = EtcdServer::kPutMethod,
                                     .request = EtcdServer::put_request(2, kCommandBytes)},
                                    std::chrono::seconds(3));
  EXPECT_FALSE(answer.has_value()) << "one of three is no majority";
}

}  // namespace
}  // namespace cadastre::bench
