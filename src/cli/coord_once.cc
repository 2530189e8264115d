#include "cli/coord_once.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/result.h"
#include "cli/batch.h"
#include "cli/command.h"
#include "cli/command_error.h"
#include "cli/coord_batch.h"
#include "cli/coord_commands.h"
#include "cli/coord_request.h"
#include "cli/coord_runs.h"
#include "cli/coord_session.h"
#include "cli/coord_shards.h"
#include "cli/coord_splits.h"
#include "cli/input_file.h"
#include "cli/json_fields.h"
#include "cli/key_text.h"
#include "cli/limits.h"
#include "cli/manifest_file.h"
#include "cli/options.h"
#include "cli/remote_access.h"
#include "coord/backend.h"
#include "coord/identity.h"
#include "coord/lease.h"
#include "coord/run_record.h"
#include "coord/shard_summary.h"
#include "coord/states.h"
#include "node/coordination.h"
#include "node/etcd_settings.h"
#include "node/remote_access.h"

namespace cadastre::cli {
namespace {

using Answer = Result<std::string, CommandError>;

constexpr std::string_view kTenantDefault = "default";

CommandError from_open(const base::Error<node::OpenError>& error) {
  switch (error.code) {
    case node::OpenError::kUnknownBackend: return {"unknown_backend", error.detail};
    case node::OpenError::kCannotOpen: return {"cannot_open", error.detail, Retry::kLater};
    case node::OpenError::kLocked: return {"locked", error.detail, Retry::kLater};
    case node::OpenError::kForeign: return {"foreign_directory", error.detail};
    case node::OpenError::kNewer: return {"newer_format", error.detail};
    case node::OpenError::kDamaged: return {"damaged", error.detail};
    case node::OpenError::kBadAccess: return usage_error(error.detail);
  }
  return {"cannot_open", error.detail};
}

Result<node::EtcdSettings, CommandError> etcd_settings(const CoordArguments& arguments) {
  node::EtcdSettings settings{.ca = arguments.etcd_ca,
                              .certificate = arguments.etcd_cert,
                              .key = arguments.etcd_key,
                              .user_file = arguments.etcd_user_file};
  if (arguments.etcd_owner_ttl) {
    const std::uint64_t seconds =
        CAD_TRY(parse_argument_u64(*arguments.etcd_owner_ttl, "--etcd-owner-ttl"));
    // More is out of its range in any case.
    settings.owner_ttl = std::chrono::seconds{std::min<std::uint64_t>(seconds, 1'000'000)};
  }
  return settings;
}

Result<std::unique_ptr<coord::CoordinationFacade>, CommandError> open_backend(
    const CoordArguments& arguments, const Context& context) {
  if (arguments.backend.empty()) {
    return base::fail(usage_error("which backend? name one, such as --backend memory"));
  }
  const node::RemoteAccess access = CAD_TRY(read_access(arguments.access));
  const node::EtcdSettings etcd = CAD_TRY(etcd_settings(arguments));
  auto backend = node::open_coordination(arguments.backend,
                                         {.hash_seed = context.random.next_u64()}, access, etcd);
  if (!backend) return base::fail(from_open(backend.error()));
  return *std::move(backend);
}

// Milliseconds since the epoch; a clock that stands before it is taken to stand just behind.
std::uint64_t clock_ms(const base::Clock& clock) noexcept {
  const auto since_epoch = clock.now().time_since_epoch();
  const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(since_epoch).count();
  return static_cast<std::uint64_t>(std::max<std::int64_t>(ms, 1));
}

Result<coord::LogicalTime, CommandError> parse_now(const CoordArguments& arguments,
                                                   const base::Clock& clock) {
  if (!arguments.now) return coord::LogicalTime::from_raw(clock_ms(clock));
  const std::uint64_t now = CAD_TRY(parse_argument_u64(*arguments.now, "--now"));
  if (now == 0) return base::fail(usage_error("--now is at least 1"));
  return coord::LogicalTime::from_raw(now);
}

Result<Caller, CommandError> parse_caller(const CoordArguments& arguments,
                                          const base::Clock& clock) {
  const coord::LogicalTime now = CAD_TRY(parse_now(arguments, clock));
  if (arguments.tenant_id) {
    return Caller {
      CAD_TRY(tenant_with_id(*arguments.tenant_id, "--tenant-id"))
      , now
    };
  }
  const std::string_view name =
      arguments.tenant ? std::string_view(*arguments.tenant) : kTenantDefault;
  if (name.empty()) return base::fail(usage_error("--tenant is empty"));
  return Caller{tenant_named(name), now};
}

Result<coord::OpId, CommandError> parse_op(const CoordArguments& arguments,
                                           const Context& context) {
  if (!arguments.op_id) return coord::OpId::from_raw(context.random.next_u64());
  return coord::OpId::from_raw(CAD_TRY(parse_argument_u64(*arguments.op_id, "--op-id")));
}

Result<coord::RunId, CommandError> run_of(const CoordCall& call) {
  return coord::RunId::from_raw(CAD_TRY(parse_argument_u64(call.arguments.run, "RUN")));
}

Result<coord::ShardKey, CommandError> key_of(const CoordCall& call) {
  const coord::RunId run = CAD_TRY(run_of(call));
  const std::uint64_t shard = CAD_TRY(parse_argument_u64(call.arguments.shard, "SHARD"));
  return coord::ShardKey{run, coord::ShardId::from_raw(shard)};
}

Result<coord::WorkerId, CommandError> worker_of(const CoordCall& call) {
  return coord::WorkerId::from_raw(CAD_TRY(parse_argument_u64(call.arguments.worker, "--worker")));
}

Result<coord::Lease, CommandError> lease_of(const CoordCall& call) {
  const auto line = JsonLine::parse(call.arguments.lease);
  if (!line) {
    const bool is_json = line.error().code != kNotJsonCode;
    return base::fail(is_json ? at("--lease", line.error()) : not_json("--lease"));
  }
  auto lease = parse_lease(line->fields(), call.caller.tenant);
  if (!lease) return base::fail(at("--lease", std::move(lease).error()));
  return *lease;
}

Result<std::uint64_t, CommandError> limit_of(const CoordCall& call) {
  if (!call.arguments.limit) return std::numeric_limits<std::uint64_t>::max();
  return parse_argument_u64(*call.arguments.limit, "--limit");
}

Result<OwnedCursor, CommandError> cursor_of(const CoordCall& call) {
  const CoordArguments& arguments = call.arguments;
  std::optional<base::Bytes> last_key;
  if (arguments.last_key) {
    last_key = CAD_TRY(parse_key(*arguments.last_key, call.session.form.keys, "--last-key"));
  }
  return make_cursor(std::move(last_key), CAD_TRY(parse_hex(arguments.token, "--token")));
}

Answer once_end(CoordCall& call, RunEnd end) {
  return end_run(call.session, call.caller, CAD_TRY(run_of(call)), end, call.op);
}

Answer once_cursor(CoordCall& call, CursorOp kind) {
  const coord::Lease lease = CAD_TRY(lease_of(call));
  auto cursor = CAD_TRY(cursor_of(call));
  return move_cursor(call.session, call.caller, lease, {kind, std::move(cursor)}, call.op);
}

}  // namespace

Result<void, CommandError> run_coord_once(CoordFunction function,
                                          const CoordArguments& arguments,
                                          Context& context) {
  if (context.options.mode == Mode::kBatch) {
    return base::fail(usage_error("a batch has its commands on standard input"));
  }
  const Caller caller = CAD_TRY(parse_caller(arguments, context.clock));
  const coord::OpId op = CAD_TRY(parse_op(arguments, context));
  const auto backend = CAD_TRY(open_backend(arguments, context));
  CoordSession session{.backend = *backend, .form = context.options.form, .mode = Mode::kOnce};
  CoordCall call{session, arguments, context, caller, op};
  const std::string answer = CAD_TRY(function(call));
  if (!answer.empty()) context.out.line(answer);
  return {};
}

Result<void, CommandError> run_coord_batch(const CoordArguments& arguments, Context& context) {
  if (context.options.mode != Mode::kBatch) {
    return base::fail(usage_error("which command? see cadastre coord --help"));
  }
  const auto backend = CAD_TRY(open_backend(arguments, context));
  CoordSession session{.backend = *backend,
                       .form = {Format::kJson, context.options.form.keys},
                       .mode = Mode::kBatch};
  return run_batch(
      context,
      [&session](const JsonFields& request) { return answer_coord_request(session, request); },
      kCoordLineBytesMax);
}

Answer once_run_create(CoordCall& call) {
  const CoordArguments& arguments = call.arguments;
  coord::RunConfig config;
  config.lease_duration = CAD_TRY(parse_argument_u64(arguments.lease_ms, "--lease-ms"));
  config.cursor_semantics =
      coord::semantics_named(arguments.semantics).value_or(coord::CursorSemantics::kCompleted);
  if (arguments.max_retries) {
    const std::uint64_t retries =
        CAD_TRY(parse_argument_u64(*arguments.max_retries, "--max-retries"));
    if (retries > std::numeric_limits<std::uint32_t>::max()) {
      return base::fail(usage_error("--max-retries is at most 2^32 - 1"));
    }
    config.max_shard_retries = static_cast<std::uint32_t>(retries);
  }
  return create_run(call.session, call.caller, CAD_TRY(run_of(call)), config);
}

Answer once_run_register(CoordCall& call) {
  const coord::RunId run = CAD_TRY(run_of(call));
  const InputFile file = CAD_TRY(InputFile::open(call.arguments.file, call.context.input));
  const auto shards =
      CAD_TRY(read_manifest(file.descriptor(), call.session.form.keys, MissingIds::kNumbered));
  return register_shards(call.session, call.caller, run, shards, call.op);
}

Answer once_run_show(CoordCall& call) {
  return show_run(call.session, call.caller, CAD_TRY(run_of(call)));
}

Answer once_run_list(CoordCall& call) {
  RunListing listing;
  listing.limit = CAD_TRY(limit_of(call));
  if (call.arguments.after) {
    listing.after =
        coord::RunId::from_raw(CAD_TRY(parse_argument_u64(*call.arguments.after, "--after")));
  }
  return list_runs(call.session, call.caller, listing);
}

Answer once_run_complete(CoordCall& call) {
  return once_end(call, RunEnd::kComplete);
}

Answer once_run_fail(CoordCall& call) {
  return once_end(call, RunEnd::kFail);
}

Answer once_run_cancel(CoordCall& call) {
  return once_end(call, RunEnd::kCancel);
}

Answer once_run_gc(CoordCall& call) {
  const std::uint64_t before = CAD_TRY(parse_argument_u64(call.arguments.before, "--before"));
  return collect_runs(call.session, call.caller, coord::LogicalTime::from_raw(before));
}

Answer once_shard_list(CoordCall& call) {
  ShardListing listing;
  listing.filter = filter_named(call.arguments.filter).value_or(coord::ShardFilter::all());
  listing.filter.root_only = call.arguments.root_only;
  listing.limit = CAD_TRY(limit_of(call));
  if (call.arguments.after) {
    listing.after =
        coord::ShardId::from_raw(CAD_TRY(parse_argument_u64(*call.arguments.after, "--after")));
  }
  return list_shards(call.session, call.caller, CAD_TRY(run_of(call)), listing);
}

Answer once_claim(CoordCall& call) {
  const coord::RunId run = CAD_TRY(run_of(call));
  return claim_shard(call.session, call.caller, run, CAD_TRY(worker_of(call)));
}

Answer once_acquire(CoordCall& call) {
  const coord::ShardKey key = CAD_TRY(key_of(call));
  return acquire_shard(call.session, call.caller, key, CAD_TRY(worker_of(call)));
}

Answer once_renew(CoordCall& call) {
  return renew_lease(call.session, call.caller, CAD_TRY(lease_of(call)));
}

Answer once_checkpoint(CoordCall& call) {
  return once_cursor(call, CursorOp::kCheckpoint);
}

Answer once_complete(CoordCall& call) {
  return once_cursor(call, CursorOp::kComplete);
}

Answer once_release(CoordCall& call) {
  return once_cursor(call, CursorOp::kRelease);
}

Answer once_park(CoordCall& call) {
  const coord::Lease lease = CAD_TRY(lease_of(call));
  const auto reason =
      coord::park_reason_named(call.arguments.reason).value_or(coord::ParkReason::kOther);
  return park_shard(call.session, call.caller, lease, reason, call.op);
}

Answer once_unpark(CoordCall& call) {
  return unpark_shard(call.session, call.caller, CAD_TRY(key_of(call)), call.op);
}

Answer once_split_replace(CoordCall& call) {
  const coord::Lease lease = CAD_TRY(lease_of(call));
  std::vector<base::Bytes> points;
  points.reserve(call.arguments.at.size());
  for (const std::string& at : call.arguments.at)
    points.push_back(CAD_TRY(parse_key(at, call.session.form.keys, "--at")));
  return split_replace(call.session, call.caller, lease, points, call.op);
}

Answer once_split_residual(CoordCall& call) {
  const coord::Lease lease = CAD_TRY(lease_of(call));
  const base::Bytes point =
      CAD_TRY(parse_key(call.arguments.at.front(), call.session.form.keys, "--at"));
  return split_residual(call.session, call.caller, lease, point, call.op);
}

}  // namespace cadastre::cli
