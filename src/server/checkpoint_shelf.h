// CheckpointShelf: the checkpoints of this node that peers may read, by name, file and range.
//
// A file is looked up in the list that was sealed; nothing a peer says becomes a path. Safe from any thread; read() blocks
// on the disk.

#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/mutex.h"
#include "base/result.h"
#include "log/checkpoint.h"
#include "log/snapshotter.h"
#include "server/checkpoint_staging.h"

namespace cadastre::server {

enum class RangeError : std::uint8_t {
  kGone,     // There is no such checkpoint, or no more.
  kNoRange,  // It has no such file, or the file ends before the range does.
  kBusy,     // Too many ranges are being read, or the node is going down: come back.
  kStorage,  // The disk refuses.
};

class CheckpointShelf {
 public:
  struct Sealed {
    std::filesystem::path directory;
    std::map<std::string, std::uint64_t, std::less<>>
        files;  // The list among them; with their bytes.
    std::uint64_t total_bytes = 0;
  };

  void add(const log::CheckpointName& name, Sealed sealed) CAD_EXCLUDES(mutex_);
  // Whoever reads it now may still get to the end of its range.
  void remove(const log::CheckpointName& name) CAD_EXCLUDES(mutex_);

  // Exactly the bytes of the range.
  [[nodiscard]] base::Result<base::Bytes, RangeError> read(const log::CheckpointName& name,
                                                           const FileRange& range,
                                                           base::Elapsed now) CAD_EXCLUDES(mutex_);
  // Nothing: never, or there is none.
  [[nodiscard]] std::optional<base::Elapsed> last_read(const log::CheckpointName& name) const
      CAD_EXCLUDES(mutex_);
  // Of all checkpoints.
  [[nodiscard]] std::uint64_t bytes() const CAD_EXCLUDES(mutex_);

 private:
  struct Entry {
    std::shared_ptr<const Sealed> sealed;
    std::optional<base::Elapsed> last_read = std::nullopt;
  };

  mutable base::Mutex mutex_;
  std::map<log::CheckpointName, Entry> entries_ CAD_GUARDED_BY(mutex_);
};

}  // namespace cadastre::server
