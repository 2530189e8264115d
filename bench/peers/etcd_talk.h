// What one would write on etcd's own API instead of coordination's backend: a record changed under a guard, and a
// lock. As conversations of etcd's messages (grpc_loop.h), and call by call for tests.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "bench/peers/grpc_loop.h"

namespace cadastre::bench {

// A record and its owner's key, which is bound to an etcd lease.
struct EtcdRecord {
  std::string record_key;
  std::string owner_key;
  std::string owner_value;
  std::int64_t owner_lease = 0;
  std::int64_t revision = 0;  // of the record
};

// Waits for each answer. Calls that fail end the process.
class EtcdCalls {
 public:
  explicit EtcdCalls(const std::string& address) : calls_(address) {}

  [[nodiscard]] std::string call(const UnaryCall& call) { return calls_.call(call); }

  [[nodiscard]] std::int64_t grant_lease(std::int64_t seconds);
  void revoke_lease(std::int64_t lease);
  // Puts the record and an owner's key with a lease of its own.
  [[nodiscard]] EtcdRecord make_record(std::string_view name, std::size_t record_bytes);
  // Empty: there is no such key.
  [[nodiscard]] std::string value_of(const std::string& key);
  // Of all keys with this head.
  [[nodiscard]] std::size_t largest_value_bytes(const std::string& head);

 private:
  GrpcCalls calls_;
};

// The guard of a checkpoint: the record's revision, and that the owner's key is there, with this value and this
// lease; then one put, else both keys are read.
[[nodiscard]] UnaryCall guarded_put(const EtcdRecord& record, std::string_view value);
struct GuardedAnswer {
  bool succeeded = false;
  std::int64_t revision = 0;  // of the record after it
  std::size_t keys_read = 0;
};
[[nodiscard]] GuardedAnswer guarded_answer(const std::string& response);

// Guarded puts on one record, one after the other, with values of so many bytes.
class GuardedPuts final : public Conversation {
 public:
  GuardedPuts(EtcdRecord record, std::size_t value_bytes);

  [[nodiscard]] UnaryCall next() override;
  [[nodiscard]] bool answered(const std::string& response) override;

 private:
  EtcdRecord record_;
  std::string value_;
  std::uint64_t step_ = 0;
};

// A key that exists once, bound to a lease: whoever creates it has the lock.
[[nodiscard]] UnaryCall lock_call(const std::string& key, std::int64_t lease);
[[nodiscard]] bool is_locked(const std::string& response);
// Deletes it, if it is still this lease's.
[[nodiscard]] UnaryCall unlock_call(const std::string& key, std::int64_t lease);

// Takes and gives back one lock after the other, of its own `count` names.
class LockPairs final : public Conversation {
 public:
  LockPairs(std::string head, std::size_t count, std::int64_t lease);

  [[nodiscard]] UnaryCall next() override;
  [[nodiscard]] bool answered(const std::string& response) override;

 private:
  [[nodiscard]] std::string key() const;

  std::string head_;
  std::size_t count_;
  std::int64_t lease_;
  std::size_t at_ = 0;
  bool held_ = false;
};

// The same with a lease for each lock, granted before and revoked after it, which is how a lock's life is bound
// to one holder and to nothing else that the holder has.
class LeasedLockPairs final : public Conversation {
 public:
  LeasedLockPairs(std::string head, std::size_t count);

  [[nodiscard]] UnaryCall next() override;
  [[nodiscard]] bool answered(const std::string& response) override;

 private:
  enum class Step : std::uint8_t {
    kGrant,
    kLock,
    kRevoke
  };  // The revocation deletes the key.

  [[nodiscard]] std::string key() const;

  std::string head_;
  std::size_t count_;
  std::int64_t lease_ = 0;
  std::size_t at_ = 0;
  Step step_ = Step::kGrant;
};

}  // namespace cadastre::bench
