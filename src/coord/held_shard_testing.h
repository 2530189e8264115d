// A record that a worker holds, for tests of rules that look at one record only.
//
// As the conformance fixture leaves it at time 10: tenant 01..01, run 1, shard 10 over [a, z), leased
// to worker 1 until 110 under epoch 2. A test changes what its case is about.

#pragma once

#include "base/bytes.h"
#include "coord/backend.h"
#include "coord/identity.h"
#include "coord/identity_testing.h"
#include "coord/lease.h"
#include "coord/lease_rules.h"
#include "coord/record_codec.h"
#include "coord/shard_record.h"
#include "shard/cursor.h"
#include "shard/shard_spec.h"

namespace cadastre::coord::testing {

class HeldShard {
 public:
  HeldShard()
      : lease_(Lease::granted({.tenant = tenant_of(1),
                               .key = {RunId::from_raw(1), ShardId::from_raw(10)},
                               .owner = worker(1),
                               .fence = FenceEpoch::from_raw(2),
                               .deadline = at(110)})) {
    record.state.tenant = lease_.tenant();
    record.state.run = lease_.run();
    record.state.shard = lease_.shard();
    record.state.lease = LeaseHolder{lease_.owner(), lease_.deadline()};
    record.state.fence = lease_.fence();
    set_spec(shard::ShardSpecRef::unchecked(base::as_bytes("a"), base::as_bytes("z")));
  }

  void set_spec(const shard::ShardSpecRef& spec) {
    record.start = base::to_owned(spec.start());
    record.end = base::to_owned(spec.end());
    record.metadata = base::to_owned(spec.metadata());
  }
  void set_cursor(const shard::CursorUpdate& cursor) {
    record.last_key = base::to_owned(cursor.last_key().value_or(base::ByteView{}));
    record.token = base::to_owned(cursor.token().value_or(base::ByteView{}));
  }

  // Borrows this shard, until it changes.
  [[nodiscard]] ShardRecordView view() { return view_of(record, spawned_); }
  // The holder's, at time 11.
  [[nodiscard]] LeasedRequest request() const { return {at(11), lease_.tenant(), lease_}; }

  ShardDump record;

 private:
  Lease lease_;
  base::Bytes spawned_;
};

}  // namespace cadastre::coord::testing
