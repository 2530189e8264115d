// What engines keep in memory of what is applied (L-38): a peer that is a little behind costs no disk.

#include <chrono>
#include <string>

#include <gtest/gtest.h>

#include "log/limits.h"
#include "log/raft/raft_cluster_testing.h"
#include "log/raft/snapshot_scene_testing.h"

namespace cadastre::log {
namespace {

constexpr std::size_t kLargeBytes = 600 * kKiB;

// A leader keeps what a peer lacks.
Settings trailing() {
  Settings settings = eager();
  settings.retention.leader_trail_entries = kLeaderTrailEntries;
  settings.retention.leader_trail_bytes = kLeaderTrailBytes;
  return settings;
}

void propose_large(RaftCluster& cluster, int count, std::size_t bytes = kLargeBytes) {
  for (int i = 0; i < count; ++i) {
    const auto done = cluster.at(1).propose(std::string(bytes, 'x') + std::to_string(i));
    cluster.settle();
    ASSERT_TRUE(done->applied());
  }
  cluster.pass_time(std::chrono::seconds(2));  // The house is kept.
}

constexpr int kBefore = 10;

// Node 3 misses so many large entries, and with them the log becomes longer than what stays in memory. How often the
// leader's disk was read for it.
std::uint64_t reads_for_missing(int missing) {
  RaftCluster cluster(3, trailing());
  cluster.establish(1);
  propose_large(cluster, kBefore);
  cluster.at(3).crash();
  propose_large(cluster, missing);
  cluster.at(3).start();
  cluster.pass_time(std::chrono::seconds(5));
  expect_level(cluster, 3);
  return cluster.at(1).host().metrics().old_reads.load();
}

static_assert(kBefore * kLargeBytes < kCacheBytesMax);

TEST(CacheScene, APeerThatIsALittleBehindIsFedFromMemory) {
  static_assert(10 * kLargeBytes < kCacheBytesMax);
  static_assert((kBefore + 10) * kLargeBytes > kCacheBytesMax);
  EXPECT_EQ(reads_for_missing(10), 0U);
}

TEST(CacheScene, APeerThatIsFartherBehindIsFedFromTheDisk) {
  static_assert(16 * kLargeBytes > kCacheBytesMax);
  EXPECT_GT(reads_for_missing(16), 0U);
}

// Beside commands the leader reads much at once and hands it on piece by piece (old_entries.h): no piece is read by itself.
TEST(CacheScene, BesideCommandsAPeerIsFedByPiecesOfWhatWasRead) {
  constexpr std::size_t kEntryBytes = kCatchUpPieceBytes / 2;
  constexpr int kMissing = 2 * kCacheBytesMax / kEntryBytes;
  RaftCluster cluster(3, trailing());
  cluster.establish(1);
  cluster.at(3).crash();
  propose_large(cluster, kMissing, kEntryBytes);
  cluster.at(3).start();
  for (int i = 0; i < 100; ++i) {
    (void)cluster.at(1).propose("beside");
    cluster.pass_time(kCatchUpBusyFor / 2, kCatchUpBusyFor / 2);
  }
  cluster.pass_time(std::chrono::seconds(5));
  expect_level(cluster, 3);
  EXPECT_EQ(cluster.at(3).machine().installs, 0);
  const std::uint64_t reads = cluster.at(1).host().metrics().old_reads.load();
  EXPECT_GT(reads, 0U);
  static_assert(kMissing * kEntryBytes <= kFetchBytesMax);
  EXPECT_LE(reads, 2U);
}

// L-48: an entry that rotted is no entry that was truncated. A node whose log is damaged stops, and feeds nobody.
TEST(CacheScene, ADamagedEntryThatAPeerNeedsStopsTheNode) {
  RaftCluster cluster(3, trailing());
  cluster.establish(1);
  cluster.at(3).crash();
  propose_large(cluster, 16);
  const Index old{cluster.at(1).status().last.value() - 15};
  cluster.at(1).storage().spoil_entry(kSceneGroup, Incarnation{1}, old);
  cluster.at(3).start();
  cluster.pass_time(std::chrono::seconds(1));
  EXPECT_NE(cluster.at(1).runner().failed.find("could not be read"), std::string::npos);
  EXPECT_TRUE(cluster.at(1).host().dead());
  EXPECT_TRUE(cluster.at(3).executed().empty());
}

}  // namespace
}  // namespace cadastre::log
