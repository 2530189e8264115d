// Store's values as etcd's messages, and etcd's answers as Store's values.
//
// An answer is checked before it is believed: as many parts of the right kinds as were asked for, keys within
// their range and in order. The generated classes are only named here.

#pragma once

#include <vector>

#include "base/result.h"
#include "coord/etcd/store.h"

namespace etcdserverpb {  // NOLINT(readability-identifier-naming): etcd's own name
class RangeRequest;
class RangeResponse;
class TxnRequest;
class TxnResponse;
}  // namespace etcdserverpb

namespace cadastre::coord::etcd {

[[nodiscard]] etcdserverpb::RangeRequest to_message(Range range);
[[nodiscard]] etcdserverpb::TxnRequest to_message(Transaction transaction);

// Nothing was understood: kOutcomeUnknown.
[[nodiscard]] Result<RangeResult, StoreError> from_message(
    const etcdserverpb::RangeRequest& request, etcdserverpb::RangeResponse response);
[[nodiscard]] Result<TransactionResult, StoreError> from_message(
    const etcdserverpb::TxnRequest& request, etcdserverpb::TxnResponse response);

}  // namespace cadastre::coord::etcd
