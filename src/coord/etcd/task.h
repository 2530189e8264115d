// Task: a step machine written as straight code. `co_await` is where it waits for etcd.
//
//   Task<Result<Loaded, InfraError>> Backend::load(std::string key) {
//     Awaited<Answer> call([&](auto done) { store_.read(…, std::move(done)); });
//     const Answer answer = co_await call;       // the thread goes on with other work
//     …
//   }
//
// A task starts when it is awaited, and goes on wherever the completion runs. Arguments of a task are
// values: what a caller lends ends with the call. Only what has a name can be awaited: g++ 12 copies
// temporaries of the awaiting expression bit by bit.

#pragma once

#include <atomic>
#include <coroutine>
#include <exception>
#include <functional>
#include <optional>
#include <utility>

namespace cadastre::coord::etcd {

template <class T>
class [[nodiscard]] Task {
 public:
  struct promise_type;
  using Handle = std::coroutine_handle<promise_type>;
  struct promise_type {
    std::optional<T> value;
    std::coroutine_handle<> awaiting;
    std::atomic<bool> met = false;  // the end of the task and the end of its start

    Task get_return_object() { return Task(Handle::from_promise(*this)); }
    std::suspend_always initial_suspend() noexcept { return {}; }
    struct Final {
      bool await_ready() noexcept { return false; }
      void await_suspend(Handle self) noexcept {
        const std::coroutine_handle<> awaiting = self.promise().awaiting;
        if (self.promise().met.exchange(true)) awaiting.resume();
      }
      void await_resume() noexcept {}
    };
    Final final_suspend() noexcept { return {}; }
    void return_value(T result) { value.emplace(std::move(result)); }
    [[noreturn]] void unhandled_exception() noexcept { std::terminate(); }
  };

  Task(Task&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Task(const Task&) = delete;
  Task& operator=(const Task&) = delete;
  Task& operator=(Task&&) = delete;
  ~Task() {
    if (handle_) handle_.destroy();
  }

  struct Awaiter {
    Handle handle;
    bool await_ready() const noexcept { return false; }
    // As in Awaited: whoever comes second goes on.
    bool await_suspend(std::coroutine_handle<> awaiting) noexcept {
      promise_type& promise = handle.promise();
      promise.awaiting = awaiting;
      handle.resume();
      return !promise.met.exchange(true);
    }
    T await_resume() { return *std::move(handle.promise().value); }
  };
  Awaiter operator co_await() & noexcept { return {handle_}; }
  void operator co_await() && = delete;

 private:
  explicit Task(Handle handle) noexcept : handle_(handle) {}
  Handle handle_;
};

// What nobody waits for.
struct Detached {
  struct promise_type {
    Detached get_return_object() noexcept { return {}; }
    std::suspend_never initial_suspend() noexcept { return {}; }
    std::suspend_never final_suspend() noexcept { return {}; }
    void return_void() noexcept {}
    [[noreturn]] void unhandled_exception() noexcept { std::terminate(); }
  };
};

// Awaits a call with a completion, which may run before the call returns or on another thread.
template <class T>
class Awaited {
 public:
  using Start = std::move_only_function<void(std::move_only_function<void(T)>)>;
  explicit Awaited(Start start) noexcept : start_(std::move(start)) {}

  struct Awaiter {
    Awaited* call;
    bool await_ready() const noexcept { return false; }
    // Whoever comes second, the completion or the end of the call, goes on with the task. False: the answer
    // is there already, and no stack grows.
    bool await_suspend(std::coroutine_handle<> task) {
      Awaited* const mine = call;
      mine->start_([mine, task](T answer) {
        mine->answer_.emplace(std::move(answer));
        if (mine->met_.exchange(true)) task.resume();
      });
      return !mine->met_.exchange(true);
    }
    T await_resume() { return *std::move(call->answer_); }
  };
  Awaiter operator co_await() & noexcept { return {this}; }
  void operator co_await() && = delete;

 private:
  Start start_;
  std::optional<T> answer_;
  std::atomic<bool> met_ = false;
};

}  // namespace cadastre::coord::etcd
