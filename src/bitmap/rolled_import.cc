#include "bitmap/rolled_import.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "base/bytes.h"
#include "base/endian.h"
#include "base/result.h"
#include "bitmap/bitmap.h"
#include "bitmap/error.h"
#include "bitmap/ids.h"
#include "bitmap/key_codec.h"
#include "bitmap/segment_form.h"
#include "bitmap/stored.h"
#include "bitmap/table_writer.h"
#include "kv/kv.h"

namespace cadastre::bitmap {
namespace {

// Of values that are gathered before the table gets them.
constexpr std::size_t kGatherBytes = std::size_t{32} << 20;

ImportError at_fault(RolledFault fault, ByteView raw_key) {
  return {fault, base::to_owned(raw_key)};
}

// An answer of the table or of the source's store, with its error kept whole.
template <class T>
Result<T, ImportError> passed_on(Result<T, Error> answer) {
  if (!answer) return base::fail(ImportError{std::move(answer.error()), {}});
  return std::move(*answer);
}

class RolledImport {
 public:
  RolledImport(kv::Reader& source, TableWriter& target, const ImportOptions& options)
      : source_(source), target_(target), options_(options) {}

  Result<ImportReport, ImportError> run() {
    const auto cursor = CAD_TRY(passed_on(stored(source_.cursor())));
    auto entry = CAD_TRY(passed_on(stored(cursor->seek_ceiling(start()))));
    for (; entry; entry = CAD_TRY(passed_on(stored(cursor->next())))) {
      if (!CAD_TRY(pass(*entry))) return stop();
    }
    CAD_TRY(leave_shard());
    CAD_TRY(hand_over());
    return report_;
  }

 private:
  struct Place {
    base::Bytes base_key;
    Shard shard;
    std::uint32_t next = 0;  // the number that comes next without a gap
  };

  StoredKey start() {
    if (!options_.from) return {};
    const ImportCursor& from = *options_.from;
    at_ = Place{from.base_key, from.shard, from.segment};
    return rolled_segment_key(from.base_key, from.shard, from.segment);
  }

  // False if the record is for the next call.
  Result<bool, ImportError> pass(const kv::EntryView& entry) {
    const auto key = decode_key(entry.key);
    if (!key) return base::fail(at_fault(RolledFault::kForeignRecord, entry.key));
    if (const auto* const head = std::get_if<StatsKey>(&*key)) {
      CAD_TRY(enter_shard(head->base_key, head->shard));
      return true;
    }
    const auto* const segment = std::get_if<RolledSegmentKey>(&*key);
    if (segment == nullptr) return base::fail(at_fault(RolledFault::kForeignRecord, entry.key));
    CAD_TRY(enter_shard(segment->base_key, segment->shard));
    if (report_.bytes >= options_.budget_bytes) return false;
    CAD_TRY(take(*segment, entry));
    return true;
  }

  Result<void, ImportError> enter_shard(ByteView base_key, Shard shard) {
    const bool same_key = at_ && base::equal(at_->base_key, base_key);
    if (same_key && at_->shard == shard) return {};
    CAD_TRY(leave_shard());
    if (!same_key) CAD_TRY(hand_over());
    at_ = Place{base::to_owned(base_key), shard};
    return {};
  }

  // The head, if there is one, is the last number that was seen.
  Result<void, ImportError> leave_shard() {
    if (!at_) return {};
    const StoredKey key = stats_key(at_->base_key, at_->shard);
    const auto bytes = CAD_TRY(passed_on(stored(source_.get(key))));
    if (!bytes) return {};
    if (bytes->size() != sizeof(std::uint16_t)) {
      return base::fail(at_fault(RolledFault::kBadHead, key));
    }
    if (base::load_be<std::uint16_t>(bytes->data()) + std::uint32_t{1} == at_->next) return {};
    return meet_gap(RolledFault::kHeadDiffers, key, 1);
  }

  Result<void, ImportError> meet_gap(RolledFault fault, ByteView raw_key, std::uint64_t count) {
    if (options_.gaps == AcceptGaps::kNo) return base::fail(at_fault(fault, raw_key));
    report_.gaps += count;
    return {};
  }

  Result<void, ImportError> take(const RolledSegmentKey& segment, const kv::EntryView& entry) {
    if (segment.segment > at_->next) {
      CAD_TRY(meet_gap(RolledFault::kGap, entry.key, segment.segment - at_->next));
    }
    at_->next = segment.segment + std::uint32_t{1};
    constexpr auto kForm = static_cast<std::byte>(SegmentForm::kPortable);
    if (entry.value.empty() || entry.value.front() != kForm) {
      return base::fail(at_fault(RolledFault::kBadForm, entry.key));
    }
    const auto ids = Bitmap::from_portable(entry.value.subspan(1));
    if (!ids) return base::fail(ImportError{corrupt(ids.error(), entry.key), {}});
    gathered_ |= *ids;
    gathered_bytes_ += entry.value.size();
    report_.segments += 1;
    report_.bytes += entry.value.size();
    return gathered_bytes_ >= kGatherBytes ? hand_over() : Result<void, ImportError>{};
  }

  Result<void, ImportError> hand_over() {
    if (at_ && !gathered_.empty()) {
      report_.added += CAD_TRY(passed_on(target_.unite(at_->base_key, gathered_)));
    }
    gathered_ = {};
    gathered_bytes_ = 0;
    return {};
  }

  // The next call looks for the number that is due, so that a gap before it is not passed over.
  Result<ImportReport, ImportError> stop() {
    CAD_TRY(hand_over());
    report_.next = ImportCursor{at_->base_key, at_->shard, static_cast<std::uint16_t>(at_->next)};
    return report_;
  }

  kv::Reader& source_;
  TableWriter& target_;
  const ImportOptions& options_;
  ImportReport report_;
  std::optional<Place> at_;
  Bitmap gathered_;  // of the key at hand
  std::size_t gathered_bytes_ = 0;
};

}  // namespace

std::string_view name(RolledFault fault) noexcept {
  switch (fault) {
    case RolledFault::kForeignRecord: return "a record of no rolled table";
    case RolledFault::kGap: return "segments are missing below this one";
    case RolledFault::kHeadDiffers: return "the head is not the greatest number there is";
    case RolledFault::kBadHead: return "a head has two bytes";
    case RolledFault::kBadForm: return "a value of a rolled segment begins with 01";
  }
  return "unknown";
}

std::string to_string(const ImportError& error) {
  if (const auto* const table = std::get_if<Error>(&error.cause)) return to_string(*table);
  return std::string(name(std::get<RolledFault>(error.cause))) + " (record " +
         base::to_hex(error.raw_key) + ")";
}

Result<ImportReport, ImportError> import_rolled(kv::Reader& source,
                                                TableWriter& target,
                                                const ImportOptions& options) {
  return RolledImport(source, target, options).run();
}

}  // namespace cadastre::bitmap
