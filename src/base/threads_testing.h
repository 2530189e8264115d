// Threads for tests: the same work in several at once, and work on a small stack.

#pragma once

#include <pthread.h>

#include <cstddef>
#include <thread>
#include <vector>

#include "base/check.h"
#include "base/function_ref.h"

namespace cadastre::base {

// Runs work(0) to work(count - 1), each in its own thread, and returns when all are done.
template <class Work>
void run_in_threads(int count, const Work& work) {
  std::vector<std::jthread> threads;
  threads.reserve(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i)
    threads.emplace_back(work, i);
}

// Runs the work on a thread with a stack of so many bytes and returns when it is done. A work that
// needs more hits the guard page and ends the process.
inline void run_on_stack(std::size_t stack_bytes, FunctionRef<void()> work) {
  pthread_attr_t attributes;
  CAD_CHECK(pthread_attr_init(&attributes) == 0, "thread attributes can be made");
  CAD_CHECK(pthread_attr_setstacksize(&attributes, stack_bytes) == 0, "the stack's size is legal");
  const auto body = [](void* argument) -> void* {
    (*static_cast<FunctionRef<void()>*>(argument))();
    return nullptr;
  };
  pthread_t thread{};
  CAD_CHECK(pthread_create(&thread, &attributes, body, &work) == 0, "a thread can be started");
  CAD_CHECK(pthread_join(thread, nullptr) == 0, "it ends");
  CAD_CHECK(pthread_attr_destroy(&attributes) == 0, "and leaves nothing");
}

}  // namespace cadastre::base
