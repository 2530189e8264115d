// The formats of section 2 written down a second time, slowly and plainly: what a set's stored bytes
// have to be. Shares no code with what it checks but the checksum function.

#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "base/xxh3.h"
#include "bitmap/container.h"

namespace cadastre::bitmap::model {

using Ids = std::set<std::uint64_t>;
using Slots = std::set<std::uint16_t>;
using SlotList = std::vector<std::uint16_t>;  // ascending

inline void put(base::Bytes& out, std::uint64_t value, std::size_t bytes) {
  for (std::size_t i = 0; i < bytes; ++i)
    out.push_back(static_cast<std::byte>(value >> (8 * i)));
}

inline void put(base::Bytes& out, const base::Bytes& bytes) {
  out.insert(out.end(), bytes.begin(), bytes.end());
}

// First and last slot of each run.
inline std::vector<std::pair<std::uint16_t, std::uint16_t>> runs_of(const auto& slots) {
  std::vector<std::pair<std::uint16_t, std::uint16_t>> runs;
  for (const std::uint16_t slot : slots) {
    if (!runs.empty() && runs.back().second + 1 == slot) {
      runs.back().second = slot;
    } else {
      runs.emplace_back(slot, slot);
    }
  }
  return runs;
}

inline base::Bytes container(const auto& slots, ContainerKind kind) {
  base::Bytes out;
  if (kind == ContainerKind::kArray) {
    for (const std::uint16_t slot : slots)
      put(out, slot, 2);
  } else if (kind == ContainerKind::kBitset) {
    out.resize(8192);
    for (const std::uint16_t slot : slots)
      out[slot / 8U] |= std::byte{1} << (slot % 8);
  } else {
    const auto runs = runs_of(slots);
    put(out, runs.size(), 2);
    for (const auto& [first, last] : runs) {
      put(out, first, 2);
      put(out, std::uint64_t{last} - first, 2);
    }
  }
  return out;
}

enum class RunUse : std::uint8_t {
  kWhereSmaller,  // B-12
  kNever,
  kAlways,
};

inline ContainerKind kind_of(const auto& slots, RunUse use) {
  const std::size_t plain = slots.size() <= 4096 ? 2 * slots.size() : 8192;
  const std::size_t runs = 2 + 4 * runs_of(slots).size();
  if (use == RunUse::kAlways) return ContainerKind::kRun;
  if (use == RunUse::kWhereSmaller && runs < plain) return ContainerKind::kRun;
  return slots.size() <= 4096 ? ContainerKind::kArray : ContainerKind::kBitset;
}

// One 32-bit bitmap, from its cookie on.
inline base::Bytes inner_bitmap(const std::map<std::uint16_t, SlotList>& chunks, RunUse use) {
  base::Bytes flags((chunks.size() + 7) / 8);
  base::Bytes headers;
  std::vector<base::Bytes> containers;
  bool has_runs = false;
  for (const auto& [key, slots] : chunks) {
    const ContainerKind kind = kind_of(slots, use);
    if (kind == ContainerKind::kRun) {
      has_runs = true;
      flags[containers.size() / 8] |= std::byte{1} << (containers.size() % 8);
    }
    put(headers, key, 2);
    put(headers, slots.size() - 1, 2);
    containers.push_back(container(slots, kind));
  }
  base::Bytes out;
  put(out, has_runs ? 12347 | (chunks.size() - 1) << 16 : 12346, 4);
  if (has_runs) {
    put(out, flags);
  } else {
    put(out, chunks.size(), 4);
  }
  put(out, headers);
  if (!has_runs || chunks.size() >= 4) {
    std::size_t offset = out.size() + 4 * chunks.size();
    for (const base::Bytes& each : containers) {
      put(out, offset, 4);
      offset += each.size();
    }
  }
  for (const base::Bytes& each : containers)
    put(out, each);
  return out;
}

inline base::Bytes portable(const Ids& ids, RunUse use) {
  std::map<std::uint32_t, std::map<std::uint16_t, SlotList>> maps;
  SlotList* slots = nullptr;
  std::uint64_t chunk = 0;
  for (const std::uint64_t id : ids) {
    if (slots == nullptr || chunk != id >> 16) {
      chunk = id >> 16;
      slots = &maps[static_cast<std::uint32_t>(id >> 32)][static_cast<std::uint16_t>(chunk)];
    }
    slots->push_back(static_cast<std::uint16_t>(id));
  }
  base::Bytes out;
  put(out, maps.size(), 8);
  for (const auto& [high, chunks] : maps) {
    put(out, high, 4);
    put(out, inner_bitmap(chunks, use));
  }
  return out;
}

// At most 65535 ids, not empty.
inline base::Bytes packed(const Ids& ids) {
  const std::uint64_t first = *ids.begin();
  std::size_t width = 0;
  for (std::uint64_t left = *ids.rbegin() - first; left != 0; left >>= 8)
    ++width;
  base::Bytes out;
  put(out, width, 1);
  put(out, ids.size(), 2);
  put(out, first, 8);
  for (const std::uint64_t id : ids) {
    if (id != first) put(out, id - first, width);
  }
  return out;
}

inline base::Bytes unsealed(std::uint8_t form, const base::Bytes& payload) {
  base::Bytes out{std::byte{form}};
  put(out, payload);
  return out;
}

inline base::Bytes sealed(std::uint8_t form, const base::Bytes& payload) {
  base::Bytes out = unsealed(form | 0x80, payload);
  put(out, base::xxh3_64(out), 4);
  return out;
}

// The one value that a table stores for this set (B-12, B-13, B-15).
inline base::Bytes stored(const Ids& ids) {
  const base::Bytes as_portable = portable(ids, RunUse::kWhereSmaller);
  if (ids.size() > 65535) return sealed(1, as_portable);
  const base::Bytes as_packed = packed(ids);
  return as_packed.size() <= as_portable.size() ? sealed(2, as_packed) : sealed(1, as_portable);
}

}  // namespace cadastre::bitmap::model
