#include "cli/coord_runs.h"

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "cli/command_error.h"
#include "cli/coord_error.h"
#include "cli/coord_request.h"
#include "cli/coord_run_answer.h"
#include "cli/coord_session.h"
#include "cli/manifest_file.h"
#include "coord/backend.h"
#include "coord/errors.h"
#include "coord/identity.h"
#include "coord/outcome.h"
#include "coord/run_record.h"
#include "coord/states.h"

namespace cadastre::cli {
namespace {

Result<RunView, CommandError> view_run(CoordSession& session,
                                       const Caller& caller,
                                       coord::RunId run) {
  auto record = session.backend.get_run(caller.tenant, run);
  if (!record) return base::fail(from_coord(record.error()));
  auto progress = session.backend.get_run_progress(caller.now, caller.tenant, run);
  if (!progress) return base::fail(from_coord(progress.error()));
  return RunView{*std::move(record), *std::move(progress)};
}

Result<coord::RunStatus, CommandError> status_of(CoordSession& session,
                                                 const Caller& caller,
                                                 coord::RunId run) {
  const auto record = session.backend.get_run(caller.tenant, run);
  if (!record) return base::fail(from_coord(record.error()));
  return record->status;
}

Result<coord::IdempotentOutcome<coord::Unit>, coord::RunTransitionError> carry_out_end(
    CoordSession& session, const Caller& caller, coord::RunId run, RunEnd end, coord::OpId op) {
  coord::CoordinationFacade& backend = session.backend;
  switch (end) {
    case RunEnd::kComplete: return backend.complete_run(caller.now, caller.tenant, run, op);
    case RunEnd::kFail: return backend.fail_run(caller.now, caller.tenant, run, op);
    case RunEnd::kCancel: break;
  }
  return backend.cancel_run(caller.now, caller.tenant, run, op);
}

}  // namespace

Result<std::string, CommandError> create_run(CoordSession& session,
                                             const Caller& caller,
                                             coord::RunId run,
                                             const coord::RunConfig& config) {
  const auto created = session.backend.create_run(caller.now, caller.tenant, run, config);
  if (!created) return base::fail(from_coord(created.error()));
  return run_created_answer({.run = run, .status = created->status}, session.form, session.mode);
}

Result<std::string, CommandError> register_shards(CoordSession& session,
                                                  const Caller& caller,
                                                  coord::RunId run,
                                                  std::span<const ManifestShard> shards,
                                                  coord::OpId op) {
  const auto registered =
      session.backend.register_shards(caller.now, caller.tenant, run, to_inputs(shards), op);
  if (!registered) return base::fail(from_coord(registered.error()));
  const RunChangeView change {
    .run = run, .status = CAD_TRY(status_of(session, caller, run))
    , .outcome = registered->outcome(), .shards = registered->value().size(),
  };
  return run_registered_answer(change, session.form, session.mode);
}

Result<std::string, CommandError> show_run(CoordSession& session,
                                           const Caller& caller,
                                           coord::RunId run) {
  return run_answer(CAD_TRY(view_run(session, caller, run)), session.form);
}

Result<std::string, CommandError> list_runs(CoordSession& session,
                                            const Caller& caller,
                                            const RunListing& listing) {
  const auto ids = session.backend.list_runs(caller.tenant, listing.after, listing.limit);
  if (!ids) return base::fail(from_coord(ids.error()));
  std::vector<RunView> runs;
  for (const coord::RunId run : *ids)
    runs.push_back(CAD_TRY(view_run(session, caller, run)));
  return runs_answer(runs, session.form, session.mode);
}

Result<std::string, CommandError> end_run(
    CoordSession& session, const Caller& caller, coord::RunId run, RunEnd end, coord::OpId op) {
  const auto ended = carry_out_end(session, caller, run, end, op);
  if (!ended) return base::fail(from_coord(ended.error()));
  const coord::RunStatus status = CAD_TRY(status_of(session, caller, run));
  return run_ended_answer({.run = run, .status = status, .outcome = ended->outcome()},
                          session.form);
}

Result<std::string, CommandError> collect_runs(CoordSession& session,
                                               const Caller& caller,
                                               coord::LogicalTime before) {
  const auto removed = session.backend.gc_terminal_runs(caller.tenant, before);
  if (!removed) return base::fail(from_coord(removed.error()));
  return runs_removed_answer(*removed, session.form);
}

}  // namespace cadastre::cli
