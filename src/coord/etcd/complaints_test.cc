#include "coord/etcd/complaints.h"

#include <gtest/gtest.h>

#include "base/clock.h"
#include "base/logger.h"
#include "base/logger_testing.h"
#include "coord/errors.h"
#include "coord/etcd/store.h"

namespace cadastre::coord::etcd {
namespace {

const base::Error<StoreError> kAway{StoreError::kUnavailable, "away"};

TEST(Complaints, OfEachChoreOneLineIsWrittenInAWhile) {
  base::ManualClock clock;
  base::CapturedLog log;
  const base::Logger logger(log, clock, base::LogForm::kText);
  Complaints complaints(clock, &logger);
  for (int i = 0; i < 100; ++i)
    complaints.add(Chore::kRevoke, kAway);
  EXPECT_EQ(log.lines().size(), 1U);
  complaints.add(Chore::kKeepAlive, kAway);
  complaints.add(Chore::kHint, corruption("hint", "bytes"));
  EXPECT_EQ(log.lines().size(), 3U);
  clock.advance(kComplaintEvery);
  complaints.add(Chore::kRevoke, kAway);
  EXPECT_EQ(log.lines().size(), 4U);
  EXPECT_NE(log.lines().back().find("unwritten=99"), std::string::npos);
  for (const base::LogLevel level : log.levels())
    EXPECT_EQ(level, base::LogLevel::kWarn);
}

TEST(Complaints, WithoutALogNothingIsWritten) {
  base::ManualClock clock;
  Complaints complaints(clock, nullptr);
  complaints.add(Chore::kRevoke, kAway);
}

}  // namespace
}  // namespace cadastre::coord::etcd
