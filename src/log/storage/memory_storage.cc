#include "log/storage/memory_storage.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/check.h"
#include "base/crc32c.h"
#include "base/endian.h"
#include "log/storage/image_reader.h"
#include "log/storage/write_plan.h"

namespace cadastre::log {
namespace {

constexpr std::size_t kFrameHeadBytes = 12;
constexpr std::size_t kHeadSumOffset = 8;
constexpr std::size_t kOperationHeadBytes = 1 + 4 + 4;
constexpr std::size_t kCompactBytesMin = kMiB;  // Below it, dead frames cost nothing.

enum class Operation : std::uint8_t {
  kPut = 1,
  kErase = 2,
  kEraseRange = 3
};

void append_operation(Bytes& out, Operation kind, ByteView a, std::span<const ByteView> b) {
  std::size_t b_bytes = 0;
  for (const ByteView part : b)
    b_bytes += part.size();
  const std::size_t at = out.size();
  out.resize(at + kOperationHeadBytes);
  out[at] = static_cast<std::byte>(kind);
  base::store_le(out.data() + at + 1, static_cast<std::uint32_t>(a.size()));
  base::store_le(out.data() + at + 5, static_cast<std::uint32_t>(b_bytes));
  out.insert(out.end(), a.begin(), a.end());
  for (const ByteView part : b)
    out.insert(out.end(), part.begin(), part.end());
}

class FrameBuilder final : public RecordSink {
 public:
  FrameBuilder() : frame_(kFrameHeadBytes) {}

  void put(ByteView key, std::span<const ByteView> value) override {
    append_operation(frame_, Operation::kPut, key, value);
  }
  void erase(ByteView key) override { append_operation(frame_, Operation::kErase, key, {}); }
  void erase_range(ByteView begin, ByteView end) override {
    append_operation(frame_, Operation::kEraseRange, begin, {&end, 1});
  }

  [[nodiscard]] Bytes finish() {
    const ByteView body = ByteView{frame_}.subspan(kFrameHeadBytes);
    base::store_le(frame_.data(), static_cast<std::uint32_t>(body.size()));
    base::store_le(frame_.data() + 4, base::crc32c(body));
    base::store_le(frame_.data() + kHeadSumOffset,
                   base::crc32c(ByteView{frame_}.first(kHeadSumOffset)));
    return std::move(frame_);
  }

 private:
  Bytes frame_;
};

}  // namespace

// Over the map of one storage.
class MapCursor final : public RecordCursor {
 public:
  explicit MapCursor(const MemoryStorage::Records& records)
      : records_(records), at_(records.begin()) {}

  void seek(ByteView key) override { at_ = records_.lower_bound(key); }
  void next() override { ++at_; }
  [[nodiscard]] bool valid() const override { return at_ != records_.end(); }
  [[nodiscard]] ByteView key() const override { return at_->first; }
  [[nodiscard]] ByteView value() const override { return at_->second; }
  [[nodiscard]] std::string error() const override { return {}; }

 private:
  const MemoryStorage::Records& records_;
  MemoryStorage::Records::const_iterator at_;
};

void MemoryDisk::crash(std::size_t unsynced_kept) {
  CAD_CHECK(unsynced_kept <= unsynced_bytes(), "a crash leaves no more than was written");
  bytes_.resize(synced_ + unsynced_kept);
  sync();
}

void MemoryDisk::flip_bit(std::size_t bit) {
  CAD_CHECK(bit / 8 < bytes_.size(), "the bit lies on the disk");
  bytes_[bit / 8] ^= static_cast<std::byte>(1U << (bit % 8));
}

void MemoryDisk::lose_tail(std::size_t bytes) {
  const auto lost = static_cast<std::ptrdiff_t>(std::min(bytes, bytes_.size()));
  bytes_.erase(bytes_.end() - lost, bytes_.end());
  sync();
}

base::Result<LogStorage::Recovered, OpenError> MemoryStorage::recover() {
  CAD_TRY(replay());
  if (records_.empty()) {
    FrameBuilder frame;
    const RecordKey key = node_key();
    const Bytes value = encode_node({.identity = identity_});
    const auto sum = record_sum(key.view(), value);
    const std::array<ByteView, 2> parts{ByteView{value}, ByteView{sum}};
    frame.put(key.view(), parts);
    const Bytes bytes = frame.finish();
    disk_.append(bytes);
    disk_.sync();
    CAD_TRY(apply_frame(ByteView{bytes}.subspan(kFrameHeadBytes)));
  }
  MapCursor cursor(records_);
  const NodeRecord node = CAD_TRY(read_node_record(cursor));
  if (!(node.identity == identity_)) {
    return base::fail(OpenError::kForeign,
                      fmt::format("the log of node {} of cluster {}", node.identity.node.value(),
                                  node.identity.cluster.value()));
  }
  return read_images(cursor);
}

std::size_t MemoryStorage::whole_bytes(ByteView disk) noexcept {
  ByteView rest = disk;
  while (rest.size() >= kFrameHeadBytes) {
    const std::size_t bytes = base::load_le<std::uint32_t>(rest.data());
    if (bytes > rest.size() - kFrameHeadBytes) break;
    rest = rest.subspan(kFrameHeadBytes + bytes);
  }
  return disk.size() - rest.size();
}

base::Result<void, OpenError> MemoryStorage::replay() {
  records_.clear();
  live_bytes_ = 0;
  ByteView rest = disk_.bytes();
  while (!rest.empty()) {
    const std::size_t offset = disk_.bytes().size() - rest.size();
    const auto damaged = [&] {
      return base::fail(OpenError::kDamaged, fmt::format("the frame at offset {}", offset));
    };
    if (rest.size() < kFrameHeadBytes) break;  // Torn.
    if (base::crc32c(rest.first(kHeadSumOffset)) !=
        base::load_le<std::uint32_t>(rest.data() + kHeadSumOffset))
      return damaged();
    const std::size_t bytes = base::load_le<std::uint32_t>(rest.data());
    if (bytes > rest.size() - kFrameHeadBytes) break;  // Torn.
    const ByteView body = rest.subspan(kFrameHeadBytes, bytes);
    if (base::crc32c(body) != base::load_le<std::uint32_t>(rest.data() + 4)) return damaged();
    if (!apply_frame(body)) return damaged();
    rest = rest.subspan(kFrameHeadBytes + bytes);
  }
  const std::size_t end = disk_.bytes().size() - rest.size();
  Bytes whole(disk_.bytes().begin(), disk_.bytes().begin() + static_cast<std::ptrdiff_t>(end));
  if (end != disk_.bytes().size()) disk_.replace(std::move(whole));
  return {};
}

base::Result<void, OpenError> MemoryStorage::apply_frame(ByteView body) {
  const auto forget = [&](Records::iterator at) {
    live_bytes_ -= at->first.size() + at->second.size();
    return records_.erase(at);
  };
  while (!body.empty()) {
    if (body.size() < kOperationHeadBytes)
      return base::fail(OpenError::kDamaged, "a frame that ends inside an operation");
    const auto kind = static_cast<Operation>(body[0]);
    if (kind < Operation::kPut || kind > Operation::kEraseRange)
      return base::fail(OpenError::kDamaged, "an operation that nobody writes");
    const std::size_t a_bytes = base::load_le<std::uint32_t>(body.data() + 1);
    const std::size_t b_bytes = base::load_le<std::uint32_t>(body.data() + 5);
    if (body.size() - kOperationHeadBytes < a_bytes + b_bytes)
      return base::fail(OpenError::kDamaged, "a frame that ends inside an operation");
    const ByteView a = body.subspan(kOperationHeadBytes, a_bytes);
    const ByteView b = body.subspan(kOperationHeadBytes + a_bytes, b_bytes);
    body = body.subspan(kOperationHeadBytes + a_bytes + b_bytes);
    switch (kind) {
      case Operation::kPut: {
        if (const auto old = records_.find(a); old != records_.end()) forget(old);
        records_.emplace(base::to_owned(a), base::to_owned(b));
        live_bytes_ += a.size() + b.size();
        break;
      }
      case Operation::kErase: {
        if (const auto old = records_.find(a); old != records_.end()) forget(old);
        break;
      }
      case Operation::kEraseRange: {
        for (auto at = records_.lower_bound(a); at != records_.end() && base::less(at->first, b);)
          at = forget(at);
        break;
      }
    }
  }
  return {};
}

void MemoryStorage::append(const WriteSet& set) {
  FrameBuilder frame;
  write_records(set, frame);
  const Bytes bytes = frame.finish();
  disk_.append(bytes);
  const auto applied = apply_frame(ByteView{bytes}.subspan(kFrameHeadBytes));
  CAD_CHECK(applied.has_value(), "a frame that was just made reads back");
}

void MemoryStorage::sync() {
  disk_.sync();
  if (disk_.bytes().size() > kCompactBytesMin + 4 * live_bytes_) compact();
}

void MemoryStorage::compact() {
  FrameBuilder frame;
  for (const auto& [key, value] : records_) {
    const ByteView part = value;
    frame.put(key, {&part, 1});
  }
  disk_.replace(frame.finish());
}

base::Result<void, WriteError> MemoryStorage::write(const WriteSet& set) {
  append(set);
  sync();
  return {};
}

void MemoryStorage::spoil_entry(GroupId group, Incarnation incarnation, Index index) {
  const RecordKey key = entry_key({group, incarnation}, index);
  const auto found = records_.find(key.view());
  CAD_CHECK(found != records_.end(), "only what is there can be spoilt");
  found->second.front() ^= std::byte{1};
}

base::Result<std::vector<Entry>, LogReadError> MemoryStorage::read(
    GroupId group, Incarnation incarnation, Index low, Index high, std::size_t bytes_max) {
  MapCursor cursor(records_);
  return read_entries(
      cursor, {.group = {group, incarnation}, .low = low, .high = high, .bytes_max = bytes_max});
}

}  // namespace cadastre::log
