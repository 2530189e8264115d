#include "sim/checkers/digest_text.h"

#include <string>

#include <gtest/gtest.h>

#include "sim/checkers/digest_agreement.h"

namespace cadastre::sim::checkers {
namespace {

TEST(DigestText, FeedsWhatNodesReport) {
  DigestAgreement agreement;
  const auto reports = report_digests(
      "# two nodes\n\nn1 restored 1 #0\nn1 applied 2 #a\nn1 applied 3 #b\n"
      "n2 restored 1 #0\nn2 applied 2 #a\nn2 restored 3 #b\n",
      agreement);
  ASSERT_TRUE(reports.has_value());
  EXPECT_EQ(*reports, 6U);
  EXPECT_TRUE(agreement.disagreements().empty());
  EXPECT_EQ(agreement.compared(), 3U);
}

TEST(DigestText, SeesReplicasThatDiffer) {
  DigestAgreement agreement;
  ASSERT_TRUE(
      report_digests("n1 restored 1 #0\nn1 applied 2 #a\nn2 restored 1 #0\nn2 applied 2 #b\n",
                     agreement)
          .has_value());
  ASSERT_EQ(agreement.disagreements().size(), 1U);
  EXPECT_EQ(agreement.disagreements().front().fault, Fault::kDiffers);
}

TEST(DigestText, RefusesWhatIsNoReport) {
  for (const std::string line :
       {"n1 applied 2", "n1 applied 2 a", "1 applied 2 #a", "n1 forgot 2 #a", "n1 applied x #a",
        "n1 applied 2 #a more", "n1 applied 2 #", "n1  applied 2 #a"}) {
    DigestAgreement agreement;
    const auto reports = report_digests(line + "\n", agreement);
    ASSERT_FALSE(reports.has_value()) << line;
    EXPECT_EQ(reports.error().detail, line);
  }
}

}  // namespace
}  // namespace cadastre::sim::checkers
