#include "node/recover.h"

#include <unistd.h>

#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/bytes.h"
#include "log/conf_context.h"
#include "log/storage/rocks_storage.h"
#include "node/node_seal.h"

namespace cadastre::node {
namespace {

namespace fs = std::filesystem;

constexpr log::GroupId kGroup{1};
constexpr log::ClusterId kCluster{7};

std::vector<log::NodeId> nodes(std::vector<std::uint64_t> ids) {
  std::vector<log::NodeId> out;
  for (const std::uint64_t id : ids)
    out.emplace_back(id);
  return out;
}

class RecoverGroupTest : public testing::Test {
 public:
  void SetUp() override {
    home_ = fs::temp_directory_path() / ("cadastre-recover-" + std::to_string(getpid()));
    fs::remove_all(home_);
  }
  void TearDown() override { fs::remove_all(home_); }

  // A voter of {1, 2, 3, 4, 5} with entries of these terms behind its founding, of which some are committed.
  fs::path survivor(std::uint64_t id,
                    const std::vector<std::uint64_t>& terms,
                    std::uint64_t commit,
                    const base::Bytes& context = {}) {
    const fs::path directory = home_ / std::to_string(id);
    fs::create_directories(directory);
    const log::NodeIdentity identity{kCluster, log::NodeId{id}};
    EXPECT_TRUE(store_seal(directory, {.cluster = kCluster,
                                       .node = log::NodeId{id},
                                       .beginning = Beginning::kFounder,
                                       .logged = true,
                                       .starts = 1,
                                       .digest = {}}));
    auto storage = log::RocksStorage::open({.directory = directory / "log", .identity = identity});
    EXPECT_TRUE(storage);
    EXPECT_TRUE((*storage)->recover());
    log::GroupWrite write;
    write.group = kGroup;
    write.incarnation = log::Incarnation{1};
    write.created = log::EngineKind::kRaft;
    write.truncated = log::kFounding;
    write.confs.push_back({log::kFounding.index, {.voters = nodes({1, 2, 3, 4, 5})}, context});
    write.last_before = log::kFounding.index;
    for (const std::uint64_t term : terms) {
      const log::Index at{log::kFounding.index.value() + 1 + write.entries.size()};
      write.entries.push_back({{log::Term{term}, at}, log::EntryType::kNormal, {}});
    }
    write.last = write.entries.empty() ? log::kFounding : write.entries.back().at;
    write.state = log::HardState{
        .term = write.last.term, .vote = log::NodeId{id}, .commit = log::Index{commit}};
    log::WriteSet set;
    set.number = log::SetNumber{1};
    set.groups.push_back(std::move(write));
    EXPECT_TRUE((*storage)->write(set));
    return directory;
  }

  [[nodiscard]] log::GroupImage image(std::uint64_t id) const {
    auto group =
        ClosedGroup::open(home_ / std::to_string(id), {{kCluster, log::NodeId{id}}}, kGroup);
    EXPECT_TRUE(group);
    return (*group)->image();
  }

  fs::path home_;
};

TEST_F(RecoverGroupTest, TellsWhatTheSurvivorsHave) {  // L-93
  const std::vector<fs::path> both{survivor(1, {2, 2, 2}, 3), survivor(2, {2, 3}, 2)};
  const auto survey = survey_survivors(both, kGroup);
  ASSERT_TRUE(survey) << survey.error().detail;
  EXPECT_EQ(survey->highest, log::NodeId{2});  // By its last term, though its log is shorter.
  EXPECT_EQ(survey->digest_after, log::Index{1});
  EXPECT_EQ(survey->digest_upto, log::Index{2});
  EXPECT_EQ(survey->digest.size(), 64U);
  EXPECT_EQ(survey->survivors[0].last.index, log::Index{4});
  EXPECT_EQ(survey->survivors[1].commit, log::Index{2});
}

TEST_F(RecoverGroupTest, CommittedEntriesThatDifferAreDamage) {
  const std::vector<fs::path> both{survivor(1, {2, 2}, 3), survivor(2, {3, 3}, 3)};
  const auto survey = survey_survivors(both, kGroup);
  ASSERT_FALSE(survey);
  EXPECT_EQ(survey.error().code, ClosedError::kDamaged);
}

TEST_F(RecoverGroupTest, WantsToHearWhoHasMost) {  // L-93
  const std::vector<fs::path> both{survivor(1, {2, 2}, 2), survivor(2, {2, 2, 2}, 2)};
  const auto done = recover_group(both, kGroup, {.keep = nodes({1, 2}), .highest = log::NodeId{1}});
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, ClosedError::kRefused);
  EXPECT_NE(done.error().detail.find("node 2"), std::string::npos);
  EXPECT_EQ(image(1).last.index, log::Index{3});  // Nothing was written.
}

TEST_F(RecoverGroupTest, RefusesWhileThereIsAQuorum) {  // L-93
  const std::vector<fs::path> three{survivor(1, {2}, 2), survivor(2, {2}, 2), survivor(3, {2}, 2)};
  const auto done =
      recover_group(three, kGroup, {.keep = nodes({1, 2, 3}), .highest = log::NodeId{1}});
  ASSERT_FALSE(done);
  EXPECT_NE(done.error().detail.find("a quorum"), std::string::npos);
}

TEST_F(RecoverGroupTest, KeepsNobodyWhoIsNotThere) {
  const std::vector<fs::path> one{survivor(1, {2}, 2)};
  EXPECT_FALSE(recover_group(one, kGroup, {.keep = nodes({1, 2}), .highest = log::NodeId{1}}));
  EXPECT_FALSE(recover_group(one, kGroup, {.keep = nodes({2}), .highest = log::NodeId{1}}));
  EXPECT_FALSE(recover_group({}, kGroup, {.keep = nodes({1}), .highest = log::NodeId{1}}));
}

TEST_F(RecoverGroupTest, RefusesWhoWouldHaveToRememberTooManyWhoLeft) {  // L-90
  log::ConfContext context;
  for (std::uint64_t id = 100; context.removed.size() < log::kRemovedMax; ++id)
    context.removed.emplace_back(id);
  const fs::path one = survivor(1, {2}, 2, log::encode_conf_context(context));
  const auto recovered =
      recover_group({one}, kGroup, {.keep = nodes({1}), .highest = log::NodeId{1}});
  ASSERT_FALSE(recovered);
  EXPECT_EQ(recovered.error().code, ClosedError::kRefused);
  EXPECT_NE(recovered.error().detail.find("new cluster"), std::string::npos);
}

TEST_F(RecoverGroupTest, TheKeptOnesGoOnTogether) {  // L-93
  const std::vector<fs::path> both{survivor(1, {2, 2, 2, 2}, 3), survivor(2, {2, 2, 5}, 2)};
  const Recovery recovery{.keep = nodes({2, 1}), .highest = log::NodeId{2}};
  const auto done = recover_group(both, kGroup, recovery);
  ASSERT_TRUE(done) << done.error().detail;
  EXPECT_EQ(*done, (log::Position{log::Term{6}, log::Index{5}}));
  for (const std::uint64_t id : {1U, 2U}) {
    const log::GroupImage found = image(id);
    EXPECT_EQ(found.last, *done) << id;
    EXPECT_EQ(found.state.commit, done->index) << id;
    EXPECT_GE(found.state.term, done->term) << id;
    EXPECT_EQ(found.confs.back().index, done->index) << id;
    EXPECT_EQ(found.confs.back().conf, (log::ConfState{.voters = nodes({1, 2})})) << id;
    const log::ConfContext context = log::context_of(found.confs.back());
    EXPECT_TRUE(context.recovered) << id;
    EXPECT_EQ(context.removed, nodes({3, 4, 5})) << id;
    EXPECT_EQ(found.terms.back().first, done->index) << id;
  }
  // Again: everything is as it is.
  const auto again = recover_group(both, kGroup, recovery);
  ASSERT_TRUE(again) << again.error().detail;
  EXPECT_EQ(*again, *done);
}

TEST_F(RecoverGroupTest, GoesOnWhereItWasKilled) {  // L-93
  const std::vector<fs::path> both{survivor(1, {2, 2, 2}, 3), survivor(2, {2, 2}, 2)};
  const Recovery recovery{.keep = nodes({1, 2}), .highest = log::NodeId{1}};
  const fs::path aside = home_ / "aside";
  fs::copy(both[1], aside, fs::copy_options::recursive);
  const auto done = recover_group(both, kGroup, recovery);
  ASSERT_TRUE(done) << done.error().detail;
  fs::remove_all(both[1]);  // Only the first of them was reached.
  fs::rename(aside, both[1]);
  const auto again = recover_group(both, kGroup, recovery);
  ASSERT_TRUE(again) << again.error().detail;
  EXPECT_EQ(image(2).last, *done);
  EXPECT_EQ(image(2).confs.back(), image(1).confs.back());
}

}  // namespace
}  // namespace cadastre::node
