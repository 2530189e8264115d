// Runs as answers: the JSON of docs/cli.md, and sentences and tables for people.
//
// In a batch an answer has only what the request did not say; on its own it names its run.

#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>

#include "base/result.h"
#include "cli/command_error.h"
#include "cli/options.h"
#include "coord/identity.h"
#include "coord/outcome.h"
#include "coord/progress.h"
#include "coord/run_record.h"
#include "coord/states.h"

namespace cadastre::cli {

using base::Result;

struct RunView {
  coord::RunRecord record;
  coord::RunProgress progress;
};

struct RunChangeView {
  coord::RunId run;
  coord::RunStatus status = coord::RunStatus::kInitializing;
  std::optional<coord::Outcome> outcome = std::nullopt;
  std::optional<std::size_t> shards = std::nullopt;  // how many were registered
};

// {"run":N,"status":"initializing"}, or {"status":"initializing"} in a batch
[[nodiscard]] Result<std::string, CommandError> run_created_answer(const RunChangeView& change,
                                                                   Form form,
                                                                   Mode mode);

// {"run":N,"status":"active","shards":N,"outcome":...}, or {"outcome":...,"shards":N}
[[nodiscard]] Result<std::string, CommandError> run_registered_answer(const RunChangeView& change,
                                                                      Form form,
                                                                      Mode mode);

// {"outcome":...,"status":...}
[[nodiscard]] Result<std::string, CommandError> run_ended_answer(const RunChangeView& change,
                                                                 Form form);

// {"run":N,"status":...,"counts":{...},...}, or a few lines with a bar
[[nodiscard]] Result<std::string, CommandError> run_answer(const RunView& run, Form form);

// {"runs":[...]} in a batch; else one run on each line, or a table
[[nodiscard]] Result<std::string, CommandError> runs_answer(std::span<const RunView> runs,
                                                            Form form,
                                                            Mode mode);

// {"removed":N}
[[nodiscard]] Result<std::string, CommandError> runs_removed_answer(std::size_t removed, Form form);

}  // namespace cadastre::cli
