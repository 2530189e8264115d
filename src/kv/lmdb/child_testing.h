// ChildProcess: a second process for tests. It does its work, says so, and then waits to be killed.

#pragma once

#include <signal.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdint>

#include "base/check.h"
#include "base/function_ref.h"

namespace cadastre::kv::lmdb {

class ChildProcess {
 public:
  // Returns when the child's work is done. What the work answers must live until the child dies, so the
  // work calls `done` from inside.
  explicit ChildProcess(base::FunctionRef<void(base::FunctionRef<void()>)> work) {
    std::array<int, 2> ends{};
    CAD_CHECK(pipe(ends.data()) == 0, "a test can make a pipe");
    pid_ = fork();
    CAD_CHECK(pid_ >= 0, "a test can fork");
    if (pid_ == 0) {
      close(ends[0]);
      work([&] {
        const char ready = 'r';
        CAD_CHECK(write(ends[1], &ready, 1) == 1, "the parent listens");
        for (;;)
          pause();
      });
      _exit(1);  // Without a word: the parent sees the pipe closed.
    }
    close(ends[1]);
    char ready = 0;
    was_ready_ = read(ends[0], &ready, 1) == 1;
    close(ends[0]);
  }
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;
  ~ChildProcess() { kill_and_wait(); }

  [[nodiscard]] bool was_ready() const { return was_ready_; }
  [[nodiscard]] std::int64_t pid() const { return pid_; }

  void kill_and_wait() {
    if (pid_ <= 0) return;
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
    pid_ = 0;
  }

 private:
  pid_t pid_ = 0;
  bool was_ready_ = false;
};

}  // namespace cadastre::kv::lmdb
