// FirstWord: ends a call of a peer that opens a stream and says nothing: whoever can reach the port could else hold as many
// as it likes. For grpc/ only.
//
// Made with the call's reactor, which says came() when the first message is here, and when the call is over. Safe from any
// thread.

#pragma once

#include <chrono>
#include <memory>
#include <utility>

#include <grpcpp/grpcpp.h>

#include "base/mutex.h"
#include "server/grpc/peer_core.h"

namespace cadastre::server {

class FirstWord {
 public:
  FirstWord(const std::shared_ptr<PeerCore>& core, grpc::CallbackServerContext& context)
      : waits_(std::make_shared<Waits>()) {
    {
      const base::MutexLock lock(waits_->mutex);
      waits_->context = &context;
    }
    PeerCore::later(core, core->first_word_wait, [core, waits = waits_] {
      const base::MutexLock lock(waits->mutex);
      if (waits->context == nullptr) return;
      core->counters.refuse(PeerRefusal::kDamaged);
      waits->context->TryCancel();
    });
  }

  void came() {
    const base::MutexLock lock(waits_->mutex);
    waits_->context = nullptr;
  }

 private:
  struct Waits {
    base::Mutex mutex;
    grpc::CallbackServerContext* context CAD_GUARDED_BY(mutex) = nullptr;  // Null: it has come.
  };

  const std::shared_ptr<Waits> waits_;
};

}  // namespace cadastre::server
