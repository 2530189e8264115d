#include "coord/states.h"

#include <array>
#include <optional>
#include <string_view>

namespace cadastre::coord {

std::string_view name(ShardStatus status) noexcept {
  switch (status) {
    case ShardStatus::kActive: return "active";
    case ShardStatus::kDone: return "done";
    case ShardStatus::kSplit: return "split";
    case ShardStatus::kParked: return "parked";
  }
  return "unknown";
}

std::string_view name(ParkReason reason) noexcept {
  switch (reason) {
    case ParkReason::kPermissionDenied: return "permission_denied";
    case ParkReason::kNotFound: return "not_found";
    case ParkReason::kPoisoned: return "poisoned";
    case ParkReason::kTooManyErrors: return "too_many_errors";
    case ParkReason::kOther: return "other";
  }
  return "unknown";
}

std::string_view name(OpKind kind) noexcept {
  switch (kind) {
    case OpKind::kCheckpoint: return "checkpoint";
    case OpKind::kComplete: return "complete";
    case OpKind::kPark: return "park";
    case OpKind::kSplitReplace: return "split_replace";
    case OpKind::kSplitResidual: return "split_residual";
    case OpKind::kUnpark: return "unpark";
    case OpKind::kRelease: return "release";
  }
  return "unknown";
}

std::string_view name(RunStatus status) noexcept {
  switch (status) {
    case RunStatus::kInitializing: return "initializing";
    case RunStatus::kActive: return "active";
    case RunStatus::kDone: return "done";
    case RunStatus::kFailed: return "failed";
    case RunStatus::kCancelled: return "cancelled";
  }
  return "unknown";
}

std::string_view name(RunOpKind kind) noexcept {
  switch (kind) {
    case RunOpKind::kRegisterShards: return "register_shards";
    case RunOpKind::kCompleteRun: return "complete_run";
    case RunOpKind::kFailRun: return "fail_run";
    case RunOpKind::kCancelRun: return "cancel_run";
  }
  return "unknown";
}

std::string_view name(CursorSemantics semantics) noexcept {
  switch (semantics) {
    case CursorSemantics::kCompleted: return "completed";
    case CursorSemantics::kDispatched: return "dispatched";
  }
  return "unknown";
}

std::optional<ParkReason> park_reason_named(std::string_view text) noexcept {
  constexpr std::array kAll{ParkReason::kPermissionDenied, ParkReason::kNotFound,
                            ParkReason::kPoisoned, ParkReason::kTooManyErrors, ParkReason::kOther};
  for (const ParkReason reason : kAll) {
    if (name(reason) == text) return reason;
  }
  return std::nullopt;
}

std::optional<CursorSemantics> semantics_named(std::string_view text) noexcept {
  if (text == name(CursorSemantics::kCompleted)) return CursorSemantics::kCompleted;
  if (text == name(CursorSemantics::kDispatched)) return CursorSemantics::kDispatched;
  return std::nullopt;
}

std::string_view words(ParkReason reason) noexcept {
  switch (reason) {
    case ParkReason::kPermissionDenied: return "permission denied";
    case ParkReason::kNotFound: return "not found";
    case ParkReason::kPoisoned: return "poisoned";
    case ParkReason::kTooManyErrors: return "too many errors";
    case ParkReason::kOther: return "other";
  }
  return "unknown";
}

}  // namespace cadastre::coord
