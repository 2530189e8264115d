#include "log/lease.h"

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "base/boot_clock.h"
#include "log/lease_board.h"

namespace cadastre::log {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using std::chrono::seconds;

constexpr milliseconds kLength{700};
constexpr Term kTerm{5};

constexpr milliseconds ms(int count) {
  return milliseconds(count);
}

TEST(LeaseLength, FollowsFromThePromise) {  // 8.3
  EXPECT_EQ(lease_length({}), kLength);     // 950 ms x 0.98 - 200 ms, rounded down.
  struct Case {
    const char* says;
    RaftSettings settings;
    milliseconds length;
  };
  const std::vector<Case> cases = {
      {"a wide-area profile scales the tick", {.tick = ms(200)}, ms(3500)},
      {"a promise of a quarter second has no lease", {.tick = ms(10), .election_ticks = 26}, ms(0)},
      {"a short one has none", {.tick = ms(10)}, ms(0)},
  };
  for (const Case& each : cases)
    EXPECT_EQ(lease_length(each.settings), each.length) << each.says;
}

// A leader whose term is open, at 1,000 ms.
Lease opened() {
  Lease lease(kLength);
  lease.look(ms(1000));
  lease.lead(kTerm);
  lease.open();
  return lease;
}

TEST(Lease, HoldsWhileItsEvidenceIsYoung) {
  struct Case {
    const char* says;
    std::function<void(Lease&)> events;  // Of an open leader, at 1,000 ms.
    int at_ms;
    bool valid;
  };
  const auto round = [](Lease& lease) {
    lease.asked(1, ms(1000));
    lease.answered(1);
  };
  const auto after = [round](std::function<void(Lease&)> event) {
    return [round, event = std::move(event)](Lease& lease) {
      round(lease);
      event(lease);
    };
  };
  const std::vector<Case> cases = {
      {"a leader alone has none", [](Lease&) {}, 1000, false},
      {"a round that came back", round, 1000, true},
      {"up to its very end", round, 1699, true},
      {"and no longer", round, 1700, false},
      {"it counts from the beginning of the round",
       [](Lease& lease) {
         lease.asked(1, ms(1000));
         lease.look(ms(1500));
         lease.answered(1);
       },
       1700, false},
      {"a round that has not come back", [](Lease& lease) { lease.asked(1, ms(1000)); }, 1000,
       false},
      {"another round's answer", [](Lease& lease) { lease.answered(2); }, 1000, false},
      {"an entry that was committed",
       [](Lease& lease) {
         lease.proposed(Index{8}, ms(1100));
         lease.committed(Index{8});
       },
       1799, true},
      {"an entry that was not",
       [](Lease& lease) {
         lease.proposed(Index{8}, ms(1100));
         lease.committed(Index{7});
       },
       1100, false},
      {"the youngest evidence counts",
       [](Lease& lease) {
         lease.asked(1, ms(1000));
         lease.proposed(Index{8}, ms(1200));
         lease.committed(Index{8});
         lease.answered(1);
       },
       1899, true},
      {"what is old proves nothing about another leadership",
       after([](Lease& lease) { lease.lead(Term{6}); }), 1100, false},
      {"leadership lost", after([](Lease& lease) { lease.lead(Term{0}); }), 1100, false},
      {"a change of membership", after([](Lease& lease) { lease.end(); }), 1100, false},
      {"a round that began before an end",
       [](Lease& lease) {
         lease.asked(1, ms(1000));
         lease.end();
         lease.answered(1);
       },
       1000, false},
      {"an entry from before an end",
       [](Lease& lease) {
         lease.proposed(Index{8}, ms(1000));
         lease.end();
         lease.committed(Index{8});
       },
       1000, false},
      {"a round that began after an end",
       [](Lease& lease) {
         lease.end();
         lease.asked(1, ms(1000));
         lease.answered(1);
       },
       1000, true},
      {"a transfer was started", after([](Lease& lease) { lease.forbid(); }), 1100, false},
      {"and the term has none again",
       [round](Lease& lease) {
         lease.forbid();
         round(lease);
         lease.proposed(Index{8}, ms(1000));
         lease.committed(Index{8});
       },
       1000, false},
      {"another term may",
       [](Lease& lease) {
         lease.forbid();
         lease.lead(Term{6});
         lease.open();
         lease.asked(1, ms(1000));
         lease.answered(1);
       },
       1000, true},
      {"a new term's own entry is not applied yet",
       [round](Lease& lease) {
         lease.lead(Term{6});
         round(lease);
       },
       1000, false},
      {"the clock failed", after([](Lease& lease) { lease.look(std::nullopt); }), 1100, false},
      {"nothing begins by a clock that fails",
       [](Lease& lease) {
         lease.asked(1, std::nullopt);
         lease.answered(1);
       },
       1000, false},
      {"the clock went back", after([](Lease& lease) { lease.look(ms(999)); }), 1100, false},
      {"a reading before the evidence", round, 999, false},
  };
  for (const Case& each : cases) {
    Lease lease = opened();
    each.events(lease);
    EXPECT_EQ(lease.valid(ms(each.at_ms)), each.valid) << each.says;
  }
}

TEST(Lease, WatchesNoMoreRoundsThanThereAre) {
  Lease lease = opened();
  for (std::uint64_t round = 1; round <= kReadRoundsMax + 1; ++round)
    lease.asked(round, ms(1000 + static_cast<int>(round)));
  lease.answered(1);  // Forgotten: the oldest.
  EXPECT_FALSE(lease.valid(ms(1100)));
  lease.answered(2);
  EXPECT_TRUE(lease.valid(ms(1100)));
}

TEST(LeaseBoard, AReaderLooksTwice) {
  base::ManualClock clock;
  base::DerivedBootClock boot(clock);
  clock.advance(ms(1000));
  LeaseBoard board(boot);
  EXPECT_FALSE(board.grant());
  Lease lease = opened();
  lease.asked(1, ms(1000));
  lease.answered(1);
  board.show(lease, Index{9});
  const auto grant = board.grant();
  ASSERT_TRUE(grant);
  EXPECT_EQ(grant->committed, Index{9});
  EXPECT_TRUE(board.holds(grant->token));

  clock.advance(ms(699));
  EXPECT_TRUE(board.holds(grant->token));
  clock.advance(ms(1));
  EXPECT_FALSE(board.holds(grant->token));  // Time.
  lease.asked(2, ms(1700));
  lease.answered(2);
  board.show(lease, Index{9});
  EXPECT_TRUE(board.holds(grant->token));  // More evidence, and no end in between.
  boot.fail(true);
  EXPECT_FALSE(board.holds(grant->token));
  boot.fail(false);
  boot.set_off(-ms(1));
  EXPECT_FALSE(board.holds(grant->token));  // Before the evidence: the clock is wrong.
  boot.set_off(ms(0));
  EXPECT_TRUE(board.holds(grant->token));

  lease.end();
  lease.asked(3, ms(1700));
  lease.answered(3);
  board.show(lease, Index{9});
  EXPECT_FALSE(board.holds(grant->token));  // Another generation,
  EXPECT_TRUE(board.grant());               // which a new reader may use.
}

// Against a walk over everything that ever happened.
enum class What : std::uint8_t {
  kTime,
  kClockFails,
  kLead,
  kLose,
  kOpen,
  kEnd,
  kForbid,
  kAsk,
  kAnswer,
  kPropose,
  kCommit,
  kCount
};
struct Event {
  What what{};
  std::uint64_t number = 0;  // Of a round or an entry.
  base::Elapsed at{};
};

struct Walk {
  Term term;
  bool open = false;
  bool forbidden = false;
  std::size_t ended = 0;  // The place behind the last end.
};

Walk walk(const std::vector<Event>& events) {
  Walk walk;
  for (std::size_t i = 0; i < events.size(); ++i) {
    switch (events[i].what) {
      case What::kLead: walk = {Term{walk.term.value() + 100 + i}, false, false, i + 1}; break;
      case What::kLose: walk = {Term{0}, false, false, i + 1}; break;
      case What::kOpen: walk.open = walk.term != Term{0}; break;
      case What::kForbid: walk.forbidden = true; [[fallthrough]];
      case What::kClockFails:
      case What::kEnd: walk.ended = i + 1; break;
      default: break;
    }
  }
  return walk;
}

// Whether some evidence that began after the last end came back, and is young enough.
bool model_valid(const std::vector<Event>& events, base::Elapsed now) {
  const Walk last = walk(events);
  if (last.term == Term{0} || !last.open || last.forbidden) return false;
  for (std::size_t begin = last.ended; begin < events.size(); ++begin) {
    const Event& sent = events[begin];
    if (sent.what != What::kAsk && sent.what != What::kPropose) continue;
    const What back = sent.what == What::kAsk ? What::kAnswer : What::kCommit;
    for (std::size_t end = begin + 1; end < events.size(); ++end) {
      const bool came = events[end].what == back && events[end].number == sent.number;
      if (came && now >= sent.at && now < sent.at + kLength) return true;
    }
  }
  return false;
}

RC_GTEST_PROP(LeaseProperty, HoldsExactlyWhileYoungEvidenceOfThisGenerationIsThere, ()) {
  Lease lease(kLength);
  std::vector<Event> events;
  base::Elapsed now = seconds(1);
  Term term{0};
  std::uint64_t round = 0;
  std::uint64_t entry = 0;  // One at a time, so that each is watched.
  bool waits = false;
  lease.look(now);
  const int steps = *rc::gen::inRange(1, 60);
  for (int step = 0; step < steps; ++step) {
    const auto what = static_cast<What>(*rc::gen::inRange(0, static_cast<int>(What::kCount)));
    Event event{what, 0, now};
    switch (what) {
      case What::kTime:
        now += ms(*rc::gen::inRange(0, 300));
        lease.look(now);
        break;
      case What::kClockFails:
        lease.look(std::nullopt);
        lease.look(now);
        break;
      case What::kLead:
        term = Term{walk(events).term.value() + 100 + events.size()};
        lease.lead(term);
        break;
      case What::kLose:
        if (walk(events).term == Term{0}) continue;  // Nothing ends that is not there.
        lease.lead(Term{0});
        break;
      case What::kOpen: lease.open(); break;
      case What::kEnd: lease.end(); break;
      case What::kForbid: lease.forbid(); break;
      case What::kAsk:
        event.number = ++round;
        lease.asked(round, now);
        break;
      case What::kAnswer:
        event.number = round - std::min(round, *rc::gen::inRange<std::uint64_t>(0, 3));
        lease.answered(event.number);
        break;
      case What::kPropose:
        if (waits) continue;
        event.number = ++entry;
        waits = true;
        lease.proposed(Index{entry}, now);
        break;
      case What::kCommit:
        event.number = entry;
        waits = false;
        lease.committed(Index{entry});
        break;
      case What::kCount: break;
    }
    events.push_back(event);
    RC_ASSERT(lease.valid(now) == model_valid(events, now));
  }
}

}  // namespace
}  // namespace cadastre::log
