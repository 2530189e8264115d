// The replicated backend on files that crash, at every change of a file of a history, during snapshots and their
// renames too (C-10.8 tests). After each crash the node holds exactly what was answered, with the operation that
// was under way or without it, never half of it (F1, F7, F9); that operation, asked again with the same op
// id, is executed or replayed accordingly; and the history goes on to its end.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "base/bytes.h"
#include "base/check.h"
#include "base/random.h"
#include "coord/backend.h"
#include "coord/conformance/words_testing.h"
#include "coord/errors.h"
#include "coord/identity.h"
#include "coord/lease.h"
#include "coord/memory/memory_backend.h"
#include "coord/snapshot.h"
#include "shard/bytes_testing.h"
#include "tests/coord/crash_disk.h"
#include "tests/coord/replicated_node.h"
#include "tests/log/crash_file_system.h"

namespace cadastre::coord::replicated {
namespace {

using namespace conformance;  // NOLINT(google-build-using-namespace): its literals
using log::CrashPolicy;
using log::LostBytes;
using log::LostEntries;

constexpr std::uint64_t kPlacesMax = 2000;
constexpr std::uint64_t kOneIn = base::kSlowChecks ? 8 : 1;
constexpr RunId kRun = 1_run;

// What a step said, as far as a caller acts on it.
enum class Said : std::uint8_t {
  kExecuted,
  kReplayed,
  kRefused,
  kUnknown,
};

template <class Answer>
Said said(const Answer& answer) {
  if (!answer) {
    if constexpr (requires { answer.error().template is<InfraError>(); })
      return answer.error().template is<InfraError>() ? Said::kUnknown : Said::kRefused;
    return Said::kUnknown;
  }
  if constexpr (requires { answer->is_replay(); })
    return answer->is_replay() ? Said::kReplayed : Said::kExecuted;
  return Said::kExecuted;
}

// A fixed story over two shards. Leases are known beforehand: fences rise by one.
class Story {
 public:
  using Step = std::function<Said(CoordinationFacade&)>;

  Story() : scratch_(std::make_unique<AcquireScratch>()), token_(3000, std::byte{5}) {
    steps_.push_back([this](CoordinationFacade& home) {
      return said(home.create_run(1_t, tenant_, kRun, {.lease_duration = 1000}));
    });
    steps_.push_back([this](CoordinationFacade& home) {
      const std::array roots{InitialShardInput{10_id, spec("a"_b, "m"_b)},
                             InitialShardInput{11_id, spec("m"_b, "z"_b)}};
      return said(home.register_shards(2_t, tenant_, kRun, roots, 1_op));
    });
    add_acquire(10_id);
    add_acquire(11_id);
    add_checkpoint("b"_b, 2_op);
    steps_.push_back([this](CoordinationFacade& home) {
      const auto plan = SplitResidualPlan::try_make(spec("a"_b, "f"_b), spec("f"_b, "m"_b)).value();
      return said(home.split_residual(5_t, tenant_, lease(10_id), plan, 3_op));
    });
    add_checkpoint("c"_b, 4_op);
    steps_.push_back([this](CoordinationFacade& home) {
      const std::array children{child("m"_b, "p"_b), child("p"_b, "s"_b), child("s"_b, "z"_b)};
      const auto plan = SplitReplacePlan::try_make(children).value();
      return said(home.split_replace(6_t, tenant_, lease(11_id), plan, 5_op));
    });
    for (std::uint64_t i = 0; i < 6; ++i)
      add_checkpoint("d"_b, OpId::from_raw(10 + i));
    steps_.push_back([this](CoordinationFacade& home) {
      return said(home.complete(8_t, tenant_, lease(10_id), CursorUpdate::make("e"_b), 20_op));
    });
    steps_.push_back([this](CoordinationFacade& home) {
      return said(home.cancel_run(9_t, tenant_, kRun, 21_op));
    });
  }

  [[nodiscard]] const std::vector<Step>& steps() const { return steps_; }

 private:
  [[nodiscard]] Lease lease(ShardId id) const {
    return *Lease::presented({.tenant = tenant_,
                              .key = {kRun, id},
                              .owner = 7_w,
                              .fence = FenceEpoch::from_raw(2),
                              .deadline = 1003_t});
  }
  void add_acquire(ShardId id) {
    steps_.push_back([this, id](CoordinationFacade& home) {
      return said(home.acquire_and_restore_into(3_t, tenant_, {kRun, id}, 7_w, *scratch_));
    });
  }
  void add_checkpoint(ByteView key, OpId op) {
    steps_.push_back([this, key = base::to_owned(key), op](CoordinationFacade& home) {
      return said(home.checkpoint(4_t, tenant_, lease(10_id), CursorUpdate::make(key, token_), op));
    });
  }

  const TenantId tenant_;
  const std::unique_ptr<AcquireScratch> scratch_;
  const base::Bytes token_;
  std::vector<Step> steps_;
};

// Tells the story to a node that may crash, and what was answered to a model.
class Telling {
 public:
  Telling() : node_(disk_) {}

  [[nodiscard]] CrashDisk& disk() { return disk_; }

  // Until the end of the story, or of the machine. Snapshots are written now and then.
  void go_on() {
    if (!node_.alive() && !node_.start()) return;
    while (next_ < story_.steps().size()) {
      const Said answer = story_.steps()[next_](node_.facade());
      if (answer == Said::kUnknown) return;
      confirm(answer);
      if (next_ % 3 == 0 && node_.alive()) node_.flush();
      if (!node_.alive()) return;
    }
  }

  // The machine ends and comes up with what the policy leaves.
  void crash(const CrashPolicy& policy) {
    if (node_.started()) durable_ = node_.machine().durable();
    node_.end();
    disk_.system().materialise(policy);
  }

  // What is there is what was answered, or one step more.
  void start_again() {
    ASSERT_TRUE(node_.start()) << node_.error();
    ASSERT_GE(node_.machine().durable().index, durable_.index) << "the log may have been cut to it";
    const Everything there = everything_of(node_.machine());
    if (there == everything_of(*model_)) return;
    ASSERT_LT(next_, story_.steps().size()) << "something is there that nobody asked for";
    // The step that was under way took effect as a whole. A retry must say so.
    const auto with_it = copy_of_model();
    ASSERT_EQ(story_.steps()[next_](*with_it), Said::kExecuted);
    ASSERT_TRUE(there == everything_of(*with_it))
        << "an operation that was answered is lost, or half of one is there";
    took_effect_ = true;
  }

  void expect_end() {
    go_on();
    EXPECT_EQ(next_, story_.steps().size());
    EXPECT_TRUE(everything_of(node_.machine()) == everything_of(*model_));
    node_.machine().verify();
  }

  [[nodiscard]] bool took_effect() const { return took_effect_; }

 private:
  void confirm(Said answer) {
    const Said modelled = story_.steps()[next_](*model_);
    ASSERT_EQ(modelled, Said::kExecuted);
    // What had taken effect unseen is replayed, or refused where there is no op id.
    if (std::exchange(took_effect_, false)) {
      EXPECT_NE(answer, Said::kExecuted);
    } else {
      EXPECT_EQ(answer, Said::kExecuted);
    }
    ++next_;
  }
  [[nodiscard]] std::unique_ptr<memory::MemoryBackend> copy_of_model() const {
    auto copy = std::make_unique<memory::MemoryBackend>(memory::MemoryOptions{});
    for (const RunRecord& run : model_->dump_runs())
      copy->load_run(run);
    for (const ShardDump& shard : model_->dump_shards())
      CAD_CHECK(copy->load_shard(shard).has_value(), "a copy has room");
    return copy;
  }

  Story story_;
  CrashDisk disk_;
  ReplicatedNode node_;
  std::unique_ptr<memory::MemoryBackend> model_ =
      std::make_unique<memory::MemoryBackend>(memory::MemoryOptions{});
  std::size_t next_ = 0;  // Of the steps; those before are answered.
  bool took_effect_ = false;
  log::Position durable_;  // What the machine said before it crashed.
};

struct NamedPolicy {
  std::string name;
  CrashPolicy policy;

  friend void PrintTo(const NamedPolicy& policy, std::ostream* out) { *out << policy.name; }
};
const std::vector<NamedPolicy> kPolicies{
    {"AllUnsyncedIsLost", log::kDropUnsynced},
    {"NothingIsLost", log::kKeepAll},
    {"BytesAreLostNamesStay",
     {.bytes = LostBytes::kTear, .kept = 0, .entries = LostEntries::kKept}},
    {"NamesAreLostBytesStay", {.bytes = LostBytes::kKeepAll, .entries = LostEntries::kDropped}},
    {"TornInTheMiddle", {.bytes = LostBytes::kTear, .kept = 700, .entries = LostEntries::kKept}},
    {"Zeros", {.bytes = LostBytes::kZeros, .kept = 0, .entries = LostEntries::kKept}},
    {"Garbage",
     {.bytes = LostBytes::kGarbage, .kept = 40, .seed = 7, .entries = LostEntries::kKept}},
};

class ReplicatedCrash : public testing::TestWithParam<NamedPolicy> {};

TEST_P(ReplicatedCrash, AtAnyChangeOfAFileLosesNothingThatWasAnswered) {
  base::SeededRandom random(1);
  std::size_t unseen = 0;
  for (std::uint64_t n = 1;; n += 1 + random.below(2 * kOneIn - 1)) {
    SCOPED_TRACE(n);
    ASSERT_LT(n, kPlacesMax);
    Telling telling;
    telling.disk().system().crash_at(n);
    telling.go_on();
    const bool crashed = telling.disk().system().crashed();
    telling.crash(GetParam().policy);
    telling.start_again();
    if (HasFatalFailure()) return;
    unseen += telling.took_effect() ? 1U : 0U;
    telling.expect_end();
    if (!crashed || HasFailure()) break;
  }
  // Else the places were the wrong ones.
  if (GetParam().policy.bytes == LostBytes::kKeepAll) {
    EXPECT_GT(unseen, 0U);
  }
}

INSTANTIATE_TEST_SUITE_P(Files,
                         ReplicatedCrash,
                         testing::ValuesIn(kPolicies),
                         [](const auto& info) { return info.param.name; });

// A disk that refuses one change and works again: the snapshot is tried again, the log ends the process.
TEST(ReplicatedFault, AnyFailedChangeLosesNothingThatWasAnswered) {
  base::SeededRandom random(2);
  for (std::uint64_t n = 1;; n += 1 + random.below(2 * kOneIn - 1)) {
    SCOPED_TRACE(n);
    ASSERT_LT(n, kPlacesMax);
    Telling telling;
    telling.disk().system().fail_at(n, log::FileFault::kIoError);
    telling.go_on();
    const bool met = telling.disk().system().fault_met();
    telling.crash(log::kDropUnsynced);
    telling.start_again();
    if (HasFatalFailure()) return;
    telling.expect_end();
    if (!met || HasFailure()) return;
  }
}

}  // namespace
}  // namespace cadastre::coord::replicated
