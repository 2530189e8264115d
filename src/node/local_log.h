// LocalLog: the log of one process on one directory: storage, host and threads, put together.
//
//   auto log = CAD_TRY(LocalLog::open({.directory = "data/log"}, clock, logger));
//   log::Group& group = *CAD_TRY(log->host().open_group({.group = log::GroupId{1}, .machine = machine}));

#pragma once

#include <chrono>
#include <filesystem>
#include <memory>

#include "base/clock.h"
#include "base/logger.h"
#include "base/result.h"
#include "log/host.h"
#include "log/settings.h"
#include "log/storage.h"
#include "log/storage/records.h"
#include "node/crash_note_file.h"
#include "node/log_threads.h"

namespace cadastre::node {

struct LocalLogOptions {
  std::filesystem::path directory;
  log::NodeIdentity identity{log::ClusterId{1}, log::NodeId{1}};
  int appliers = 2;
  log::Settings settings = {};
  log::HostReplication replication = {};  // What replicated groups need.
};

class LocalLog {
 public:
  // Clock and logger outlive it. A second opener gets kLocked with the first one's process.
  [[nodiscard]] static base::Result<std::unique_ptr<LocalLog>, log::OpenError> open(
      const LocalLogOptions& options, const base::Clock& clock, const base::Logger& logger);
  LocalLog(const LocalLog&) = delete;
  LocalLog& operator=(const LocalLog&) = delete;
  ~LocalLog() { (void)stop(std::chrono::seconds(10)); }

  [[nodiscard]] log::Host& host() noexcept { return *host_; }

  // False: something was still under way, and whoever waited for it is told so.
  bool stop(std::chrono::milliseconds patience) {
    return threads_ == nullptr || threads_->stop(patience);
  }

 private:
  LocalLog() = default;

  std::unique_ptr<CrashNoteFile> crashes_;
  std::unique_ptr<log::LogStorage> storage_;
  std::unique_ptr<LogThreads> threads_;
  std::unique_ptr<log::Host> host_;
};

}  // namespace cadastre::node
