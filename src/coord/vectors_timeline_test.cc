// The sections that are a sequence of calls, on the memory backend.

#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/bytes.h"
#include "coord/backend.h"
#include "coord/error_fields_testing.h"
#include "coord/identity.h"
#include "coord/identity_testing.h"
#include "coord/lease.h"
#include "coord/memory/memory_backend.h"
#include "coord/outcome.h"
#include "coord/shard_summary.h"
#include "coord/snapshot.h"
#include "coord/states.h"
#include "coord/vector_values_testing.h"
#include "coord/vectors_testing.h"
#include "shard/vector_entry_testing.h"

namespace cadastre::coord::vectors {
namespace {

using testing::at;
using testing::op;
using testing::tenant_of;
using testing::worker;

constexpr RunId kRun = RunId::from_raw(1);
constexpr ShardKey kKey{kRun, ShardId::from_raw(10)};
constexpr OpId kRegisterOp = OpId::from_raw(std::numeric_limits<std::uint64_t>::max());

// Shards 10, 11, ... over [a, b), [b, c), ...
std::vector<OwnedInput> neighbours(std::size_t count) {
  std::vector<OwnedInput> inputs;
  for (std::size_t i = 0; i < count; ++i) {
    const auto letter = [](std::size_t place) {
      return base::Bytes{static_cast<std::byte>('a' + place)};
    };
    inputs.push_back({ShardId::from_raw(10 + i), {letter(i), letter(i + 1), {}}, {}});
  }
  return inputs;
}

// Shard 10 over [a, z), as the conformance suite has it.
std::vector<OwnedInput> fixture_shard() {
  return {{kKey.shard,
           {base::to_owned(base::as_bytes("a")), base::to_owned(base::as_bytes("z")), {}},
           {}}};
}

// Run 1 of tenant 01..01 on a backend of its own.
class Fixture {
 public:
  explicit Fixture(std::uint64_t claim_cooldown_interval = 0)
      : backend_({.limits = {.per_tenant_max = 100, .total_max = 100},
                  .claim_cooldown_interval = claim_cooldown_interval}),
        scratch_(std::make_unique<AcquireScratch>()) {}

  void create_run() {
    EXPECT_TRUE(backend_.create_run(at(1), tenant_, kRun, {.lease_duration = 100}));
  }
  auto register_shards(std::span<const OwnedInput> inputs, OpId op = kRegisterOp) {
    return backend_.register_shards(at(2), tenant_, kRun, manifest_of(inputs), op);
  }
  void start_run(std::span<const OwnedInput> inputs) {
    create_run();
    EXPECT_TRUE(register_shards(inputs));
  }
  auto acquire(LogicalTime now, WorkerId worker) {
    return backend_.acquire_and_restore_into(now, tenant_, kKey, worker, *scratch_);
  }
  auto claim(LogicalTime now, WorkerId worker) {
    return backend_.claim_next_available(now, tenant_, kRun, worker, *scratch_);
  }
  std::vector<ShardId> candidates(LogicalTime now) {
    std::vector<ShardId> ids;
    EXPECT_TRUE(backend_.collect_claim_candidates_into(now, tenant_, kRun, ids));
    return ids;
  }

  [[nodiscard]] memory::MemoryBackend& backend() { return backend_; }
  [[nodiscard]] const TenantId& tenant() const { return tenant_; }
  [[nodiscard]] ShardDump only_shard() const { return backend_.dump_shards().at(0); }

 private:
  TenantId tenant_ = tenant_of(1);
  memory::MemoryBackend backend_;
  std::unique_ptr<AcquireScratch> scratch_;
};

Lease to_lease(const Json& value, const TenantId& tenant) {
  return Lease::granted({.tenant = tenant,
                         .key = kKey,
                         .owner = worker(to_number(value.at("owner"))),
                         .fence = FenceEpoch::from_raw(to_number(value.at("fence"))),
                         .deadline = at(to_number(value.at("deadline")))});
}

std::string outcome_name(Outcome outcome) {
  return outcome == Outcome::kExecuted ? "executed" : "replayed";
}

Json capacity_json(const CapacityHint& capacity) {
  return {{"available_count", capacity.available_count},
          {"earliest_deadline",
           capacity.earliest_deadline ? Json(capacity.earliest_deadline->raw()) : Json(nullptr)}};
}

// What a call did, apart from the record: the answer, or the error.
struct Answer {
  Json error;   // null on success
  Json fields;  // of the success
};

template <class ResultType, class Fields>
Answer answer_of(const ResultType& result, const Fields& fields) {
  if (!result) return {described(result.error()), nullptr};
  return {nullptr, fields(*result)};
}

constexpr auto kOutcomeFields = [](const auto& outcome) {
  return Json{{"outcome", outcome_name(outcome.outcome())}};
};

Answer run_call(VectorEntry& entry, LogicalTime now, Fixture& fixture) {
  memory::MemoryBackend& backend = fixture.backend();
  const TenantId& tenant = fixture.tenant();
  const std::string call = entry.text("call");
  if (call == "acquire") {
    const auto acquired = fixture.acquire(now, worker(entry.number("worker")));
    return answer_of(acquired, [](const AcquireResultView& view) {
      return Json{{"fence", view.lease.fence().raw()},
                  {"deadline", view.lease.deadline().raw()},
                  {"capacity", capacity_json(view.capacity)},
                  {"cursor", cursor_json(view.snapshot.cursor)}};
    });
  }
  if (call == "unpark_shard") {
    const OpId id = op(entry.number("op"));
    return answer_of(backend.unpark_shard(now, tenant, kKey, id), kOutcomeFields);
  }
  const Lease lease = to_lease(entry.at("lease"), tenant);
  if (call == "renew") {
    return answer_of(backend.renew(now, tenant, lease), [](const RenewResult& renewed) {
      return Json{{"deadline", renewed.new_deadline.raw()}};
    });
  }
  const OpId id = op(entry.number("op"));
  if (call == "park_shard") {
    const auto reason = enumerator_named<ParkReason>(entry.at("reason"));
    return answer_of(backend.park_shard(now, tenant, lease, reason, id), kOutcomeFields);
  }
  EXPECT_EQ(call, "checkpoint");
  const OwnedCursor cursor = to_cursor(entry.at("cursor"));
  return answer_of(backend.checkpoint(now, tenant, lease, cursor.ref(), id), kOutcomeFields);
}

// The record after a call, in the words of the rows.
Json record_fields(Fixture& fixture, LogicalTime now, const ShardDump& before) {
  const ShardDump after = fixture.only_shard();
  std::vector<ShardSummary> summaries;
  EXPECT_TRUE(fixture.backend().list_shards_into(now, fixture.tenant(), kRun, {}, {}, summaries));
  const OwnedCursor cursor{after.last_key.empty() ? std::nullopt : std::optional(after.last_key),
                           after.token.empty() ? std::nullopt : std::optional(after.token)};
  Json fields = {{"fence", after.state.fence.raw()},
                 {"cursor", cursor_json(cursor.ref())},
                 {"acquire_count", summaries.at(0).acquire_count},
                 {"unchanged", before == after},
                 {"lease", nullptr}};
  if (after.state.lease) {
    fields["lease"] = {{"owner", after.state.lease->owner.raw()},
                       {"deadline", after.state.lease->deadline.raw()}};
    fields["deadline"] = after.state.lease->deadline.raw();
  }
  return fields;
}

void run_row(VectorEntry& entry, Fixture& fixture) {
  const LogicalTime now = at(entry.number("t"));
  const ShardDump before = fixture.only_shard();
  const Answer answer = run_call(entry, now, fixture);
  Json record = record_fields(fixture, now, before);
  fixture.backend().verify();
  if (entry.has("error")) {
    expect_fits(entry.at("error"), answer.error);
    EXPECT_TRUE(record.at("unchanged").get<bool>()) << "an error changes nothing";
    return;
  }
  ASSERT_TRUE(answer.error.is_null()) << answer.error;
  for (const auto& [field, value] : answer.fields.items()) {
    if (record.contains(field)) {
      EXPECT_EQ(record.at(field), value) << "the record differs";
    }
  }
  record.update(answer.fields);
  expect_fits(entry.at("expect"), record);
  EXPECT_EQ(record.at("unchanged"), record.value("outcome", "") == "replayed");
}

}  // namespace

// Spec 2.7 and 3
void check_timeline(const Section& section) {
  Fixture fixture;
  fixture.start_run(fixture_shard());
  shard::for_each_entry(section.rows, [&](VectorEntry& entry) { run_row(entry, fixture); });
}

namespace {

void check_fence_increment(VectorEntry& entry) {
  EXPECT_EQ(entry.at("expect"), "contract_violation");
  const FenceEpoch last = FenceEpoch::from_raw(entry.number("fence"));
  EXPECT_DEATH((void)next(last), "changes hands fewer than");
}

}  // namespace

// Spec 1.2 and 3.4
void check_saturation(const Section& section) {
  shard::for_each_entry(section.rows, [](VectorEntry& entry) {
    if (entry.text("call") == "fence_increment") return check_fence_increment(entry);
    EXPECT_EQ(entry.number("lease_duration"), 100U) << "the fixture's";
    Fixture fixture;
    fixture.start_run(fixture_shard());
    run_row(entry, fixture);
  });
}

namespace {

constexpr OpId kEndOp = OpId::from_raw(100);
constexpr OpId kFreshOp = OpId::from_raw(200);

Answer run_operation(Fixture& fixture, const std::string& operation, OpId op) {
  memory::MemoryBackend& backend = fixture.backend();
  const LogicalTime now = at(20);
  if (operation == "complete_run") {
    return answer_of(backend.complete_run(now, fixture.tenant(), kRun, op), kOutcomeFields);
  }
  if (operation == "fail_run") {
    return answer_of(backend.fail_run(now, fixture.tenant(), kRun, op), kOutcomeFields);
  }
  if (operation == "cancel_run") {
    return answer_of(backend.cancel_run(now, fixture.tenant(), kRun, op), kOutcomeFields);
  }
  EXPECT_EQ(operation, "register_shards");
  const auto inputs = neighbours(2);
  const std::vector<OwnedInput> reversed(inputs.rbegin(), inputs.rend());
  return answer_of(fixture.register_shards(reversed, op), [](const auto& outcome) {
    Json fields = kOutcomeFields(outcome);
    for (const ShardId id : outcome.value())
      fields["ids"].push_back(id.raw());
    return fields;
  });
}

// A run that got into this state by operations with the op ids above.
void bring_to(Fixture& fixture, const std::string& state) {
  if (state == "absent") return;
  fixture.create_run();
  if (state == "initializing") return;
  if (state == "cancelled_at_once") {
    EXPECT_TRUE(run_operation(fixture, "cancel_run", kEndOp).error.is_null());
    return;
  }
  EXPECT_TRUE(fixture.register_shards(neighbours(2)));
  if (state == "active") return;
  const std::map<std::string, std::string> ended_by = {
      {"done", "complete_run"}, {"failed", "fail_run"}, {"cancelled", "cancel_run"}};
  EXPECT_TRUE(run_operation(fixture, ended_by.at(state), kEndOp).error.is_null());
}

// An operation on a run in a state, under an op id.
struct RunCase {
  std::string state;
  OpId op;
};

// The cases of a row: one, or every state in which its op id can be in the log.
std::vector<RunCase> cases_of(const std::string& state,
                              const Json& logged,
                              const std::string& operation) {
  if (state != "any") {
    EXPECT_TRUE(logged.is_null());
    return {{state, kFreshOp}};
  }
  std::vector<RunCase> registered = {{"active", kRegisterOp},
                                     {"done", kRegisterOp},
                                     {"failed", kRegisterOp},
                                     {"cancelled", kRegisterOp}};
  if (logged == "equal_hash") {
    if (operation == "complete_run") return {{"done", kEndOp}};
    if (operation == "fail_run") return {{"failed", kEndOp}};
    if (operation == "cancel_run") return {{"cancelled", kEndOp}, {"cancelled_at_once", kEndOp}};
    return registered;
  }
  EXPECT_EQ(logged, "other_hash");
  if (operation == "register_shards")
    return {{"done", kEndOp}, {"failed", kEndOp}, {"cancelled_at_once", kEndOp}};
  return registered;
}

void check_run_case(VectorEntry& entry, const std::string& operation, const RunCase& one) {
  const ::testing::ScopedTrace trace(__FILE__, __LINE__, one.state);
  Fixture fixture;
  bring_to(fixture, one.state);
  const auto before = fixture.backend().dump_runs();
  const Answer answer = run_operation(fixture, operation, one.op);
  const bool changed = before != fixture.backend().dump_runs();
  if (entry.has("error")) {
    expect_fits(entry.at("error"), answer.error);
    EXPECT_FALSE(changed);
    return;
  }
  const std::string expect = entry.text("expect");
  const bool is_replay = expect == "replayed";
  EXPECT_TRUE(is_replay || expect == "executed" || expect == "proceeds") << expect;
  ASSERT_TRUE(answer.error.is_null()) << answer.error;
  EXPECT_EQ(answer.fields.at("outcome"), is_replay ? "replayed" : "executed");
  EXPECT_EQ(changed, !is_replay);
  if (operation == "register_shards") {  // a replay answers in the order of the first time
    EXPECT_EQ(answer.fields.at("ids"), is_replay ? Json({10, 11}) : Json({11, 10}));
  }
}

}  // namespace

// Spec 6.2
void check_run_operations(const Section& section) {
  shard::for_each_entry(section.rows, [](VectorEntry& entry) {
    const std::string operation = entry.text("operation");
    for (const RunCase& one : cases_of(entry.text("run_state"), entry.at("op_logged"), operation))
      check_run_case(entry, operation, one);
  });
}

// Spec 7.3
void check_first_candidates(const Section& section) {
  shard::for_each_entry(section.rows, [](VectorEntry& entry) {
    Fixture fixture;
    fixture.start_run(neighbours(entry.number("candidates")));
    const auto candidates = fixture.candidates(at(10));
    EXPECT_EQ(candidates.size(), entry.number("candidates"));
    const auto claimed = fixture.claim(at(10), worker(entry.number("worker")));
    ASSERT_TRUE(claimed.has_value());
    EXPECT_EQ(claimed->lease.shard(), candidates.at(entry.number("expect_index")));
  });
}

// Spec 3.7
void check_cooldown(const Section& section) {
  constexpr std::uint64_t kInterval = 10;
  Fixture fixture(kInterval);
  fixture.start_run(neighbours(5));
  shard::for_each_entry(section.rows, [&](VectorEntry& entry) {
    EXPECT_EQ(entry.text("call"), "claim");
    const auto claimed = fixture.claim(at(entry.number("t")), worker(1));
    const auto describe = [](const auto& error) {
      return described(error);
    };
    if (succeeds_as_expected(entry, claimed, describe)) {
      EXPECT_EQ(entry.at("expect"), "claimed");
    }
  });
}

// Spec 7.3
void check_claims(const Section& section) {
  Fixture fixture;
  fixture.start_run(neighbours(2));
  shard::for_each_entry(section.rows, [&](VectorEntry& entry) {
    EXPECT_EQ(entry.text("call"), "claim");
    const LogicalTime now = at(entry.number("t"));
    const auto candidates = fixture.candidates(now);
    const auto claimed = fixture.claim(now, worker(entry.number("worker")));
    const auto describe = [](const auto& error) {
      return described(error);
    };
    if (!succeeds_as_expected(entry, claimed, describe)) return;
    VectorEntry expect(entry.at("expect"));
    EXPECT_EQ(candidates, to_ids(expect.at("candidates")));
    EXPECT_EQ(claimed->lease.shard(), ShardId::from_raw(expect.number("shard")));
    EXPECT_EQ(claimed->lease.shard(), candidates.at(expect.number("first_index")));
    EXPECT_EQ(expect.unread(), std::vector<std::string>{});
  });
}

}  // namespace cadastre::coord::vectors
