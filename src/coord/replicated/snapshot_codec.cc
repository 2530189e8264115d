#include "coord/replicated/snapshot_codec.h"

#include <algorithm>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/blake3.h"
#include "base/bytes.h"
#include "base/check.h"
#include "base/endian.h"
#include "base/result.h"
#include "coord/backend.h"
#include "coord/blob_reader.h"
#include "coord/identity.h"
#include "coord/memory/memory_backend.h"
#include "coord/record_codec.h"
#include "coord/replicated/fields.h"
#include "coord/run_record.h"
#include "coord/shard_record.h"
#include "coord/states.h"

namespace cadastre::coord::replicated {
namespace {

constexpr std::string_view kMagic = "CDCS";
constexpr std::uint8_t kVersion = 1;
constexpr std::size_t kHeadBytes = 72;
constexpr std::size_t kCountAt = 64;
constexpr std::size_t kSumBytes = sizeof(base::Blake3Digest);
constexpr std::string_view kRecordVersion = "v1";
constexpr std::uint8_t kCooldowns = 4;
constexpr std::uint8_t kTenantTimes = 5;
constexpr std::size_t kKindAt = 2;
constexpr std::size_t kListHeadBytes = 7;
constexpr std::size_t kCooldownBytes = 48;
constexpr std::size_t kTenantTimeBytes = 40;

using Decoded = base::Result<SnapshotContent, SnapshotError>;

std::unexpected<base::Error<SnapshotError>> damaged(std::string detail) {
  return base::fail(SnapshotError::kDamaged, std::move(detail));
}

void write_list_header(BlobWriter& out, std::uint8_t kind, std::size_t count) {
  out.raw(base::as_bytes(kRecordVersion));
  out.u8(kind);
  out.u32(static_cast<std::uint32_t>(count));
}

base::Bytes encode_cooldowns(const std::vector<memory::CooldownDump>& cooldowns) {
  BlobWriter out(kListHeadBytes + cooldowns.size() * kCooldownBytes);
  write_list_header(out, kCooldowns, cooldowns.size());
  for (const memory::CooldownDump& each : cooldowns) {
    out.raw(each.tenant.as_bytes());
    out.u64(each.worker.raw());
    out.u64(each.claimed_at.raw());
  }
  return out.take();
}

base::Bytes encode_times(const std::vector<TenantTime>& times) {
  BlobWriter out(kListHeadBytes + times.size() * kTenantTimeBytes);
  write_list_header(out, kTenantTimes, times.size());
  for (const TenantTime& each : times) {
    out.raw(each.tenant.as_bytes());
    out.u64(each.largest_now.raw());
  }
  return out.take();
}

// ---- Decoding ------------------------------------------------------------------------------------

Result<std::vector<memory::CooldownDump>, DecodeError> decode_cooldowns(ByteView bytes) {
  BlobReader in(bytes.subspan(kKindAt + 1));
  const std::uint32_t count = CAD_TRY(in.u32());
  std::vector<memory::CooldownDump> cooldowns;
  for (std::uint32_t i = 0; i < count; ++i) {
    memory::CooldownDump each;
    each.tenant = CAD_TRY(in.tenant());
    each.worker = CAD_TRY(read_id<WorkerId>(in));
    each.claimed_at = CAD_TRY(read_id<LogicalTime>(in));
    if (!cooldowns.empty() && std::tie(cooldowns.back().tenant, cooldowns.back().worker) >=
                                  std::tie(each.tenant, each.worker)) {
      return base::fail(violation("cooldowns are sorted"));
    }
    cooldowns.push_back(each);
  }
  CAD_TRY(in.end());
  return cooldowns;
}

Result<std::vector<TenantTime>, DecodeError> decode_times(ByteView bytes) {
  BlobReader in(bytes.subspan(kKindAt + 1));
  const std::uint32_t count = CAD_TRY(in.u32());
  std::vector<TenantTime> times;
  for (std::uint32_t i = 0; i < count; ++i) {
    TenantTime each;
    each.tenant = CAD_TRY(in.tenant());
    each.largest_now = CAD_TRY(read_id<LogicalTime>(in));
    if (!times.empty() && times.back().tenant >= each.tenant) {
      return base::fail(violation("tenants are sorted"));
    }
    times.push_back(each);
  }
  CAD_TRY(in.end());
  return times;
}

// Takes records in their order.
class Collector {
 public:
  explicit Collector(SnapshotContent& content) : content_(content) {}

  Result<void, DecodeError> add(ByteView record) {
    if (record.size() <= kKindAt || base::as_text(record.first(kKindAt)) != kRecordVersion) {
      return base::fail(violation("a record has a header"));
    }
    const auto kind = std::to_integer<std::uint8_t>(record[kKindAt]);
    if (kind <= last_kind_ && last_kind_ >= kCooldowns) {
      return base::fail(violation("records follow the order of the keyspace"));
    }
    last_kind_ = kind;
    switch (kind) {
      case static_cast<std::uint8_t>(BlobKind::kRun): return add_run(record);
      case static_cast<std::uint8_t>(BlobKind::kShard): return add_shard(record);
      case kCooldowns:
        content_.cooldowns = CAD_TRY(decode_cooldowns(record));
        if (!content_.cooldowns.empty() && content_.head.settings.claim_cooldown_interval != 0)
          return {};
        return base::fail(violation("cooldowns are there if they are on"));
      case kTenantTimes:
        content_.times = CAD_TRY(decode_times(record));
        if (!content_.times.empty()) return {};
        return base::fail(violation("a list of times is not empty"));
      default: return base::fail(violation("a snapshot has runs, shards, cooldowns and times"));
    }
  }

 private:
  Result<void, DecodeError> add_run(ByteView record) {
    RunRecord run = CAD_TRY(decode_run(record));
    if (!content_.runs.empty() && std::tie(content_.runs.back().tenant, content_.runs.back().run) >=
                                      std::tie(run.tenant, run.run)) {
      return base::fail(violation("runs are sorted"));
    }
    content_.runs.push_back(std::move(run));
    return {};
  }

  Result<void, DecodeError> add_shard(ByteView record) {
    ShardDump shard = CAD_TRY(decode_shard(record));
    if (content_.runs.empty() || content_.runs.back().tenant != shard.state.tenant ||
        content_.runs.back().run != shard.state.run) {
      return base::fail(violation("a shard follows its run"));
    }
    if (content_.runs.back().status == RunStatus::kInitializing) {
      return base::fail(violation("an Initializing run has no shards"));
    }
    if (!content_.shards.empty()) {
      const ShardState& before = content_.shards.back().state;
      if (before.tenant == shard.state.tenant && before.run == shard.state.run &&
          before.shard >= shard.state.shard) {
        return base::fail(violation("a run's shards are sorted"));
      }
    }
    content_.shards.push_back(std::move(shard));
    return {};
  }

  SnapshotContent& content_;
  std::uint8_t last_kind_ = 0;
};

// Whether the shards of one run, sorted by id, are all that it and they name, and nothing else.
bool names_agree(const RunRecord& run, std::span<const ShardDump> shards) {
  const auto find = [&](ShardId id) -> const ShardDump* {
    const auto at = std::ranges::lower_bound(
        shards, id, {}, [](const ShardDump& shard) { return shard.state.shard; });
    return at != shards.end() && at->state.shard == id ? &*at : nullptr;
  };
  std::size_t named = run.root_shards.size();
  for (const ShardId root : run.root_shards) {
    const ShardDump* const shard = find(root);
    if (shard == nullptr || shard->state.parent) return false;
  }
  for (const ShardDump& shard : shards) {
    named += shard.spawned.size();
    for (const ShardId id : shard.spawned) {
      const ShardDump* const child = find(id);
      if (child == nullptr || child->state.parent != shard.state.shard) return false;
    }
  }
  return named == shards.size();
}

base::Result<void, SnapshotError> check_names(const SnapshotContent& content) {
  std::size_t at = 0;
  for (const RunRecord& run : content.runs) {
    const std::size_t first = at;
    while (at < content.shards.size() && content.shards[at].state.tenant == run.tenant &&
           content.shards[at].state.run == run.run) {
      ++at;
    }
    if (!names_agree(run, std::span(content.shards).subspan(first, at - first))) {
      return damaged(fmt::format("{}: its shards are not those that it names", to_string(run.run)));
    }
  }
  return {};
}

Result<SnapshotHead, DecodeError> read_head(BlobReader& in) {
  SnapshotHead head;
  head.configured = CAD_TRY(in.presence());
  if (CAD_TRY(in.u8()) != 0) return base::fail(violation("a reserved byte is zero"));
  head.applied.term = log::Term {
    CAD_TRY(in.u64())
  };
  head.applied.index = log::Index {
    CAD_TRY(in.u64())
  };
  head.settings = CAD_TRY(read_settings(in));
  return head;
}

Decoded decode_sealed(ByteView body) {
  BlobReader in(body.subspan(kMagic.size() + 2));
  SnapshotContent content;
  auto head = read_head(in);
  if (!head) return damaged("header: " + to_text(head.error()));
  content.head = *head;
  const auto count = in.u64();
  if (!count) return damaged("header: " + to_text(count.error()));
  Collector collector(content);
  for (std::uint64_t i = 0; i < *count; ++i) {
    const auto record = read_bytes(in);
    if (!record) return damaged(fmt::format("record {}: {}", i, to_text(record.error())));
    const auto added = collector.add(*record);
    if (!added) return damaged(fmt::format("record {}: {}", i, to_text(added.error())));
  }
  if (const auto end = in.end(); !end) return damaged("end: " + to_text(end.error()));
  CAD_TRY(check_names(content));
  return content;
}

}  // namespace

base::Bytes encode_snapshot(const SnapshotHead& head,
                            const memory::MemoryBackend& state,
                            const std::vector<TenantTime>& times) {
  BlobWriter out(kHeadBytes);
  out.raw(base::as_bytes(kMagic));
  out.u8(kVersion);
  out.u8(0);
  out.presence(head.configured);
  out.u8(0);
  out.u64(head.applied.term.value());
  out.u64(head.applied.index.value());
  write_settings(out, head.settings);
  out.u64(0);  // The count, which is known at the end.
  std::uint64_t count = 0;
  const auto add = [&](const base::Bytes& record) {
    out.bytes(record);
    ++count;
  };
  state.visit_by_id([&](const RunRecord& run) { add(encode(run)); },
                    [&](const ShardRecordView& shard) { add(encode(shard)); });
  if (const auto cooldowns = state.dump_cooldowns();
      head.settings.claim_cooldown_interval != 0 && !cooldowns.empty()) {
    add(encode_cooldowns(cooldowns));
  }
  if (!times.empty()) add(encode_times(times));
  base::Bytes bytes = out.take();
  base::store_le(bytes.data() + kCountAt, count);
  return bytes;
}

void seal(base::Bytes& snapshot) {
  const base::Blake3Digest sum = base::blake3(snapshot);
  snapshot.insert(snapshot.end(), sum.begin(), sum.end());
}

Decoded decode_snapshot(base::ByteView bytes) {
  if (bytes.size() < kHeadBytes + kSumBytes) {
    return damaged(fmt::format("{} bytes are no snapshot", bytes.size()));
  }
  if (base::as_text(bytes.first(kMagic.size())) != kMagic) return damaged("it is no snapshot");
  const ByteView body = bytes.first(bytes.size() - kSumBytes);
  if (!base::equal(base::blake3(body), bytes.last(kSumBytes))) {
    return damaged("its sum is not that of its bytes");
  }
  const auto version = base::load_le<std::uint16_t>(bytes.data() + kMagic.size());
  if (version != kVersion) {
    return base::fail(SnapshotError::kNewer, fmt::format("snapshot version {}", version));
  }
  return decode_sealed(body);
}

}  // namespace cadastre::coord::replicated
