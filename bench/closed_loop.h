// Closed loops: so many callers, each with one operation under way; the end of one starts the next.
//
//   const double rate = run_loops({.callers = 64, .seconds = 3}, [&](std::size_t caller, LoopDone done) {
//     backend.checkpoint(…, [done = std::move(done)](auto result) mutable { CAD_CHECK(…); done(); });
//   });
//
// An operation of one caller starts after the one before it is over, on the thread that ended it; operations of
// several callers run at once. An operation that ends before it returns starts the next one inside: only for
// those that wait for something.

#pragma once

#include <cstddef>
#include <functional>

namespace cadastre::bench {

struct LoopPlan {
  std::size_t callers = 64;
  double seconds = 3;
};

// To be called exactly once, from any thread.
using LoopDone = std::move_only_function<void()>;

// Operations per second, after a warm-up of a fifth of the time. Returns when the last one is over.
[[nodiscard]] double run_loops(const LoopPlan& plan,
                               const std::function<void(std::size_t caller, LoopDone done)>& start);

}  // namespace cadastre::bench
