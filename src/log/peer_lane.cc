#include "log/peer_lane.h"

#include <utility>

#include "base/check.h"

namespace cadastre::log {
namespace {

std::size_t cost(const LaneMessage& message) noexcept {
  return frame_bytes(message.body.size());
}

}  // namespace

std::size_t PeerLane::add(LaneMessage message) {
  if (message.body.size() > kPeerMessageBytesMax) return 1;
  const std::size_t bytes = cost(message);
  std::size_t dropped = 0;
  if (!fits(bytes)) {
    if (lane_ == Lane::kBulk) return 1;
    dropped = drop_oldest_for(bytes);
    if (!fits(bytes)) return dropped + 1;
  }
  const GroupId queue = queue_of(message);
  std::deque<LaneMessage>& messages = queues_[queue];
  if (messages.empty()) turns_.push_back(queue);
  messages.push_back(std::move(message));
  bytes_ += bytes;
  ++count_;
  return dropped;
}

// Oldest first; a message of which fragments are out stays.
std::size_t PeerLane::drop_oldest_for(std::size_t bytes) {
  std::size_t dropped = 0;
  while (!fits(bytes) && begun_ == 0) {
    pop_front();
    ++dropped;
  }
  return dropped;
}

// The next message is out, or dropped: its queue takes its turn behind the others.
void PeerLane::pop_front() {
  CAD_CHECK(count_ != 0, "there is a message to take");
  const GroupId turn = turns_.front();
  turns_.pop_front();
  const auto queue = queues_.find(turn);
  bytes_ -= cost(queue->second.front());
  --count_;
  queue->second.pop_front();
  begun_ = 0;
  if (queue->second.empty()) {
    queues_.erase(queue);
  } else {
    turns_.push_back(turn);
  }
}

std::vector<LaneFrame> PeerLane::take() {
  std::vector<LaneFrame> batch;
  std::size_t batch_bytes = 0;
  while (count_ != 0) {
    LaneFrame frame{queues_.find(turns_.front())->second.front(), begun_};
    const std::size_t bytes = frame.bytes();
    if (!batch.empty() && batch_bytes + bytes > kStreamBatchBytes) break;
    batch_bytes += bytes;
    ++begun_;
    if (begun_ == frames_for(frame.message.body.size())) pop_front();
    batch.push_back(std::move(frame));
  }
  return batch;
}

std::size_t PeerLane::clear() {
  queues_.clear();
  turns_.clear();
  begun_ = 0;
  bytes_ = 0;
  return std::exchange(count_, 0);
}

}  // namespace cadastre::log
