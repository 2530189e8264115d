#include "log/address_book.h"

#include <string>

#include <gtest/gtest.h>

#include "log/frame_limits.h"

namespace cadastre::log {
namespace {

PeerAddress at(std::uint64_t node, std::string peer) {
  return {NodeId{node}, {std::move(peer), {}}};
}

TEST(AddressBook, ALaterSourceWinsWhateverTheOrderOfHearing) {  // L-69
  AddressBook book;
  EXPECT_FALSE(book.find(NodeId{1}));
  EXPECT_TRUE(book.learn(AddressSource::kConfiguration, at(1, "b:2")));
  EXPECT_FALSE(book.learn(AddressSource::kTopology, at(1, "a:1")));
  EXPECT_EQ(book.find(NodeId{1})->peer, "b:2");
  EXPECT_TRUE(book.learn(AddressSource::kNodeItself, at(1, "c:3")));
  EXPECT_FALSE(book.learn(AddressSource::kConfiguration, at(1, "d:4")));
  EXPECT_EQ(book.find(NodeId{1})->peer, "c:3");
  EXPECT_TRUE(book.learn(AddressSource::kNodeItself, at(1, "e:5")));
  EXPECT_FALSE(book.learn(AddressSource::kNodeItself, at(1, "e:5")));
}

TEST(AddressBook, ASourceThatIsReadAgainForgetsWhatItNamesNoMore) {  // L-69
  AddressBook book;
  EXPECT_TRUE(book.replace(AddressSource::kTopology, {at(1, "a:1"), at(2, "a:2")}));
  EXPECT_TRUE(book.learn(AddressSource::kConfiguration, at(2, "b:2")));
  EXPECT_TRUE(book.replace(AddressSource::kTopology, {at(3, "a:3")}));
  EXPECT_EQ(book.all(), (std::vector<PeerAddress>{at(2, "b:2"), at(3, "a:3")}));
  EXPECT_FALSE(book.replace(AddressSource::kTopology, {at(3, "a:3")}));
}

TEST(AddressBook, TakesInNothingThatIsNoAddressAndNoMoreThanItsBound) {  // L-8
  AddressBook book;
  EXPECT_FALSE(book.learn(AddressSource::kNodeItself, at(1, "")));
  EXPECT_FALSE(book.learn(AddressSource::kNodeItself, at(1, "a\nb")));
  EXPECT_FALSE(book.learn(AddressSource::kNodeItself, {NodeId{1}, {"a:1", "b c"}}));
  for (std::uint64_t node = 1; node <= kPeersMax; ++node)
    EXPECT_TRUE(book.learn(AddressSource::kTopology, at(node, "a:1")));
  EXPECT_FALSE(book.learn(AddressSource::kTopology, at(kPeersMax + 1, "a:1")));
  EXPECT_TRUE(book.learn(AddressSource::kTopology, at(kPeersMax, "a:2")));
  EXPECT_EQ(book.all().size(), kPeersMax);
}

}  // namespace
}  // namespace cadastre::log
