#include "log/storage/memory_storage.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/crc32c.h"
#include "base/endian.h"
#include "log/conformance/storage_suite_testing.h"

namespace cadastre::log {
namespace {

using conformance::expect_equal;
using conformance::kIdentity;
using conformance::LogModel;

WriteSet set_of_eight(LogModel& model, std::string_view body) {
  LogModel::Changes changes = model.change();
  for (std::uint64_t group = 1; group <= 8; ++group)
    changes.append(GroupId{group}, Term{1}, {std::string(body)});
  return changes.set();
}

// Twice a set of eight groups, the second one not synced.
struct TwoSets {
  TwoSets() {
    MemoryStorage storage(disk, kIdentity);
    EXPECT_TRUE(storage.recover());
    EXPECT_TRUE(storage.write(set_of_eight(before, "first")));
    after = before;
    storage.append(set_of_eight(after, "second"));
  }

  MemoryDisk disk;
  LogModel before;
  LogModel after;
};

TEST(MemoryStorage, ATornSetIsThereForAllItsGroupsOrForNone) {  // L-24, R17
  const TwoSets made;
  const std::size_t unsynced = made.disk.unsynced_bytes();
  ASSERT_GT(unsynced, 0U);
  for (std::size_t kept = 0; kept <= unsynced; ++kept) {
    MemoryDisk disk = made.disk;
    disk.crash(kept);
    MemoryStorage storage(disk, kIdentity);
    const auto recovered = storage.recover();
    ASSERT_TRUE(recovered) << kept << ": " << recovered.error().detail;
    expect_equal(kept == unsynced ? made.after : made.before, *recovered, storage);
    LogModel next = kept == unsynced ? made.after : made.before;  // Writing goes on behind it.
    ASSERT_TRUE(storage.write(set_of_eight(next, "third")));
    MemoryStorage again(disk, kIdentity);
    const auto reopened = again.recover();
    ASSERT_TRUE(reopened) << kept << ": " << reopened.error().detail;
    expect_equal(next, *reopened, again);
    ASSERT_FALSE(::testing::Test::HasFailure()) << kept;
  }
}

TEST(MemoryStorage, EveryFlippedBitIsNoticed) {  // L-48
  TwoSets made;
  made.disk.sync();
  for (std::size_t bit = 0; bit < made.disk.bytes().size() * 8; ++bit) {
    MemoryDisk disk = made.disk;
    disk.flip_bit(bit);
    const Bytes before = disk.bytes();
    const auto recovered = MemoryStorage(disk, kIdentity).recover();
    ASSERT_FALSE(recovered) << bit;
    EXPECT_EQ(recovered.error().code, OpenError::kDamaged) << bit;
    EXPECT_EQ(disk.bytes(), before) << "a damaged disk stays as it is";
  }
}

Bytes frame_of(const Bytes& body) {
  Bytes frame(12);
  base::store_le(frame.data(), static_cast<std::uint32_t>(body.size()));
  base::store_le(frame.data() + 4, base::crc32c(body));
  base::store_le(frame.data() + 8, base::crc32c(ByteView{frame}.first(8)));
  frame.insert(frame.end(), body.begin(), body.end());
  return frame;
}

TEST(MemoryStorage, AFrameThatDoesNotReadIsDamageThoughItsSumIsRight) {
  const auto byte = [](int value) {
    return static_cast<std::byte>(value);
  };
  const std::vector<Bytes> bodies = {
      {byte(1)},                                                              // no lengths
      {byte(1), byte(9), {}, {}, {}, {}, {}, {}, {}},                         // a key too long
      {byte(1), {}, {}, {}, {}, byte(255), byte(255), byte(255), byte(255)},  // a value too long
      {byte(0), {}, {}, {}, {}, {}, {}, {}, {}},                              // no such kind
      {byte(4), {}, {}, {}, {}, {}, {}, {}, {}},
  };
  for (const Bytes& body : bodies) {
    MemoryDisk disk;
    disk.append(frame_of(body));
    disk.sync();
    const auto recovered = MemoryStorage(disk, kIdentity).recover();
    ASSERT_FALSE(recovered) << base::to_hex(body);
    EXPECT_EQ(recovered.error().code, OpenError::kDamaged) << base::to_hex(body);
  }
}

TEST(MemoryStorage, KeepsItselfSmall) {
  MemoryDisk disk;
  LogModel model;
  {
    MemoryStorage storage(disk, kIdentity);
    ASSERT_TRUE(storage.recover());
    for (int set = 0; set < 40; ++set) {
      LogModel::Changes changes = model.change();
      changes.append(GroupId{1}, Term{1}, {std::string(100'000, 'x')});
      if (set != 0) changes.truncate(GroupId{1}, model.group(GroupId{1}).truncated.index + 1);
      ASSERT_TRUE(storage.write(changes.set()));
    }
  }
  EXPECT_LT(disk.bytes().size(), 2 * kMiB);
  MemoryStorage again(disk, kIdentity);
  const auto recovered = again.recover();
  ASSERT_TRUE(recovered) << recovered.error().detail;
  expect_equal(model, *recovered, again);
}

}  // namespace
}  // namespace cadastre::log
