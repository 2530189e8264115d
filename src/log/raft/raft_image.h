// RaftImage: a group's records as the shim wants them, with everything that its config points to.

#pragma once

#include <cstdint>
#include <vector>

#include <cadastre_raft.h>

#include "base/result.h"
#include "log/entry.h"
#include "log/raft/open_raft_engine.h"
#include "log/raft/shim_views.h"

namespace cadastre::log {

class RaftImage {
 public:
  // Reads the newest entries: the last one, and everything above what is applied.
  [[nodiscard]] static base::Result<RaftImage, OpenError> read(const RaftParts& parts);

  // Points into this image.
  [[nodiscard]] cad_config config(const RaftParts& parts) const;

 private:
  explicit RaftImage(const GroupImage& image);

  std::vector<Entry> entries_;
  std::vector<cad_entry> tail_;
  std::vector<std::uint64_t> term_starts_;
  std::unique_ptr<ConfView> conf_;
};

}  // namespace cadastre::log
