// run_in_threads: the same work in several threads at once, for tests of what threads share.

#pragma once

#include <cstddef>
#include <thread>
#include <vector>

namespace cadastre::base {

// Runs work(0) to work(count - 1), each in its own thread, and returns when all are done.
template <class Work>
void run_in_threads(int count, const Work& work) {
  std::vector<std::jthread> threads;
  threads.reserve(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i)
    threads.emplace_back(work, i);
}

}  // namespace cadastre::base
