// Answers of etcd: any bytes that are a message at all are refused or taken, and what is taken fits the
// request. The first byte chooses the request, the rest is the answer to it.

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "etcd/rpc.pb.h"

#include "base/bytes.h"
#include "base/check.h"
#include "coord/etcd/grpc_messages.h"
#include "coord/etcd/store.h"
#include "fuzz/target.h"

namespace cadastre::fuzz {
namespace {

namespace etcd = coord::etcd;

constexpr std::byte kOfRange{1};  // Else a transaction.
constexpr std::byte kLimited{2};
constexpr std::byte kOneKey{4};

etcd::Range chosen_range(std::byte choice) {
  const auto has = [choice](std::byte bit) {
    return (choice & bit) != std::byte{0};
  };
  return {.key = "a", .end = has(kOneKey) ? "" : "c", .limit = has(kLimited) ? 1 : 0};
}

void check_range(const etcd::Range& asked, const etcd::RangeResult& taken) {
  CAD_CHECK(asked.limit == 0 || taken.keys.size() <= 1, "no more than the limit");
  CAD_CHECK(std::ranges::is_sorted(taken.keys, {}, &etcd::KeyValue::key), "keys ascend");
  for (const etcd::KeyValue& pair : taken.keys)
    CAD_CHECK(asked.end.empty() ? pair.key == "a" : pair.key >= "a" && pair.key < "c",
              "keys lie in their range");
}

void check_transaction(const etcd::Range& asked, const std::string& bytes) {
  etcdserverpb::TxnResponse response;
  if (!response.ParseFromString(bytes)) return;
  const auto request = etcd::to_message(etcd::Transaction{
      .compares = {}, .success = {etcd::Put{"p", "v"}, asked}, .failure = {asked, asked}});
  const auto taken = etcd::from_message(request, std::move(response));
  if (!taken) return;
  CAD_CHECK(taken->ranges.size() == (taken->succeeded ? 1U : 2U), "every range is answered");
  for (const etcd::RangeResult& range : taken->ranges)
    check_range(asked, range);
}

}  // namespace

void run_one(base::ByteView input) {
  if (input.empty()) return;
  const std::string bytes(base::as_text(input.subspan(1)));
  const etcd::Range asked = chosen_range(input[0]);
  if ((input[0] & kOfRange) == std::byte{0}) return check_transaction(asked, bytes);
  etcdserverpb::RangeResponse response;
  if (!response.ParseFromString(bytes)) return;
  const auto taken = etcd::from_message(etcd::to_message(asked), std::move(response));
  if (taken) check_range(asked, *taken);
}

}  // namespace cadastre::fuzz
