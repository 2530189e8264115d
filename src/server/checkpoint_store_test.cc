// Checkpoints of one node reach another, whatever happens on the way; nothing is left behind (L-73 to L-76).

#include "server/checkpoint_store.h"

#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "server/checkpoint_testing.h"

namespace cadastre::server {
namespace {

namespace fs = std::filesystem;
using log::SnapshotError;

// Ranges of another store of this process, as far as the way to it is not cut.
class OtherStore final : public CheckpointSource {
 public:
  explicit OtherStore(QueuedPool& pool) : pool_(pool) {}

  void fetch(const log::CheckpointName& name, const FileRange& range, FetchDone done) override {
    if (cut || stopped || other == nullptr || ranges_left == 0) {
      pool_.run([done = std::move(done)]() mutable {
        done(base::fail(FetchError::kUnavailable, "the way is cut"));
      });
      return;
    }
    --ranges_left;
    other->read(
        name, range,
        [this, done = std::move(done)](base::Result<base::Bytes, RangeError> bytes) mutable {
          if (bytes && spoils) bytes->front() ^= std::byte{1};
          if (bytes) return done(*std::move(bytes));
          done(base::fail(bytes.error().code == RangeError::kGone ? FetchError::kGone
                                                                  : FetchError::kRefused));
        });
  }
  void stop() override { stopped = true; }

  CheckpointStore* other = nullptr;
  bool cut = false;
  bool spoils = false;
  bool stopped = false;
  int ranges_left = 1'000;

 private:
  QueuedPool& pool_;
};

class CheckpointStoreTest : public ::testing::Test {
 protected:
  void SetUp() override {
    sender = open("sender", nowhere);
    receiver = open("receiver", way);
    way.other = sender.get();
  }
  void TearDown() override {
    for (auto* const store : {&sender, &receiver})
      store->reset();
  }

  std::unique_ptr<CheckpointStore> open(const std::string& name, CheckpointSource& source) {
    auto opened =
        CheckpointStore::open({.directory = scratch.path() / name}, {pool, source, timer, clock});
    EXPECT_TRUE(opened) << opened.error().detail;
    return *std::move(opened);
  }
  void run() {
    pool.run_all();
    timer.fire();
    pool.run_all();
  }
  // Until the ranges of a staging have all come.
  void run_long() {
    for (int i = 0; i < 100; ++i)
      run();
  }

  std::optional<log::CheckpointManifest> make(const log::CheckpointName& name = kMade) {
    write_state(sender->place(name).directory);
    std::optional<log::CheckpointManifest> made;
    sender->seal(facts_of(name), [&](base::Result<log::CheckpointManifest, SnapshotError> sealed) {
      ASSERT_TRUE(sealed) << sealed.error().detail;
      made = *std::move(sealed);
    });
    run();
    return made;
  }

  struct Answer {
    int times = 0;
    std::optional<SnapshotError> error = std::nullopt;
    fs::path directory = {};
  };
  std::shared_ptr<Answer> stage(const log::CheckpointManifest& manifest) {
    auto answer = std::make_shared<Answer>();
    receiver->stage(manifest, [answer](base::Result<log::StagedCheckpoint, SnapshotError> staged) {
      ++answer->times;
      if (staged) {
        answer->directory = staged->directory;
      } else {
        answer->error = staged.error().code;
      }
    });
    return answer;
  }
  [[nodiscard]] std::size_t entries(const std::string& part) const {
    std::size_t count = 0;
    for (const auto& each : fs::directory_iterator(scratch.path() / part)) {
      (void)each;
      ++count;
    }
    return count;
  }

  const CheckpointScratch scratch;
  base::ManualClock clock;
  QueuedPool pool;
  QueuedTimer timer;
  OtherStore nowhere{pool};
  OtherStore way{pool};
  std::unique_ptr<CheckpointStore> sender;
  std::unique_ptr<CheckpointStore> receiver;
};

TEST_F(CheckpointStoreTest, ASealedCheckpointIsStagedElsewhere) {
  const auto manifest = make();
  EXPECT_EQ(sender->pinned_bytes(), kTableBytes + 11);
  EXPECT_EQ(sender->last_read(kMade), std::nullopt);
  clock.advance(std::chrono::seconds(5));
  const auto answer = stage(*manifest);
  run_long();
  ASSERT_EQ(answer->times, 1);
  ASSERT_EQ(answer->error, std::nullopt);
  const auto verified = log::verify_checkpoint(answer->directory);
  ASSERT_TRUE(verified) << verified.error().detail;
  EXPECT_EQ(*verified, *manifest);
  EXPECT_EQ(sender->last_read(kMade), clock.elapsed());
  EXPECT_EQ(receiver->counters().staged, 1U);
  EXPECT_GT(receiver->counters().bytes_fetched, kTableBytes);
}

TEST_F(CheckpointStoreTest, WhatIsReleasedIsGoneForPeersAndFromTheDisk) {
  const auto manifest = make();
  sender->release(kMade);
  EXPECT_EQ(sender->pinned_bytes(), 0U);
  const auto answer = stage(*manifest);
  run_long();
  EXPECT_EQ(answer->error, SnapshotError::kUnreachable);
  EXPECT_EQ(entries("sender/made"), 0U);
  EXPECT_EQ(sender->last_read(kMade), std::nullopt);
}

TEST_F(CheckpointStoreTest, AMinuteWithoutProgressEndsTheAttemptAndTheNextOneGoesOn) {  // L-75
  const auto manifest = make();
  way.ranges_left = 3;
  const auto answer = stage(*manifest);
  run_long();
  EXPECT_EQ(answer->times, 0);
  clock.advance(kStageStallMax - std::chrono::milliseconds(1));
  run();
  EXPECT_EQ(answer->times, 0);
  clock.advance(std::chrono::milliseconds(1));
  run();
  ASSERT_EQ(answer->times, 1);
  EXPECT_EQ(answer->error, SnapshotError::kUnreachable);

  way.ranges_left = 2;  // The rest of the table, and the short file.
  const auto again = stage(*manifest);
  run_long();
  EXPECT_EQ(again->times, 1);
  EXPECT_EQ(again->error, std::nullopt);
}

TEST_F(CheckpointStoreTest, ProgressGivesAnotherMinute) {  // L-75
  const auto manifest = make();
  way.ranges_left = 1;
  const auto answer = stage(*manifest);
  run_long();
  for (int i = 0; i < 3; ++i) {
    clock.advance(kStageStallMax - std::chrono::seconds(1));
    way.ranges_left = 1;
    run_long();
    EXPECT_EQ(answer->times, 0);
  }
  way.ranges_left = 1'000;
  run_long();
  EXPECT_EQ(answer->error, std::nullopt);
  EXPECT_EQ(answer->times, 1);
}

TEST_F(CheckpointStoreTest, WhatIsDamagedIsThrownAway) {
  const auto manifest = make();
  way.spoils = true;
  const auto answer = stage(*manifest);
  run_long();
  EXPECT_EQ(answer->times, 1);
  EXPECT_EQ(answer->error, SnapshotError::kDamaged);
  EXPECT_EQ(entries("receiver/staged"), 0U);
  EXPECT_EQ(receiver->counters().stages_failed, 1U);
}

TEST_F(CheckpointStoreTest, ANewerCheckpointReplacesAnAttemptAtAnOlderOne) {
  const auto old_one = make();
  way.ranges_left = 2;
  const auto answer = stage(*old_one);
  run_long();
  clock.advance(kStageStallMax);
  run();
  ASSERT_EQ(answer->error, SnapshotError::kUnreachable);
  way.ranges_left = 1'000;
  const log::CheckpointName newer{kMade.group, kMade.node, log::CheckpointId{10}};
  const auto manifest = make(newer);
  const auto other = stage(*manifest);
  run_long();
  EXPECT_EQ(other->error, std::nullopt);
  EXPECT_EQ(entries("receiver/staged"), 1U);
  EXPECT_EQ(receiver->counters().bytes_fetched,
            old_one->list_bytes + manifest->list_bytes + manifest->total_bytes)
      << "what both have is fetched once (L-74)";
}

TEST_F(CheckpointStoreTest, AStagingWaitsUntilFilesOfItsNameAreGone) {
  const auto manifest = make();
  const auto first = stage(*manifest);
  run_long();
  ASSERT_EQ(first->error, std::nullopt);
  receiver->release_staged(kMade);
  const auto again = stage(*manifest);
  pool.run_newest();  // On one thread the staging begins, while the other has not come to the files.
  EXPECT_EQ(again->times, 0);
  run_long();
  EXPECT_EQ(again->times, 1);
  ASSERT_EQ(again->error, std::nullopt);
  EXPECT_TRUE(log::verify_checkpoint(again->directory));
}

TEST_F(CheckpointStoreTest, AStopEndsWhatIsUnderWayOnce) {
  const auto manifest = make();
  way.cut = true;
  const auto answer = stage(*manifest);
  pool.run_all();  // It waits for its next attempt.
  EXPECT_EQ(answer->times, 0);
  receiver->request_stop();
  run();
  EXPECT_EQ(answer->times, 1);
  EXPECT_EQ(answer->error, SnapshotError::kStopped);
  receiver->stop();
  const auto late = stage(*manifest);
  EXPECT_EQ(late->error, SnapshotError::kStopped);
}

TEST_F(CheckpointStoreTest, ANodeThatGoesDownTellsReadersToComeBack) {
  (void)make();
  sender->stop();
  std::optional<RangeError> refused;
  sender->read(kMade, {"CURRENT", 0, 1}, [&](const base::Result<base::Bytes, RangeError>& bytes) {
    if (!bytes) refused = bytes.error().code;
  });
  EXPECT_EQ(refused, RangeError::kBusy);  // Not kGone: a staging would give up for good.
}

TEST_F(CheckpointStoreTest, AStartKeepsWhatIsWantedAndSweepsTheRest) {  // L-76
  const auto manifest = make();
  const auto answer = stage(*manifest);
  run_long();
  ASSERT_EQ(answer->error, std::nullopt);
  receiver.reset();
  receiver = open("receiver", way);
  fs::create_directory(scratch.path() / "receiver/staged/g3-n1-c8");
  write_state(scratch.path() / "receiver/made/g3-n2-c1");
  const std::vector<log::CheckpointName> wanted = {kMade};
  receiver->sweep(wanted);
  EXPECT_EQ(entries("receiver/made"), 0U);
  EXPECT_EQ(entries("receiver/staged"), 1U);
  const auto found = receiver->find_staged(kMade);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->manifest, *manifest);
  receiver->release_staged(kMade);
  run();
  EXPECT_EQ(receiver->find_staged(kMade), std::nullopt);
  EXPECT_EQ(entries("receiver/staged"), 0U);
}

TEST_F(CheckpointStoreTest, WhatIsNotCompleteIsNotFoundAtAStart) {  // L-76
  const auto manifest = make();
  way.ranges_left = 3;
  (void)stage(*manifest);
  run_long();
  EXPECT_FALSE(receiver->find_staged(kMade));
  way.ranges_left = 1'000;
  run_long();
  EXPECT_TRUE(receiver->find_staged(kMade));
}

TEST_F(CheckpointStoreTest, PeersAskForWhatIsNotThere) {  // L-70
  (void)make();
  const auto refusal = [&](const log::CheckpointName& name, const FileRange& range) {
    std::optional<RangeError> error;
    sender->read(name, range, [&](const base::Result<base::Bytes, RangeError>& bytes) {
      if (!bytes) error = bytes.error().code;
    });
    run();
    return error;
  };
  write_file(scratch.path() / "sender/made/secret", "not a checkpoint's");
  EXPECT_EQ(refusal(kMade, {"CURRENT", 0, 11}), std::nullopt);
  EXPECT_EQ(refusal({kMade.group, kMade.node, log::CheckpointId{8}}, {"CURRENT", 0, 11}),
            RangeError::kGone);
  EXPECT_EQ(refusal(kMade, {"../secret", 0, 3}), RangeError::kNoRange);
  EXPECT_EQ(refusal(kMade, {"CHECKPOINT", 0, 3}), RangeError::kNoRange);
  EXPECT_EQ(refusal(kMade, {"CURRENT", 0, 12}), RangeError::kNoRange);
  EXPECT_EQ(refusal(kMade, {"CURRENT", 12, 1}), RangeError::kNoRange);
  EXPECT_EQ(refusal(kMade, {"CURRENT", ~std::uint64_t{0}, 2}), RangeError::kNoRange);
  EXPECT_EQ(sender->counters().ranges_refused, 6U);
}

TEST_F(CheckpointStoreTest, OneRangeTooManyIsToldToComeBack) {
  (void)make();
  std::size_t busy = 0;
  std::size_t served = 0;
  const auto count = [&](const base::Result<base::Bytes, RangeError>& bytes) {
    if (bytes) ++served;
    if (!bytes && bytes.error().code == RangeError::kBusy) ++busy;
  };
  for (std::size_t i = 0; i < kRangesUnderWayMax + 1; ++i)
    sender->read(kMade, {"CURRENT", 0, 1}, count);
  EXPECT_EQ(busy, 1U);
  run();
  EXPECT_EQ(served, kRangesUnderWayMax);
  sender->read(kMade, {"CURRENT", 0, 1}, count);
  run();
  EXPECT_EQ(served, kRangesUnderWayMax + 1);
}

TEST_F(CheckpointStoreTest, RangesLeaveAtTheirPace) {
  (void)make();
  constexpr auto kRange = static_cast<std::uint32_t>(kFetchBytesMax);
  for (int i = 0; i < 2; ++i)
    sender->read(kMade, {"000001.sst", 0, kRange}, [](const auto&) {});
  pool.run_all();
  // A quarter of a MiB at 64 MiB/s takes 3.9 ms.
  EXPECT_EQ(timer.delays, std::vector{std::chrono::milliseconds(3)});
  run();
}

}  // namespace
}  // namespace cadastre::server
