// What a node may start from: an image that contradicts itself is refused, not met with an abort.

#include <cstdint>
#include <functional>
#include <vector>

#include <cadastre_raft.h>
#include <gtest/gtest.h>

#include "log/raft/shim_test/raft_node_testing.h"

namespace cadastre::log {
namespace {

cad_result no_read(void*, std::uint64_t, std::uint64_t, std::uint64_t, cad_entries**) noexcept {
  return CAD_DROPPED;
}
void no_log(void*, std::uint32_t, cad_slice) noexcept {}

// Truncated at (3, 2), then 4 and 5 of term 2, 6 and 7 of term 4; commit and applied in between.
TestDisk sound_disk() {
  TestDisk disk;
  disk.hard = {4, 1, 6};
  disk.conf.voters = {1, 2, 3};
  disk.conf_index = 3;
  disk.truncated_index = 3;
  disk.truncated_term = 2;
  disk.applied = 5;
  for (std::uint64_t index = 4; index <= 7; ++index)
    disk.entries.push_back({index, index < 6 ? 2U : 4U, 0, "x", ""});
  return disk;
}

cad_result create(const cad_config& config) {
  const cad_callbacks callbacks{nullptr, &no_read, &no_log};
  cad_raft* raft = nullptr;
  const cad_result result = cad_raft_create(&config, &callbacks, &raft);
  const RaftHandle handle(raft);
  return result;
}

TEST(ShimCreate, TakesASoundImage) {
  const TestConfig image(1, {}, sound_disk());
  EXPECT_EQ(create(image.config), CAD_OK);
}

TEST(ShimCreate, TakesAJoinerThatHasNothing) {
  const TestConfig image(9, {}, TestDisk{});
  EXPECT_EQ(create(image.config), CAD_OK);
}

struct Case {
  const char* what;
  std::function<void(TestConfig&)> spoil;
};

TEST(ShimCreate, RefusesAnImageThatContradictsItself) {
  const std::vector<Case> cases = {
      {"no id",
       [](TestConfig& image) {
         image.config.id = 0;
       }},
      {"a reserved field",
       [](TestConfig& image) {
         image.config.zero = 1;
       }},
      {"no election tick",
       [](TestConfig& image) {
         image.config.election_tick = 0;
       }},
      {"no heartbeat tick",
       [](TestConfig& image) {
         image.config.heartbeat_tick = 0;
       }},
      {"an election not above a heartbeat",
       [](TestConfig& image) {
         image.config.election_tick = image.config.heartbeat_tick;
       }},
      {"ticks without a bound",
       [](TestConfig& image) {
         image.config.election_tick = UINT32_MAX;
       }},
      {"no window",
       [](TestConfig& image) {
         image.config.max_inflight_msgs = 0;
       }},
      {"nothing handed out",
       [](TestConfig& image) {
         image.config.max_committed_size_per_ready = 0;
       }},
      {"a message above what may be uncommitted",
       [](TestConfig& image) {
         image.config.max_uncommitted_size = 1;
       }},
      {"a flag that is none",
       [](TestConfig& image) {
         image.config.pre_vote = 2;
       }},
      {"applied below truncated",
       [](TestConfig& image) {
         image.config.applied = 2;
       }},
      {"applied above commit",
       [](TestConfig& image) {
         image.config.applied = 7;
       }},
      {"commit above the last entry",
       [](TestConfig& image) {
         image.config.hard_state.commit = 8;
       }},
      {"commit below truncated",
       [](TestConfig& image) {
         image.config.hard_state.commit = 2;
       }},
      {"a term below the log's",
       [](TestConfig& image) {
         image.config.hard_state.term = 3;
       }},
      {"a configuration that is not committed",
       [](TestConfig& image) {
         image.config.conf_index = 7;
       }},
      {"truncated without a term",
       [](TestConfig& image) {
         image.config.truncated_term = 0;
       }},
      {"a term at truncated above the log's",
       [](TestConfig& image) {
         image.config.truncated_term = 3;
       }},
      {"no tail",
       [](TestConfig& image) {
         image.config.tail_size = 0;
       }},
      {"a tail above applied",
       [](TestConfig& image) {
         image.config.tail += 3;
         image.config.tail_size = 1;
       }},
      {"a gap in the tail",
       [](TestConfig& image) {
         image.tail[1].index = 9;
       }},
      {"a tail below truncated",
       [](TestConfig& image) {
         image.tail[0].index = 3;
       }},
      {"a tail of another term",
       [](TestConfig& image) {
         image.tail[3].term = 3;
       }},
      {"an entry of no kind",
       [](TestConfig& image) {
         image.tail[3].type = 3;
       }},
      {"half a term start",
       [](TestConfig& image) {
         image.config.term_starts_size = 3;
       }},
      {"no term starts",
       [](TestConfig& image) {
         image.config.term_starts_size = 0;
       }},
      {"terms that start late",
       [](TestConfig& image) {
         image.starts[0] = 5;
       }},
      {"terms that fall",
       [](TestConfig& image) {
         image.starts[3] = 1;
       }},
      {"a term start above the log",
       [](TestConfig& image) {
         image.starts[2] = 8;
       }},
  };
  for (const Case& row : cases) {
    const TestDisk disk = sound_disk();
    TestConfig image(1, {}, disk);
    row.spoil(image);
    EXPECT_EQ(create(image.config), CAD_BAD_CONFIG) << row.what;
  }
}

TEST(ShimCreate, RefusesAConfigurationThatCannotBe) {
  struct ConfCase {
    const char* what;
    TestConf conf;
  };
  const std::vector<ConfCase> cases = {
      {"a voter twice", {{1, 1}, {}, {}, {}}},
      {"id 0", {{1, 0}, {}, {}, {}}},
      {"voter and learner", {{1, 2}, {2}, {}, {}}},
      {"learners alone", {{}, {1}, {}, {}}},
      {"a joint one without a future", {{}, {}, {1}, {}}},
      {"a learner that is leaving as a voter", {{1}, {2}, {1, 2}, {}}},
      {"a next learner that is no outgoing voter", {{1}, {}, {1, 2}, {3}}},
      {"a next learner that stays a voter", {{1, 2}, {}, {1, 2}, {2}}},
      {"next learners without a joint one", {{1}, {}, {}, {2}}},
  };
  for (const ConfCase& row : cases) {
    TestDisk disk = sound_disk();
    disk.conf = row.conf;
    const TestConfig image(1, {}, disk);
    EXPECT_EQ(create(image.config), CAD_BAD_CONFIG) << row.what;
  }
  const TestDisk disk = sound_disk();
  TestConfig image(1, {}, disk);
  image.config.conf.auto_leave = 1;  // L-89: joint is left explicitly
  EXPECT_EQ(create(image.config), CAD_BAD_CONFIG);
}

TEST(ShimCreate, NeedsBothCallbacks) {
  const TestDisk disk = sound_disk();
  const TestConfig image(1, {}, disk);
  cad_raft* raft = nullptr;
  const cad_callbacks no_reader{nullptr, nullptr, &no_log};
  EXPECT_EQ(cad_raft_create(&image.config, &no_reader, &raft), CAD_BAD_CONFIG);
  const cad_callbacks no_logger{nullptr, &no_read, nullptr};
  EXPECT_EQ(cad_raft_create(&image.config, &no_logger, &raft), CAD_BAD_CONFIG);
}

TEST(ShimCreate, KeepsWhatTheImageSays) {
  TestDisk disk = sound_disk();
  disk.conf = {{1, 2}, {4}, {2, 3}, {3}};
  const RaftNode node(1, {}, disk);
  const cad_status status = node.status();
  EXPECT_EQ(status.term, 4U);
  EXPECT_EQ(status.vote, 1U);
  EXPECT_EQ(status.commit, 6U);
  EXPECT_EQ(status.applied, 5U);
  EXPECT_EQ(status.persisted, 7U);
  EXPECT_EQ(status.first, 4U);
  EXPECT_EQ(status.last, 7U);
  EXPECT_EQ(status.joint, 1U);
  EXPECT_EQ(status.promotable, 1U);
}

}  // namespace
}  // namespace cadastre::log
