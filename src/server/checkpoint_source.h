// CheckpointSource: where ranges of other nodes' checkpoints come from. In production that is gRPC
// (grpc/checkpoint_fetch.h).

#pragma once

#include <cstdint>
#include <functional>

#include "base/bytes.h"
#include "base/result.h"
#include "log/snapshotter.h"
#include "server/checkpoint_staging.h"

namespace cadastre::server {

enum class FetchError : std::uint8_t {
  kGone,         // The source has no such checkpoint: it will never answer this.
  kRefused,      // It has no such file or range, or does not talk to this node.
  kUnavailable,  // It does not answer, or is busy: try again.
};

using FetchDone = std::move_only_function<void(base::Result<base::Bytes, FetchError>)>;

class CheckpointSource {
 public:
  CheckpointSource() = default;
  CheckpointSource(const CheckpointSource&) = delete;
  CheckpointSource& operator=(const CheckpointSource&) = delete;
  virtual ~CheckpointSource() = default;

  // From the node that made it. `done` is called exactly once, on any thread, within kFetchDeadline; not before this
  // returns.
  virtual void fetch(const log::CheckpointName& name, const FileRange& range, FetchDone done) = 0;
  // Ends what is under way, soon; later ones end at once.
  virtual void stop() = 0;
};

}  // namespace cadastre::server
