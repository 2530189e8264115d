// Durable coordination in this process, in a directory of its own.

#pragma once

#include <memory>
#include <string>
#include <utility>

#include "base/check.h"
#include "base/clock.h"
#include "base/logger.h"
#include "bench/scratch_directory.h"
#include "node/embedded_coordination.h"

namespace cadastre::bench {

class EmbeddedWork {
 public:
  explicit EmbeddedWork(const std::string& name)
      : directory_(name),
        sink_(base::stderr_log_sink()),
        logger_(*sink_, clock_, base::LogForm::kText) {
    auto opened = node::EmbeddedCoordination::open({.directory = directory_.path() / "data"},
                                                   clock_, logger_);
    CAD_CHECK(opened.has_value(), "an empty directory takes coordination");
    coordination_ = *std::move(opened);
  }

  [[nodiscard]] node::EmbeddedCoordination& coordination() { return *coordination_; }

 private:
  ScratchDirectory directory_;
  base::SystemClock clock_;
  std::unique_ptr<base::LogSink> sink_;
  base::Logger logger_;
  std::unique_ptr<node::EmbeddedCoordination> coordination_;  // Ends before what it borrows.
};

}  // namespace cadastre::bench
