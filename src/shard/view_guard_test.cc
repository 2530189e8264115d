// Checked views: in the checked flavour a stale view aborts and says whose fault it is; in the plain
// flavour the guards take no room.

#include "shard/view_guard.h"

#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <tuple>
#include <type_traits>

#include <gtest/gtest.h>

#include "shard/hexrun_testing.h"
#include "shard/hint.h"
#include "shard/hint_shards.h"
#include "shard/key_buf.h"
#include "shard/shard_spec.h"
#include "shard/spec_from_keys.h"
#include "shard/typed_keys.h"

namespace cadastre::shard {
namespace {

static_assert(sizeof(ShardSpecRef) == (kCheckedViews ? 96 : 48));
static_assert(sizeof(ShardHint) == (kCheckedViews ? 48 : 32));
static_assert(std::is_trivially_copyable_v<ShardSpecRef> &&
              std::is_trivially_copyable_v<ShardHint>);

// Runs `use` in a child process: it aborts over a reused scratch if views are checked, else it ends.
template <class Use>
// NOLINTNEXTLINE(readability-function-size): what is deep is inside EXPECT_EXIT
void expect_stale(std::string_view what, const Use& use) {
  const testing::ScopedTrace trace(__FILE__, __LINE__, what);
  if constexpr (kCheckedViews) {
    EXPECT_EXIT(use(), testing::KilledBySignal(SIGABRT), "view outlived scratch reuse");
  } else {
    EXPECT_EXIT((use(), std::_Exit(0)), testing::ExitedWithCode(0), "");
  }
}

TEST(ViewGuard, HoldsWithoutAnOwnerAndUntilTheOwnerChanges) {
  const ViewGuard nobody;
  nobody.check();
  KeyBuf buf;
  buf.assign(hex("61"));
  const ViewGuard guard = buf.guard();
  guard.check();
  EXPECT_EQ(shown(buf.view()), "61");  // Reading is not a change.
  guard.check();
}

// 9.1 #71
TEST(ViewGuardDeathTest, EveryMutationOfAScratchIsAChange) {
  KeyBuf buf;
  buf.assign(hex("61"));
  const ViewGuard guard = buf.guard();
  const auto bytes = hex("62");
  expect_stale("clear", [&] { buf.clear(), guard.check(); });
  expect_stale("assign", [&] { buf.assign(bytes), guard.check(); });
  expect_stale("assign of itself", [&] { buf.assign(buf.view()), guard.check(); });
  expect_stale("try_assign", [&] { (void)buf.try_assign(bytes), guard.check(); });
  expect_stale("append byte", [&] { (void)buf.append(std::uint8_t{1}), guard.check(); });
  expect_stale("append bytes", [&] { (void)buf.append(bytes), guard.check(); });
  expect_stale("set_size", [&] { buf.set_size(1), guard.check(); });
  expect_stale("copy assignment", [&] {
    const KeyBuf other;
    buf = other;
    guard.check();
  });
}

TEST(ViewGuard, ARefusedChangeIsNone) {
  KeyBuf buf;
  buf.assign(hex("61"));
  const ViewGuard guard = buf.guard();
  EXPECT_FALSE(buf.try_assign(hex("(61*4098)")));
  EXPECT_FALSE(buf.append(hex("(61*4097)")));
  guard.check();
  MetadataBuf metadata;
  metadata.assign(hex("61"));
  const ViewGuard metadata_guard = metadata.guard();
  EXPECT_FALSE(encode_into(ShardHint::manifest({1, 2, 2}), metadata).has_value());
  metadata_guard.check();
}

TEST(ViewGuard, ACopyIsAnOwnerOfItsOwn) {
  KeyBuf buf;
  buf.assign(hex("61"));
  KeyBuf copy = buf;
  const ViewGuard guard = buf.guard();
  copy.clear();
  guard.check();
  EXPECT_EQ(shown(buf.view()), "61");
}

// 9.1 #71: each of a spec's three views watches its own buffer.
TEST(ViewGuardDeathTest, ASpecFromAScratchAbortsAfterReuse) {
  ShardSpecScratch scratch;
  const auto extra = hex("637478");
  const auto spec = manifest_shard_ref({42, 100, 200}, extra, scratch);
  ASSERT_TRUE(spec.has_value());
  expect_stale("start", [&] { scratch.start.clear(), (void)spec->start(); });
  expect_stale("end", [&] { scratch.end.clear(), (void)spec->end(); });
  expect_stale("metadata", [&] { scratch.metadata.clear(), (void)spec->metadata(); });
  expect_stale("range", [&] { scratch.end.clear(), (void)spec->range(); });
  expect_stale("contains_key", [&] { scratch.start.clear(), (void)spec->contains_key({}); });
  expect_stale("decode", [&] { scratch.metadata.clear(), (void)decode_metadata(*spec); });
  expect_stale("the same constructor again", [&] {
    std::ignore = manifest_shard_ref({1, 2, 3}, {}, scratch);
    (void)spec->start();
  });
  EXPECT_EQ(shown(spec->start()), "000000000000002a0000000000000064");  // Nothing has changed here.
}

TEST(ViewGuard, AnotherBuffersChangeLeavesAViewAlone) {
  ShardSpecScratch scratch;
  const auto spec = manifest_shard_ref({42, 100, 200}, {}, scratch);
  ASSERT_TRUE(spec.has_value());
  scratch.end.clear();
  EXPECT_EQ(shown(spec->start()), "000000000000002a0000000000000064");
  EXPECT_EQ(spec->metadata().size(), 29U);
}

// 9.1 #71
TEST(ViewGuardDeathTest, SpecsFromKeysAndPrefixesAbortAfterReuse) {
  KeyBuf start;
  KeyBuf end;
  const auto prefix = hex("61");
  const auto keys = shard_spec_from_keys_ref(U32Key{1}, U32Key{2}, {}, start, end);
  ASSERT_TRUE(keys.has_value());
  expect_stale("start", [&] { start.clear(), (void)keys->start(); });
  expect_stale("end", [&] { end.clear(), (void)keys->end(); });
  const auto under = shard_spec_from_prefix_ref(prefix, {}, end);
  ASSERT_TRUE(under.has_value());
  expect_stale("successor", [&] { end.clear(), (void)under->end(); });
  end.clear();
  EXPECT_EQ(shown(under->start()), "61");  // The prefix is the caller's.
}

// 9.1 #71: a decoded prefix points into the spec's metadata and inherits its guard.
TEST(ViewGuardDeathTest, ADecodedPrefixAbortsAfterReuse) {
  ShardSpecScratch scratch;
  const auto prefix = hex("7372632f");
  const auto spec = prefix_shard_ref(prefix, {}, scratch);
  ASSERT_TRUE(spec.has_value());
  const auto hint = decode_hint(*spec);
  ASSERT_TRUE(hint.has_value());
  EXPECT_EQ(shown(hint->prefix_bytes()), "7372632f");
  expect_stale("prefix", [&] { scratch.metadata.clear(), (void)hint->prefix_bytes(); });
}

}  // namespace
}  // namespace cadastre::shard
