#include "bench/bitmap_sets.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/random.h"
#include "bitmap/ids.h"

namespace cadastre::bench {
namespace {

constexpr std::uint64_t kIds32 = std::uint64_t{1} << 32;
constexpr std::uint64_t kClusterIds = 1000;

void sort_unique(std::vector<Id>& ids) {
  std::ranges::sort(ids);
  const auto repeats = std::ranges::unique(ids);
  ids.erase(repeats.begin(), repeats.end());
}

template <class Draw>
std::vector<Id> draw_distinct(std::size_t count, const Draw& draw) {
  std::vector<Id> ids;
  ids.reserve(count + count / 100);
  while (ids.size() < count) {
    const std::size_t missing = count - ids.size();
    for (std::size_t i = 0; i < missing; ++i)
      ids.push_back(draw());
    sort_unique(ids);
  }
  return ids;
}

std::vector<Id> make_dense(std::size_t count, base::Random& random) {
  std::vector<Id> ids;
  ids.reserve(count);
  for (std::uint64_t id = 0; ids.size() < count; ++id) {
    if (random.below(10) < 6) ids.push_back(Id{id});
  }
  return ids;
}

std::vector<Id> make_clustered(std::size_t count, base::Random& random) {
  std::vector<Id> ids;
  base::SeededRandom shared(1);  // Every other cluster is at a place that all seeds know.
  for (std::uint64_t i = 0; i * kClusterIds < count; ++i) {
    base::Random& place = i % 2 == 0 ? static_cast<base::Random&>(shared) : random;
    const std::uint64_t first = place.below(kIds32 - kClusterIds);
    for (std::uint64_t id = first; id < first + kClusterIds; ++id)
      ids.push_back(Id{id});
  }
  sort_unique(ids);
  return ids;
}

}  // namespace

std::vector<Id> make_set(SetShape shape, std::size_t count, std::uint64_t seed) {
  base::SeededRandom random(seed);
  switch (shape) {
    case SetShape::kRandom: return draw_distinct(count, [&] { return Id{random.below(kIds32)}; });
    case SetShape::kRandom64: return draw_distinct(count, [&] { return Id{random.next_u64()}; });
    case SetShape::kDense: return make_dense(count, random);
    case SetShape::kClustered: return make_clustered(count, random);
  }
  CAD_CHECK(false, "there are four shapes");
}

std::vector<Id> shuffled(std::vector<Id> ids, base::Random& random) {
  for (std::size_t i = ids.size(); i > 1; --i)
    std::swap(ids[i - 1], ids[random.below(i)]);
  return ids;
}

std::vector<std::uint32_t> zipf_sizes(std::size_t keys, base::Random& random) {
  constexpr std::uint32_t kLargest = 100'000;
  constexpr std::uint32_t kTail = 10;
  std::vector<std::uint32_t> sizes(keys);
  for (std::size_t i = 0; i < keys; ++i) {
    const auto tail = static_cast<std::uint32_t>(1 + random.below(kTail));
    sizes[i] = std::max(tail, kLargest / static_cast<std::uint32_t>(i + 1));
  }
  for (std::size_t i = keys; i > 1; --i)
    std::swap(sizes[i - 1], sizes[random.below(i)]);
  return sizes;
}

}  // namespace cadastre::bench
