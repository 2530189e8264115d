#include "sim/log/checkpoint_carrier.h"

#include <chrono>
#include <functional>
#include <memory>
#include <optional>

#include <gtest/gtest.h>

#include "base/clock.h"
#include "base/random.h"
#include "sim/log/piece_shelf.h"

namespace cadastre::sim {
namespace {

using std::chrono::seconds;

constexpr NodeId kMaker{1};
constexpr NodeId kTaker{2};
const log::CheckpointName kName{log::GroupId{7}, log::NodeId{1}, log::CheckpointId{1}};

base::Bytes content() {
  base::Bytes bytes;
  for (int i = 0; i < 1001; ++i)
    bytes.push_back(static_cast<std::byte>(i % 251));
  return bytes;
}

// A maker and a taker; letters arrive at once while `carries`, and else are lost.
class Pair {
 public:
  Pair() {
    maker = make(kMaker, maker_shelf);
    taker = make(kTaker, taker_shelf);
  }

  // It is written and sealed.
  log::CheckpointManifest offer() {
    EXPECT_TRUE(maker_shelf.put(maker->place(kName).directory, content()));
    std::optional<log::CheckpointManifest> sealed;
    maker->seal({.group = kName.group,
                 .at = {log::Term{2}, log::Index{9}},
                 .node = kName.node,
                 .id = kName.id},
                [&](const auto& manifest) { sealed = *manifest; });
    run(seconds(1));
    return sealed.value();
  }
  void stage(const log::CheckpointManifest& manifest) {
    answer.reset();
    taker->stage(manifest, [this](auto said) { answer = std::move(said); });
  }
  void run(std::chrono::nanoseconds lasts) { scheduler.run_until(scheduler.now() + lasts); }
  void restart_taker(const std::function<bool()>& survives) {
    scheduler.crash(kTaker);
    taker.reset();
    taker_shelf.crash(survives);
    taker = make(kTaker, taker_shelf);
  }

  Scheduler scheduler;
  base::ManualClock clock;
  base::SeededRandom random{1};
  PieceShelf maker_shelf, taker_shelf;
  std::unique_ptr<CheckpointCarrier> maker, taker;
  bool carries = true;
  std::optional<base::Result<log::StagedCheckpoint, log::SnapshotError>> answer;

 private:
  std::unique_ptr<CheckpointCarrier> make(NodeId self, PieceShelf& shelf) {
    return std::make_unique<CheckpointCarrier>(CheckpointCarrier::Parts{
        .self = self,
        .scheduler = scheduler,
        .shelf = shelf,
        .clock = clock,
        .random = random,
        .ask =
            [this](NodeId /*to*/, const PieceRequest& request) {
              if (carries) maker->on_request(kTaker, decode_piece_request(rest(encode(request))));
            },
        .answer =
            [this](NodeId /*to*/, const PieceAnswer& given) {
              if (carries) taker->on_answer(decode_piece_answer(rest(encode(given))));
            }});
  }
  static base::ByteView rest(const base::Bytes& letter) { return open_letter(letter).body; }
};

TEST(CheckpointCarrier, BringsWhatWasSealed) {
  Pair pair;
  const auto manifest = pair.offer();
  pair.stage(manifest);
  pair.run(seconds(10));
  ASSERT_TRUE(pair.answer && *pair.answer);
  EXPECT_EQ((*pair.answer)->manifest, manifest);
  EXPECT_EQ(pair.taker_shelf.find((*pair.answer)->directory), content());
  EXPECT_TRUE(pair.taker->holds(kName.group, log::Index{9}));
  EXPECT_TRUE(pair.maker->last_read(kName).has_value());
  pair.taker->release_staged(kName);
  EXPECT_FALSE(pair.taker->holds(kName.group, log::Index{9}));
}

TEST(CheckpointCarrier, GivesUpWhenNothingComesAndGoesOnLater) {
  Pair pair;
  const auto manifest = pair.offer();
  pair.carries = false;
  pair.stage(manifest);
  pair.run(seconds(10));
  ASSERT_TRUE(pair.answer);
  EXPECT_EQ(pair.answer->error().code, log::SnapshotError::kUnreachable);
  pair.carries = true;
  pair.stage(manifest);
  pair.run(seconds(10));
  EXPECT_TRUE(pair.answer && *pair.answer);
}

TEST(CheckpointCarrier, WhatWasReleasedIsGone) {
  Pair pair;
  const auto manifest = pair.offer();
  pair.maker->release(kName);
  pair.stage(manifest);
  pair.run(seconds(10));
  ASSERT_TRUE(pair.answer);
  EXPECT_EQ(pair.answer->error().code, log::SnapshotError::kUnreachable);
}

TEST(CheckpointCarrier, ADiskThatRefusesIsSaid) {
  Pair pair;
  const auto manifest = pair.offer();
  pair.taker->fail_next();
  pair.stage(manifest);
  pair.run(seconds(10));
  ASSERT_TRUE(pair.answer);
  EXPECT_FALSE(*pair.answer);
}

// What is staged when it is said so survives every crash; before that it is found whole or not at all.
TEST(CheckpointCarrier, ACrashLeavesAStagedCheckpointWholeOrNone) {
  base::SeededRandom luck(3);
  int cut = 0;
  for (int steps = 0;; ++steps) {
    Pair pair;
    const auto manifest = pair.offer();
    pair.stage(manifest);
    for (int i = 0; i < steps && !pair.answer; ++i)
      pair.scheduler.step();
    const bool said = pair.answer && *pair.answer;
    pair.restart_taker([&] { return luck.below(2) == 0; });
    ASSERT_TRUE(pair.answer);  // Whoever waits when a process ends is told.
    const auto found = pair.taker->find_staged(kName);
    if (said) {
      ASSERT_TRUE(found);
      EXPECT_EQ(pair.taker_shelf.find(found->directory), content());
      break;
    }
    ++cut;
    if (found) {
      EXPECT_EQ(pair.taker_shelf.find(found->directory), content());
    }
    pair.taker->sweep({});
    EXPECT_FALSE(pair.taker->find_staged(kName));
  }
  EXPECT_GE(cut, 5);
}

}  // namespace
}  // namespace cadastre::sim
