// What an operator sees of the transport between nodes (spec section 11), as plain readings. Recorded from
// transport threads and the log thread, read from any.

#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "log/engine.h"
#include "server/peer_admission.h"

namespace cadastre::server {

// Why a message did not reach its peer, as far as is known here.
enum class PeerDrop : std::uint8_t {
  kFull,        // The lane was: 1.3.
  kAway,        // There was no stream, nor one under way.
  kStreamLost,  // It waited for a stream that broke.
};

struct PeerCounters {
  using Counter = std::atomic<std::uint64_t>;

  std::array<std::array<Counter, 3>, 2>
      dropped{};                                 // log_dropped_frames_total, by lane and PeerDrop
  std::array<Counter, kPeerRefusals> refused{};  // Streams of others, by PeerRefusal.
  Counter refused_there{0};                      // Streams of ours that a peer refused.
  Counter unreachable{0};                        // log_unreachable_total
  Counter streams_opened{0};
  Counter streams_lost{0};
  Counter messages_sent{0};  // Of streams: batches of frames.
  Counter messages_received{0};
  Counter frames_sent{0};
  Counter frames_received{0};
  Counter frames_not_here{0};    // Of a group that is not here, or of a node that left it.
  Counter fragments_dropped{0};  // Messages of which a piece was missing.
  Counter reads_paused{0};       // A peer's streams were not read for a while: 1.3.

  void drop(log::Lane lane, PeerDrop why, std::size_t messages) noexcept {
    if (messages == 0) return;
    dropped.at(static_cast<std::size_t>(lane))
        .at(static_cast<std::size_t>(why))
        .fetch_add(messages, std::memory_order_relaxed);
  }
  void refuse(PeerRefusal why) noexcept {
    refused.at(static_cast<std::size_t>(why)).fetch_add(1, std::memory_order_relaxed);
  }
  static void count(Counter& counter, std::uint64_t times = 1) noexcept {
    counter.fetch_add(times, std::memory_order_relaxed);
  }
};

}  // namespace cadastre::server
