#include "sim/coord/explorer/bound.h"

#include <vector>

namespace cadastre::sim {

std::vector<Bound> bounds_of(BoundSize size) {
  switch (size) {
    case BoundSize::kTiny:
      return {{.name = "one_shard", .ticks = 3},
              {.name = "two_shards", .roots = 2, .keys = 1, .ticks = 3, .fence_max = 2},
              {.name = "family",
               .keys = 1,
               .ticks = 2,
               .lease_ticks = 1,
               .fence_max = 2,
               .derived_fence_max = 2,
               .splits = true}};
    case BoundSize::kSmall:
      return {{.name = "one_shard", .keys = 3, .run_ends = true},
              {.name = "two_shards", .roots = 2, .ticks = 3, .fence_max = 2},
              // A parent and two children, two keys, four ticks.
              {.name = "family", .fence_max = 2, .derived_fence_max = 2, .splits = true},
              // The parent changes hands before it is split.
              {.name = "family_handed_over",
               .keys = 1,
               .ticks = 3,
               .lease_ticks = 1,
               .derived_fence_max = 2,
               .splits = true}};
    case BoundSize::kLarge: break;
  }
  return {{.name = "one_shard", .keys = 3, .fence_max = 4, .run_ends = true},
          {.name = "two_shards", .roots = 2, .keys = 1, .ticks = 3, .lease_ticks = 1},
          {.name = "family", .ticks = 3, .derived_fence_max = 2, .splits = true}};
}

}  // namespace cadastre::sim
