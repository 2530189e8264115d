// Sets and segments for tests.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "bitmap/container.h"
#include "bitmap/ids.h"
#include "bitmap/segment_view.h"
#include "bitmap/value_model_testing.h"

namespace cadastre::bitmap::testing {

inline std::string without_spaces(std::string text) {
  std::erase(text, ' ');
  return text;
}

struct NamedSet {
  std::string name;
  model::Ids ids;
};

inline model::Ids ids_from(std::uint64_t first, std::size_t count, std::uint64_t step) {
  model::Ids ids;
  for (std::size_t i = 0; i < count; ++i)
    ids.insert(ids.end(), first + i * step);
  return ids;
}

// 6.1: edges of every width of an id, run cookies with 1, 3, 4 and 5 containers, every kind.
inline std::vector<NamedSet> make_sets() {
  constexpr std::uint64_t kTop = ~std::uint64_t{0};
  std::vector<NamedSet> all = {
      {"zero", {0}},
      {"the last id", {kTop}},
      {"ends", {0, kTop}},
      {"edges", {0, 0xffff, 0x10000, 0xffffffff, 0x100000000, kTop}},
      {"a few", {10, 300, 70000}},
      {"across a chunk", ids_from(65530, 10, 1)},
      {"sparse", ids_from(5, 200, 0x123456789abcd)},
      {"one chunk", ids_from(0x70000, 3000, 5)},
      {"one dense chunk", ids_from(0x70000, 9000, 3)},
      {"a full chunk", ids_from(0x70000, 65536, 1)},
      {"more than form 2 holds", ids_from(0, 65536, 2)},
      {"just what form 2 holds", ids_from(0, 65535, 70)},
      {"many chunks", ids_from(1, 4000, 9999)},
  };
  for (const std::size_t chunks : {1U, 3U, 4U, 5U, 9U}) {
    model::Ids runs;
    for (std::uint64_t chunk = 0; chunk < chunks; ++chunk)
      runs.merge(ids_from((chunk + 3) << 16, 100 + chunk, 1));
    all.push_back({"runs in " + std::to_string(chunks), runs});
    runs.merge(ids_from(std::uint64_t{1} << 40, 700, 3));
    all.push_back({"runs and an array in " + std::to_string(chunks), runs});
  }
  return all;
}

inline const std::vector<NamedSet>& sets() {
  static const std::vector<NamedSet> kAll = make_sets();
  return kAll;
}

// Ids at, beside and far from members.
inline std::vector<std::uint64_t> probes(const model::Ids& ids) {
  std::vector<std::uint64_t> all{0, 1, 0xffff, 0x10000, 0xffffffff, 0x100000000, ~std::uint64_t{0}};
  std::size_t at = 0;
  const std::size_t step = 1 + ids.size() / 50;
  for (const std::uint64_t id : ids) {
    if (at++ % step == 0) all.insert(all.end(), {id - 1, id, id + 1, id + 0x10000});
  }
  return all;
}

inline model::Ids ids_of(const SegmentView& view) {
  model::Ids ids;
  for (auto it = view.begin(); it != view.end(); ++it) {
    const ContainerView container = *it;
    SlotReader reader(container);
    std::vector<std::uint16_t> block(4096);
    while (const std::size_t count = reader.read(block)) {
      for (std::size_t i = 0; i < count; ++i)
        ids.insert(ids.end(), id_at(container.chunk, block[i]).value());
    }
  }
  return ids;
}

}  // namespace cadastre::bitmap::testing
