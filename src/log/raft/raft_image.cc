#include "log/raft/raft_image.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "base/check.h"
#include "log/limits.h"

namespace cadastre::log {

RaftImage::RaftImage(const GroupImage& image)
    : conf_(std::make_unique<ConfView>(image.confs.back().conf)) {
  for (const TermRun& run : image.terms)
    term_starts_.insert(term_starts_.end(), {run.first.value(), run.term.value()});
}

base::Result<RaftImage, OpenError> RaftImage::read(const RaftParts& parts) {
  const GroupImage& image = parts.image;
  CAD_CHECK(!image.confs.empty(), "a replicated group has a configuration");
  RaftImage read(image);
  Index next = std::min(parts.applied, Index{image.last.index.value() - 1}) + 1;
  if (image.last == image.truncated) next = image.last.index + 1;
  while (next <= image.last.index) {
    auto some =
        parts.storage.read(image.group, image.incarnation, next, image.last.index, kReadBytesMax);
    if (!some) {
      return base::fail(OpenError::kDamaged,
                        fmt::format("group {}: {}", image.group.value(), some.error().detail));
    }
    next = next + some->size();
    std::ranges::move(*some, std::back_inserter(read.entries_));
  }
  read.tail_ = entry_views(read.entries_);
  return read;
}

cad_config RaftImage::config(const RaftParts& parts) const {
  const GroupImage& image = parts.image;
  cad_config config{};
  config.group = image.group.value();
  config.id = parts.self.value();
  config.applied = parts.applied.value();
  config.seed = parts.seed;
  config.election_tick = parts.settings.election_ticks;
  config.heartbeat_tick = parts.settings.heartbeat_ticks;
  config.max_inflight_msgs = kInflightMax;
  config.pre_vote = 1;
  config.check_quorum = 1;
  config.max_size_per_msg = kMessageBytesMax;
  config.max_uncommitted_size = kUncommittedBytesMax;
  config.max_committed_size_per_ready = kCommittedBytesPerOutput;
  config.hard_state = {image.state.term.value(), image.state.vote.value(),
                       image.state.commit.value()};
  config.conf = conf_->view();
  config.conf_index = image.confs.back().index.value();
  config.truncated_index = image.truncated.index.value();
  config.truncated_term = image.truncated.term.value();
  config.tail = tail_.data();
  config.tail_size = tail_.size();
  config.term_starts = term_starts_.data();
  config.term_starts_size = term_starts_.size();
  return config;
}

}  // namespace cadastre::log
