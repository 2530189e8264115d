#include "cli/coord_batch.h"

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "base/bytes.h"
#include "base/result.h"
#include "cli/command_error.h"
#include "cli/coord_request.h"
#include "cli/coord_runs.h"
#include "cli/coord_session.h"
#include "cli/coord_shards.h"
#include "cli/coord_splits.h"
#include "cli/json_fields.h"
#include "coord/identity.h"
#include "coord/lease.h"

namespace cadastre::cli {
namespace {

using Answer = Result<std::string, CommandError>;

Answer answer_run_create(CoordSession& session, const Caller& caller, const JsonFields& request) {
  const coord::RunId run = CAD_TRY(parse_run(request));
  return create_run(session, caller, run, CAD_TRY(parse_run_config(request)));
}

Answer answer_run_register(CoordSession& session, const Caller& caller, const JsonFields& request) {
  const coord::RunId run = CAD_TRY(parse_run(request));
  const coord::OpId op = CAD_TRY(parse_op_id(request));
  const auto shards = CAD_TRY(parse_shards(request, session.form.keys));
  return register_shards(session, caller, run, shards, op);
}

Answer answer_run_show(CoordSession& session, const Caller& caller, const JsonFields& request) {
  return show_run(session, caller, CAD_TRY(parse_run(request)));
}

Answer answer_run_list(CoordSession& session, const Caller& caller, const JsonFields& request) {
  return list_runs(session, caller, CAD_TRY(parse_run_listing(request)));
}

template <RunEnd End>
Answer answer_run_end(CoordSession& session, const Caller& caller, const JsonFields& request) {
  const coord::RunId run = CAD_TRY(parse_run(request));
  return end_run(session, caller, run, End, CAD_TRY(parse_op_id(request)));
}

Answer answer_run_gc(CoordSession& session, const Caller& caller, const JsonFields& request) {
  const std::uint64_t before = CAD_TRY(request.u64("before"));
  return collect_runs(session, caller, coord::LogicalTime::from_raw(before));
}

Answer answer_shard_list(CoordSession& session, const Caller& caller, const JsonFields& request) {
  const coord::RunId run = CAD_TRY(parse_run(request));
  return list_shards(session, caller, run, CAD_TRY(parse_shard_listing(request)));
}

Answer answer_claim(CoordSession& session, const Caller& caller, const JsonFields& request) {
  const coord::RunId run = CAD_TRY(parse_run(request));
  return claim_shard(session, caller, run, CAD_TRY(parse_worker(request)));
}

Answer answer_acquire(CoordSession& session, const Caller& caller, const JsonFields& request) {
  const coord::ShardKey key = CAD_TRY(parse_shard_key(request));
  return acquire_shard(session, caller, key, CAD_TRY(parse_worker(request)));
}

Answer answer_renew(CoordSession& session, const Caller& caller, const JsonFields& request) {
  return renew_lease(session, caller, CAD_TRY(parse_lease_of(request, caller.tenant)));
}

Answer answer_renew_many(CoordSession& session, const Caller& caller, const JsonFields& request) {
  return renew_leases(session, caller, CAD_TRY(parse_leases_of(request, caller.tenant)));
}

template <CursorOp Kind>
Answer answer_cursor(CoordSession& session, const Caller& caller, const JsonFields& request) {
  const coord::Lease lease = CAD_TRY(parse_lease_of(request, caller.tenant));
  const coord::OpId op = CAD_TRY(parse_op_id(request));
  auto cursor = CAD_TRY(parse_cursor(request, session.form.keys));
  return move_cursor(session, caller, lease, {Kind, std::move(cursor)}, op);
}

Answer answer_park(CoordSession& session, const Caller& caller, const JsonFields& request) {
  const coord::Lease lease = CAD_TRY(parse_lease_of(request, caller.tenant));
  const coord::OpId op = CAD_TRY(parse_op_id(request));
  return park_shard(session, caller, lease, CAD_TRY(parse_park_reason(request)), op);
}

Answer answer_unpark(CoordSession& session, const Caller& caller, const JsonFields& request) {
  const coord::ShardKey key = CAD_TRY(parse_shard_key(request));
  return unpark_shard(session, caller, key, CAD_TRY(parse_op_id(request)));
}

Answer answer_split_replace(CoordSession& session,
                            const Caller& caller,
                            const JsonFields& request) {
  const coord::Lease lease = CAD_TRY(parse_lease_of(request, caller.tenant));
  const coord::OpId op = CAD_TRY(parse_op_id(request));
  return split_replace(session, caller, lease, CAD_TRY(request.keys("at", session.form.keys)), op);
}

Answer answer_split_residual(CoordSession& session,
                             const Caller& caller,
                             const JsonFields& request) {
  const coord::Lease lease = CAD_TRY(parse_lease_of(request, caller.tenant));
  const coord::OpId op = CAD_TRY(parse_op_id(request));
  const base::Bytes at = CAD_TRY(request.key("at", session.form.keys));
  return split_residual(session, caller, lease, at, op);
}

struct Operation {
  std::string_view name;
  Answer (*answer)(CoordSession& session, const Caller& caller, const JsonFields& request);
};

constexpr std::array kOperations = {
    Operation{"run_create", answer_run_create},
    Operation{"run_register", answer_run_register},
    Operation{"run_show", answer_run_show},
    Operation{"run_list", answer_run_list},
    Operation{"run_complete", answer_run_end<RunEnd::kComplete>},
    Operation{"run_fail", answer_run_end<RunEnd::kFail>},
    Operation{"run_cancel", answer_run_end<RunEnd::kCancel>},
    Operation{"run_gc", answer_run_gc},
    Operation{"shard_list", answer_shard_list},
    Operation{"claim", answer_claim},
    Operation{"acquire", answer_acquire},
    Operation{"renew", answer_renew},
    Operation{"renew_many", answer_renew_many},
    Operation{"checkpoint", answer_cursor<CursorOp::kCheckpoint>},
    Operation{"complete", answer_cursor<CursorOp::kComplete>},
    Operation{"release", answer_cursor<CursorOp::kRelease>},
    Operation{"park", answer_park},
    Operation{"unpark", answer_unpark},
    Operation{"split_replace", answer_split_replace},
    Operation{"split_residual", answer_split_residual},
};

std::string names_of_operations() {
  std::string names;
  for (const Operation& operation : kOperations) {
    if (!names.empty()) names += ", ";
    names += operation.name;
  }
  return names;
}

}  // namespace

Answer answer_coord_request(CoordSession& session, const JsonFields& request) {
  const std::string_view op = CAD_TRY(request.text("op"));
  for (const Operation& operation : kOperations) {
    if (operation.name != op) continue;
    return operation.answer(session, CAD_TRY(parse_caller(request)), request);
  }
  return base::fail(bad_request("the op is none of " + names_of_operations()));
}

}  // namespace cadastre::cli
