#include "log/snapshot_mail.h"

#include <variant>

#include <gtest/gtest.h>

#include "log/request_limits.h"
#include "log/steps_testing.h"

namespace cadastre::log {
namespace {

TEST(SnapshotMail, KeepsTheLastReportOfAPeerOnAGroupAndSoManyAtMost) {
  StepRunner runner;
  SnapshotMail mail(runner);
  mail.post_report({NodeId{1}, GroupId{7}, {Index{5}, false}});
  mail.post_report({NodeId{1}, GroupId{7}, {Index{6}, true}});
  const auto letters = mail.take();
  ASSERT_EQ(letters.size(), 1U);
  EXPECT_EQ(std::get<SnapshotMail::Reported>(letters[0]).report, (SnapshotReport{Index{6}, true}));
  EXPECT_TRUE(mail.take().empty());
  for (std::uint64_t group = 1; group <= 2 * kSnapshotReportsMax; ++group)
    mail.post_report({NodeId{1}, GroupId{group}, {}});
  mail.post(
      SnapshotMail::Switched{GroupId{7}});  // What the node itself began is never turned away.
  EXPECT_EQ(mail.take().size(), kSnapshotReportsMax + 1);
}

}  // namespace
}  // namespace cadastre::log
