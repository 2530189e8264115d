// NodeProcess: this program once more, as a node, in a process group of its own. Lines go to it, lines come back; it ends
// with this object, and with this process however that ends.

#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace cadastre::bench {

class NodeProcess {
 public:
  explicit NodeProcess(const std::vector<std::string>& arguments);
  NodeProcess(const NodeProcess&) = delete;
  NodeProcess& operator=(const NodeProcess&) = delete;
  ~NodeProcess();

  void tell(const std::string& line);
  // Its next line. One that says nothing for a minute ends this process.
  [[nodiscard]] std::string hear();
  [[nodiscard]] std::string ask(const std::string& line) {
    tell(line);
    return hear();
  }
  // A line is there.
  [[nodiscard]] bool has_spoken();

  // SIGKILL, and gone when it returns.
  void kill();

 private:
  // Whether something came within so long.
  bool read_some(int limit_ms);

  pid_t process_ = 0;
  int input_ = -1;
  int output_ = -1;
  std::string heard_;  // Not handed out yet.
};

// The index of the first of them that says something, once one does.
[[nodiscard]] std::size_t first_to_speak(const std::vector<NodeProcess*>& nodes);

}  // namespace cadastre::bench
