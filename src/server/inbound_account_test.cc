#include "server/inbound_account.h"

#include <memory>
#include <vector>

#include <gtest/gtest.h>

namespace cadastre::server {
namespace {

TEST(InboundAccount, WakesOnceWhenThereIsRoomAgain) {  // 1.3
  const auto account = std::make_shared<InboundAccount>();
  int woken = 0;
  const auto wait = [&] {
    return account->wait_for_room([&] { ++woken; });
  };
  auto half = account->take(log::kPeerInboundBytesMax);
  EXPECT_FALSE(wait());
  auto more = account->take(1);
  EXPECT_TRUE(wait());
  auto still_more = account->take(1);
  EXPECT_EQ(account->bytes(), log::kPeerInboundBytesMax + 2);
  more.reset();
  EXPECT_EQ(woken, 0);
  still_more.reset();
  EXPECT_EQ(woken, 1);
  half.reset();
  EXPECT_EQ(woken, 1);
  EXPECT_EQ(account->bytes(), 0U);
}

TEST(InboundAccount, MemoryIsChargedUntilItsLastUserIsGone) {
  auto account = std::make_shared<InboundAccount>();
  const std::weak_ptr<InboundAccount> watched = account;
  auto memory = account->take(100);
  std::vector<log::Body> bodies;
  bodies.emplace_back(memory, log::ByteView{memory.get(), 10});
  bodies.emplace_back(memory, log::ByteView{memory.get() + 10, 90});
  memory.reset();
  bodies.pop_back();
  EXPECT_EQ(account->bytes(), 100U);
  account.reset();  // The transport is gone, a frame is not.
  EXPECT_FALSE(watched.expired());
  bodies.clear();
  EXPECT_TRUE(watched.expired());
}

}  // namespace
}  // namespace cadastre::server
