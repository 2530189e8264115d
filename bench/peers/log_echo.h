// LogEcho: our log behind a minimal gRPC server. A request's bytes are proposed as one command; the answer
// goes out when it is applied, which is after it is synced. Without a group it goes out at once: what gRPC
// itself takes on this machine, the bound of every server behind it. A call brings one command; a stream brings one after the
// other, each answered before the next is read.

#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "log/group.h"

namespace cadastre::bench {

class LogEcho {
 public:
  static constexpr std::string_view kCallMethod = "/cadastre.bench.Log/Propose";
  static constexpr std::string_view kStreamMethod = "/cadastre.bench.Log/Stream";

  // On a loopback port that the system picks. The group, if there is one, outlives it.
  explicit LogEcho(log::Group* group);
  LogEcho(const LogEcho&) = delete;
  LogEcho& operator=(const LogEcho&) = delete;
  ~LogEcho();

  [[nodiscard]] const std::string& address() const noexcept { return address_; }

 private:
  struct Server;
  std::unique_ptr<Server> server_;
  std::string address_;
};

}  // namespace cadastre::bench
