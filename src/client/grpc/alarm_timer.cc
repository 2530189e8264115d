#include "client/alarm_timer.h"

#include <chrono>
#include <functional>
#include <utility>

#include <grpc/support/time.h>
#include <grpcpp/alarm.h>

namespace cadastre::client {
namespace {

// Lives until it has run.
struct Waiting {
  grpc::Alarm alarm;
  std::move_only_function<void()> task;
};

}  // namespace

void AlarmTimer::after(std::chrono::milliseconds delay, std::move_only_function<void()> task) {
  auto* const waiting = new Waiting{.alarm = {}, .task = std::move(task)};
  // gRPC rounds up to whole milliseconds; what is overdue goes to another thread at once.
  const gpr_timespec when = delay.count() == 0 ? gpr_inf_past(GPR_CLOCK_MONOTONIC)
                                               : gpr_time_from_millis(delay.count(), GPR_TIMESPAN);
  waiting->alarm.Set(when, [waiting](bool /*fired*/) {
    waiting->task();
    delete waiting;
  });
}

}  // namespace cadastre::client
