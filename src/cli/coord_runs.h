// Operations on runs, from typed arguments to a printed answer.

#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "base/result.h"
#include "cli/command_error.h"
#include "cli/coord_request.h"
#include "cli/coord_session.h"
#include "cli/manifest_file.h"
#include "coord/identity.h"
#include "coord/run_record.h"
#include "coord/states.h"

namespace cadastre::cli {

using base::Result;

[[nodiscard]] Result<std::string, CommandError> create_run(CoordSession& session,
                                                           const Caller& caller,
                                                           coord::RunId run,
                                                           const coord::RunConfig& config);

[[nodiscard]] Result<std::string, CommandError> register_shards(
    CoordSession& session,
    const Caller& caller,
    coord::RunId run,
    std::span<const ManifestShard> shards,
    coord::OpId op);

[[nodiscard]] Result<std::string, CommandError> show_run(CoordSession& session,
                                                         const Caller& caller,
                                                         coord::RunId run);

[[nodiscard]] Result<std::string, CommandError> list_runs(CoordSession& session,
                                                          const Caller& caller,
                                                          const RunListing& listing);

// How a run ends.
enum class RunEnd : std::uint8_t {
  kComplete,
  kFail,
  kCancel,
};

[[nodiscard]] Result<std::string, CommandError> end_run(
    CoordSession& session, const Caller& caller, coord::RunId run, RunEnd end, coord::OpId op);

// Forgets the tenant's runs that ended before this time.
[[nodiscard]] Result<std::string, CommandError> collect_runs(CoordSession& session,
                                                             const Caller& caller,
                                                             coord::LogicalTime before);

}  // namespace cadastre::cli
