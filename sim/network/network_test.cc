#include "sim/network/network.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/bytes.h"
#include "sim/chacha_random.h"
#include "sim/network/faults.h"
#include "sim/schedule/node_id.h"
#include "sim/schedule/scheduler.h"
#include "sim/schedule/sim_time.h"

namespace cadastre::sim {
namespace {

using namespace std::chrono_literals;

constexpr NodeId kA{1};
constexpr NodeId kB{2};
constexpr NodeId kC{3};
constexpr Link kAToB{kA, kB};
constexpr Link kBToA{kB, kA};

// Keeps what it hears: texts by lane, and resets.
class Ear final : public FrameSink {
 public:
  void on_frame(const StreamId& stream, base::Bytes frame) override {
    (stream.lane == Lane::kControl ? control : bulk).emplace_back(base::as_text(frame));
    all.emplace_back(base::as_text(frame));
  }
  void on_reset(const StreamId& stream) override { resets.push_back(stream); }

  std::vector<std::string> control, bulk, all;
  std::vector<StreamId> resets;
};

struct Town {
  explicit Town(std::uint64_t seed, const NetworkFaults& faults = {})
      : scheduler(seed), network(scheduler, seed, faults) {
    network.attach(kA, a);
    network.attach(kB, b);
    network.attach(kC, c);
  }

  void send(const Link& link, Lane lane, const std::string& text) {
    network.send({link, lane}, base::to_owned(base::as_bytes(text)));
  }
  void send_numbers(const Link& link, Lane lane, int count) {
    for (int i = 0; i < count; ++i)
      send(link, lane, std::to_string(i));
  }
  void wait(std::chrono::nanoseconds time) { scheduler.run_until(scheduler.now() + time); }

  void expect_nothing_unaccounted() const {
    const NetworkCounters& is = network.counters();
    EXPECT_EQ(is.sent + is.duplicated, is.delivered + is.dropped + is.blocked + is.lost_in_reset +
                                           is.lost_in_crash + is.unheard + network.in_flight());
  }

  Scheduler scheduler;
  Ear a, b, c;
  Network network;
};

std::vector<std::string> numbers(int count) {
  std::vector<std::string> texts;
  texts.reserve(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i)
    texts.push_back(std::to_string(i));
  return texts;
}

NetworkFaults both(const LaneFaults& lane) {
  return {.control = lane, .bulk = lane};
}

TEST(Network, KeepsEachStreamInLineWhateverTheDelays) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    Town town(seed,
              both({.delay = {.least = 0ns, .most = 10ms, .tail_ppm = 100'000, .tail_most = 1s}}));
    town.send_numbers(kAToB, Lane::kControl, 100);
    town.send_numbers(kAToB, Lane::kBulk, 100);
    EXPECT_EQ(town.network.in_flight(), 200U);
    town.wait(2s);
    EXPECT_EQ(town.b.control, numbers(100));
    EXPECT_EQ(town.b.bulk, numbers(100));
    EXPECT_GT(town.network.counters().tail, 0U);
    EXPECT_TRUE(town.a.all.empty() && town.c.all.empty());
    town.expect_nothing_unaccounted();
  }
}

TEST(Network, DelaysWithinItsBounds) {
  Town town(1, both({.delay = {.least = 2ms, .most = 3ms}}));
  for (int i = 0; i < 50; ++i) {
    const std::size_t before = town.b.all.size();
    town.send(kAToB, Lane::kControl, "x");
    town.wait(2ms - 1ns);
    EXPECT_EQ(town.b.all.size(), before);
    town.wait(1ms + 1ns);
    EXPECT_EQ(town.b.all.size(), before + 1);
  }
}

TEST(Network, LanesOvertakeEachOther) {
  Town town(1, {.control = {.delay = {.least = 1ms, .most = 1ms}},
                .bulk = {.delay = {.least = 5ms, .most = 5ms}}});
  town.send(kAToB, Lane::kBulk, "append");
  town.send(kAToB, Lane::kControl, "heartbeat");
  town.wait(10ms);
  EXPECT_EQ(town.b.all, (std::vector<std::string>{"heartbeat", "append"}));
}

TEST(Network, DropsAboutAsOftenAsItIsTold) {
  Town town(1, both({.drop_ppm = 250'000}));
  town.send_numbers(kAToB, Lane::kBulk, 10'000);
  town.wait(1s);
  EXPECT_NEAR(static_cast<double>(town.network.counters().dropped), 2'500, 200);
  EXPECT_EQ(town.b.bulk.size() + town.network.counters().dropped, 10'000U);
  town.expect_nothing_unaccounted();
}

TEST(Network, Duplicates) {
  Town town(1, both({.duplicate_ppm = 500'000}));
  town.send_numbers(kAToB, Lane::kBulk, 1'000);
  town.wait(1s);
  EXPECT_EQ(town.b.bulk.size(), 1'000 + town.network.counters().duplicated);
  EXPECT_NEAR(static_cast<double>(town.network.counters().duplicated), 500, 80);
  std::vector<std::string> distinct = town.b.bulk;
  std::ranges::sort(distinct);
  const auto repeated = std::ranges::unique(distinct);
  distinct.erase(repeated.begin(), repeated.end());
  EXPECT_EQ(distinct.size(), 1'000U);
  town.expect_nothing_unaccounted();
}

TEST(Network, ReordersWithinALaneOnlyIfAsked) {
  const LaneFaults loose = {.reorder_ppm = 200'000, .reorder_most = 20ms};
  Town town(1, {.control = loose, .bulk = {}});
  for (int i = 0; i < 100; ++i) {
    town.send(kAToB, Lane::kControl, std::to_string(i));
    town.send(kAToB, Lane::kBulk, std::to_string(i));
    town.wait(1ms);
  }
  town.wait(1s);
  EXPECT_EQ(town.b.bulk, numbers(100));
  EXPECT_NE(town.b.control, numbers(100));
  EXPECT_TRUE(std::ranges::is_permutation(town.b.control, numbers(100)));
  EXPECT_GT(town.network.counters().reordered, 0U);
}

TEST(Network, BlocksOneWay) {
  Town town(1);
  town.network.block(kAToB);
  town.send(kAToB, Lane::kControl, "lost");
  town.send(kBToA, Lane::kControl, "heard");
  town.wait(1s);
  EXPECT_TRUE(town.b.all.empty());
  EXPECT_EQ(town.a.all, std::vector<std::string>{"heard"});
  town.network.unblock(kAToB);
  town.wait(1s);
  EXPECT_TRUE(town.b.all.empty()) << "what a partition swallowed does not come back";
  town.send(kAToB, Lane::kControl, "again");
  town.wait(1s);
  EXPECT_EQ(town.b.all, std::vector<std::string>{"again"});
  EXPECT_EQ(town.network.counters().blocked, 1U);
  town.expect_nothing_unaccounted();
}

TEST(Network, APartitionCutsBothWaysAndWhatIsOnItsWay) {
  Town town(1);
  town.send(kAToB, Lane::kBulk, "on its way");
  const std::vector<NodeId> left = {kA, kC};
  const std::vector<NodeId> right = {kB};
  town.network.partition(left, right);
  town.send(kBToA, Lane::kBulk, "lost");
  town.send({kA, kC}, Lane::kBulk, "same side");
  town.wait(1s);
  EXPECT_TRUE(town.a.all.empty() && town.b.all.empty());
  EXPECT_EQ(town.c.all, std::vector<std::string>{"same side"});
  EXPECT_EQ(town.network.counters().blocked, 2U);
  town.network.heal();
  EXPECT_FALSE(town.network.blocked(kAToB) || town.network.blocked(kBToA));
  town.send(kBToA, Lane::kBulk, "healed");
  town.wait(1s);
  EXPECT_EQ(town.a.all, std::vector<std::string>{"healed"});
}

TEST(Network, AResetLosesItsStreamAndTellsTheSender) {
  Town town(1);
  town.send_numbers(kAToB, Lane::kBulk, 5);
  town.send(kAToB, Lane::kControl, "other lane");
  town.network.reset({kAToB, Lane::kBulk});
  town.network.reset({kAToB, Lane::kBulk});
  town.network.reset({kBToA, Lane::kBulk});  // never used
  town.send(kAToB, Lane::kBulk, "after");
  town.wait(1s);
  EXPECT_EQ(town.b.bulk, std::vector<std::string>{"after"});
  EXPECT_EQ(town.b.control, std::vector<std::string>{"other lane"});
  const StreamId stream = {kAToB, Lane::kBulk};
  EXPECT_EQ(town.a.resets, (std::vector<StreamId>{stream, stream}));
  EXPECT_TRUE(town.b.resets.empty());
  EXPECT_EQ(town.network.counters().lost_in_reset, 5U);
  EXPECT_EQ(town.network.counters().resets, 2U);
  town.expect_nothing_unaccounted();
}

TEST(Network, AfterAResetNothingWaitsForTheOldLine) {
  Town town(1, both({.delay = {.least = 10s, .most = 10s}}));
  town.send(kAToB, Lane::kBulk, "slow");
  town.network.reset({kAToB, Lane::kBulk});
  town.network.set_all_faults({});
  town.send(kAToB, Lane::kBulk, "quick");
  town.wait(1ms);
  EXPECT_EQ(town.b.bulk, std::vector<std::string>{"quick"});
}

TEST(Network, ResetsByChanceTakeTheFrameWithThem) {
  Town town(1, both({.reset_ppm = 100'000}));
  for (int i = 0; i < 1'000; ++i) {
    town.send(kAToB, Lane::kBulk, std::to_string(i));
    town.wait(100us);
  }
  town.wait(1s);
  const NetworkCounters& counters = town.network.counters();
  EXPECT_NEAR(static_cast<double>(counters.resets), 100, 40);
  EXPECT_GT(counters.lost_in_reset, counters.resets);
  EXPECT_EQ(town.a.resets.size(), counters.resets);
  town.expect_nothing_unaccounted();
}

TEST(Network, ACrashOfTheReceiverLosesWhatIsOnItsWay) {
  Town town(1);
  town.send(kAToB, Lane::kBulk, "lost");
  town.send(kBToA, Lane::kBulk, "left before the crash");
  EXPECT_EQ(town.scheduler.crash(kB), 1U);
  EXPECT_EQ(town.network.counters().lost_in_crash, 1U);
  town.network.detach(kB);
  town.send(kAToB, Lane::kBulk, "to nobody");
  town.wait(1s);
  EXPECT_EQ(town.a.all, std::vector<std::string>{"left before the crash"});
  EXPECT_EQ(town.a.resets.size(), 1U);
  EXPECT_EQ(town.network.counters().unheard, 1U);
  town.network.attach(kB, town.b);
  town.send(kAToB, Lane::kBulk, "restarted");
  town.wait(1s);
  EXPECT_EQ(town.b.all, std::vector<std::string>{"restarted"});
  town.expect_nothing_unaccounted();
}

TEST(Network, APausedNodeHearsEverythingAfterwardsInLine) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    Town town(seed);
    town.scheduler.pause(kB, SimTime(1s));
    for (int i = 0; i < 200; ++i) {
      town.send(kAToB, Lane::kBulk, std::to_string(i));
      town.wait(10ms);
    }
    town.wait(1s);
    EXPECT_EQ(town.b.bulk, numbers(200));
  }
}

TEST(Network, FaultsBelongToADirectedPair) {
  Town town(1);
  town.network.set_faults(kAToB, both({.drop_ppm = kCertain}));
  town.send(kAToB, Lane::kBulk, "lost");
  town.send(kBToA, Lane::kBulk, "back");
  town.send({kA, kC}, Lane::kBulk, "aside");
  town.wait(1s);
  EXPECT_TRUE(town.b.all.empty());
  EXPECT_EQ(town.a.all.size() + town.c.all.size(), 2U);
  town.network.set_all_faults({});
  town.send(kAToB, Lane::kBulk, "again");
  town.wait(1s);
  EXPECT_EQ(town.b.all, std::vector<std::string>{"again"});
}

TEST(Network, MayEndBeforeItsFramesArrive) {
  Scheduler scheduler;
  Ear ear;
  {
    Network network(scheduler, 1, {});
    network.attach(kB, ear);
    network.send({kAToB, Lane::kBulk}, {});
    network.reset({kAToB, Lane::kBulk});
    network.send({kAToB, Lane::kBulk}, {});
  }
  EXPECT_EQ(scheduler.tasks(), 0U);
  EXPECT_FALSE(scheduler.step());
}

const LaneFaults kStorm = {
    .delay = {.least = 0ns, .most = 5ms, .tail_ppm = 10'000, .tail_most = 500ms},
    .drop_ppm = 50'000,
    .duplicate_ppm = 50'000,
    .reorder_ppm = 50'000,
    .reorder_most = 50ms,
    .reset_ppm = 5'000};

struct Day {
  std::vector<std::string> heard;
  NetworkCounters counters;
};

// Frames between all, with partitions, pauses, crashes and restarts; the sum is looked at every time.
Day bad_day(std::uint64_t seed) {
  Town town(seed, both(kStorm));
  ChaChaRandom random(seed);
  const std::vector<NodeId> nodes = {kA, kB, kC};
  std::vector<Ear*> ears = {&town.a, &town.b, &town.c};
  for (int i = 0; i < 3'000; ++i) {
    const std::size_t from = random.below(3);
    const std::size_t to = (from + 1 + random.below(2)) % 3;
    const Link link = {nodes[from], nodes[to]};
    const std::uint64_t chance = random.below(1'000);
    if (chance < 5) {
      town.network.block(link);
    } else if (chance < 10) {
      town.network.heal();
    } else if (chance < 15) {
      town.scheduler.pause(nodes[from], town.scheduler.now() + 20ms);
    } else if (chance < 20) {
      town.scheduler.crash(nodes[to]);
      town.network.detach(nodes[to]);
      town.network.attach(nodes[to], *ears[to]);
    } else {
      town.send(link, chance < 500 ? Lane::kBulk : Lane::kControl, std::to_string(i));
    }
    town.wait(std::chrono::microseconds(random.below(1'000)));
    town.expect_nothing_unaccounted();
  }
  town.wait(10s);
  EXPECT_EQ(town.network.in_flight(), 0U);
  Day day;
  for (const Ear* ear : ears)
    day.heard.insert(day.heard.end(), ear->all.begin(), ear->all.end());
  day.counters = town.network.counters();
  return day;
}

TEST(Network, RepeatsASeedAndAccountsForEveryFrame) {
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    const Day day = bad_day(seed);
    const Day again = bad_day(seed);
    EXPECT_EQ(day.heard, again.heard);
    EXPECT_EQ(day.counters, again.counters);
    const NetworkCounters& c = day.counters;
    for (const std::uint64_t fault :
         {c.delivered, c.dropped, c.duplicated, c.blocked, c.lost_in_reset, c.lost_in_crash,
          c.reordered, c.tail, c.resets})
      EXPECT_GT(fault, 0U) << "seed " << seed;
    EXPECT_NE(day.heard, bad_day(seed + 100).heard);
  }
}

// What shrinking a schedule needs: without one of its faults, the others strike as before.
TEST(Network, AFaultElsewhereChangesNothingForAStream) {
  const auto heard_by_b = [](bool with_other_fault) {
    Town town(7, both({.drop_ppm = 300'000, .duplicate_ppm = 300'000}));
    for (int i = 0; i < 200; ++i) {
      if (with_other_fault && i == 50) town.network.block({kC, kB});
      town.send({kC, kA}, Lane::kBulk, "c");
      if (with_other_fault) town.send({kC, kB}, Lane::kBulk, "c");
      town.send(kAToB, Lane::kBulk, std::to_string(i));
      town.wait(10ms);
    }
    std::erase(town.b.bulk, "c");
    return town.b.bulk;
  };
  EXPECT_EQ(heard_by_b(true), heard_by_b(false));
}

}  // namespace
}  // namespace cadastre::sim
