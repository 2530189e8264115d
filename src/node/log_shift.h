// LogShift: who runs the log's next pass, and who is at the disk. One pass at a time, one set at the disk at a time.
//
//   crew, two threads   for (;;) switch (shift.next(seat)) {
//                         case Duty::kPass:  shift.end_pass(host.run_log(), By::kCrew); break;
//                         case Duty::kCarry: host.run_writer(); break;
//                         case Duty::kOver:  return;
//                       }
//   a helper            if (shift.begin_help()) shift.end_pass(host.run_log(), By::kHelper);
//
// A change of threads costs a halted processor's waking, which is longer than a pass. So whoever brings work to the log
// runs the pass if nobody else is in one: a transport's thread that has frames, an applier that has answered callers who
// came back. Whoever of the crew filled a set carries it and runs the pass behind it; a helper's set is carried by the
// crew. A thread at the disk holds nothing that others need: ticks and messages go on beside a slow sync.
//
// Nothing is lost: a raise that comes during a pass is followed by another pass, a helper runs one and leaves the rest
// to the crew, and as long as there is a time at which to run again, somebody who is not at the disk knows it.
//
// Safe from any thread; next() is the seat's own.

#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "base/clock.h"
#include "base/mutex.h"

namespace cadastre::node {

class LogShift {
 public:
  static constexpr std::size_t kSeats = 2;  // One may be at the disk.

  enum class Duty : std::uint8_t {
    kPass,   // Run one, then end_pass().
    kCarry,  // Take the set to the disk, then come back.
    kOver,
  };
  enum class By : std::uint8_t {
    kCrew,
    kHelper
  };

  // Borrows the clock.
  explicit LogShift(const base::Clock& clock) noexcept : clock_(clock) {}
  LogShift(const LogShift&) = delete;
  LogShift& operator=(const LogShift&) = delete;
  ~LogShift() = default;

  // There is work for a pass. Cheap while it is raised already.
  void raise() CAD_EXCLUDES(mutex_);

  // The crew: what to do next; waits for it. Each seat has one thread.
  [[nodiscard]] Duty next(std::size_t seat) CAD_EXCLUDES(mutex_);
  // There is work for a pass, and the caller would run it. False: somebody else will.
  [[nodiscard]] bool begin_help() CAD_EXCLUDES(mutex_);
  // In a pass: there is a set for the disk.
  void set_filled() noexcept { filled_ = true; }
  // When to run again though nobody raises; nothing: only when raised.
  void end_pass(std::optional<base::Elapsed> again, By by) CAD_EXCLUDES(mutex_);

  // Nobody begins anything any more; returns when no pass is under way. The crew is sent home.
  void end() CAD_EXCLUDES(mutex_);

  // While it lives, this thread's raises are kept back. Behind it they count, and rouse nobody: this thread goes on to
  // next(), or to begin_help() if raised().
  class Deferral {
   public:
    explicit Deferral(LogShift& shift) noexcept;
    Deferral(const Deferral&) = delete;
    Deferral& operator=(const Deferral&) = delete;
    ~Deferral();
    [[nodiscard]] bool raised() const noexcept { return raised_; }

   private:
    friend class LogShift;
    LogShift& shift_;
    Deferral* const outer_;
    bool raised_ = false;
  };

 private:
  enum class Place : std::uint8_t {
    kAwake,  // About to ask what is next.
    kAsleep,
    kAtDisk
  };
  struct Seat {
    base::CondVar changed;
    Place place = Place::kAwake;
    base::Elapsed until{};  // Asleep: when it wakes by itself.
  };

  [[nodiscard]] bool has_reason() CAD_REQUIRES(mutex_);
  // Whether somebody will look at the clock in time.
  [[nodiscard]] bool is_watched() const CAD_REQUIRES(mutex_);
  // Somebody who sleeps, rather one who has no time to watch; null: nobody does.
  [[nodiscard]] base::CondVar* rouse() CAD_REQUIRES(mutex_);
  void sleep(Seat& seat) CAD_REQUIRES(mutex_);

  const base::Clock& clock_;
  std::atomic<bool> raised_{true};
  bool filled_ = false;  // Of whoever is in the pass.

  base::Mutex mutex_;
  base::CondVar pass_over_;  // For end().
  std::array<Seat, kSeats> seats_ CAD_GUARDED_BY(mutex_);
  bool in_pass_ CAD_GUARDED_BY(mutex_) = false;
  bool set_waits_ CAD_GUARDED_BY(mutex_) = false;
  std::optional<base::Elapsed> due_ CAD_GUARDED_BY(mutex_);
  bool ending_ CAD_GUARDED_BY(mutex_) = false;
};

}  // namespace cadastre::node
