#include "bench/peers/rolled_store.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "base/check.h"
#include "base/endian.h"
#include "bench/peers/lmdb_files.h"
#include "bench/peers/roaring64.h"
#include "bench/peers/set_store.h"
#include "bitmap/ids.h"
#include "bitmap/key_codec.h"

namespace cadastre::bench {
namespace {

using base::ByteView;
using bitmap::Shard;

constexpr std::byte kPortableForm{1};
// The most that one more id adds: an upper half, a cookie, a count, a descriptor, an offset, a slot.
constexpr std::size_t kIdBytesMax = 22;

Shard shard_of(ByteView key, Id id) {
  return bitmap::choose_shard(key, id, {.count = kRolledShards, .grain_bits = 0});
}

std::size_t stored_bytes(const Roaring64& set) {
  return sizeof kPortableForm + set.portable_bytes();
}

Roaring64 decode(ByteView value) {
  CAD_CHECK(!value.empty() && value.front() == kPortableForm, "a rolled segment has form 1");
  return Roaring64::read_portable(value.subspan(1));
}

bool is_segment(ByteView key, ByteView shard_prefix) {
  return key.size() == shard_prefix.size() + sizeof(std::uint16_t);
}

// Calls visit(number, value) for every segment of a shard, oldest first.
template <class Visit>
void for_each_segment(const LmdbRead& txn, ByteView key, Shard shard, const Visit& visit) {
  const bitmap::StoredKey prefix = bitmap::stats_key(key, shard);
  txn.for_each(prefix, [&](const LmdbEntry& entry) {
    if (!is_segment(entry.key, prefix)) return;
    visit(base::load_be<std::uint16_t>(entry.key.data() + prefix.view().size()), entry.value);
  });
}

std::optional<std::uint16_t> read_head(const LmdbRead& txn, ByteView key, Shard shard) {
  const auto value = txn.get(bitmap::stats_key(key, shard));
  if (!value) return std::nullopt;
  CAD_CHECK(value->size() == sizeof(std::uint16_t), "a head is a segment's number");
  return base::load_be<std::uint16_t>(value->data());
}

// Adds ids in their order for as long as the segment stays within its size; answers how many it took.
std::size_t fill(Roaring64& segment, std::span<const Id> ids) {
  std::size_t taken = 0;
  while (taken < ids.size()) {
    const std::size_t room = kRolledBytesMax - stored_bytes(segment);
    const std::size_t sure = std::min(room / kIdBytesMax, ids.size() - taken);
    if (sure > 1) {  // These fit in any order, so they go in at once.
      std::vector<Id> sorted(ids.begin() + static_cast<std::ptrdiff_t>(taken),
                             ids.begin() + static_cast<std::ptrdiff_t>(taken + sure));
      std::ranges::sort(sorted);
      Roaring64 some;
      some.add_many(sorted);
      segment.unite(some);
      taken += sure;
      continue;
    }
    const Id id = ids[taken];
    if (!segment.contains(id)) {
      segment.add(id);
      if (stored_bytes(segment) > kRolledBytesMax) {
        segment.remove(id);
        return taken;
      }
    }
    ++taken;
  }
  return taken;
}

class RolledReader final : public SetReader {
 public:
  explicit RolledReader(const LmdbFiles& files) : files_(files), txn_(files.read()) {}

  void renew() override { txn_ = files_.read(); }
  [[nodiscard]] bool contains(std::string_view key, Id id) override {
    const ByteView bytes = base::as_bytes(key);
    bool found = false;
    for_each_segment(txn_, bytes, shard_of(bytes, id), [&](std::uint16_t, ByteView value) {
      found = found || decode(value).contains(id);
    });
    return found;
  }
  [[nodiscard]] std::uint64_t count_present(std::string_view key,
                                            std::span<const Id> ids) override {
    const Roaring64 set = all(key);
    return static_cast<std::uint64_t>(
        std::ranges::count_if(ids, [&](Id id) { return set.contains(id); }));
  }
  [[nodiscard]] std::uint64_t count(std::string_view key) override {
    return all(key).cardinality();
  }
  void stream(std::string_view key, IdRange range, VisitIds visit) override {
    all(key).visit(range, visit);
  }
  [[nodiscard]] std::uint64_t materialise(std::string_view key) override { return count(key); }
  [[nodiscard]] std::uint64_t intersection_count(std::string_view a, std::string_view b) override {
    return count_of(SetOperation::kIntersection, a, b);
  }
  // Each of the two is united once, whatever is asked.
  [[nodiscard]] std::uint64_t count_of(SetOperation operation,
                                       std::string_view a,
                                       std::string_view b) override {
    return Roaring64::count_of(operation, all(a), all(b));
  }

 private:
  [[nodiscard]] Roaring64 all(std::string_view key) {
    Roaring64 set;
    for (std::uint16_t shard = 0; shard < kRolledShards; ++shard) {
      for_each_segment(txn_, base::as_bytes(key), Shard{shard}, [&](std::uint16_t, ByteView value) {
        if (!gives_up()) set.unite(decode(value));
      });
    }
    return set;
  }

  const LmdbFiles& files_;
  LmdbRead txn_;
};

// What a chunk of so many ids adds to a segment, together with an upper half of its own.
double chunk_bytes(std::size_t ids) {
  constexpr std::size_t kContainerBytesMax = 8192;
  constexpr std::size_t kHeaderBytes = kIdBytesMax - sizeof(std::uint16_t);
  return static_cast<double>(kHeaderBytes +
                             std::min(ids * sizeof(std::uint16_t), kContainerBytesMax));
}

// A shard cut anew: each piece ends with the chunk that is nearest to its share of the bytes (3.7).
class Pieces {
 public:
  explicit Pieces(double total_bytes) {
    constexpr double kFill = 0.9;
    const double count = std::ceil(total_bytes / (kFill * static_cast<double>(kRolledBytesMax)));
    piece_bytes_ = total_bytes / count;
  }

  void add(std::span<const Id> chunk) {
    const double bytes = chunk_bytes(chunk.size());
    if (!sets_.back().is_empty() &&
        bytes_ + bytes / 2 > piece_bytes_ * static_cast<double>(sets_.size())) {
      sets_.emplace_back();
    }
    sets_.back().add_many(chunk);
    bytes_ += bytes;
  }

  [[nodiscard]] const std::vector<Roaring64>& sets() const { return sets_; }

 private:
  std::vector<Roaring64> sets_ = std::vector<Roaring64>(1);
  double piece_bytes_ = 0;
  double bytes_ = 0;
};

template <class Visit>
void for_each_chunk(const Roaring64& set, const Visit& visit) {
  std::vector<Id> chunk;
  set.visit(kAllIds, [&](std::span<const Id> ids) {
    for (const Id id : ids) {
      if (!chunk.empty() && bitmap::chunk_of(chunk.back()) != bitmap::chunk_of(id)) {
        visit(std::span<const Id>(chunk));
        chunk.clear();
      }
      chunk.push_back(id);
    }
  });
  if (!chunk.empty()) visit(std::span<const Id>(chunk));
}

Pieces cut_anew(const Roaring64& set) {
  double total = 0;
  for_each_chunk(set, [&](std::span<const Id> chunk) { total += chunk_bytes(chunk.size()); });
  Pieces pieces(std::max(total, 1.0));
  for_each_chunk(set, [&](std::span<const Id> chunk) { pieces.add(chunk); });
  return pieces;
}

}  // namespace

void RolledStore::store(ByteView key, Shard shard, std::uint16_t segment, const Roaring64& set) {
  value_.assign(1, kPortableForm);
  set.write_portable(value_);
  CAD_CHECK(value_.size() <= kRolledBytesMax, "a rolled segment keeps its limit");
  txn_->put(bitmap::rolled_segment_key(key, shard, segment), value_);
}

void RolledStore::store_head(ByteView key, Shard shard, std::uint16_t head) {
  std::array<std::byte, sizeof head> value{};
  base::store_be(value.data(), head);
  txn_->put(bitmap::stats_key(key, shard), value);
}

void RolledStore::insert_into(ByteView key, Shard shard, std::span<const Id> ids) {
  auto head = read_head(*txn_, key, shard);
  if (!head) store_head(key, shard, 0);
  std::uint16_t number = head.value_or(0);
  const auto value = txn_->get(bitmap::rolled_segment_key(key, shard, number));
  Roaring64 segment = value ? decode(*value) : Roaring64();
  for (;;) {
    const std::size_t taken = fill(segment, ids);
    if (taken != 0) store(key, shard, number, segment);
    ids = ids.subspan(taken);
    if (ids.empty()) return;
    CAD_CHECK(number != std::numeric_limits<std::uint16_t>::max(), "a rolled shard is full");
    store_head(key, shard, ++number);
    segment = Roaring64();
  }
}

void RolledStore::insert(std::string_view key, Id id) {
  const ByteView bytes = base::as_bytes(key);
  insert_into(bytes, shard_of(bytes, id), {&id, 1});
}

void RolledStore::insert_many(std::string_view key, std::span<const Id> ids) {
  const ByteView bytes = base::as_bytes(key);
  for (auto& of_shard : by_shard_)
    of_shard.clear();
  for (const Id id : ids)
    by_shard_[shard_of(bytes, id).value()].push_back(id);
  for (std::uint16_t shard = 0; shard < kRolledShards; ++shard) {
    if (!by_shard_[shard].empty()) insert_into(bytes, Shard{shard}, by_shard_[shard]);
  }
}

void RolledStore::remove_from(ByteView key, Shard shard, std::span<const Id> ids) {
  std::vector<std::pair<std::uint16_t, Roaring64>> changed;
  for_each_segment(*txn_, key, shard, [&](std::uint16_t number, ByteView value) {
    Roaring64 set = decode(value);
    bool has_changed = false;
    for (const Id id : ids) {
      if (!set.contains(id)) continue;
      set.remove(id);
      has_changed = true;
    }
    if (has_changed) changed.emplace_back(number, std::move(set));
  });
  for (const auto& [number, set] : changed)
    store(key, shard, number, set);  // Empty ones stay: their number is taken.
}

void RolledStore::remove_many(std::string_view key, std::span<const Id> ids) {
  const ByteView bytes = base::as_bytes(key);
  for (auto& of_shard : by_shard_)
    of_shard.clear();
  for (const Id id : ids)
    by_shard_[shard_of(bytes, id).value()].push_back(id);
  for (std::uint16_t shard = 0; shard < kRolledShards; ++shard) {
    if (!by_shard_[shard].empty()) remove_from(bytes, Shard{shard}, by_shard_[shard]);
  }
}

void RolledStore::commit() {
  txn_->commit();
  txn_.reset();
}

void RolledStore::compact_shard(ByteView key, Shard shard) {
  std::vector<Roaring64> segments;
  for_each_segment(*txn_, key, shard,
                   [&](std::uint16_t, ByteView value) { segments.push_back(decode(value)); });
  if (segments.empty()) return;
  const auto head = read_head(*txn_, key, shard);
  const Pieces pieces = cut_anew(Roaring64::united(segments));
  std::uint16_t number = 0;
  for (const Roaring64& piece : pieces.sets())
    store(key, shard, number++, piece);
  for (std::uint32_t old = number; old <= head.value_or(0); ++old)
    txn_->erase(bitmap::rolled_segment_key(key, shard, static_cast<std::uint16_t>(old)));
  store_head(key, shard, static_cast<std::uint16_t>(number - 1));
}

void RolledStore::compact(std::string_view key) {
  begin();
  for (std::uint16_t shard = 0; shard < kRolledShards; ++shard)
    compact_shard(base::as_bytes(key), Shard{shard});
  commit();
}

void RolledStore::preload(std::string_view key, std::span<const Id> ids) {
  begin();
  insert_many(key, ids);
  commit();
}

std::unique_ptr<SetReader> RolledStore::reader() {
  return std::make_unique<RolledReader>(files_);
}

}  // namespace cadastre::bench
