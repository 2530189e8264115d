#include "node/log_threads.h"

#include <algorithm>
#include <cstdlib>

namespace cadastre::node {

void LogThreads::start(log::Host& host, int appliers) {
  host_ = &host;
  appliers_.start(appliers, [this](log::GroupId group) { return run_applier(group); });
  reader_thread_ = std::jthread([this] { run_reader(); });
  for (std::size_t seat = 0; seat < crew_.size(); ++seat)
    crew_[seat] = std::jthread([this, seat] { run_crew(seat); });
}

void LogThreads::run_pass(LogShift::By by) {
  const auto again = host_->run_log();
  const std::vector<log::GroupId> to_wake = std::exchange(to_wake_, {});
  shift_.end_pass(again, by);
  if (!to_wake.empty()) appliers_.wake(to_wake);
  if (stopping_.load()) progress_.raise();
}

void LogThreads::run_crew(std::size_t seat) {
  for (;;) {
    switch (shift_.next(seat)) {
      case LogShift::Duty::kPass: run_pass(LogShift::By::kCrew); break;
      case LogShift::Duty::kCarry: {
        const LogShift::Deferral deferral(
            shift_);  // The set is done: this thread's next pass sees it.
        (void)host_->run_writer();
        break;
      }
      case LogShift::Duty::kOver: return;
    }
  }
}

void LogThreads::help_log() {
  if (shift_.begin_help()) run_pass(LogShift::By::kHelper);
}

bool LogThreads::run_applier(log::GroupId group) {
  bool more = false;
  bool came_back = false;  // Callers whom this round answered.
  {
    const LogShift::Deferral deferral(shift_);
    more = host_->run_applier(group);
    came_back = deferral.raised();
  }
  if (came_back) help_log();
  if (stopping_.load()) progress_.raise();
  return more;
}

void LogThreads::run_reader() {
  while (!ending_.load()) {
    if (!host_->run_reader()) reader_signal_.wait();
  }
}

bool LogThreads::stop(std::chrono::milliseconds patience) {
  if (host_ == nullptr) return true;
  const base::Elapsed deadline = clock_.elapsed() + patience;
  stopping_.store(true);
  host_->stop();
  while (!host_->drained() && clock_.elapsed() < deadline) {
    progress_.wait_for(deadline - clock_.elapsed());
    shift_.raise();  // An applier that became idle is noticed by the next pass.
  }
  const bool drained = host_->drained();
  join();
  host_ = nullptr;
  return drained;
}

void LogThreads::join() {
  ending_.store(true);
  shift_.end();
  reader_signal_.raise();
  crew_ = {};
  reader_thread_ = {};
  appliers_.stop();
}

void LogThreads::fail_stop(std::string_view reason) {
  logger_.error("the log stops the process", {{"reason", reason}});
  std::abort();
}

}  // namespace cadastre::node
