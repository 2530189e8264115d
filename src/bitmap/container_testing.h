// Containers for tests: sets of slots that have every shape, and a container that owns its bytes.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "bitmap/container.h"
#include "bitmap/value_model_testing.h"

namespace cadastre::bitmap::testing {

inline constexpr std::uint64_t kSomeChunk = 7;

struct OwnedContainer {
  base::Bytes bytes;
  ContainerView view;

  OwnedContainer(const model::Slots& slots, ContainerKind kind)
      : bytes(model::container(slots, kind)),
        view{kSomeChunk, static_cast<std::uint32_t>(slots.size()), kind, bytes} {}
  OwnedContainer(const OwnedContainer&) = delete;
  OwnedContainer& operator=(const OwnedContainer&) = delete;
};

// What a container holds, read slot by slot.
inline model::Slots slots_of(const ContainerView& container) {
  model::Slots slots;
  SlotReader reader(container);
  std::vector<std::uint16_t> block(1000);
  while (const std::size_t count = reader.read(block))
    slots.insert(block.begin(), block.begin() + static_cast<std::ptrdiff_t>(count));
  return slots;
}

struct Shape {
  std::string name;
  model::Slots slots;
};

// `count` slots from `first` on, `step` apart.
inline model::Slots spaced(std::size_t count, std::uint32_t first, std::uint32_t step) {
  model::Slots slots;
  for (std::size_t i = 0; i < count; ++i)
    slots.insert(static_cast<std::uint16_t>(first + i * step));
  return slots;
}

// 6.1: every cardinality at which a kind begins or ends, spread out, in one run, and in pairs.
inline std::vector<Shape> shapes() {
  std::vector<Shape> all;
  for (const std::size_t count : {1U, 2U, 3U, 63U, 64U, 65U, 4095U, 4096U, 4097U, 32768U}) {
    all.push_back({"spread " + std::to_string(count), spaced(count, 0, 2)});
    all.push_back({"at the end " + std::to_string(count),
                   spaced(count, 65536U - static_cast<std::uint32_t>(count), 1)});
    all.push_back({"at the start " + std::to_string(count), spaced(count, 0, 1)});
  }
  for (const std::size_t count : {2000U, 2047U, 2048U, 2049U, 4096U}) {  // Runs of two.
    model::Slots pairs;
    for (std::size_t i = 0; i < count; ++i)
      pairs.insert({static_cast<std::uint16_t>(i * 4), static_cast<std::uint16_t>(i * 4 + 1)});
    all.push_back({"pairs " + std::to_string(count), pairs});
  }
  for (const std::uint32_t missing : {0U, 31000U, 65535U}) {
    model::Slots most = spaced(65536, 0, 1);
    most.erase(static_cast<std::uint16_t>(missing));
    all.push_back({"all but " + std::to_string(missing), most});
  }
  all.push_back({"all", spaced(65536, 0, 1)});
  all.push_back({"ends", {0, 65535}});
  return all;
}

// The kinds that a container with these slots can be stored as, canonical or not.
inline std::vector<ContainerKind> kinds_for(const model::Slots& slots) {
  const bool fits_array = slots.size() <= kArrayCardinalityMax;
  return {fits_array ? ContainerKind::kArray : ContainerKind::kBitset, ContainerKind::kRun};
}

}  // namespace cadastre::bitmap::testing
