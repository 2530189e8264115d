// The recorder counts, fails the chosen call and no other, and keeps it from the writer behind.

#include <cstdint>
#include <memory>

#include <gtest/gtest.h>

#include "base/bytes.h"
#include "kv/error.h"
#include "kv/kv.h"
#include "kv/memory_testing.h"
#include "kv/recording_testing.h"
#include "kv/store.h"

namespace cadastre::kv {
namespace {

class RecordingWriterTest : public testing::Test {
 protected:
  const std::unique_ptr<Store> store_ = open_memory_store();
  const SpaceId space_ = store_->open_space("space").value();
  const std::unique_ptr<WriteTransaction> txn_ = store_->begin_write().value();
  Writer& behind_ = txn_->writer(space_);
  CallScript script_;
  RecordingWriter writer_{behind_, script_};
  const ByteView key_ = base::as_bytes("key");
  const ByteView value_ = base::as_bytes("value");
};

TEST_F(RecordingWriterTest, CountsEveryCall) {
  ASSERT_TRUE(writer_.put(key_, value_));
  EXPECT_TRUE(base::equal(**writer_.get(key_), value_));
  {
    const auto cursor = writer_.cursor().value();
    EXPECT_TRUE(cursor->seek_floor(key_)->has_value());
    EXPECT_TRUE(cursor->seek_ceiling(key_)->has_value());
    EXPECT_FALSE(cursor->next()->has_value());
    EXPECT_TRUE(cursor->prev()->has_value());
  }
  ASSERT_TRUE(writer_.erase(key_));
  ASSERT_TRUE(writer_.erase_range(key_, value_));
  EXPECT_EQ(script_.count(Call::kPut), 1U);
  EXPECT_EQ(script_.count(Call::kGet), 1U);
  EXPECT_EQ(script_.count(Call::kCursor), 1U);
  EXPECT_EQ(script_.count(Call::kSeek), 2U);
  EXPECT_EQ(script_.count(Call::kStep), 2U);
  EXPECT_EQ(script_.count(Call::kErase), 1U);
  EXPECT_EQ(script_.count(Call::kEraseRange), 1U);
  EXPECT_EQ(script_.mutations(), 3U);
  EXPECT_EQ(script_.calls(), 9U);
  EXPECT_EQ(writer_.mutation_count(), behind_.mutation_count());
  EXPECT_EQ(&writer_.limits(), &behind_.limits());
}

TEST_F(RecordingWriterTest, FailsTheChosenCallOnly) {
  const Error error{ErrorCode::kUnavailable, 5};
  for (std::uint64_t nth = 1; nth <= 3; ++nth) {
    const std::uint64_t before = behind_.mutation_count();
    script_.fail_call(nth, error);
    for (std::uint64_t call = 1; call <= 3; ++call) {
      const auto answer = writer_.put(key_, value_);
      ASSERT_EQ(answer.has_value(), call != nth);
      EXPECT_TRUE(answer || answer.error() == error);
    }
    EXPECT_EQ(behind_.mutation_count(), before + 2);
    EXPECT_TRUE(script_.has_failed());
    EXPECT_EQ(script_.calls_after_failure(), 3 - nth);
  }
}

TEST_F(RecordingWriterTest, CallsTheHookBeforeTheCall) {
  bool was_there = true;
  script_.before_call([&](Call call) {
    EXPECT_EQ(call, Call::kPut);
    was_there = behind_.get(key_)->has_value();
  });
  ASSERT_TRUE(writer_.put(key_, value_));
  EXPECT_FALSE(was_there);
}

}  // namespace
}  // namespace cadastre::kv
