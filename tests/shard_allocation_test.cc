// Tiers of shard-algebra.md 8.4: HOT and WARM code allocates nothing, on success and on every error
// path, and fits a small stack. // 9.1 #72

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/bytes.h"
#include "base/ring_buffer.h"
#include "base/threads_testing.h"
#include "shard/bytes_testing.h"
#include "shard/cursor.h"
#include "shard/hint.h"
#include "shard/hint_propagation.h"
#include "shard/hint_shards.h"
#include "shard/key_arith.h"
#include "shard/key_buf.h"
#include "shard/key_range.h"
#include "shard/limits.h"
#include "shard/manifest.h"
#include "shard/prealloc_builder.h"
#include "shard/shard_arena.h"
#include "shard/shard_spec.h"
#include "shard/spec_from_keys.h"
#include "shard/split_hints.h"
#include "shard/split_plan.h"
#include "shard/split_points.h"
#include "shard/tuple_key.h"
#include "shard/typed_keys.h"
#include "tests/allocation_guard.h"

namespace cadastre::shard {
namespace {

using cadastre::testing::AllocationGuard;
using cadastre::testing::Expect;
using testing::operator""_b;
using testing::repeated;

constexpr int kRounds = 1000;
constexpr std::size_t kStackBytes = 64U << 10;

// Keeps a result alive so that the call is not optimised away.
template <class T>
void keep(const T& value) {
  asm volatile("" : : "g"(&value) : "memory");
}

// Everything that the tests below reuse, made before any guard.
struct Inputs {
  base::Bytes key_64 = repeated('k', 64);
  base::Bytes key_max = repeated('k', kMaxKeySize);
  base::Bytes key_ff = repeated(0xff, kMaxKeySize);
  base::Bytes too_long = repeated('k', kMaxKeySize + 1);
  base::Bytes metadata_big = repeated('m', kMaxMetadataSize + 1);
  base::Bytes token_big = repeated('t', kMaxTokenSize + 1);
  base::Bytes bad_hint = base::to_owned("\x01\0\0\0\x09xx"_b);
  base::Bytes range_metadata = base::to_owned("\0\0\0\x01\0"_b);
  base::Bytes prefix_metadata = base::to_owned("\0\0\0\x09\x01\0\0\0\x04src/"_b);
  KeyBuf out;
  KeyBuf other;
  MetadataBuf metadata;
  ShardSpecScratch scratch;
  ShardArena arena{600, 1U << 20};
  ShardArena tiny{1, 64};
  KeyBuf row_5;
  KeyBuf row_9;
  std::vector<ByteView> points;
  std::vector<std::string> point_texts;

  Inputs() {
    ManifestRowKey{7, 5}.encode_into(row_5);
    ManifestRowKey{7, 9}.encode_into(row_9);
    for (int i = 0; i < 255; ++i)
      point_texts.push_back("src/" + std::to_string(1000 + i));
    for (const auto& text : point_texts)
      points.push_back(base::as_bytes(text));
  }
};

// One tier's code: runs once to warm up, then many times under the guard.
using Work = void (*)(Inputs&);

void expect_no_allocation(Work work) {
  const auto inputs = std::make_unique<Inputs>();
  work(*inputs);
  const AllocationGuard guard(Expect::kNone);
  for (int i = 0; i < kRounds; ++i)
    work(*inputs);
}

void expect_small_stack(Work work) {
  const auto inputs = std::make_unique<Inputs>();
  base::run_on_stack(kStackBytes, [&] { work(*inputs); });
}

void key_encoding(Inputs& in) {
  PathKey("src/main.cc").encode_into(in.out);
  keep(PathKey::try_make(""));
  keep(PathKey::try_make_utf8("\xff"));
  ManifestRowKey{7, 11}.encode_into(in.out);
  keep(decode_manifest_row_key(in.out.view()));
  keep(decode_manifest_row_key(in.key_64));
  U32Key{1}.encode_into(in.out);
  U64Key{1}.encode_into(in.out);
  I64Key{-1}.encode_into(in.out);
  F64Key{-1.5}.encode_into(in.out);
  BytesKey{in.key_64}.encode_into(in.out);
  keep(BytesKey{in.metadata_big}.try_encode_into(in.out));
  const std::array<TupleElement, 2> elements{TupleElement::bytes(in.key_64),
                                             TupleElement::float64(1.5)};
  keep(TupleKey{elements}.try_encode_into(in.out));
  keep(validate_tuple(in.out.view()));
  keep(validate_tuple(in.key_64));
}

void arithmetic(Inputs& in) {
  for (const ByteView key :
       {ByteView(in.key_64), ByteView(in.key_max), ByteView(in.key_ff), ByteView(in.too_long)}) {
    keep(prefix_successor(key, in.out));
    keep(key_successor(key, in.out));
    keep(byte_midpoint(key, in.key_ff, in.out));
    keep(byte_midpoint("a"_b, key, in.out));
    keep(balanced_split_point(key, {}, in.out));
    keep(balanced_split_point("a"_b, key, in.out));
    keep(interpolate_key({"a"_b, key}, {1, 3}, in.out));
  }
  keep(byte_midpoint("a"_b, "b"_b, in.out));
  keep(byte_midpoint("b"_b, "a"_b, in.out));
}

void codec(Inputs& in) {
  keep(encode_into(ShardHint::range(), in.metadata));
  keep(encode_into(ShardHint::prefix(in.key_64), in.metadata));
  keep(encode_into(ShardHint::prefix(in.metadata_big), in.metadata));
  keep(encode_into(ShardHint::manifest({7, 1, 2}), in.metadata));
  keep(encode_into(ShardHint::manifest({7, 2, 1}), in.metadata));
  keep(encode_into(ShardMetadata{ShardHint::range(), in.metadata_big}, in.metadata));
  keep(encode_into(ShardMetadata{ShardHint::prefix(in.key_64), in.key_64}, in.metadata));
  keep(decode_metadata_bytes(in.metadata.view()));
  keep(decode_hint_frame(in.bad_hint));
  keep(decode_hint_frame({}));
  keep(decode_metadata_bytes(in.bad_hint));
  const auto spec = ShardSpecRef::unchecked("src/"_b, "src0"_b, in.prefix_metadata);
  keep(decode_metadata(spec));
  keep(decode_hint(spec));
  keep(decode_connector_extra(spec));
  keep(check_hint_matches_range(spec));
}

void predicates(Inputs& in) {
  keep(contains_key({"a"_b, in.key_ff}, in.key_64));
  const auto spec = ShardSpecRef::unchecked("a"_b, "z"_b);
  const auto cursor = CursorUpdate::try_make(in.key_64);
  keep(CursorUpdate::try_make({}));
  keep(CursorUpdate::try_make(in.too_long));
  keep(CursorUpdate::try_make(in.key_64, in.token_big));
  keep(check_cursor_bounds(*cursor, spec));
  keep(check_cursor_advance(CursorUpdate::initial(), *cursor));
  keep(validate(ShardSpecRef::unchecked("b"_b, "a"_b)));
}

void containers(Inputs& in) {
  base::RingBuffer<std::array<std::uint64_t, 5>, 16> ring;
  for (std::uint64_t i = 0; i < 20; ++i)
    keep(ring.push_back_overwrite({i}));
  keep(ring.pop_front());
  const auto spec = ShardSpecRef::unchecked("a"_b, "z"_b, in.key_64);
  const auto handle = in.arena.alloc(spec);
  keep(in.arena.try_view(*handle));
  keep(in.arena.try_view({}));
  in.arena.free(*handle);
  in.arena.free(*handle);
  keep(in.tiny.alloc(spec));
}

void constructors(Inputs& in) {
  keep(shard_spec_from_keys_ref(U64Key{1}, U64Key{2}, {}, in.out, in.other));
  keep(shard_spec_from_keys_ref(U64Key{2}, U64Key{1}, {}, in.out, in.other));
  keep(shard_spec_from_keys_into(in.tiny, U64Key{1}, U64Key{2}, in.key_64, in.scratch));
  keep(shard_spec_from_prefix_ref("src/"_b, {}, in.out));
  keep(shard_spec_from_prefix_ref(in.key_ff, {}, in.out));
  keep(shard_spec_from_manifest_range_ref({7, 1, 2}, {}, in.out, in.other));
  keep(range_shard_ref({"a"_b, "z"_b}, in.key_64, in.scratch));
  keep(range_shard_ref({"z"_b, "a"_b}, in.metadata_big, in.scratch));
  keep(prefix_shard_ref("src/"_b, in.key_64, in.scratch));
  keep(prefix_shard_ref(in.too_long, in.key_64, in.scratch));
  keep(manifest_shard_ref({7, 1, 2}, {}, in.scratch));
  keep(manifest_shard_ref({7, 2, 1}, {}, in.scratch));
  const auto stored = manifest_shard_into(in.arena, {7, 1, 2}, {}, in.scratch);
  in.arena.free(*stored);
}

void propagation(Inputs& in) {
  keep(propagate_hint_on_split(ShardHint::prefix("src/"_b), "src/a"_b, "src/b"_b));
  keep(propagate_hint_on_split(ShardHint::prefix("src/"_b), "a"_b, "src/b"_b));
  keep(propagate_hint_on_split(ShardHint::manifest({7, 0, 10}), in.row_5.view(), in.row_9.view()));
  keep(propagate_hint_on_split(ShardHint::manifest({8, 0, 10}), in.row_5.view(), in.row_9.view()));
}

CursorUpdate at_start(const ShardSpecRef& child) {
  return CursorUpdate::make(child.start());
}

void planning(Inputs& in) {
  const auto parent = ShardSpecRef::unchecked("src/"_b, "src0"_b, in.prefix_metadata);
  const auto cursor_for_child = [](std::size_t, const ShardSpecRef& child) {
    return at_start(child);
  };
  keep(plan_split_replace_at_points(parent, in.points, cursor_for_child));
  keep(plan_split_replace_at_points_initial_cursor(parent, {}));
  keep(plan_split_residual_at_point(parent, "src/m"_b));
  keep(plan_split_residual_at_point(parent, ""_b));
  keep(plan_split_residual_from_cursor(parent, CursorUpdate::make("src/m"_b), in.out));
  keep(plan_split_residual_from_cursor(parent, CursorUpdate::initial(), in.out));
  keep(split_point_for(parent, in.out));
  keep(even_split_width({"a"_b, "z"_b}, 1000));
}

// A plan is 28 KiB: one in each of these.
void hinted_replace(Inputs& in) {
  const auto parent = ShardSpecRef::unchecked("src/"_b, "src0"_b, in.prefix_metadata);
  const auto cursor_for_child = [](std::size_t, const ShardSpecRef& child) {
    return at_start(child);
  };
  auto hinted = plan_split_replace_with_hints(parent, in.points, cursor_for_child, in.arena);
  keep(hinted);
  hinted->release(in.arena);
}

void hinted_replace_refused(Inputs& in) {
  const auto parent = ShardSpecRef::unchecked("src/"_b, "src0"_b, in.prefix_metadata);
  const auto cursor_for_child = [](std::size_t, const ShardSpecRef& child) {
    return at_start(child);
  };
  keep(plan_split_replace_with_hints(parent, in.points, cursor_for_child, in.tiny));
}

void hinted_residual(Inputs& in) {
  const auto parent = ShardSpecRef::unchecked("src/"_b, "src0"_b, in.prefix_metadata);
  auto residual = plan_split_residual_with_hints(parent, "src/m"_b, in.arena);
  residual->release(in.arena);
  keep(plan_split_residual_with_hints(parent, "zzz"_b, in.arena));
}

struct Tier {
  const char* name;
  Work work;
};

class NoAllocation : public ::testing::TestWithParam<Tier> {};

TEST_P(NoAllocation, OnSuccessAndOnEveryErrorPath) {
  expect_no_allocation(GetParam().work);
}

TEST_P(NoAllocation, FitsASmallStack) {
  expect_small_stack(GetParam().work);
}

INSTANTIATE_TEST_SUITE_P(Tiers,
                         NoAllocation,
                         ::testing::Values(Tier{"KeyEncoding", key_encoding},
                                           Tier{"Arithmetic", arithmetic},
                                           Tier{"Codec", codec},
                                           Tier{"Predicates", predicates},
                                           Tier{"Containers", containers},
                                           Tier{"Constructors", constructors},
                                           Tier{"Propagation", propagation},
                                           Tier{"Planning", planning},
                                           Tier{"HintedReplace", hinted_replace},
                                           Tier{"HintedReplaceRefused", hinted_replace_refused},
                                           Tier{"HintedResidual", hinted_residual}),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(NoAllocationInBuilder, AfterConstruction) {
  ShardArena arena(300, 1U << 20);
  const auto builder = std::make_unique<PreallocShardBuilder<300>>(arena);
  const auto rows = std::make_unique<PreallocShardBuilder<300>::Rows>();
  const AllocationGuard guard(Expect::kNone);
  keep(builder->init(300));
  for (int round = 0; round < 100; ++round) {
    keep(builder->add_prefix("src/"_b, {}));
    keep(builder->add_prefix(""_b, {}));
    keep(builder->split_manifest_by_rows({7, 0, 200}, 1, "extra"_b));
    keep(builder->split_manifest_by_rows({8, 0, 200}, 1, "extra"_b));
    EXPECT_TRUE(builder->build_inputs(*rows));
    builder->reset();
  }
}

TEST(NoAllocationInManifestCheck, WithTheCallersScratch) {
  ShardArena arena(300, 1U << 20);
  PreallocShardBuilder<300> builder(arena);
  ASSERT_TRUE(builder.init(300));
  ASSERT_TRUE(builder.split_manifest_by_rows({7, 0, 250}, 1, {}));
  PreallocShardBuilder<300>::Rows rows;
  ASSERT_TRUE(builder.build_inputs(rows));
  std::vector<std::uint32_t> scratch(rows.size());
  const AllocationGuard guard(Expect::kNone);
  for (int i = 0; i < kRounds; ++i)
    EXPECT_TRUE(validate_manifest(rows.as_span(), scratch));
}

TEST(AllocationHook, IsLive) {
  {
    const AllocationGuard guard(Expect::kSome);
    const auto one = std::make_unique<int>(1);
    keep(one);
  }
  {
    const AllocationGuard guard(Expect::kSome);
    void* memory = std::malloc(16);  // NOLINT: the C side of the hook
    keep(memory);
    std::free(memory);  // NOLINT
  }
}

}  // namespace
}  // namespace cadastre::shard
