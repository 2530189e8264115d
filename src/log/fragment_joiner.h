// FragmentJoiner: puts the fragments of one stream together again (L-64).
//
// Fragments of a message are consecutive on their stream. Whatever breaks the sequence, another frame, a piece
// that is missing or one of another message, drops the whole message; the pieces that follow are dropped until
// a first one comes. Holds at most kPeerMessageBytesMax bytes, and takes memory as bytes arrive, not as they
// are announced.
//
// Belongs to the stream's reader.

#pragma once

#include <cstdint>
#include <optional>

#include "base/bytes.h"
#include "log/frame_codec.h"
#include "log/types.h"

namespace cadastre::log {

class FragmentJoiner {
 public:
  // The whole message if this was its last piece. `piece` is a fragment that decode_frames gave.
  [[nodiscard]] std::optional<base::Bytes> add(const FrameView& piece);

  // Another frame came: what is unfinished is dropped.
  void interrupt();

  [[nodiscard]] std::uint64_t dropped() const noexcept { return dropped_; }  // Messages.
  [[nodiscard]] std::size_t held_bytes() const noexcept { return held_.size(); }

 private:
  struct Expected {
    GroupId group;
    FragmentPlace place;
  };

  std::optional<Expected> next_;
  base::Bytes held_;
  std::uint64_t dropped_ = 0;
};

}  // namespace cadastre::log
