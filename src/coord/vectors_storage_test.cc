// The sections about storage and about texts.

#include <cstdint>
#include <string>

#include <gtest/gtest.h>

#include "base/byte_slab.h"
#include "base/bytes.h"
#include "coord/cursor_rules.h"
#include "coord/decide_shard.h"
#include "coord/errors.h"
#include "coord/etcd/etcd_config.h"
#include "coord/events.h"
#include "coord/held_shard_testing.h"
#include "coord/identity.h"
#include "coord/identity_testing.h"
#include "coord/lease.h"
#include "coord/lease_rules.h"
#include "coord/shard_record.h"
#include "coord/vector_values_testing.h"
#include "coord/vectors_testing.h"
#include "shard/pooled.h"
#include "shard/vector_entry_testing.h"

namespace cadastre::coord::vectors {

// Spec 9.3
void check_slab_blocks(const Section& section) {
  shard::for_each_entry(section.rows, [](VectorEntry& entry) {
    const auto length = static_cast<std::uint32_t>(entry.number("length"));
    EXPECT_EQ(base::RoundPow2::round_up(length), entry.number("expect_block"));
  });
}

namespace {

constexpr std::uint32_t kLiveMax = 8;  // more strings than any row has

template <class ResultType>
void expect_as_row_says(VectorEntry& entry, const ResultType& result) {
  const auto describe = [](const base::SlabFull& full) {
    EXPECT_EQ(full.resource, base::SlabResource::kBytes);
    return Json{{"name", "slab_full"}};
  };
  if (succeeds_as_expected(entry, result, describe)) {
    EXPECT_EQ(entry.at("expect"), "ok");
  }
}

void check_spec_row(VectorEntry& entry, base::ByteSlab& slab) {
  EXPECT_EQ(entry.text("call"), "make_spec");
  const OwnedSpec spec = to_spec(entry.at("spec"));
  shard::PooledSpec pooled;
  expect_as_row_says(entry, pooled.update(slab, spec.ref()));
  if (entry.has("live_after")) {
    EXPECT_EQ(slab.stats().live_count, entry.number("live_after"));
  } else {
    EXPECT_EQ(pooled.view(slab), spec.ref());
  }
  pooled.release(slab);
}

void check_cursor_row(VectorEntry& entry, base::ByteSlab& slab) {
  EXPECT_EQ(entry.text("call"), "update_cursor");
  shard::PooledCursor pooled;
  EXPECT_TRUE(pooled.update(slab, to_cursor(entry.at("stored")).ref()));
  expect_as_row_says(entry, pooled.update(slab, to_cursor(entry.at("cursor")).ref()));
  EXPECT_EQ(entry.at("stored_after"), cursor_json(pooled.view(slab)));
  pooled.release(slab);
}

}  // namespace

void check_slab_exhaustion(const Section& section) {
  shard::for_each_entry(section.rows, [](VectorEntry& entry) {
    base::ByteSlab slab(static_cast<std::uint32_t>(entry.number("slab_bytes")), kLiveMax);
    if (entry.has("spec")) {
      check_spec_row(entry, slab);
    } else {
      check_cursor_row(entry, slab);
    }
  });
}

namespace {

// Spec 9.2: what a planner sets aside. The rows have the record sizes of the design that they come
// from; ours are sizeof(ShardState) and sizeof(RunRecord).
struct MemoryPlan {
  std::uint64_t shards;
  std::uint64_t runs;
  std::uint64_t workers;
  std::uint64_t bytes_per_shard;
  std::uint64_t bytes_per_run;
  std::uint64_t shard_record_bytes;
  std::uint64_t run_record_bytes;
};

constexpr std::uint64_t planned_bytes(const MemoryPlan& plan) {
  return plan.shards * (plan.shard_record_bytes + plan.bytes_per_shard + 72) +
         plan.runs * (plan.run_record_bytes + plan.bytes_per_run + 80) + 16 * plan.workers + 4096;
}
static_assert(planned_bytes({}) == 4096, "an empty plan is the constant part");

}  // namespace

void check_planning_memory(const Section& section) {
  shard::for_each_entry(section.rows, [](VectorEntry& entry) {
    EXPECT_FALSE(entry.text("preset").empty());
    const MemoryPlan plan{.shards = entry.number("shards"),
                          .runs = entry.number("runs"),
                          .workers = entry.number("workers"),
                          .bytes_per_shard = entry.number("bytes_per_shard"),
                          .bytes_per_run = entry.number("bytes_per_run"),
                          .shard_record_bytes = entry.number("shard_record_bytes"),
                          .run_record_bytes = entry.number("run_record_bytes")};
    EXPECT_EQ(planned_bytes(plan), entry.number("expect_bytes"));
  });
}

namespace {

std::string already_leased_text(VectorEntry& entry) {
  testing::HeldShard shard;
  shard.record.state.lease = LeaseHolder{WorkerId::from_raw(entry.number("current_owner")),
                                         LogicalTime::from_raw(entry.number("lease_deadline"))};
  const auto acquired = decide_acquire(
      shard.record.state,
      {.now = testing::at(11), .tenant = shard.record.state.tenant, .worker = testing::worker(2)},
      100);
  return acquired ? "acquired" : to_text(acquired.error());
}

std::string cursor_regression_text(VectorEntry& entry) {
  const base::Bytes before = to_bytes(entry.at("old_key_hex"));
  const base::Bytes after = to_bytes(entry.at("new_key_hex"));
  EXPECT_EQ(before.size(), entry.number("old_len"));
  EXPECT_EQ(after.size(), entry.number("new_len"));
  testing::HeldShard shard;
  shard.set_cursor(CursorUpdate::make(before));
  const auto moved = check_cursor(shard.view(), CursorUpdate::make(after));
  return moved ? "moved" : to_text(moved.error());
}

std::string tenant_mismatch_text(VectorEntry& entry) {
  testing::HeldShard shard;
  shard.record.state.tenant = to_tenant(entry.at("stored_tenant_hex"));
  EXPECT_EQ(shard.request().tenant, to_tenant(entry.at("expected_hex")));
  const auto valid = validate_lease(shard.record.state, shard.request());
  return valid ? "valid" : to_text(valid.error());
}

std::string op_id_conflict_text(VectorEntry& entry) {
  const Json& hashes = entry.at("hashes_u64");
  return to_text(OpIdConflict(OpId::from_raw(entry.number("op_id")), to_word(hashes.at(0)),
                              to_word(hashes.at(1))));
}

std::string infra_error_text(VectorEntry& entry) {
  EXPECT_EQ(entry.text("kind"), "transient");
  const std::string operation = entry.text("operation");
  return to_text(transient(operation.c_str(), entry.text("message")));
}

std::string text_of_row(VectorEntry& entry) {
  const std::string object = entry.text("object");
  if (object == "tenant_id") return to_string(to_tenant(entry.at("tenant_hex")));
  if (object == "redacted_key") return to_string(RedactedKey(to_bytes(entry.at("key_hex"))));
  if (object == "already_leased") return already_leased_text(entry);
  if (object == "op_id_conflict") return op_id_conflict_text(entry);
  if (object == "cursor_regression") return cursor_regression_text(entry);
  if (object == "tenant_mismatch") return tenant_mismatch_text(entry);
  if (object == "infra_error") return infra_error_text(entry);
  if (object == "endpoint") return etcd::redacted_endpoint(entry.text("endpoint"));
  ADD_FAILURE() << "no check for object " << object;
  return "";
}

}  // namespace

// Spec 7.6
void check_texts(const Section& section) {
  shard::for_each_entry(section.rows, [](VectorEntry& entry) {
    const std::string text = text_of_row(entry);
    for (const Json& part : entry.at("contains"))
      EXPECT_NE(text.find(part.get<std::string>()), std::string::npos) << text;
    for (const Json& part : entry.at("lacks"))
      EXPECT_EQ(text.find(part.get<std::string>()), std::string::npos) << text;
  });
}

}  // namespace cadastre::coord::vectors
