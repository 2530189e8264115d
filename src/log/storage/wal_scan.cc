#include "log/storage/wal_scan.h"

#include <algorithm>
#include <array>
#include <bit>

#include "base/crc32c.h"
#include "base/endian.h"

namespace cadastre::log {
namespace {

using base::ByteView;
using base::load_le;

// What the records carry: batches of the log, or edits of the manifest.
enum class Content : std::uint8_t {
  kBatches,
  kEdits
};

enum class Part : std::uint8_t {
  kWhole = 1,
  kFirst = 2,
  kMiddle = 3,
  kLast = 4
};

constexpr std::size_t kSizeAt = 4;
constexpr std::size_t kTypeAt = 6;

// One physical record; `fault` says why it is none.
struct Record {
  Part part = Part::kWhole;
  ByteView payload;
  std::optional<WalFaultKind> fault;
};

Record bad(WalFaultKind kind) {
  return {.part = Part::kWhole, .payload = {}, .fault = kind};
}

std::uint32_t unmasked(std::uint32_t masked) noexcept {
  return std::rotl(masked - 0xa282ead8U, 15);
}

std::size_t left_in_block(std::uint64_t offset) noexcept {
  return kWalBlockBytes - static_cast<std::size_t>(offset % kWalBlockBytes);
}

bool begins_batch(Part part) noexcept {
  return part == Part::kWhole || part == Part::kFirst;
}

// The record at `offset`, which is inside the file and has room for a header in its block.
Record read_record(ByteView file, std::uint64_t offset) {
  const ByteView rest = file.subspan(static_cast<std::size_t>(offset));
  if (rest.size() < kWalHeaderBytes) return bad(WalFaultKind::kShort);
  const auto type = std::to_integer<std::uint8_t>(rest[kTypeAt]);
  if (type < 1 || type > 4) return bad(WalFaultKind::kType);
  const std::size_t size = load_le<std::uint16_t>(rest.data() + kSizeAt);
  if (kWalHeaderBytes + size > left_in_block(offset)) return bad(WalFaultKind::kLength);
  if (kWalHeaderBytes + size > rest.size()) return bad(WalFaultKind::kShort);
  const ByteView payload = rest.subspan(kWalHeaderBytes, size);
  if (base::crc32c(rest.subspan(kTypeAt, 1 + size)) !=
      unmasked(load_le<std::uint32_t>(rest.data())))
    return bad(WalFaultKind::kChecksum);
  return {.part = Part{type}, .payload = payload, .fault = std::nullopt};
}

// The header of a batch, gathered from its parts.
class BatchHeader {
 public:
  void add(ByteView payload) noexcept {
    const std::size_t taken = std::min(payload.size(), bytes_.size() - size_);
    std::ranges::copy(payload.first(taken), bytes_.begin() + static_cast<std::ptrdiff_t>(size_));
    size_ += taken;
  }
  [[nodiscard]] bool whole() const noexcept { return size_ == bytes_.size(); }
  [[nodiscard]] std::uint64_t sequence() const noexcept {
    return load_le<std::uint64_t>(bytes_.data());
  }
  [[nodiscard]] std::uint32_t count() const noexcept {
    return load_le<std::uint32_t>(bytes_.data() + sizeof(std::uint64_t));
  }

 private:
  std::array<std::byte, kWalBatchHeaderBytes> bytes_{};
  std::size_t size_ = 0;
};

// A batch or an edit and the offset behind it, or why it is not whole.
struct Batch {
  BatchHeader header;
  std::uint64_t end = 0;
  std::optional<WalFaultKind> fault;
};

Batch broken(WalFaultKind kind) {
  return {.header = {}, .end = 0, .fault = kind};
}

// Steps over the zeros that fill a block; nothing if they are none.
std::optional<std::uint64_t> skip_filling(ByteView file, std::uint64_t offset) {
  const std::size_t left = left_in_block(offset);
  if (left >= kWalHeaderBytes) return offset;
  const auto from = static_cast<std::size_t>(offset);
  const ByteView filling = file.subspan(from, std::min(left, file.size() - from));
  if (!std::ranges::all_of(filling, [](std::byte byte) { return byte == std::byte{0}; }))
    return std::nullopt;
  return offset + filling.size();
}

Batch read_batch(ByteView file, std::uint64_t offset, Content content) {
  Batch batch;
  for (bool is_first = true;; is_first = false) {
    const auto at = skip_filling(file, offset);
    if (!at) return broken(WalFaultKind::kType);
    if (*at == file.size()) return broken(WalFaultKind::kShort);
    const Record record = read_record(file, *at);
    if (record.fault) return broken(*record.fault);
    if (begins_batch(record.part) != is_first) return broken(WalFaultKind::kPart);
    batch.header.add(record.payload);
    offset = *at + kWalHeaderBytes + record.payload.size();
    if (record.part == Part::kWhole || record.part == Part::kLast) break;
  }
  if (content == Content::kBatches && !batch.header.whole()) return broken(WalFaultKind::kBatch);
  batch.end = offset;
  return batch;
}

bool has_type_of_begin(ByteView record) noexcept {
  const auto type = std::to_integer<std::uint8_t>(record[kTypeAt]);
  return type == static_cast<std::uint8_t>(Part::kWhole) ||
         type == static_cast<std::uint8_t>(Part::kFirst);
}

// Whether a batch at `offset` may have been written behind the one at `fault`, by its sequence. Fewer
// operations than bytes lie between the two: that keeps most stored bytes which happen to be a record
// out, and spares their sums.
bool may_be_later(ByteView record, std::uint64_t distance, std::optional<std::uint64_t> sequence) {
  if (record.size() < kWalEmptyBatchBytes) return false;
  if (load_le<std::uint16_t>(record.data() + kSizeAt) < kWalBatchHeaderBytes) return false;
  const auto found = load_le<std::uint64_t>(record.data() + kWalHeaderBytes);
  return !sequence || (found >= *sequence && found - *sequence <= distance);
}

// Every offset is tried: what is bad may be the size by which the next record would be found.
std::optional<std::uint64_t> find_later(ByteView file, const WalScan& scan, Content content) {
  for (std::uint64_t at = scan.bytes + 1; at + kWalHeaderBytes <= file.size(); ++at) {
    const ByteView rest = file.subspan(static_cast<std::size_t>(at));
    if (left_in_block(at) < kWalHeaderBytes || !has_type_of_begin(rest)) continue;
    if (content == Content::kBatches && !may_be_later(rest, at - scan.bytes, scan.next_sequence))
      continue;
    if (!read_record(file, at).fault) return at;
  }
  return std::nullopt;
}

bool follows(std::uint64_t sequence, const WalScan& scan, std::uint64_t sequence_min) noexcept {
  return scan.next_sequence ? sequence == *scan.next_sequence : sequence >= sequence_min;
}

WalScan scan(ByteView file, std::uint64_t sequence_min, Content content) {
  WalScan scan;
  while (scan.bytes < file.size()) {
    const auto begin = skip_filling(file, scan.bytes);
    if (begin == file.size()) break;
    const Batch batch = begin ? read_batch(file, *begin, content) : broken(WalFaultKind::kType);
    auto fault = batch.fault;
    const bool counts = content == Content::kBatches;
    if (!fault && counts && !follows(batch.header.sequence(), scan, sequence_min))
      fault = WalFaultKind::kSequence;
    if (fault) {
      scan.fault =
          WalFault{.kind = *fault, .offset = scan.bytes, .later = find_later(file, scan, content)};
      break;
    }
    ++scan.batches;
    scan.bytes = batch.end;
    if (counts) scan.next_sequence = batch.header.sequence() + batch.header.count();
  }
  return scan;
}

}  // namespace

std::string_view name(WalFaultKind kind) noexcept {
  switch (kind) {
    case WalFaultKind::kShort: return "short";
    case WalFaultKind::kLength: return "length";
    case WalFaultKind::kChecksum: return "checksum";
    case WalFaultKind::kType: return "type";
    case WalFaultKind::kPart: return "part";
    case WalFaultKind::kBatch: return "batch";
    case WalFaultKind::kSequence: return "sequence";
  }
  return "unknown";
}

WalScan scan_wal(ByteView file, std::uint64_t sequence_min) {
  return scan(file, sequence_min, Content::kBatches);
}

base::Result<WalTail, WalDamage> judge_wals(std::span<const ByteView> files,
                                            std::uint64_t set_bytes_max) {
  WalTail tail;
  std::uint64_t sequence_min = 0;
  for (std::size_t i = 0; i < files.size(); ++i) {
    const WalScan scan = scan_wal(files[i], sequence_min);
    if (tail.torn && files[i].size() > kWalEmptyBatchBytes) return base::fail(*tail.torn);
    tail.batches += scan.batches;
    tail.ends.push_back(scan.bytes);
    sequence_min = scan.next_sequence.value_or(sequence_min);
    if (!scan.fault) continue;
    const WalDamage found{.file = i, .fault = *scan.fault};
    const bool is_last_of_file = !scan.fault->later &&
                                 scan.fault->kind != WalFaultKind::kSequence &&
                                 files[i].size() - scan.fault->offset <= set_bytes_max;
    if (!is_last_of_file) return base::fail(found);
    if (!tail.torn) tail.torn = found;
  }
  return tail;
}

base::Result<std::uint64_t, WalFault> judge_manifest(ByteView file) {
  const WalScan edits = scan(file, 0, Content::kEdits);
  if (edits.fault && edits.fault->later) return base::fail(*edits.fault);
  return edits.bytes;
}

}  // namespace cadastre::log
