// Splits by keys: a caller names where to cut, and the plan follows from the shard's record.
//
// Hints are propagated to the new shards. A plan that cannot be made is refused with its reason, but
// only where the protocol would have come to look at it: a retry, a reused op id and a lost lease are
// told first.
//
// The payload of a residual split holds the range before the cut, which a retry no longer finds in
// the shrunken parent. It is put together again: the op id tells which shard was split off, its
// range tells the old end, and a split always leaves hints that follow from the range alone.

#pragma once

#include <span>
#include <string>

#include "base/bytes.h"
#include "base/result.h"
#include "cli/command_error.h"
#include "cli/coord_request.h"
#include "cli/coord_session.h"
#include "coord/identity.h"
#include "coord/lease.h"

namespace cadastre::cli {

using base::Result;

// The shard ends; children begin at its start and at each of `points`, with nothing done in them.
[[nodiscard]] Result<std::string, CommandError> split_replace(CoordSession& session,
                                                              const Caller& caller,
                                                              const coord::Lease& lease,
                                                              std::span<const base::Bytes> points,
                                                              coord::OpId op);

// The shard keeps what is below `point`; a new one takes the rest.
[[nodiscard]] Result<std::string, CommandError> split_residual(CoordSession& session,
                                                               const Caller& caller,
                                                               const coord::Lease& lease,
                                                               base::ByteView point,
                                                               coord::OpId op);

}  // namespace cadastre::cli
