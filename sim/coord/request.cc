#include "sim/coord/request.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "base/bytes.h"
#include "base/xxh3.h"

namespace cadastre::sim {
namespace {

void append_field(base::Bytes& out, base::ByteView field) {
  out.push_back(static_cast<std::byte>(field.size() & 0xffU));
  out.push_back(static_cast<std::byte>(field.size() >> 8U & 0xffU));
  out.insert(out.end(), field.begin(), field.end());
}

void append_number(base::Bytes& out, std::uint64_t number) {
  for (unsigned shift = 0; shift < 64; shift += 8)
    out.push_back(static_cast<std::byte>(number >> shift & 0xffU));
}

}  // namespace

std::string_view name(Call call) noexcept {
  switch (call) {
    case Call::kAcquire: return "acquire";
    case Call::kClaim: return "claim";
    case Call::kRenew: return "renew";
    case Call::kRenewMany: return "renew_many";
    case Call::kCheckpoint: return "checkpoint";
    case Call::kComplete: return "complete";
    case Call::kPark: return "park";
    case Call::kRelease: return "release";
    case Call::kSplitReplace: return "split_replace";
    case Call::kSplitResidual: return "split_residual";
    case Call::kUnpark: return "unpark";
    case Call::kCreateRun: return "create_run";
    case Call::kRegister: return "register";
    case Call::kCompleteRun: return "complete_run";
    case Call::kFailRun: return "fail_run";
    case Call::kCancelRun: return "cancel_run";
    case Call::kCollectGarbage: return "collect_garbage";
  }
  return "";
}

std::string_view name(Verdict verdict) noexcept {
  switch (verdict) {
    case Verdict::kGranted: return "granted";
    case Verdict::kRenewed: return "renewed";
    case Verdict::kExecuted: return "executed";
    case Verdict::kReplayed: return "replayed";
    case Verdict::kDone: return "done";
    case Verdict::kRefused: return "refused";
  }
  return "";
}

bool is_lease_gated(Call call) noexcept {
  switch (call) {
    case Call::kCheckpoint:
    case Call::kComplete:
    case Call::kPark:
    case Call::kRelease:
    case Call::kSplitReplace:
    case Call::kSplitResidual: return true;
    case Call::kAcquire:
    case Call::kClaim:
    case Call::kRenew:
    case Call::kRenewMany:
    case Call::kUnpark:
    case Call::kCreateRun:
    case Call::kRegister:
    case Call::kCompleteRun:
    case Call::kFailRun:
    case Call::kCancelRun:
    case Call::kCollectGarbage: return false;
  }
  return false;
}

bool is_run_call(Call call) noexcept {
  return call == Call::kRegister || call == Call::kCompleteRun || call == Call::kFailRun ||
         call == Call::kCancelRun;
}

bool is_logged(Call call) noexcept {
  return is_lease_gated(call) || call == Call::kUnpark || is_run_call(call);
}

std::uint64_t payload_of(const Request& request) {
  base::Bytes payload{static_cast<std::byte>(request.call), static_cast<std::byte>(request.reason)};
  append_field(payload, request.last_key);
  append_field(payload, request.token);
  for (const Piece& piece : request.pieces) {
    append_number(payload, piece.shard.raw());
    append_field(payload, piece.start);
    append_field(payload, piece.end);
    append_field(payload, piece.last_key);
  }
  return base::xxh3_64(payload);
}

std::string to_text(const Request& request) {
  std::string text =
      fmt::format("{} at={} tenant={} worker={} run={} shard={:x}", name(request.call),
                  request.now.raw(), std::to_integer<int>(request.tenant.as_bytes()[0]),
                  request.worker.raw(), request.key.run.raw(), request.key.shard.raw());
  for (const auto& lease : request.leases) {
    text += fmt::format(" lease=(owner {} fence {} until {})", lease.owner().raw(),
                        lease.fence().raw(), lease.deadline().raw());
  }
  if (is_logged(request.call)) text += fmt::format(" op={}", request.op.raw());
  const auto append_bytes = [&](std::string_view label, const base::Bytes& bytes) {
    if (bytes.empty()) return;
    text += bytes.size() > 16 ? fmt::format(" {}=[{} bytes]", label, bytes.size())
                              : fmt::format(" {}={}", label, base::to_hex(bytes));
  };
  append_bytes("key", request.last_key);
  append_bytes("token", request.token);
  for (const Piece& piece : request.pieces) {
    append_bytes("from", piece.start);
    append_bytes("to", piece.end);
    append_bytes("cursor", piece.last_key);
  }
  return text;
}

std::string to_text(const Answer& answer) {
  std::string text(answer.accepted() ? name(answer.verdict) : answer.code);
  if (answer.lease) {
    text += fmt::format(" shard={:x} fence={} until={}", answer.lease->shard().raw(),
                        answer.lease->fence().raw(), answer.lease->deadline().raw());
  }
  if (answer.verdict == Verdict::kRenewed) text += fmt::format(" until={}", answer.deadline.raw());
  for (const auto shard : answer.shards)
    text += fmt::format(" {:x}", shard.raw());
  return text;
}

}  // namespace cadastre::sim
