#include "coord/etcd/grpc_messages.h"

#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "etcd/rpc.pb.h"

#include "coord/etcd/store.h"

namespace cadastre::coord::etcd {
namespace {

etcdserverpb::RangeResponse answer_with(std::initializer_list<std::string> keys) {
  etcdserverpb::RangeResponse response;
  response.mutable_header()->set_revision(9);
  for (const std::string& key : keys)
    response.add_kvs()->set_key(key);
  response.set_count(response.kvs_size());
  return response;
}

// C-10.5: each guard as etcd's compare.
TEST(GrpcMessages, WriteEveryCompare) {
  const auto message = to_message(Transaction{
      .compares = {{"a", Compare::Modified{Revision{7}}},
                   {"b", Compare::Absent{}},
                   {"c", Compare::Present{}},
                   {"d", Compare::Value{"v"}},
                   {"e", Compare::BoundTo{LeaseId{5}}}},
      .success = {Put{"p", "x", LeaseId{5}}, Delete{"q", "r"}},
      .failure = {Range{"s", "t", 3, Fields::kKeys}},
  });
  ASSERT_EQ(message.compare_size(), 5);
  using Message = etcdserverpb::Compare;
  EXPECT_EQ(message.compare(0).target(), Message::MOD);
  EXPECT_EQ(message.compare(0).mod_revision(), 7);
  EXPECT_EQ(message.compare(1).target(), Message::VERSION);
  EXPECT_EQ(message.compare(1).result(), Message::EQUAL);
  EXPECT_EQ(message.compare(2).target(), Message::VERSION);
  EXPECT_EQ(message.compare(2).result(), Message::GREATER);
  EXPECT_EQ(message.compare(2).version(), 0);
  EXPECT_EQ(message.compare(3).value(), "v");
  EXPECT_EQ(message.compare(4).target(), Message::LEASE);
  EXPECT_EQ(message.compare(4).lease(), 5);
  ASSERT_EQ(message.success_size(), 2);
  EXPECT_EQ(message.success(0).request_put().lease(), 5);
  EXPECT_EQ(message.success(1).request_delete_range().range_end(), "r");
  ASSERT_EQ(message.failure_size(), 1);
  EXPECT_EQ(message.failure(0).request_range().limit(), 3);
  EXPECT_TRUE(message.failure(0).request_range().keys_only());
}

TEST(GrpcMessages, TakeTheAnswerOfTheListThatWasCarriedOut) {
  const auto request = to_message(Transaction{
      .compares = {}, .success = {Put{"p", "x"}}, .failure = {Range{"a", "c"}, Range{"d", ""}}});
  etcdserverpb::TxnResponse response;
  response.mutable_header()->set_revision(12);
  *response.add_responses()->mutable_response_range() = answer_with({"a", "b"});
  *response.add_responses()->mutable_response_range() = answer_with({});
  const auto result = from_message(request, response);
  ASSERT_TRUE(result);
  EXPECT_FALSE(result->succeeded);
  EXPECT_EQ(result->at, Revision{12});
  ASSERT_EQ(result->ranges.size(), 2U);
  EXPECT_EQ(result->ranges[0].keys.size(), 2U);
  EXPECT_EQ(result->ranges[0].at, Revision{12});
}

TEST(GrpcMessages, RefuseAnAnswerThatDoesNotFit) {
  const auto of_range = [](Range range, etcdserverpb::RangeResponse response) {
    return from_message(to_message(std::move(range)), std::move(response)).has_value();
  };
  EXPECT_TRUE(of_range({"a", "c"}, answer_with({"a", "b"})));
  EXPECT_FALSE(of_range({"a", "c"}, answer_with({"b", "a"}))) << "not ascending";
  EXPECT_FALSE(of_range({"a", "c"}, answer_with({"b", "b"}))) << "a key twice";
  EXPECT_FALSE(of_range({"a", "c"}, answer_with({"c"}))) << "behind the range";
  EXPECT_FALSE(of_range({"b", ""}, answer_with({"c"}))) << "another key";
  EXPECT_FALSE(of_range({"a", "c", 1}, answer_with({"a", "b"}))) << "more than the limit";
  EXPECT_FALSE(of_range({"a", "c", 0, Fields::kCount}, answer_with({"a"}))) << "only the count";
  auto fewer = answer_with({"a"});
  fewer.set_count(0);
  EXPECT_FALSE(of_range({"a", "c"}, fewer)) << "counts less than it has";

  const auto request =
      to_message(Transaction{.compares = {}, .success = {Put{"p", "x"}}, .failure = {}});
  etcdserverpb::TxnResponse response;
  response.set_succeeded(true);
  EXPECT_FALSE(from_message(request, response)) << "no answer to the put";
  response.add_responses()->mutable_response_range();
  EXPECT_FALSE(from_message(request, response)) << "an answer of another kind";
}

}  // namespace
}  // namespace cadastre::coord::etcd
