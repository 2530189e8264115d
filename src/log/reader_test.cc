#include "log/reader.h"

#include <vector>

#include <gtest/gtest.h>

#include "log/steps_testing.h"

namespace cadastre::log {
namespace {

Reader::Request request(std::uint64_t token) {
  return {GroupId{1}, Incarnation{1}, Index{1}, Index{9}, token};
}

class ReaderTest : public ::testing::Test {
 protected:
  // What may be read for the request that waited longest.
  std::size_t take_bytes() { return reader_.take()->bytes_max; }

  StepRunner runner_;
  Reader reader_{runner_};
};

TEST_F(ReaderTest, OneThatIsAloneGetsMuchAtOnce) {  // L-39
  reader_.ask(request(1));
  EXPECT_EQ(take_bytes(), kFetchBytesMax);
  EXPECT_FALSE(reader_.take());
}

TEST_F(ReaderTest, WhoeverWaitsMakesTheReadBeforeThemShorter) {  // L-39
  for (std::uint64_t token = 0; token < 4; ++token)
    reader_.ask(request(token));
  EXPECT_EQ(take_bytes(), kFetchBytesMax / 4);
  EXPECT_EQ(take_bytes(), kFetchBytesMax / 3);
  EXPECT_EQ(take_bytes(), kFetchBytesMax / 2);
  EXPECT_EQ(take_bytes(), kFetchBytesMax);
}

TEST_F(ReaderTest, NoReadIsTooShortToBeWorthIt) {  // L-39
  for (std::uint64_t token = 0; token < 2 * kFetchBytesMax / kFetchBytesMin; ++token)
    reader_.ask(request(token));
  EXPECT_EQ(take_bytes(), kFetchBytesMin);
}

TEST_F(ReaderTest, AnswersAreTakenOnce) {
  reader_.finish({request(3), base::fail(LogReadError::kGone)});
  ASSERT_EQ(reader_.take_finished().size(), 1U);
  EXPECT_TRUE(reader_.take_finished().empty());
}

}  // namespace
}  // namespace cadastre::log
