// LossyServer: the real handlers behind a door that loses answers: a request is carried out, and its caller is
// told UNAVAILABLE, as after a connection that broke in between.

#pragma once

#include <atomic>
#include <memory>
#include <string>

#include "server/coordination_handlers.h"

namespace cadastre::wire {

class LossyServer {
 public:
  explicit LossyServer(const server::HandlerParts& parts);
  LossyServer(const LossyServer&) = delete;
  LossyServer& operator=(const LossyServer&) = delete;
  ~LossyServer();

  [[nodiscard]] std::string address() const;

  // Of the next checkpoints, claims and creations of runs.
  void lose_answers(int count) noexcept { to_lose_.store(count); }
  [[nodiscard]] int requests() const noexcept { return requests_.load(); }

 private:
  class Service;

  std::atomic<int> to_lose_{0};
  std::atomic<int> requests_{0};
  std::unique_ptr<Service> service_;
  struct Running;
  std::unique_ptr<Running> running_;
};

}  // namespace cadastre::wire
