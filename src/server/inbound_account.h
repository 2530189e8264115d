// InboundAccount: bytes of one peer's lane that were read and are not yet done with (1.3). While they are more than
// kPeerInboundBytesMax, its stream is not read; it goes on once enough is given back.
//
// Bytes are given back when the last frame that lies in them is dropped, on whatever thread that happens: the wake
// given to the account must only hand over. An account is shared by its streams and its bytes and may outlive
// the transport.
//
// Safe from any thread.

#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "log/body.h"
#include "log/frame_limits.h"

namespace cadastre::server {

class InboundAccount : public std::enable_shared_from_this<InboundAccount> {
 public:
  using Wake = std::move_only_function<void()>;

  // So much memory, charged until it is given back.
  [[nodiscard]] std::shared_ptr<std::byte[]> take(std::size_t bytes) {
    charge(bytes);
    return {new std::byte[bytes], [account = shared_from_this(), bytes](const std::byte* memory) {
              delete[] memory;
              account->give_back(bytes);
            }};
  }

  // Keeps `wake` and calls it once when there is room, if there is none now. True: it did.
  [[nodiscard]] bool wait_for_room(Wake wake) CAD_EXCLUDES(mutex_) {
    const base::MutexLock lock(mutex_);
    if (bytes_ <= log::kPeerInboundBytesMax) return false;
    waiting_.push_back(std::move(wake));
    return true;
  }

  [[nodiscard]] std::size_t bytes() const CAD_EXCLUDES(mutex_) {
    const base::MutexLock lock(mutex_);
    return bytes_;
  }

 private:
  void charge(std::size_t bytes) CAD_EXCLUDES(mutex_) {
    const base::MutexLock lock(mutex_);
    bytes_ += bytes;
  }
  void give_back(std::size_t bytes) CAD_EXCLUDES(mutex_) {
    std::vector<Wake> woken;
    {
      const base::MutexLock lock(mutex_);
      bytes_ -= bytes;
      if (bytes_ <= log::kPeerInboundBytesMax) woken = std::exchange(waiting_, {});
    }
    for (Wake& wake : woken)
      wake();
  }

  mutable base::Mutex mutex_;
  std::size_t bytes_ CAD_GUARDED_BY(mutex_) = 0;
  std::vector<Wake> waiting_ CAD_GUARDED_BY(mutex_);  // At most one for each stream.
};

}  // namespace cadastre::server
