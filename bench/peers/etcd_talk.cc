#include "bench/peers/etcd_talk.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "etcd/rpc.pb.h"

#include "base/check.h"

namespace cadastre::bench {
namespace {

namespace pb = etcdserverpb;

constexpr std::string_view kTxn = "/etcdserverpb.KV/Txn";
constexpr std::string_view kRange = "/etcdserverpb.KV/Range";
constexpr std::string_view kGrant = "/etcdserverpb.Lease/LeaseGrant";
constexpr std::string_view kRevoke = "/etcdserverpb.Lease/LeaseRevoke";
constexpr std::int64_t kLeaseSeconds = 600;

template <class Message>
Message parsed(const std::string& bytes) {
  Message message;
  CAD_CHECK(message.ParseFromString(bytes), "etcd answers with its own messages");
  return message;
}

pb::Compare& add_compare(pb::TxnRequest& request,
                         const std::string& key,
                         pb::Compare::CompareTarget target,
                         pb::Compare::CompareResult result = pb::Compare::EQUAL) {
  pb::Compare& compare = *request.add_compare();
  compare.set_key(key);
  compare.set_target(target);
  compare.set_result(result);
  return compare;
}

UnaryCall grant_call(std::int64_t seconds) {
  pb::LeaseGrantRequest request;
  request.set_ttl(seconds);
  return {kGrant, request.SerializeAsString()};
}
UnaryCall revoke_call(std::int64_t lease) {
  pb::LeaseRevokeRequest request;
  request.set_id(lease);
  return {kRevoke, request.SerializeAsString()};
}

}  // namespace

std::int64_t EtcdCalls::grant_lease(std::int64_t seconds) {
  return parsed<pb::LeaseGrantResponse>(call(grant_call(seconds))).id();
}
void EtcdCalls::revoke_lease(std::int64_t lease) {
  (void)parsed<pb::LeaseRevokeResponse>(call(revoke_call(lease)));
}

EtcdRecord EtcdCalls::make_record(std::string_view name, std::size_t record_bytes) {
  EtcdRecord record{.record_key = std::string(name),
                    .owner_key = fmt::format("{}/owner", name),
                    .owner_value = std::string(19, 'o'),  // As many bytes as ours.
                    .owner_lease = grant_lease(kLeaseSeconds)};
  pb::TxnRequest request;
  pb::PutRequest& put = *request.add_success()->mutable_request_put();
  put.set_key(record.record_key);
  put.set_value(std::string(record_bytes, 'r'));
  pb::PutRequest& owner = *request.add_success()->mutable_request_put();
  owner.set_key(record.owner_key);
  owner.set_value(record.owner_value);
  owner.set_lease(record.owner_lease);
  const auto response = parsed<pb::TxnResponse>(call({kTxn, request.SerializeAsString()}));
  record.revision = response.header().revision();
  return record;
}

std::string EtcdCalls::value_of(const std::string& key) {
  pb::RangeRequest request;
  request.set_key(key);
  const auto response = parsed<pb::RangeResponse>(call({kRange, request.SerializeAsString()}));
  return response.kvs().empty() ? std::string() : response.kvs(0).value();
}

std::size_t EtcdCalls::largest_value_bytes(const std::string& head) {
  pb::RangeRequest request;
  request.set_key(head);
  std::string end = head;
  ++end.back();  // The first key without this head; the last byte is no 0xff.
  request.set_range_end(end);
  const auto response = parsed<pb::RangeResponse>(call({kRange, request.SerializeAsString()}));
  std::size_t largest = 0;
  for (const pb::KeyValue& one : response.kvs())
    largest = std::max(largest, one.value().size());
  return largest;
}

UnaryCall guarded_put(const EtcdRecord& record, std::string_view value) {
  pb::TxnRequest request;
  add_compare(request, record.record_key, pb::Compare::MOD).set_mod_revision(record.revision);
  add_compare(request, record.owner_key, pb::Compare::VERSION, pb::Compare::GREATER).set_version(0);
  add_compare(request, record.owner_key, pb::Compare::VALUE).set_value(record.owner_value);
  add_compare(request, record.owner_key, pb::Compare::LEASE).set_lease(record.owner_lease);
  pb::PutRequest& put = *request.add_success()->mutable_request_put();
  put.set_key(record.record_key);
  put.set_value(value.data(), value.size());
  for (const std::string* key : {&record.record_key, &record.owner_key})
    request.add_failure()->mutable_request_range()->set_key(*key);
  return {kTxn, request.SerializeAsString()};
}

GuardedAnswer guarded_answer(const std::string& response) {
  const auto answer = parsed<pb::TxnResponse>(response);
  GuardedAnswer out{.succeeded = answer.succeeded(), .revision = answer.header().revision()};
  for (const pb::ResponseOp& one : answer.responses())
    out.keys_read += static_cast<std::size_t>(one.response_range().kvs_size());
  return out;
}

GuardedPuts::GuardedPuts(EtcdRecord record, std::size_t value_bytes)
    : record_(std::move(record)), value_(value_bytes, 'r') {}

UnaryCall GuardedPuts::next() {
  const std::string step = fmt::format("{:016x}", ++step_);
  value_.replace(0, step.size(), step);
  return guarded_put(record_, value_);
}

bool GuardedPuts::answered(const std::string& response) {
  const GuardedAnswer answer = guarded_answer(response);
  CAD_CHECK(answer.succeeded, "nobody else changes this record");
  record_.revision = answer.revision;
  return true;
}

UnaryCall lock_call(const std::string& key, std::int64_t lease) {
  pb::TxnRequest request;
  add_compare(request, key, pb::Compare::CREATE).set_create_revision(0);
  pb::PutRequest& put = *request.add_success()->mutable_request_put();
  put.set_key(key);
  put.set_lease(lease);
  return {kTxn, request.SerializeAsString()};
}

bool is_locked(const std::string& response) {
  return parsed<pb::TxnResponse>(response).succeeded();
}

UnaryCall unlock_call(const std::string& key, std::int64_t lease) {
  pb::TxnRequest request;
  add_compare(request, key, pb::Compare::LEASE).set_lease(lease);
  request.add_success()->mutable_request_delete_range()->set_key(key);
  return {kTxn, request.SerializeAsString()};
}

LockPairs::LockPairs(std::string head, std::size_t count, std::int64_t lease)
    : head_(std::move(head)), count_(count), lease_(lease) {}

std::string LockPairs::key() const {
  return fmt::format("{}/{:06}", head_, at_ % count_);
}

UnaryCall LockPairs::next() {
  return held_ ? unlock_call(key(), lease_) : lock_call(key(), lease_);
}

bool LockPairs::answered(const std::string& response) {
  CAD_CHECK(is_locked(response), "nobody else wants this lock");
  held_ = !held_;
  if (held_) return false;
  ++at_;
  return true;
}

LeasedLockPairs::LeasedLockPairs(std::string head, std::size_t count)
    : head_(std::move(head)), count_(count) {}

std::string LeasedLockPairs::key() const {
  return fmt::format("{}/{:06}", head_, at_ % count_);
}

UnaryCall LeasedLockPairs::next() {
  switch (step_) {
    case Step::kGrant: return grant_call(kLeaseSeconds);
    case Step::kLock: return lock_call(key(), lease_);
    case Step::kRevoke: return revoke_call(lease_);
  }
  CAD_CHECK(false, "every step has its call");
}

bool LeasedLockPairs::answered(const std::string& response) {
  switch (step_) {
    case Step::kGrant:
      lease_ = parsed<pb::LeaseGrantResponse>(response).id();
      step_ = Step::kLock;
      return false;
    case Step::kLock:
      CAD_CHECK(is_locked(response), "nobody else wants this lock");
      step_ = Step::kRevoke;
      return false;
    case Step::kRevoke:
      ++at_;
      step_ = Step::kGrant;
      return true;
  }
  CAD_CHECK(false, "every step has its answer");
}

}  // namespace cadastre::bench
