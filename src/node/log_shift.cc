#include "node/log_shift.h"

#include <algorithm>
#include <utility>

namespace cadastre::node {
namespace {

thread_local LogShift::Deferral* innermost = nullptr;

}  // namespace

LogShift::Deferral::Deferral(LogShift& shift) noexcept : shift_(shift), outer_(innermost) {
  innermost = this;
}

LogShift::Deferral::~Deferral() {
  innermost = outer_;
  if (raised_) shift_.raised_.store(true);
}

void LogShift::raise() {
  for (Deferral* deferral = innermost; deferral != nullptr; deferral = deferral->outer_) {
    if (&deferral->shift_ != this) continue;
    deferral->raised_ = true;
    return;
  }
  if (raised_.exchange(true)) return;
  base::CondVar* roused = nullptr;
  {
    const base::MutexLock lock(mutex_);
    if (!in_pass_) roused = rouse();  // Else whoever is in the pass looks when it ends.
  }
  if (roused != nullptr) roused->notify_one();
}

bool LogShift::has_reason() {
  const bool due = due_ && *due_ <= clock_.elapsed();
  return raised_.exchange(false) || due;
}

bool LogShift::is_watched() const {
  if (!due_) return true;
  const base::Elapsed due = *due_;
  return std::ranges::any_of(seats_, [due](const Seat& seat) {
    return seat.place == Place::kAwake || (seat.place == Place::kAsleep && seat.until <= due);
  });
}

base::CondVar* LogShift::rouse() {
  Seat* best = nullptr;
  for (Seat& seat : seats_) {
    if (seat.place == Place::kAsleep && (best == nullptr || seat.until > best->until)) best = &seat;
  }
  if (best == nullptr) return nullptr;
  best->place = Place::kAwake;
  return &best->changed;
}

void LogShift::sleep(Seat& seat) {
  // The end of a pass says anew what is due.
  const bool stale = in_pass_ && due_ && *due_ <= clock_.elapsed();
  seat.place = Place::kAtDisk;  // So that it does not count itself.
  const bool timed = !stale && !is_watched();
  seat.until = timed ? *due_ : base::Elapsed::max();
  seat.place = Place::kAsleep;
  if (timed) {
    seat.changed.wait_for(mutex_, seat.until - clock_.elapsed());
  } else {
    seat.changed.wait(mutex_);
  }
  seat.place = Place::kAwake;
}

LogShift::Duty LogShift::next(std::size_t seat) {
  base::CondVar* roused = nullptr;
  {
    const base::MutexLock lock(mutex_);
    Seat& own = seats_[seat];
    own.place = Place::kAwake;
    for (;;) {
      if (ending_) return Duty::kOver;
      if (std::exchange(set_waits_, false)) break;
      if (!in_pass_ && has_reason()) {
        in_pass_ = true;
        return Duty::kPass;
      }
      sleep(own);
    }
    own.place = Place::kAtDisk;
    if (!in_pass_ && (raised_.load() || !is_watched())) roused = rouse();
  }
  if (roused != nullptr) roused->notify_one();
  return Duty::kCarry;
}

bool LogShift::begin_help() {
  raised_.store(true);
  const base::MutexLock lock(mutex_);
  if (in_pass_ || ending_) return false;
  raised_.store(false);
  in_pass_ = true;
  return true;
}

void LogShift::end_pass(std::optional<base::Elapsed> again, By by) {
  base::CondVar* roused = nullptr;
  {
    const base::MutexLock lock(mutex_);
    in_pass_ = false;
    due_ = again;
    if (std::exchange(filled_, false)) set_waits_ = true;
    if (ending_) {
      roused = &pass_over_;
    } else if (by == By::kHelper && (set_waits_ || raised_.load() || !is_watched())) {
      roused = rouse();  // It sees to the rest, and rouses the other one if need be.
    }
  }
  if (roused != nullptr) roused->notify_one();
}

void LogShift::end() {
  {
    const base::MutexLock lock(mutex_);
    ending_ = true;
    for (Seat& seat : seats_)
      seat.changed.notify_one();
    while (in_pass_)
      pass_over_.wait(mutex_);
  }
}

}  // namespace cadastre::node
