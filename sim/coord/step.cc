#include "sim/coord/step.h"

#include <string>
#include <string_view>

#include <fmt/format.h>

#include "base/bytes.h"
#include "sim/coord/request.h"
#include "sim/coord/short_key.h"

namespace cadastre::sim {
namespace {

std::string_view name(StepKind kind) noexcept {
  switch (kind) {
    case StepKind::kAdvance: return "advance";
    case StepKind::kPause: return "pause";
    case StepKind::kResume: return "resume";
    case StepKind::kCrash: return "crash";
    case StepKind::kSkew: return "skew";
    case StepKind::kDeliver: return "deliver";
    case StepKind::kRetry: return "retry";
    case StepKind::kReplay: return "replay";
    case StepKind::kConflict: return "conflict";
    case StepKind::kSend: return "send";
    case StepKind::kMischief: return "mischief";
  }
  return "";
}

bool is_of_a_shard(StepKind kind) noexcept {
  return kind == StepKind::kSend || kind == StepKind::kMischief || kind == StepKind::kReplay ||
         kind == StepKind::kConflict;
}

}  // namespace

std::string_view name(Delivery delivery) noexcept {
  switch (delivery) {
    case Delivery::kPrompt: return "prompt";
    case Delivery::kReplyLost: return "reply_lost";
    case Delivery::kDuplicated: return "duplicated";
    case Delivery::kDelayed: return "delayed";
  }
  return "";
}

std::string_view name(Mischief mischief) noexcept {
  switch (mischief) {
    case Mischief::kOversizedKey: return "oversized_key";
    case Mischief::kOversizedToken: return "oversized_token";
    case Mischief::kMissingKey: return "missing_key";
    case Mischief::kKeyGoesBack: return "key_goes_back";
    case Mischief::kKeyOutside: return "key_outside";
    case Mischief::kForeignTenant: return "foreign_tenant";
    case Mischief::kForgedTenant: return "forged_tenant";
    case Mischief::kForgedFence: return "forged_fence";
    case Mischief::kForgedOwner: return "forged_owner";
    case Mischief::kUnknownShard: return "unknown_shard";
    case Mischief::kGapInPlan: return "gap_in_plan";
    case Mischief::kOverlapInPlan: return "overlap_in_plan";
    case Mischief::kOneChild: return "one_child";
    case Mischief::kTooManyChildren: return "too_many_children";
    case Mischief::kChildCursorOutside: return "child_cursor_outside";
    case Mischief::kSwappedResidual: return "swapped_residual";
    case Mischief::kCursorCutOff: return "cursor_cut_off";
    case Mischief::kReusedOpId: return "reused_op_id";
    case Mischief::kTooManyLeases: return "too_many_leases";
    case Mischief::kDuplicateManifest: return "duplicate_manifest";
    case Mischief::kUnboundedManifest: return "unbounded_manifest";
    case Mischief::kDerivedManifest: return "derived_manifest";
    case Mischief::kSecondManifest: return "second_manifest";
    case Mischief::kRunWithoutLease: return "run_without_lease";
  }
  return "";
}

std::string to_text(const Step& step) {
  std::string text(name(step.kind));
  if (step.kind == StepKind::kSend) text = name(step.call);
  if (step.kind == StepKind::kMischief) text += fmt::format(" {}", name(step.mischief));
  if (step.kind != StepKind::kAdvance && step.kind != StepKind::kDeliver) {
    text += fmt::format(" tenant={} worker={}", step.tenant, step.worker);
  }
  if (is_of_a_shard(step.kind)) {
    text += fmt::format(" run={} shard={:x} op={}", step.shard.run.raw(), step.shard.shard.raw(),
                        step.op.raw());
  }
  if (step.amount != 0) text += fmt::format(" amount={}", step.amount);
  if (step.skew != 0) text += fmt::format(" skew={}", step.skew);
  if (step.presents == Presents::kSuperseded) text += fmt::format(" lost_lease={}", step.which);
  for (const ShortKey& key : step.keys)
    text += fmt::format(" key={}", base::to_hex(key.view()));
  if (step.delivery != Delivery::kPrompt) text += fmt::format(" ({})", name(step.delivery));
  return text;
}

}  // namespace cadastre::sim
