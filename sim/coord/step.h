// Step: one thing that happens in a simulated world, as data.
//
// Chance chooses steps; carrying one out draws nothing. A history of steps therefore repeats a run
// without its generator, and stays meaningful when some of its steps are taken out: a step names
// worker, shard, op id and keys, and looks up the rest (which lease the worker holds) when it
// happens. A step whose worker has nothing to present does nothing.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/inline_vec.h"
#include "coord/identity.h"
#include "sim/coord/request.h"
#include "sim/coord/short_key.h"

namespace cadastre::sim {

enum class StepKind : std::uint8_t {
  kAdvance,   // the clock, by `amount`
  kPause,     // the worker, for `amount` steps; 0: until it is resumed
  kResume,    // the worker
  kCrash,     // the worker forgets whatever it held and waits for
  kSkew,      // the worker's clock differs by `skew`
  kDeliver,   // request number `amount` of those in flight arrives
  kRetry,     // the worker repeats the request whose answer it never got
  kReplay,    // the worker repeats its last checkpoint of the shard
  kConflict,  // the same op id with another cursor
  kSend,      // `call`
  kMischief,  // something no honest worker sends
};

// How the request of a step travels.
enum class Delivery : std::uint8_t {
  kPrompt,
  kReplyLost,   // takes effect, but its sender never hears of it
  kDuplicated,  // arrives now and once more later
  kDelayed,     // arrives later, behind others; its sender gives up waiting
};

enum class Presents : std::uint8_t {
  kHeld,        // the lease the worker believes in
  kSuperseded,  // an older one: lease number `which` of those it lost
};

enum class Mischief : std::uint8_t {
  kOversizedKey,
  kOversizedToken,
  kMissingKey,
  kKeyGoesBack,
  kKeyOutside,
  kForeignTenant,  // asks in another tenant's name
  kForgedTenant,   // presents a lease of its own tenant to another
  kForgedFence,
  kForgedOwner,
  kUnknownShard,
  kGapInPlan,
  kOverlapInPlan,
  kOneChild,
  kTooManyChildren,
  kChildCursorOutside,
  kSwappedResidual,
  kCursorCutOff,
  kReusedOpId,  // of a checkpoint, for parking
  kTooManyLeases,
  kDuplicateManifest,
  kUnboundedManifest,
  kDerivedManifest,
  kSecondManifest,
  kRunWithoutLease,
};
inline constexpr std::size_t kMischiefCount = 24;

// Of a split, in `amount`.
inline constexpr std::uint64_t kCarriesCursor = 1;  // the child around the cursor begins there
inline constexpr std::uint64_t kReversed = 2;       // children in descending order

inline constexpr std::size_t kStepKeysMax = 4;

struct Step {
  StepKind kind = StepKind::kAdvance;
  Call call = Call::kAcquire;
  Delivery delivery = Delivery::kPrompt;
  Presents presents = Presents::kHeld;
  Mischief mischief = Mischief::kOversizedKey;
  std::uint32_t tenant = 0;
  std::uint32_t worker = 0;  // its place in the world
  coord::ShardKey shard;
  coord::OpId op;
  std::uint64_t amount = 0;  // ticks, steps, a reason, flags: see the kind
  std::uint64_t which = 0;
  std::int64_t skew = 0;
  base::InlineVec<ShortKey, kStepKeysMax> keys;  // the cursor, or the points of a split
};

using History = std::vector<Step>;

[[nodiscard]] std::string_view name(Mischief mischief) noexcept;
[[nodiscard]] std::string_view name(Delivery delivery) noexcept;
[[nodiscard]] std::string to_text(const Step& step);

}  // namespace cadastre::sim
