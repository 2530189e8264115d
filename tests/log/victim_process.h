// VictimProcess: one run of a program that is to be killed, in a process group of its own, that ends with this
// process at the latest. It writes words of eight bytes, little-endian, to its output.

#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace cadastre::log {

// The program lies beside this one.
struct VictimCommand {
  std::string program;
  std::string mode;
  std::string directory;
  std::uint64_t life = 0;
};

class VictimProcess {
 public:
  explicit VictimProcess(const VictimCommand& command);
  VictimProcess(const VictimProcess&) = delete;
  VictimProcess& operator=(const VictimProcess&) = delete;
  ~VictimProcess();

  // Reads words of its output until there are `count`, it ends, or the time is over. All of them.
  const std::vector<std::uint64_t>& read_words(std::size_t count, std::chrono::milliseconds limit);

  // Ends it with SIGKILL and reads what is left in the pipe. False: it had ended before.
  [[nodiscard]] bool kill();
  // Waits for its end. Its exit code, or minus the signal; it is killed if the time is over.
  [[nodiscard]] int wait(std::chrono::milliseconds limit);

  [[nodiscard]] const std::vector<std::uint64_t>& words() const noexcept { return words_; }

 private:
  // False: the end of the output, or nothing came in time.
  bool read_some(std::chrono::milliseconds limit);
  [[nodiscard]] int reap();

  pid_t process_ = -1;
  int output_ = -1;
  std::string partial_;  // Of a word.
  std::vector<std::uint64_t> words_;
};

}  // namespace cadastre::log
