// AlarmTimer: a Timer on gRPC's own threads, which a program with a client has anyway.

#pragma once

#include <chrono>
#include <functional>

#include "client/timer.h"

namespace cadastre::client {

class AlarmTimer final : public Timer {
 public:
  void after(std::chrono::milliseconds delay, std::move_only_function<void()> task) override;
};

}  // namespace cadastre::client
