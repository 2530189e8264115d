// Two arenas under any sequence of operations, against fuzz/arena_model.h: no stale, foreign or made-up
// handle ever views or frees anything, across clear, reuse and slots that run out of generations.
//
// Input: the sizes of both arenas, then operations until the end.

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "base/check.h"
#include "fuzz/arena_model.h"
#include "fuzz/input.h"
#include "fuzz/target.h"
#include "shard/limits.h"
#include "shard/shard_arena.h"

namespace cadastre::fuzz {
namespace {

constexpr std::size_t kHandlesMax = 96;

struct Arena {
  explicit Arena(ArenaSize size)
      : real(size.slots, size.bytes, size.first_generation), model(size, real) {}

  shard::ShardArena real;
  ArenaModel model;
};

ArenaSize any_size(Input& in) {
  ArenaSize size;
  size.slots = static_cast<std::uint32_t>(in.below(9));
  size.bytes = static_cast<std::uint32_t>(in.one_in(4) ? in.below(30000) : in.below(64) * 16);
  if (in.one_in(3)) {  // A few generations before the last.
    size.first_generation =
        std::numeric_limits<std::uint32_t>::max() - static_cast<std::uint32_t>(in.below(6));
  }
  return size;
}

SpecBytes any_valid_spec(Input& in) {
  SpecBytes spec;
  spec.start = in.string(shard::kMaxKeySize);
  spec.end = in.string(shard::kMaxKeySize);
  spec.metadata = in.string(shard::kMaxMetadataSize);
  if (!spec.start.empty() && !spec.end.empty() && spec.start >= spec.end) {
    if (spec.start == spec.end) spec.end.clear();
    std::swap(spec.start, spec.end);
  }
  return spec;
}

class Run {
 public:
  explicit Run(Input& in)
      : arenas_{std::make_unique<Arena>(any_size(in)), std::make_unique<Arena>(any_size(in))} {}

  void step(Input& in) {
    Arena& arena = *arenas_[in.below(arenas_.size())];
    switch (in.below(8)) {
      case 0:
      case 1:
      case 2: alloc(in, arena); break;
      case 3:
      case 4: free(arena, any_handle(in, arena)); break;
      case 5: arena.model.check_handle(arena.real, any_handle(in, arena)); break;
      case 6: arena.model.check_free_order(arena.real); break;
      default:
        if (!in.one_in(4)) break;
        arena.real.clear();
        arena.model.clear();
        break;
    }
    for (const auto& each : arenas_) {
      each->model.check(each->real);
      for (const auto& handle : handles_)
        each->model.check_handle(each->real, handle);
    }
  }

 private:
  void alloc(Input& in, Arena& arena) {
    const SpecBytes spec = any_valid_spec(in);
    const auto handle = arena.real.alloc(spec.view());
    const auto expected = arena.model.alloc(spec);
    CAD_CHECK(handle == expected, "an arena gives the slot that is due, or says what it lacks");
    if (handle && handles_.size() < kHandlesMax) handles_.push_back(*handle);
  }

  // One that was handed out by either arena, or one that is made up.
  [[nodiscard]] shard::ShardSpecHandle any_handle(Input& in, const Arena& arena) const {
    if (!handles_.empty() && !in.one_in(4)) return handles_[in.below(handles_.size())];
    return {static_cast<std::uint32_t>(in.below(12)), static_cast<std::uint32_t>(in.number()),
            in.below(2) == 0 ? arena.model.arena_id() : static_cast<std::uint32_t>(in.number())};
  }

  static void free(Arena& arena, shard::ShardSpecHandle handle) {
    // A handle of this arena beyond its slots is a broken promise and would abort.
    if (handle.arena_id == arena.model.arena_id() && handle.slot >= arena.model.slot_count())
      return;
    CAD_CHECK(arena.real.free(handle) == arena.model.free(handle),
              "exactly a live handle of this arena frees");
  }

  std::array<std::unique_ptr<Arena>, 2> arenas_;
  std::vector<shard::ShardSpecHandle> handles_;  // all that were handed out, live or not
};

}  // namespace

void run_one(base::ByteView input) {
  Input in(input);
  Run run(in);
  for (int steps = 0; steps < 200 && !in.done(); ++steps)
    run.step(in);
}

}  // namespace cadastre::fuzz
