#include "coord/etcd/grpc_messages.h"

#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "etcd/rpc.pb.h"

#include "base/result.h"
#include "coord/etcd/store.h"

namespace cadastre::coord::etcd {
namespace {

using base::fail;

template <class... Fs>
struct Overloaded : Fs... {
  using Fs::operator()...;
};

etcdserverpb::Compare to_message(Compare compare) {
  etcdserverpb::Compare out;
  out.set_key(std::move(compare.key));
  out.set_result(etcdserverpb::Compare::EQUAL);
  std::visit(Overloaded{
                 [&out](const Compare::Modified& that) {
                   out.set_target(etcdserverpb::Compare::MOD);
                   out.set_mod_revision(that.revision.value());
                 },
                 [&out](const Compare::Absent&) {
                   out.set_target(etcdserverpb::Compare::VERSION);
                   out.set_version(0);
                 },
                 [&out](const Compare::Present&) {
                   out.set_target(etcdserverpb::Compare::VERSION);
                   out.set_result(etcdserverpb::Compare::GREATER);
                   out.set_version(0);
                 },
                 [&out](Compare::Value& that) {
                   out.set_target(etcdserverpb::Compare::VALUE);
                   out.set_value(std::move(that.value));
                 },
                 [&out](const Compare::BoundTo& that) {
                   out.set_target(etcdserverpb::Compare::LEASE);
                   out.set_lease(that.lease.value());
                 },
             },
             compare.that);
  return out;
}

etcdserverpb::RequestOp to_message(Operation operation) {
  etcdserverpb::RequestOp out;
  std::visit(Overloaded{
                 [&out](Range& range) {
                   *out.mutable_request_range() = etcd::to_message(std::move(range));
                 },
                 [&out](Put& put) {
                   auto& message = *out.mutable_request_put();
                   message.set_key(std::move(put.key));
                   message.set_value(std::move(put.value));
                   message.set_lease(put.lease.value());
                 },
                 [&out](Delete& erase) {
                   auto& message = *out.mutable_request_delete_range();
                   message.set_key(std::move(erase.key));
                   message.set_range_end(std::move(erase.end));
                 },
             },
             operation);
  return out;
}

bool lies_in(std::string_view key, const etcdserverpb::RangeRequest& range) {
  if (range.range_end().empty()) return key == range.key();
  return key >= range.key() && key < range.range_end();
}

Result<RangeResult, StoreError> not_understood() {
  return fail(StoreError::kOutcomeUnknown, "etcd's answer does not fit the request");
}

Result<RangeResult, StoreError> take_range(const etcdserverpb::RangeRequest& request,
                                           etcdserverpb::RangeResponse& response,
                                           Revision at) {
  if (request.limit() > 0 && response.kvs_size() > request.limit()) return not_understood();
  if (response.count() < response.kvs_size()) return not_understood();
  if (request.count_only() && response.kvs_size() > 0) return not_understood();
  RangeResult result{.keys = {}, .count = response.count(), .more = response.more(), .at = at};
  result.keys.reserve(static_cast<std::size_t>(response.kvs_size()));
  for (etcdserverpb::KeyValue& pair : *response.mutable_kvs()) {
    if (!lies_in(pair.key(), request)) return not_understood();
    if (!result.keys.empty() && pair.key() <= result.keys.back().key) return not_understood();
    result.keys.push_back({.key = std::move(*pair.mutable_key()),
                           .value = std::move(*pair.mutable_value()),
                           .modified = Revision{pair.mod_revision()},
                           .version = pair.version(),
                           .lease = LeaseId{pair.lease()}});
  }
  return result;
}

bool is_answer_to(const etcdserverpb::RequestOp& request,
                  const etcdserverpb::ResponseOp& response) {
  return (request.has_request_range() && response.has_response_range()) ||
         (request.has_request_put() && response.has_response_put()) ||
         (request.has_request_delete_range() && response.has_response_delete_range());
}

}  // namespace

etcdserverpb::RangeRequest to_message(Range range) {
  etcdserverpb::RangeRequest out;
  out.set_key(std::move(range.key));
  out.set_range_end(std::move(range.end));
  out.set_limit(range.limit);
  out.set_keys_only(range.fields == Fields::kKeys);
  out.set_count_only(range.fields == Fields::kCount);
  out.set_revision(range.at.value());
  return out;
}

etcdserverpb::TxnRequest to_message(Transaction transaction) {
  etcdserverpb::TxnRequest out;
  for (Compare& compare : transaction.compares)
    *out.add_compare() = to_message(std::move(compare));
  for (Operation& operation : transaction.success)
    *out.add_success() = to_message(std::move(operation));
  for (Operation& operation : transaction.failure)
    *out.add_failure() = to_message(std::move(operation));
  return out;
}

Result<RangeResult, StoreError> from_message(const etcdserverpb::RangeRequest& request,
                                             etcdserverpb::RangeResponse response) {
  return take_range(request, response, Revision{response.header().revision()});
}

Result<TransactionResult, StoreError> from_message(const etcdserverpb::TxnRequest& request,
                                                   etcdserverpb::TxnResponse response) {
  const auto& operations = response.succeeded() ? request.success() : request.failure();
  if (operations.size() != response.responses_size())
    return fail(StoreError::kOutcomeUnknown, "etcd's answer does not fit the request");
  TransactionResult result{.succeeded = response.succeeded(),
                           .at = Revision{response.header().revision()},
                           .ranges = {}};
  for (int i = 0; i < operations.size(); ++i) {
    if (!is_answer_to(operations[i], response.responses(i)))
      return fail(StoreError::kOutcomeUnknown, "etcd's answer does not fit the request");
    if (!operations[i].has_request_range()) continue;
    result.ranges.push_back(
        CAD_TRY(take_range(operations[i].request_range(),
                           *response.mutable_responses(i)->mutable_response_range(), result.at)));
  }
  return result;
}

}  // namespace cadastre::coord::etcd
