#include "node/convert.h"

#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/clock.h"
#include "base/logger.h"
#include "node/closed_group.h"
#include "node/embedded_coordination.h"
#include "node/local_log.h"
#include "node/node_seal.h"

namespace cadastre::node {
namespace {

namespace fs = std::filesystem;

constexpr log::NodeId kNode{3};
constexpr log::NodeIdentity kVoter{log::ClusterId{7}, kNode};
const log::NodeIdentity kOwn = LocalLogOptions{}.identity;
constexpr coord::RunId kRun = coord::RunId::from_raw(1);

class ConvertTest : public testing::Test {
 protected:
  // A server's own directory with a run.
  void SetUp() override {
    fs::remove_all(home_);
    fs::create_directories(home_);
    std::ofstream(home_ / "topology")
        << "cluster_id: 7\n"
           "nodes { raft_id: 3 name: \"c\" peer_addr: \"127.0.0.1:7402\" grpc_addr: "
           "\"127.0.0.1:7400\" }\n"
           "groups { group_id: 1 voters: [3] }\n";
    const auto coordination = opened();
    ASSERT_TRUE(coordination->blocking()->create_run(coord::LogicalTime::from_raw(1), tenant_, kRun,
                                                     {.lease_duration = 100}));
    ASSERT_TRUE(coordination->stop(std::chrono::seconds(10)));
  }
  void TearDown() override { fs::remove_all(home_); }

  std::unique_ptr<EmbeddedCoordination> opened() {
    auto coordination = EmbeddedCoordination::open({.directory = data_}, clock_, logger_);
    EXPECT_TRUE(coordination) << coordination.error().detail;
    return *std::move(coordination);
  }
  auto grow() { return convert_to_raft(data_, (home_ / "topology").string(), kNode); }

  // The log is that of `from`: it is given back, as it was before the step that gave it away.
  void give_back(const log::NodeIdentity& from, const log::NodeIdentity& to) {
    const auto group = ClosedGroup::open(data_, {from}, kCoordinationGroup);
    ASSERT_TRUE(group) << group.error().detail;
    ASSERT_TRUE((*group)->give_to(to));
  }

  const fs::path home_ =
      fs::temp_directory_path() / ("cadastre-convert-" + std::to_string(getpid()));
  const fs::path data_ = home_ / "data";
  const coord::TenantId tenant_;
  const base::SystemClock clock_;
  const std::unique_ptr<base::LogSink> sink_ = base::stderr_log_sink();
  const base::Logger logger_{*sink_, clock_, base::LogForm::kText};
};

TEST_F(ConvertTest, GoesOnWhereItWasKilled) {  // L-27
  const auto done = grow();
  ASSERT_TRUE(done) << done.error().detail;
  const auto seal = *load_seal(data_);
  ASSERT_TRUE(seal);
  EXPECT_FALSE(grow()) << "a cluster's node is one already";

  const auto expect_same = [&] {
    const auto again = grow();
    ASSERT_TRUE(again) << again.error().detail;
    EXPECT_EQ(again->last, done->last);
    EXPECT_EQ(*load_seal(data_), seal);
  };
  ASSERT_TRUE(remove_seal(data_));  // Killed before the seal was there,
  expect_same();
  ASSERT_TRUE(remove_seal(data_));  // or before the log was given to the node.
  give_back(kVoter, kOwn);
  expect_same();
}

// L-48: what is left of a voter must not begin anew as the only one.
TEST_F(ConvertTest, ANodeOfALargerClusterThatLostItsSealIsNotTaken) {
  ASSERT_TRUE(grow());
  {
    const auto group = ClosedGroup::open(data_, {kVoter}, kCoordinationGroup);
    ASSERT_TRUE(group) << group.error().detail;
    log::GroupWrite write;
    write.confs.push_back({(*group)->image().last.index, {.voters = {log::NodeId{1}, kNode}}, {}});
    ASSERT_TRUE((*group)->write(std::move(write)));
  }
  ASSERT_TRUE(remove_seal(data_));
  const auto again = grow();
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().code, ClosedError::kRefused);
  EXPECT_NE(again.error().detail.find("new raft_id"), std::string::npos) << again.error().detail;
  EXPECT_EQ(*load_seal(data_), std::nullopt);
}

TEST_F(ConvertTest, TheWayBackGoesOnWhereItWasKilledToo) {  // L-27
  ASSERT_TRUE(grow());
  const auto seal = **load_seal(data_);
  const auto back = convert_to_local(data_);
  ASSERT_TRUE(back) << back.error().detail;

  ASSERT_TRUE(store_seal(data_, seal));  // Killed before the seal was gone,
  ASSERT_TRUE(convert_to_local(data_));
  ASSERT_TRUE(store_seal(data_, seal));  // or before the log was given back.
  give_back(kOwn, kVoter);
  const auto again = convert_to_local(data_);
  ASSERT_TRUE(again) << again.error().detail;
  EXPECT_EQ(again->last, back->last);
  EXPECT_EQ(*load_seal(data_), std::nullopt);
  const auto run = opened()->blocking()->get_run(tenant_, kRun);
  EXPECT_TRUE(run);
}

}  // namespace
}  // namespace cadastre::node
