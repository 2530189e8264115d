// CrashNoteFile: the crash notes of a node (log/crash_notes.h), in the file crash.note of its log's directory.
//
// A note is written by the process that dies of it, in place of the whole file and by one rename; it is not synced, since
// a panic takes no page of the kernel with it, and a disk that hangs must not keep the process alive. A file that cannot
// be read is worth a line, and no more: it protects a node from itself, and holds nothing that was promised to anybody.
//
// Safe from any thread.

#pragma once

#include <filesystem>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/logger.h"
#include "log/crash_notes.h"
#include "log/types.h"

namespace cadastre::node {

class CrashNoteFile final : public log::CrashListener {
 public:
  // Clock and logger outlive it. The directory need not exist yet.
  CrashNoteFile(const std::filesystem::path& directory,
                log::NodeId node,
                const base::Clock& clock,
                const base::Logger& logger);

  // None, if there is no file or it is damaged.
  [[nodiscard]] std::vector<log::CrashNote> read() const;
  // The groups that are not to be opened, each with an error line.
  [[nodiscard]] std::vector<log::GroupId> quarantined() const;

  void crashed(log::GroupId group, std::string_view text) noexcept override;

 private:
  const std::filesystem::path file_;
  const log::NodeId node_;
  const base::Clock& clock_;
  const base::Logger& logger_;
};

}  // namespace cadastre::node
