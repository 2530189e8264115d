#include "node/log_threads.h"

#include <algorithm>
#include <cstdlib>

namespace cadastre::node {

void LogThreads::start(log::Host& host, int appliers) {
  host_ = &host;
  appliers_.start(appliers, [this](log::GroupId group) {
    const bool more = host_->run_applier(group);
    if (stopping_.load()) progress_.raise();
    return more;
  });
  writer_thread_ = std::jthread([this] { run_writer(); });
  reader_thread_ = std::jthread([this] { run_reader(); });
  log_thread_ = std::jthread([this] { run_log(); });
}

void LogThreads::run_log() {
  while (!ending_.load()) {
    const auto again = host_->run_log();
    if (stopping_.load()) progress_.raise();
    if (!again) {
      log_signal_.wait();
    } else if (const base::Elapsed left = *again - clock_.elapsed(); left > left.zero()) {
      log_signal_.wait_for(left);
    }
  }
}

void LogThreads::run_writer() {
  while (!ending_.load()) {
    if (!host_->run_writer()) writer_signal_.wait();
  }
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
    log_signal_.raise();  // An applier that became idle is noticed by the next pass.
  }
  const bool drained = host_->drained();
  join();
  host_ = nullptr;
  return drained;
}

void LogThreads::join() {
  ending_.store(true);
  log_signal_.raise();
  writer_signal_.raise();
  reader_signal_.raise();
  log_thread_ = {};
  writer_thread_ = {};
  reader_thread_ = {};
  appliers_.stop();
}

void LogThreads::fail_stop(std::string_view reason) {
  logger_.error("the log stops the process", {{"reason", reason}});
  std::abort();
}

}  // namespace cadastre::node
