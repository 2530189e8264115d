#include "coord/memory/cooldown_table.h"

#include <cstdint>

#include <gtest/gtest.h>

#include "base/random.h"
#include "coord/identity.h"

namespace cadastre::coord::memory {
namespace {

constexpr std::uint64_t kInterval = 200;

CooldownTable copy_of(const CooldownTable& table) {
  CooldownTable copy;
  for (const CooldownTable::Entry& entry : table.entries())
    copy.load(entry);
  return copy;
}

bool equal(const CooldownTable& a, const CooldownTable& b) {
  return std::ranges::equal(a.entries(), b.entries(), [](const auto& x, const auto& y) {
    return x.worker == y.worker && x.claimed_at == y.claimed_at;
  });
}

// C-10.8 apply: a replica that loaded a snapshot forgets what the others forget, although time goes back.
TEST(CooldownTable, OfACopyStaysEqualToTheOriginal) {
  base::SeededRandom random(3);
  CooldownTable table;
  CooldownTable other;
  std::uint64_t time = 1;
  for (int i = 0; i < 20000; ++i) {
    if (random.below(300) == 0) other = copy_of(table);
    if (random.below(100) == 0) time += 10 * kInterval;  // Everybody's time is over.
    time = random.below(5) == 0 ? time - random.below(time) / 16 : time + random.below(6);
    const auto worker = WorkerId::from_raw(random.below(1000));
    const auto now = LogicalTime::from_raw(time);
    ASSERT_EQ(table.throttled_until(worker, now, kInterval),
              other.throttled_until(worker, now, kInterval));
    table.record(worker, now, kInterval);
    other.record(worker, now, kInterval);
    ASSERT_TRUE(equal(table, other)) << i;
  }
}

// D-20: bounded by the workers of one interval, not by all there ever were.
TEST(CooldownTable, ForgetsWorkersWhoseTimeIsOver) {
  CooldownTable table;
  for (std::uint64_t i = 1; i < 10'000; ++i)
    table.record(WorkerId::from_raw(i), LogicalTime::from_raw(i), kInterval);
  EXPECT_LE(table.entries().size(), 2 * 2 * kInterval);
}

}  // namespace
}  // namespace cadastre::coord::memory
