// LineDoor: a TCP port that takes lines and gives each an answer of one line, for tests.
//
// One thread serves all connections, in serve(). A line is handed to `ask` with the number of its connection; its answer
// is given by answer(), from any thread, now or later. A connection has one line under way: the next one is looked at
// when the one before is answered. A connection that is gone gets no answers.

#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/mutex.h"
#include "server/listen_address.h"

namespace cadastre::cluster {

class LineDoor {
 public:
  using Connection = std::uint64_t;
  using Ask = std::function<void(Connection, std::string_view)>;

  // Listens; an address that cannot be had ends the process.
  LineDoor(const server::ListenAddress& address, Ask ask);
  LineDoor(const LineDoor&) = delete;
  LineDoor& operator=(const LineDoor&) = delete;

  [[noreturn]] void serve() CAD_EXCLUDES(mutex_);
  void answer(Connection connection, std::string line) CAD_EXCLUDES(mutex_);

 private:
  struct Open {
    int socket = -1;
    std::string input;
    bool asked = false;  // A line is under way.
  };
  struct Answered {
    Connection connection;
    std::string line;
  };

  void accept_one();
  void give_answers() CAD_EXCLUDES(mutex_);
  // False: the connection is over.
  bool take_input(Connection number, Open& open);
  void look_at(Connection number, Open& open);

  const Ask ask_;
  const int listener_;
  const int wake_;  // An eventfd: answers wait.
  Connection last_ = 0;
  std::map<Connection, Open> connections_;
  base::Mutex mutex_;
  std::vector<Answered> answers_ CAD_GUARDED_BY(mutex_);
};

}  // namespace cadastre::cluster
