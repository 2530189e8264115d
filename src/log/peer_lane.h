// PeerLane: what waits for one peer on one lane, and what goes out next (1.3, L-65, L-66).
//
//   bulk      kBulkLaneBytesMax. Full: the newest message is dropped. Groups take turns, a message each, so that
//             one that sends much does not hold up the others; messages of a group keep their order.
//   control   kControlLaneBytesMax. Full: the oldest messages are dropped. One order for all.
//
// A bound always admits one message. A message that goes as fragments is finished before another begins.
// Whatever is dropped is reported to the caller, who tells the engines.
//
// Pure: no I/O, no clock. Belongs to whoever locks it.

#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <vector>

#include "log/body.h"
#include "log/frame_codec.h"
#include "log/frame_limits.h"
#include "log/types.h"

namespace cadastre::log {

// A message on its way to a peer, whole.
struct LaneMessage {
  FrameKind kind = FrameKind::kMessage;
  GroupId group = {};
  NodeId from = {};
  NodeId to = {};
  Body body = {};

  [[nodiscard]] FrameView view() const noexcept {
    return {
        .kind = kind, .group = group, .from = from, .to = to, .fragment = {}, .body = body.bytes()};
  }
};

// One frame of a message: the message itself, or its `index`-th fragment.
struct LaneFrame {
  LaneMessage message;
  std::uint32_t index = 0;

  [[nodiscard]] FrameView view() const { return frame_of(message.view(), index); }
  [[nodiscard]] std::size_t bytes() const { return frame_bytes(view().body.size()); }
};

class PeerLane {
 public:
  explicit PeerLane(Lane lane) noexcept
      : lane_(lane), bytes_max_(lane == Lane::kBulk ? kBulkLaneBytesMax : kControlLaneBytesMax) {}

  // How many messages were dropped: this one, or others for its sake. One above kPeerMessageBytesMax is
  // dropped always.
  [[nodiscard]] std::size_t add(LaneMessage message);

  // The frames of the next message of the stream: at most kStreamBatchBytes, and at least one if there is one.
  [[nodiscard]] std::vector<LaneFrame> take();

  // The stream is gone, and what waits with it. How many messages that were.
  std::size_t clear();

  [[nodiscard]] bool empty() const noexcept { return count_ == 0; }
  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }  // Of bodies and heads.
  [[nodiscard]] std::size_t count() const noexcept { return count_; }  // Messages.

 private:
  // The control lane has one queue, under group 0.
  [[nodiscard]] GroupId queue_of(const LaneMessage& message) const noexcept {
    return lane_ == Lane::kBulk ? message.group : GroupId{};
  }
  [[nodiscard]] bool fits(std::size_t bytes) const noexcept {
    return count_ == 0 || bytes_ + bytes <= bytes_max_;
  }
  [[nodiscard]] std::size_t drop_oldest_for(std::size_t bytes);
  void pop_front();

  const Lane lane_;
  const std::size_t bytes_max_;
  std::map<GroupId, std::deque<LaneMessage>> queues_;  // None is empty.
  std::deque<GroupId> turns_;                          // Each queue once; the first is next.
  std::uint32_t begun_ = 0;  // Fragments of the next message that are out.
  std::size_t bytes_ = 0;
  std::size_t count_ = 0;
};

}  // namespace cadastre::log
