// The sections about hashes: canonical bytes, derived ids, payload hashes.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "base/blake3.h"
#include "base/bytes.h"
#include "base/endian.h"
#include "coord/canonical.h"
#include "coord/decide_split.h"
#include "coord/held_shard_testing.h"
#include "coord/identity.h"
#include "coord/outcome.h"
#include "coord/states.h"
#include "coord/vector_values_testing.h"
#include "coord/vectors_testing.h"
#include "shard/hexrun_testing.h"
#include "shard/manifest.h"
#include "shard/split_plan.h"
#include "shard/vector_entry_testing.h"

namespace cadastre::coord::vectors {
namespace {

using shard::shown;

std::uint64_t first_word(const base::Blake3Digest& digest) {
  return base::load_le<std::uint64_t>(digest.data());
}

base::Bytes joined(std::string_view tag, base::ByteView fields) {
  base::Bytes bytes = base::to_owned(base::as_bytes(tag));
  bytes.insert(bytes.end(), fields.begin(), fields.end());
  return bytes;
}

std::uint64_t payload_hash_of(base::ByteView input) {
  return nonzero_hash(first_word(base::derive_key(kOpPayloadDomain, input)));
}

}  // namespace

// Spec 1.4
void check_anchors(const Section& section) {
  shard::for_each_entry(section.rows, [](VectorEntry& entry) {
    const base::Bytes input = to_bytes(entry.at("input_hex"));
    const std::string expected = shown(to_bytes(entry.at("output_hex")));
    if (entry.text("mode") == "hash") {
      EXPECT_EQ(shown(base::blake3(input)), expected);
      EXPECT_TRUE(entry.at("context").is_null());
      EXPECT_TRUE(entry.at("finalize_u64").is_null());
      return;
    }
    EXPECT_EQ(entry.text("mode"), "derive_key");
    const std::string context = entry.text("context");
    EXPECT_EQ(shown(base::derive_key(context, input)), expected);
    const base::Blake3Context keyed(context);
    CanonicalHasher hasher(keyed);
    hasher.raw(input);
    EXPECT_EQ(shown(hasher.finalize_32()), expected);
    EXPECT_EQ(hasher.finalize_64(), to_word(entry.at("finalize_u64")));
    if (context == kSplitIdDomain) {
      EXPECT_EQ(shown(split_id_hasher().finalize_32()), expected);
    }
    if (context == kOpPayloadDomain) {
      EXPECT_EQ(shown(op_payload_hasher().finalize_32()), expected);
    }
  });
}

namespace {

void write_value(VectorEntry& entry, const std::string& type, CanonicalHasher& out) {
  if (type == "u8") return out.u8(static_cast<std::uint8_t>(entry.number("value")));
  if (type == "u32") return out.u32(static_cast<std::uint32_t>(entry.number("value")));
  if (type == "u64") return out.u64(entry.number("value"));
  if (type == "run_id") return out.u64(RunId::from_raw(entry.number("value")).raw());
  if (type == "shard_id") return out.u64(ShardId::from_raw(entry.number("value")).raw());
  if (type == "byte_string") return out.str(to_bytes(entry.at("value_hex")));
  if (type == "tenant_id") return out.raw(to_tenant(entry.at("value_hex")).as_bytes());
  if (type == "shard_spec") return out.spec(to_spec(entry.at("spec")).ref());
  if (type == "cursor") return out.cursor(to_cursor(entry.at("cursor")).ref());
  if (type == "byte_strings") {
    for (const Json& value : entry.at("values_hex"))
      out.str(to_bytes(value));
    return;
  }
  ADD_FAILURE() << "no check for type " << type;
}

}  // namespace

// Spec 1.3. The bytes go straight into a hash, so two inputs are equal if their digests are.
void check_canonical_bytes(const Section& section) {
  shard::for_each_entry(section.rows, [&](VectorEntry& entry) {
    const base::Bytes bytes = to_bytes(entry.at("bytes_hex"));
    const std::string type = entry.text("type");
    if (type == "shard_key") {  // written by the one request that names a shard
      const ShardKey key{RunId::from_raw(entry.number("run")),
                         ShardId::from_raw(entry.number("shard"))};
      EXPECT_EQ(hash_unpark(key), payload_hash_of(joined("unpark_shard", bytes)));
      return;
    }
    if (type == "park_reason") {
      const auto reason = park_reason_named(entry.text("value"));
      ASSERT_TRUE(reason.has_value());
      EXPECT_EQ(hash_park(*reason), payload_hash_of(joined("park", bytes)));
      return;
    }
    auto hasher = op_payload_hasher();
    write_value(entry, type, hasher);
    EXPECT_EQ(shown(hasher.finalize_32()), shown(base::derive_key(kOpPayloadDomain, bytes)));
    if (entry.has("differs_from")) {
      const Json& other = row_named(section.file, entry.text("differs_from"));
      EXPECT_NE(bytes, to_bytes(other.at("bytes_hex")));
    }
  });
}

namespace {

DerivedShardKind kind_named(const std::string& text) {
  EXPECT_TRUE(text == "child" || text == "residual") << text;
  return text == "child" ? DerivedShardKind::kChild : DerivedShardKind::kResidual;
}

}  // namespace

// Spec 1.5
void check_derived_ids(const Section& section) {
  shard::for_each_entry(section.rows, [](VectorEntry& entry) {
    const auto digest = base::derive_key(kSplitIdDomain, to_bytes(entry.at("input_hex")));
    EXPECT_EQ(shown(base::ByteView(digest).first(8)),
              shown(to_bytes(entry.at("output_prefix_hex"))));
    if (entry.has("output_hex")) {
      EXPECT_EQ(shown(digest), shown(to_bytes(entry.at("output_hex"))));
    }
    const std::uint64_t word = first_word(digest);
    EXPECT_EQ(word, to_word(entry.at("finalize_u64")));
    const ShardId id =
        derive_split_shard_id({.run = RunId::from_raw(entry.number("run")),
                               .parent = ShardId::from_raw(entry.number("parent")),
                               .op = OpId::from_raw(entry.number("op")),
                               .kind = kind_named(entry.text("kind")),
                               .index = static_cast<std::uint32_t>(entry.number("index"))});
    EXPECT_EQ(id.raw(), to_word(entry.at("shard_id_u64")));
    EXPECT_TRUE(id.is_derived());
    EXPECT_EQ(id.raw() != word, entry.at("bit_63_forced").get<bool>());
  });
}

// Spec 5.5, the second tier: the op-log is empty, the list of spawned shards is not.
void check_replay_probe(const Section& section) {
  shard::for_each_entry(section.rows, [](VectorEntry& entry) {
    testing::HeldShard shard;
    shard.record.state.run = RunId::from_raw(entry.number("run"));
    shard.record.state.shard = ShardId::from_raw(entry.number("parent"));
    shard.record.spawned = to_derived_ids(entry.at("spawned_u64"));
    const OpId op = OpId::from_raw(entry.number("op"));
    DerivedShardSource source{.run = shard.record.state.run,
                              .parent = shard.record.state.shard,
                              .op = op,
                              .kind = DerivedShardKind::kResidual,
                              .index = static_cast<std::uint32_t>(entry.number("probe_index"))};
    EXPECT_EQ(derive_split_shard_id(source).raw(), to_word(entry.at("probe_u64")));

    const base::Bytes cut = shard::hex("6d");
    const auto plan = SplitResidualPlan::try_make(ShardSpecRef::unchecked(shard.record.start, cut),
                                                  ShardSpecRef::unchecked(cut, shard.record.end));
    ASSERT_TRUE(plan.has_value());
    const auto find_start = [&](ShardId id) -> std::optional<base::ByteView> {
      const auto& spawned = shard.record.spawned;
      if (std::ranges::find(spawned, id) == spawned.end()) return std::nullopt;
      return cut;
    };
    const auto decision =
        decide_split_residual(shard.view(), shard.request(), *plan, op,
                              {.counts = {}, .limits = {}, .find_start = find_start});
    ASSERT_TRUE(decision.has_value());
    VectorEntry expect(entry.at("expect"));
    if (expect.text("outcome") == "replayed") {
      EXPECT_EQ(decision->outcome, Outcome::kReplayed);
      EXPECT_EQ(decision->result.residual.raw(), to_word(expect.at("residual_u64")));
    } else {
      EXPECT_EQ(expect.text("outcome"), "fresh");
      EXPECT_EQ(decision->outcome, Outcome::kExecuted);
      source.index = static_cast<std::uint32_t>(expect.number("index"));
      EXPECT_EQ(decision->result.residual, derive_split_shard_id(source));
    }
    EXPECT_EQ(expect.unread(), std::vector<std::string>{});
  });
}

namespace {

std::uint64_t hash_replace_row(VectorEntry& entry) {
  std::vector<OwnedSpec> specs;
  std::vector<OwnedCursor> cursors;
  for (const Json& child : entry.at("children")) {
    specs.push_back(to_spec(child.at("spec")));
    cursors.push_back(to_cursor(child.at("cursor")));
  }
  std::vector<shard::SplitReplaceChild> children;
  children.reserve(specs.size());
  for (std::size_t i = 0; i < specs.size(); ++i)
    children.push_back({specs[i].ref(), cursors[i].ref()});
  const auto plan = SplitReplacePlan::try_make(children);
  EXPECT_TRUE(plan.has_value());
  return plan ? hash_split_replace(*plan) : 0;
}

std::uint64_t hash_residual_row(VectorEntry& entry) {
  const OwnedSpec parent = to_spec(entry.at("parent_new"));
  const OwnedSpec residual = to_spec(entry.at("residual"));
  const auto plan = SplitResidualPlan::try_make(parent.ref(), residual.ref());
  EXPECT_TRUE(plan.has_value());
  return plan ? hash_split_residual(*plan) : 0;
}

std::uint64_t hash_park_row(VectorEntry& entry) {
  const auto reason = park_reason_named(entry.text("reason"));
  EXPECT_TRUE(reason.has_value());
  return reason ? hash_park(*reason) : 0;
}

// What the typed function gives for the row's request.
std::uint64_t typed_hash(VectorEntry& entry, const std::string& operation) {
  if (operation == "checkpoint") return hash_checkpoint(to_cursor(entry.at("cursor")).ref());
  if (operation == "complete") return hash_complete(to_cursor(entry.at("cursor")).ref());
  if (operation == "park_shard") return hash_park_row(entry);
  if (operation == "split_replace") return hash_replace_row(entry);
  if (operation == "split_residual") return hash_residual_row(entry);
  if (operation == "unpark_shard") {
    return hash_unpark(
        {RunId::from_raw(entry.number("run")), ShardId::from_raw(entry.number("shard"))});
  }
  if (operation == "register_shards") {
    const auto inputs = to_inputs(entry.at("inputs"));
    return hash_register(manifest_of(inputs));
  }
  if (operation == "complete_run") return hash_run_transition(RunOpKind::kCompleteRun);
  if (operation == "fail_run") return hash_run_transition(RunOpKind::kFailRun);
  if (operation == "cancel_run") return hash_run_transition(RunOpKind::kCancelRun);
  ADD_FAILURE() << "no check for operation " << operation;
  return 0;
}

}  // namespace

// Spec 1.6
void check_payload_hashes(const Section& section) {
  shard::for_each_entry(section.rows, [](VectorEntry& entry) {
    const base::Bytes input = to_bytes(entry.at("input_hex"));
    EXPECT_EQ(input.size(), entry.number("input_length"));
    EXPECT_TRUE(base::as_text(input).starts_with(entry.text("tag")));
    const auto digest = base::derive_key(kOpPayloadDomain, input);
    EXPECT_EQ(shown(base::ByteView(digest).first(16)),
              shown(to_bytes(entry.at("output_prefix_hex"))));
    const std::uint64_t expected = to_word(entry.at("payload_hash_u64"));
    EXPECT_EQ(payload_hash_of(input), expected);
    EXPECT_EQ(typed_hash(entry, entry.text("operation")), expected);
  });
}

namespace {

std::set<std::uint64_t> typed_hashes(const Json& file, const Json& ids) {
  std::set<std::uint64_t> hashes;
  for (const Json& id : ids) {
    VectorEntry row(row_named(file, id.get<std::string>()));
    hashes.insert(typed_hash(row, row.text("operation")));
  }
  return hashes;
}

// Of the row's shards, in the order of these ids.
void check_register_hash(const Json& row, const std::vector<ShardId>& ids) {
  auto inputs = to_inputs(row.at("inputs"));
  std::ranges::sort(inputs, {}, [&ids](const OwnedInput& input) {
    return std::ranges::find(ids, input.shard) - ids.begin();
  });
  const auto manifest = manifest_of(inputs);
  EXPECT_TRUE(std::ranges::equal(manifest, ids, {}, &shard::InitialShardInput::shard));
  EXPECT_EQ(hash_register(manifest), to_word(row.at("payload_hash_u64")));
}

}  // namespace

// Spec 1.6: which requests share a hash, and which never do.
void check_hash_relations(const Section& section) {
  shard::for_each_entry(section.rows, [&](VectorEntry& entry) {
    const Json& rows = entry.at("rows");
    if (entry.text("relation") == "all_differ") {
      EXPECT_EQ(typed_hashes(section.file, rows).size(), rows.size());
      return;
    }
    EXPECT_EQ(entry.text("relation"), "same_for_every_order_of_inputs");
    ASSERT_EQ(rows.size(), 1U);
    const Json& row = row_named(section.file, rows[0].get<std::string>());
    for (const Json& order : entry.at("orders"))
      check_register_hash(row, to_ids(order));
  });
}

}  // namespace cadastre::coord::vectors
