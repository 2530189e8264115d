#include "bitmap/verify.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "bitmap/config.h"
#include "bitmap/container.h"
#include "bitmap/descriptor.h"
#include "bitmap/error.h"
#include "bitmap/faults.h"
#include "bitmap/id_stream.h"
#include "bitmap/ids.h"
#include "bitmap/key_codec.h"
#include "bitmap/limits.h"
#include "bitmap/segment_edit.h"
#include "bitmap/segment_view.h"
#include "bitmap/stats_record.h"
#include "bitmap/stored.h"
#include "kv/kv.h"

namespace cadastre::bitmap {

using base::ByteView;
namespace {

// Takes a table's records in order.
class Verifier {
 public:
  Verifier(const Config& config, std::size_t findings_max)
      : config_(config), findings_max_(findings_max) {}

  void take(const kv::EntryView& entry) {
    const auto key = decode_key(entry.key);
    if (!key) {
      report(entry.key, key.error());
      return;
    }
    if (std::holds_alternative<DescriptorKey>(*key)) {
      close_shard();
      take_descriptor(entry);
    } else if (const auto* stats = std::get_if<StatsKey>(&*key)) {
      enter_shard(stats->base_key, stats->shard);
      take_stats(entry);
    } else if (const auto* segment = std::get_if<SegmentKey>(&*key)) {
      enter_shard(segment->base_key, segment->shard);
      take_segment(entry, *segment);
    } else {
      report(entry.key, KeyFault::kBadLength);
    }
  }

  [[nodiscard]] bool is_full() const noexcept { return findings_.size() >= findings_max_; }
  [[nodiscard]] std::vector<Finding> finish() {
    close_shard();
    return std::move(findings_);
  }

 private:
  template <class Fault>
  void report(ByteView raw_key, Fault fault) {
    if (!is_full()) findings_.push_back({base::to_owned(raw_key), fault});
  }
  template <class Fault>
  void report(ByteView raw_key, const base::Error<Fault>& fault) {
    report(raw_key, fault.code);
  }

  void take_descriptor(const kv::EntryView& entry) {
    const auto config = decode_descriptor(entry.value);
    if (!config) report(entry.key, config.error());
  }

  void take_stats(const kv::EntryView& entry) {
    const auto record = decode_stats(entry.value);
    if (!record) {
      report(entry.key, record.error());
      unreadable_ = true;
      return;
    }
    stored_ = *record;
  }

  void take_segment(const kv::EntryView& entry, const SegmentKey& key) {
    if (slot_of(key.fence) != 0) report(entry.key, PartitionFault::kFenceUnaligned);
    if (counted_.segments == 0 && !unreadable_ && key.fence != Id{}) {
      report(entry.key, PartitionFault::kFirstFenceNotZero);
    }
    if (last_id_ && *last_id_ >= key.fence) {
      report(last_key_, PartitionFault::kIdOutsideInterval);
    }
    const auto view = open_checked(entry.value);
    if (!view) {
      report(entry.key, view.error());
      unreadable_ = true;
      last_id_ = std::nullopt;
      return;
    }
    counted_.segments += 1;
    counted_.cardinality += view->cardinality();
    counted_.value_bytes += entry.value.size();
    last_id_ = view->max();
    last_key_ = base::to_owned(entry.key);
    check_place(entry, key, *view);
    check_bytes(entry, *view);
  }

  [[nodiscard]] static Result<SegmentView, ValueFault> open_checked(ByteView value) {
    const auto view = CAD_TRY(SegmentView::open(value, ReadCheck::kChecksum));
    CAD_TRY(view.check_contents());
    return view;
  }

  void check_place(const kv::EntryView& entry, const SegmentKey& key, const SegmentView& view) {
    if (view.min() < key.fence) report(entry.key, PartitionFault::kIdOutsideInterval);
    const bool one_chunk = chunk_of(view.min()) == chunk_of(view.max());
    const std::size_t limit =
        one_chunk ? std::max<std::size_t>(config_.segment_bytes_max, kOneChunkBytesMax)
                  : config_.segment_bytes_max;
    if (entry.value.size() > limit) report(entry.key, PartitionFault::kOversize);
    if (!are_in_shard(key, view)) report(entry.key, PartitionFault::kWrongShard);
  }

  // The bytes that this set has (I-1).
  void check_bytes(const kv::EntryView& entry, const SegmentView& view) {
    if (!view.is_sealed()) {
      report(entry.key, Remark::kWithoutChecksum);
      return;
    }
    if (!edit_.load(entry.value) || !base::equal(edit_.emit(), entry.value)) {
      report(entry.key, Remark::kNotCanonical);
    }
  }

  [[nodiscard]] bool are_in_shard(const SegmentKey& key, const SegmentView& view) const {
    const ShardRule rule{config_.shard_count, config_.shard_grain_bits};
    if (rule.count == 1) return key.shard == Shard{};
    for (const ContainerView& container : view) {
      if (!is_container_in_shard(container, key, rule)) return false;
    }
    return true;
  }

  // With grains of a chunk or more one id speaks for its container.
  [[nodiscard]] static bool is_container_in_shard(const ContainerView& container,
                                                  const SegmentKey& key,
                                                  ShardRule rule) {
    // NOLINTNEXTLINE(cppcoreguidelines-pro-type-member-init): read as far as it is written
    std::array<std::uint16_t, kBlockIds> slots;
    SlotReader reader(container);
    for (std::size_t n = reader.read(slots); n != 0; n = reader.read(slots)) {
      for (const std::uint16_t slot : std::span(slots).first(n)) {
        if (choose_shard(key.base_key, id_at(container.chunk, slot), rule) != key.shard)
          return false;
        if (rule.grain_bits >= kSlotBits) return true;
      }
    }
    return true;
  }

  void enter_shard(ByteView base_key, Shard shard) {
    if (in_shard_ && shard == shard_ && base::equal(base_key, base_key_)) return;
    close_shard();
    in_shard_ = true;
    base_key_ = base::to_owned(base_key);
    shard_ = shard;
  }

  // Statistics can only be held against segments that were all readable (I-6).
  void close_shard() {
    const bool is_due = config_.stats == Stats::kKept && counted_.segments >= 2;
    const bool differs = is_due ? stored_ != std::optional(counted_) : stored_.has_value();
    if (in_shard_ && !unreadable_ && differs) {
      report(stats_key(base_key_, shard_), PartitionFault::kStatsDiffer);
    }
    in_shard_ = false;
    unreadable_ = false;
    stored_ = std::nullopt;
    counted_ = {};
    last_id_ = std::nullopt;
  }

  Config config_;
  std::size_t findings_max_;
  std::vector<Finding> findings_;

  // The shard whose records come.
  bool in_shard_ = false;
  bool unreadable_ = false;  // one of its records was
  base::Bytes base_key_;
  Shard shard_{};
  std::optional<StatsRecord> stored_;
  StatsRecord counted_;
  std::optional<Id> last_id_;  // of the segment before, stored under last_key_
  base::Bytes last_key_;

  SegmentEdit edit_;
};

std::string_view name(Remark remark) noexcept {
  switch (remark) {
    case Remark::kWithoutChecksum: return "without checksum";
    case Remark::kNotCanonical: return "not canonical";
  }
  return "unknown";
}

}  // namespace

std::string to_string(const Finding& finding) {
  const auto text = std::visit([](auto what) { return std::string(name(what)); }, finding.what);
  return text + " (record " + base::to_hex(finding.raw_key) + ")";
}

Result<std::vector<Finding>, Error> verify_key(kv::Cursor& cursor,
                                               const Config& config,
                                               ByteView base_key,
                                               std::size_t findings_max) {
  Verifier verifier(config, findings_max);
  const StoredKey prefix = key_prefix(base_key);
  const auto end = prefix_end(prefix);
  for (auto entry = CAD_TRY(stored(cursor.seek_ceiling(prefix)));
       entry && !verifier.is_full() && (!end || base::compare(entry->key, *end) < 0);
       entry = CAD_TRY(stored(cursor.next()))) {
    verifier.take(*entry);
  }
  return verifier.finish();
}

Result<std::vector<Finding>, Error> verify_table(kv::Cursor& cursor,
                                                 const Config& config,
                                                 std::size_t findings_max) {
  Verifier verifier(config, findings_max);
  for (auto entry = CAD_TRY(stored(cursor.seek_ceiling({}))); entry && !verifier.is_full();
       entry = CAD_TRY(stored(cursor.next()))) {
    verifier.take(*entry);
  }
  return verifier.finish();
}

}  // namespace cadastre::bitmap
