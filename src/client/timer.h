// Timer: runs something later, as an argument. Whoever waits between two tries takes one, so that tests need
// not wait and a program needs no thread for it.

#pragma once

#include <chrono>
#include <functional>

namespace cadastre::client {

class Timer {
 public:
  Timer() = default;
  Timer(const Timer&) = delete;
  Timer& operator=(const Timer&) = delete;
  virtual ~Timer() = default;

  // Runs `task` exactly once, not before `delay` has passed, on any thread but never before this returns.
  // Safe from any thread. The timer outlives what it was given.
  virtual void after(std::chrono::milliseconds delay, std::move_only_function<void()> task) = 0;
};

}  // namespace cadastre::client
