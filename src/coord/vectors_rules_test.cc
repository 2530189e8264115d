// The sections about rules that need no backend: cursors, splits, progress, manifests, limits.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "base/bytes.h"
#include "base/result.h"
#include "coord/decide_shard.h"
#include "coord/decide_split.h"
#include "coord/error_fields_testing.h"
#include "coord/held_shard_testing.h"
#include "coord/identity.h"
#include "coord/identity_testing.h"
#include "coord/memory/memory_backend.h"
#include "coord/progress.h"
#include "coord/shard_limits.h"
#include "coord/shard_record.h"
#include "coord/states.h"
#include "coord/vector_values_testing.h"
#include "coord/vectors_testing.h"
#include "shard/cursor.h"
#include "shard/cursor_names_testing.h"
#include "shard/hexrun_testing.h"
#include "shard/key_arith.h"
#include "shard/key_buf.h"
#include "shard/limits.h"
#include "shard/manifest.h"
#include "shard/shard_spec.h"
#include "shard/split_coverage.h"
#include "shard/split_plan.h"
#include "shard/vector_entry_testing.h"

namespace cadastre::coord::vectors {
namespace {

using shard::shown;

// For rows whose errors are known by their names and fields.
constexpr auto kDescribed = [](const auto& error) {
  return described(error);
};

OwnedCursor cursor_at(const Json& key) {
  return {to_optional_bytes(key), std::nullopt};
}

}  // namespace

// Spec 4.5
void check_cursor_advance(const Section& section) {
  shard::for_each_entry(section.rows, [](VectorEntry& entry) {
    const OwnedCursor before = cursor_at(entry.at("old_hex"));
    const OwnedCursor after = cursor_at(entry.at("new_hex"));
    EXPECT_EQ(shard::verdict_name(shard::check_cursor_advance(before.ref(), after.ref())),
              entry.text("expect"));
  });
}

void check_cursor_bounds(const Section& section) {
  shard::for_each_entry(section.rows, [](VectorEntry& entry) {
    const OwnedCursor cursor = cursor_at(entry.at("key_hex"));
    const OwnedSpec spec{to_bytes(entry.at("start_hex")), to_bytes(entry.at("end_hex")), {}};
    EXPECT_EQ(shard::verdict_name(shard::check_cursor_bounds(cursor.ref(), spec.ref())),
              entry.text("expect"));
  });
}

// Spec 4.3 and 4.5
void check_checkpoints(const Section& section) {
  shard::for_each_entry(section.rows, [](VectorEntry& entry) {
    testing::HeldShard shard;
    shard.set_spec(to_spec(entry.at("spec")).ref());
    shard.set_cursor(to_cursor(entry.at("stored")).ref());
    const OwnedCursor cursor = to_cursor(entry.at("cursor"));
    const auto decision =
        decide_checkpoint(shard.view(), shard.request(), cursor.ref(), testing::op(1));
    if (!succeeds_as_expected(entry, decision, kDescribed)) return;
    ASSERT_TRUE(decision->has_value()) << "nothing is logged, so nothing is replayed";
    ASSERT_TRUE((*decision)->cursor.has_value());
    expect_fits(entry.at("expect"),
                {{"outcome", "executed"}, {"stored", cursor_json(*(*decision)->cursor)}});
  });
}

// Spec 5.3
void check_split_coverage(const Section& section) {
  shard::for_each_entry(section.rows, [](VectorEntry& entry) {
    const OwnedSpec parent = to_spec(entry.at("parent"));
    std::vector<OwnedSpec> owned;
    for (const Json& child : entry.at("children"))
      owned.push_back(to_spec(child));
    std::vector<shard::ShardSpecRef> children;
    children.reserve(owned.size());
    for (const OwnedSpec& child : owned)
      children.push_back(child.ref());
    const auto covered = shard::validate_split_coverage(parent.ref().range(), children);
    if (succeeds_as_expected(entry, covered, kDescribed)) {
      EXPECT_EQ(entry.at("expect"), "ok");
    }
  });
}

namespace {

std::string_view plan_error_name(shard::PlanError::Code code) {
  using Code = shard::PlanError::Code;
  switch (code) {
    case Code::kTooManyChildren: return "too_many_children";
    case Code::kTooFewChildren: return "too_few_children";
    case Code::kInvalidCoverage: return "invalid_coverage";
    case Code::kIdenticalSpecs: return "identical_specs";
    case Code::kMissingCursor: return "missing_cursor";
    case Code::kNoSuccessor: return "no_successor";
    case Code::kSplitPointOutOfBounds: return "split_point_out_of_bounds";
    case Code::kMetadataUndecodable:
    case Code::kHintPropagation:
    case Code::kArena: break;
  }
  return "unexpected";
}

// By its own name; code_name() would give that of the error inside.
Json described_plan(const shard::PlanError& error) {
  return {{"name", plan_error_name(error.code)}, {"count", error.count}};
}

constexpr auto kNoShard = [](ShardId /*id*/) -> std::optional<base::ByteView> {
  return std::nullopt;
};

SplitSurroundings empty_surroundings() {
  return {.counts = {}, .limits = {}, .find_start = kNoShard};
}

}  // namespace

// Spec 5.2 and 5.5
void check_residual_splits(const Section& section) {
  shard::for_each_entry(section.rows, [](VectorEntry& entry) {
    testing::HeldShard shard;
    shard.set_spec(to_spec(entry.at("parent")).ref());
    shard.set_cursor(to_cursor(entry.at("cursor")).ref());
    const OwnedSpec parent_new = to_spec(entry.at("parent_new"));
    const OwnedSpec residual = to_spec(entry.at("residual"));
    const auto plan = SplitResidualPlan::try_make(parent_new.ref(), residual.ref());
    if (!plan) {
      EXPECT_FALSE(succeeds_as_expected(entry, plan, described_plan));
      return;
    }
    const auto decision = decide_split_residual(shard.view(), shard.request(), *plan,
                                                testing::op(1), empty_surroundings());
    if (!succeeds_as_expected(entry, decision, kDescribed)) return;
    EXPECT_EQ(entry.at("expect"), "ok");
    EXPECT_EQ(decision->parent.spec, parent_new.ref());
  });
}

// Spec 5.2
void check_successors(const Section& section) {
  shard::for_each_entry(section.rows, [](VectorEntry& entry) {
    const base::Bytes key = to_bytes(entry.at("key_hex"));
    shard::KeyBuf out;
    EXPECT_EQ(shown(shard::key_successor(key, out)),
              shown(to_optional_bytes(entry.at("expect_hex"))));
  });
}

void check_residual_points(const Section& section) {
  shard::for_each_entry(section.rows, [](VectorEntry& entry) {
    const OwnedSpec parent = to_spec(entry.at("parent"));
    const OwnedCursor cursor = to_cursor(entry.at("cursor"));
    shard::KeyBuf scratch;
    const auto plan = shard::plan_split_residual_from_cursor(parent.ref(), cursor.ref(), scratch);
    if (!succeeds_as_expected(entry, plan, described_plan)) return;
    expect_fits(entry.at("expect"), {{"point_hex", base::to_hex(plan->residual().start())}});
    EXPECT_EQ(shown(plan->new_parent().end()), shown(plan->residual().start()));
  });
}

namespace {

std::vector<base::Bytes> to_points(VectorEntry& entry) {
  std::vector<base::Bytes> points;
  if (entry.has("points_hex")) {
    for (const Json& point : entry.at("points_hex"))
      points.push_back(to_bytes(point));
    return points;
  }
  const Json& rule = entry.at("generated_points");
  for (std::uint64_t i = 0; i < to_number(rule.at("count")); ++i)
    points.push_back(generated_key(rule, i));
  return points;
}

Json children_json(const SplitReplacePlan& plan) {
  Json children = Json::array();
  for (const auto& child : plan.children()) {
    children.push_back({{"start_hex", base::to_hex(child.spec.start())},
                        {"end_hex", base::to_hex(child.spec.end())},
                        {"metadata_hex", base::to_hex(child.spec.metadata())}});
  }
  return {{"children", children}, {"child_count", children.size()}};
}

}  // namespace

void check_replace_points(const Section& section) {
  shard::for_each_entry(section.rows, [](VectorEntry& entry) {
    const OwnedSpec parent = to_spec(entry.at("parent"));
    const auto owned = to_points(entry);
    const std::vector<base::ByteView> points(owned.begin(), owned.end());
    std::uint64_t calls = 0;
    const auto cursor_for_child = [&calls](std::size_t, const shard::ShardSpecRef&) {
      ++calls;
      return shard::CursorUpdate::initial();
    };
    const auto plan = shard::plan_split_replace_at_points(parent.ref(), points, cursor_for_child);
    if (entry.has("cursor_function_calls")) {
      EXPECT_EQ(calls, entry.number("cursor_function_calls"));
    }
    if (!succeeds_as_expected(entry, plan, described_plan)) return;
    EXPECT_EQ(calls, plan->children().size());
    expect_fits(entry.at("expect"), children_json(*plan));
  });
}

namespace {

std::string_view evaluation_name(RunEvaluation evaluation) {
  switch (evaluation) {
    case RunEvaluation::kStillActive: return "still_active";
    case RunEvaluation::kHasFailures: return "has_failures";
    case RunEvaluation::kAllDone: return "all_done";
  }
  return "unknown";
}

Json progress_json(const RunProgress& progress) {
  Json json = {{"total", progress.total}, {"active", progress.active}, {"done", progress.done},
               {"split", progress.split}, {"parked", progress.parked}, {"leased", progress.leased}};
  json["watermark_hex"] =
      progress.watermark ? Json(base::to_hex(progress.watermark->view())) : Json(nullptr);
  const auto evaluation = try_evaluate_run_terminal(progress);
  json["evaluation"] = evaluation ? Json(evaluation_name(*evaluation)) : Json(nullptr);
  return json;
}

void check_evaluation(const RunProgress& progress) {
  if (progress.total == 0) {
    EXPECT_DEATH((void)evaluate_run_terminal(progress), "without shards is not evaluated");
  } else {
    EXPECT_EQ(evaluate_run_terminal(progress), try_evaluate_run_terminal(progress));
  }
}

}  // namespace

// Spec 6.4
void check_progress(const Section& section) {
  shard::for_each_entry(section.rows, [](VectorEntry& entry) {
    RunProgress progress;
    for (const Json& shard : entry.at("shards")) {
      const auto last_key = to_optional_bytes(shard.at("last_key_hex"));
      progress.observe(enumerator_named<ShardStatus>(shard.at("status")),
                       shard.at("leased").get<bool>(), last_key);
    }
    EXPECT_EQ(entry.at("expect"), progress_json(progress));
    check_evaluation(progress);
  });
}

namespace {

std::vector<OwnedInput> manifest_inputs(VectorEntry& entry) {
  if (entry.has("inputs")) return to_inputs(entry.at("inputs"));
  const Json& rule = entry.at("generated_inputs");
  const std::uint64_t count = to_number(rule.at("count"));
  std::vector<OwnedInput> inputs;
  inputs.reserve(count);
  for (std::uint64_t i = 0; i < count; ++i) {
    inputs.push_back({ShardId::from_raw(to_number(rule.at("first_shard")) + i),
                      {generated_key(rule, i), generated_key(rule, i + 1), {}},
                      {}});
  }
  return inputs;
}

// The last key of the first shard once the manifest is registered.
base::Bytes first_key_after(const std::vector<shard::InitialShardInput>& manifest) {
  memory::MemoryBackend backend({.limits = {.per_tenant_max = 100, .total_max = 100}});
  const RunId run = RunId::from_raw(1);
  const LogicalTime now = testing::at(1);
  EXPECT_TRUE(backend.create_run(now, testing::tenant_of(1), run, {.lease_duration = 100}));
  EXPECT_TRUE(backend.register_shards(now, testing::tenant_of(1), run, manifest, testing::op(1)));
  return backend.dump_shards().at(0).last_key;
}

}  // namespace

// Spec 6.3
void check_manifests(const Section& section) {
  shard::for_each_entry(section.rows, [](VectorEntry& entry) {
    const auto inputs = manifest_inputs(entry);
    const auto manifest = manifest_of(inputs);
    std::vector<std::uint32_t> scratch(std::min(manifest.size(), shard::kMaxInitialShards));
    const auto valid = shard::validate_manifest(manifest, scratch);
    if (!succeeds_as_expected(entry, valid, kDescribed)) return;
    const Json& expect = entry.at("expect");
    if (expect.is_string()) {
      EXPECT_EQ(expect, "ok");
    } else {
      expect_fits(expect, {{"starts_at_hex", base::to_hex(first_key_after(manifest))}});
    }
  });
}

// Spec 5.6
void check_shard_limits(const Section& section) {
  shard::for_each_entry(section.rows, [](VectorEntry& entry) {
    const auto over = shard_limit_violation(
        {.tenant = entry.number("tenant_count"), .total = entry.number("total_count")},
        entry.number("additional"),
        {.per_tenant_max = entry.number("max_per_tenant"), .total_max = entry.number("max_total")});
    if (!entry.has("error")) {
      EXPECT_EQ(entry.at("expect"), "ok");
      EXPECT_EQ(over, std::nullopt);
      return;
    }
    ASSERT_TRUE(over.has_value());
    expect_fits(entry.at("error"), described(*over));
  });
}

namespace {

Result<void, SplitRuleError> split_in_two(testing::HeldShard& shard, const std::string& operation) {
  const auto left = shard::ShardSpecRef::unchecked(base::as_bytes("a"), base::as_bytes("m"));
  const auto right = shard::ShardSpecRef::unchecked(base::as_bytes("m"), base::as_bytes("z"));
  const OpId op = testing::op(1);
  if (operation == "split_replace") {
    const std::vector<shard::SplitReplaceChild> children{{left}, {right}};
    const auto plan = SplitReplacePlan::try_make(children);
    const auto decision =
        decide_split_replace(shard.view(), shard.request(), plan.value(), op, empty_surroundings());
    if (!decision) return base::fail(decision.error());
    return {};
  }
  EXPECT_EQ(operation, "split_residual");
  const auto plan = SplitResidualPlan::try_make(left, right);
  const auto decision =
      decide_split_residual(shard.view(), shard.request(), plan.value(), op, empty_surroundings());
  if (!decision) return base::fail(decision.error());
  return {};
}

}  // namespace

// Spec 5.4, phase 6, and 5.5
void check_spawn_limits(const Section& section) {
  shard::for_each_entry(section.rows, [](VectorEntry& entry) {
    testing::HeldShard shard;
    for (std::uint64_t i = 0; i < entry.number("spawned"); ++i)
      shard.record.spawned.push_back(ShardId::from_raw(shard::kDerivedShardBit | i));
    const std::string operation = entry.text("operation");
    EXPECT_EQ(entry.number("additional"), operation == "split_replace" ? 2U : 1U);
    const auto split = split_in_two(shard, operation);
    if (succeeds_as_expected(entry, split, kDescribed)) {
      EXPECT_EQ(entry.at("expect"), "ok");
    }
  });
}

}  // namespace cadastre::coord::vectors
