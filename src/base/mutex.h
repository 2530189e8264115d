// Mutex, MutexLock, CondVar: the standard ones, with annotations that clang checks
// (-Wthread-safety): which field needs which lock is written at the field.
//
//   Mutex mutex_;
//   CondVar changed_;
//   std::deque<Task> tasks_ CAD_GUARDED_BY(mutex_);
//   void push_locked(Task task) CAD_REQUIRES(mutex_);
//   void push(Task task) CAD_EXCLUDES(mutex_);
//
//   const MutexLock lock(mutex_);
//   while (tasks_.empty()) changed_.wait(mutex_);  // A loop: a predicate hides the lock from clang.
//
// No lock is held across I/O or a callback.

#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>

#if defined(__clang__)
#define CAD_THREAD_ANNOTATION(attribute) __attribute__((attribute))
#else
#define CAD_THREAD_ANNOTATION(attribute)
#endif

// On a type: a lock, and an object that holds one for its lifetime.
#define CAD_CAPABILITY(name) CAD_THREAD_ANNOTATION(capability(name))
#define CAD_SCOPED_CAPABILITY CAD_THREAD_ANNOTATION(scoped_lockable)

// On a field: it, or what it points to, is touched only under the lock.
#define CAD_GUARDED_BY(mutex) CAD_THREAD_ANNOTATION(guarded_by(mutex))
#define CAD_PT_GUARDED_BY(mutex) CAD_THREAD_ANNOTATION(pt_guarded_by(mutex))

// On a function: the caller holds the lock; does not hold it; gets it; gives it up.
#define CAD_REQUIRES(...) CAD_THREAD_ANNOTATION(requires_capability(__VA_ARGS__))
#define CAD_EXCLUDES(...) CAD_THREAD_ANNOTATION(locks_excluded(__VA_ARGS__))
#define CAD_ACQUIRE(...) CAD_THREAD_ANNOTATION(acquire_capability(__VA_ARGS__))
#define CAD_RELEASE(...) CAD_THREAD_ANNOTATION(release_capability(__VA_ARGS__))

namespace cadastre::base {

class CAD_CAPABILITY("mutex") Mutex {
 public:
  Mutex() = default;
  Mutex(const Mutex&) = delete;
  Mutex& operator=(const Mutex&) = delete;
  ~Mutex() = default;

  void lock() CAD_ACQUIRE() { mutex_.lock(); }
  void unlock() CAD_RELEASE() { mutex_.unlock(); }

 private:
  friend class CondVar;
  std::mutex mutex_;
};

class CAD_SCOPED_CAPABILITY MutexLock {
 public:
  explicit MutexLock(Mutex& mutex) CAD_ACQUIRE(mutex) : mutex_(mutex) { mutex_.lock(); }
  ~MutexLock() CAD_RELEASE() { mutex_.unlock(); }
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

 private:
  Mutex& mutex_;
};

class CondVar {
 public:
  CondVar() = default;
  CondVar(const CondVar&) = delete;
  CondVar& operator=(const CondVar&) = delete;
  ~CondVar() = default;

  // Gives the lock up, waits, and has it again on return. May return without a notification.
  void wait(Mutex& mutex) CAD_REQUIRES(mutex) {
    std::unique_lock<std::mutex> lock(mutex.mutex_, std::adopt_lock);
    changed_.wait(lock);
    lock.release();
  }
  // The same, for so long at most.
  void wait_for(Mutex& mutex, std::chrono::nanoseconds limit) CAD_REQUIRES(mutex) {
    std::unique_lock<std::mutex> lock(mutex.mutex_, std::adopt_lock);
    changed_.wait_for(lock, limit);
    lock.release();
  }
  void notify_one() noexcept { changed_.notify_one(); }
  void notify_all() noexcept { changed_.notify_all(); }

 private:
  std::condition_variable changed_;
};

}  // namespace cadastre::base
