#include "sim/checkers/digest_agreement.h"

#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "sim/checkers/model.h"
#include "sim/schedule/node_id.h"

namespace cadastre::sim::checkers {
namespace {

constexpr Replica kOne{GroupId{7}, NodeId{1}};
constexpr Replica kTwo{GroupId{7}, NodeId{2}};

// The rolling digest of a log whose entry i has the number i.
Digest digest_at(std::uint64_t index) {
  std::uint64_t digest = log_digest({});
  for (std::uint64_t i = 1; i <= index; ++i)
    digest = extended(digest, i);
  return Digest(digest);
}

void apply(DigestAgreement& agreement,
           const Replica& replica,
           std::uint64_t first,
           std::uint64_t last) {
  for (std::uint64_t i = first; i <= last; ++i)
    agreement.applied(replica, LogIndex(i), digest_at(i));
}

std::vector<Fault> faults_of(const DigestAgreement& agreement) {
  std::vector<Fault> faults;
  for (const Disagreement& disagreement : agreement.disagreements())
    faults.push_back(disagreement.fault);
  return faults;
}

TEST(DigestAgreement, AcceptsReplicasThatLagRestartAndInstall) {
  DigestAgreement agreement;
  apply(agreement, kOne, 1, 10);
  apply(agreement, kTwo, 1, 4);
  agreement.restored(kOne, LogIndex(6),
                     digest_at(6));  // A crash: what was not flushed is applied again.
  apply(agreement, kOne, 7, 12);
  agreement.restored(kTwo, LogIndex(11), digest_at(11));  // A snapshot.
  apply(agreement, kTwo, 12, 13);
  agreement.restored(kOne, LogIndex(0), Digest(0));  // A wiped disk.
  apply(agreement, kOne, 1, 13);
  EXPECT_TRUE(faults_of(agreement).empty()) << agreement.disagreements()[0].detail;
  EXPECT_EQ(agreement.compared(), 4U + 1 + 4 + 1 + 1 + 13);
}

TEST(DigestAgreement, FlagsAStateThatDiffersAndSaysFromWhom) {
  DigestAgreement agreement;
  apply(agreement, kOne, 1, 3);
  apply(agreement, kTwo, 1, 2);
  agreement.applied(kTwo, LogIndex(3), Digest(99));
  ASSERT_EQ(faults_of(agreement), std::vector{Fault::kDiffers});
  const Disagreement& found = agreement.disagreements()[0];
  EXPECT_EQ(found.replica, kTwo);
  EXPECT_EQ(found.index, LogIndex(3));
  EXPECT_NE(found.detail.find("group 7, index 3: node 2 has 0000000000000063, node 1 had"),
            std::string::npos)
      << found.detail;
}

TEST(DigestAgreement, FlagsAReplicaThatBecomesAnotherAfterARestart) {
  DigestAgreement agreement;
  apply(agreement, kOne, 1, 3);
  agreement.restored(kOne, LogIndex(1), digest_at(1));
  agreement.applied(kOne, LogIndex(2), Digest(5));
  EXPECT_EQ(faults_of(agreement), std::vector{Fault::kDiffers});
}

TEST(DigestAgreement, FlagsASnapshotOfAnotherState) {
  DigestAgreement agreement;
  apply(agreement, kOne, 1, 5);
  agreement.restored(kTwo, LogIndex(5), digest_at(4));
  EXPECT_EQ(faults_of(agreement), std::vector{Fault::kDiffers});
}

TEST(DigestAgreement, FlagsAnIndexAppliedTwiceOnOneState) {
  DigestAgreement agreement;
  apply(agreement, kOne, 1, 3);
  agreement.applied(kOne, LogIndex(3), digest_at(3));
  EXPECT_EQ(faults_of(agreement), std::vector{Fault::kAppliedTwice});
}

TEST(DigestAgreement, FlagsASkippedIndexOnce) {
  DigestAgreement agreement;
  apply(agreement, kOne, 1, 3);
  apply(agreement, kOne, 5, 7);
  EXPECT_EQ(faults_of(agreement), std::vector{Fault::kSkipped});
  DigestAgreement other;
  other.applied(kTwo, LogIndex(2), digest_at(2));  // A state begins at index 0.
  EXPECT_EQ(faults_of(other), std::vector{Fault::kSkipped});
}

TEST(DigestAgreement, KeepsGroupsApart) {
  DigestAgreement agreement;
  agreement.applied(kOne, LogIndex(1), Digest(1));
  agreement.applied({GroupId{8}, NodeId{2}}, LogIndex(1), Digest(2));
  EXPECT_TRUE(faults_of(agreement).empty());
  EXPECT_EQ(agreement.compared(), 0U);
}

TEST(DigestAgreement, ForgetsWhatItIsTold) {
  DigestAgreement agreement;
  apply(agreement, kOne, 1, 5);
  agreement.forget_below(kOne.group, LogIndex(4));
  agreement.applied(kTwo, LogIndex(1), Digest(1));  // Nobody knows any more.
  EXPECT_TRUE(faults_of(agreement).empty());
  agreement.restored(kTwo, LogIndex(4), Digest(1));
  EXPECT_EQ(faults_of(agreement), std::vector{Fault::kDiffers});
}

TEST(DigestAgreement, KeepsTheFirstOfMany) {
  DigestAgreement agreement;
  for (std::uint64_t i = 0; i < 200; ++i)
    agreement.applied(kOne, LogIndex(10 * i + 10), Digest(i));
  ASSERT_EQ(agreement.disagreements().size(), DigestAgreement::kDisagreementsMax);
  EXPECT_EQ(agreement.disagreements()[0].index, LogIndex(10));
}

}  // namespace
}  // namespace cadastre::sim::checkers
