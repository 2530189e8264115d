#include "bench/node_process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "base/check.h"

namespace cadastre::bench {
namespace {

constexpr const char* kProgram = "/proc/self/exe";
constexpr int kSilenceMaxMs = 60'000;

}  // namespace

NodeProcess::NodeProcess(const std::vector<std::string>& arguments) {
  std::vector<char*> words{const_cast<char*>(kProgram)};
  for (const std::string& argument : arguments)
    words.push_back(const_cast<char*>(argument.c_str()));
  words.push_back(nullptr);
  std::array<int, 2> to{};
  std::array<int, 2> from{};
  CAD_CHECK(pipe2(to.data(), O_CLOEXEC) == 0 && pipe2(from.data(), O_CLOEXEC) == 0,
            "pipes can be made");
  process_ = fork();
  CAD_CHECK(process_ >= 0, "a process can be started");
  if (process_ == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    setpgid(0, 0);
    dup2(to[0], STDIN_FILENO);
    dup2(from[1], STDOUT_FILENO);
    execv(kProgram, words.data());
    _exit(127);
  }
  close(to[0]);
  close(from[1]);
  input_ = to[1];
  output_ = from[0];
}

NodeProcess::~NodeProcess() {
  kill();
  close(input_);
  close(output_);
}

void NodeProcess::kill() {
  if (process_ == 0) return;
  ::kill(process_, SIGKILL);
  waitpid(std::exchange(process_, 0), nullptr, 0);
}

void NodeProcess::tell(const std::string& line) {
  const std::string bytes = line + '\n';
  CAD_CHECK(write(input_, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()),
            "a node takes its lines");
}

bool NodeProcess::read_some(int limit_ms) {
  pollfd waiting{.fd = output_, .events = POLLIN, .revents = 0};
  if (poll(&waiting, 1, limit_ms) <= 0) return false;
  std::array<char, 4096> buffer{};
  const ssize_t got = read(output_, buffer.data(), buffer.size());
  CAD_CHECK(got > 0, "a node lives while it is asked");
  heard_.append(buffer.data(), static_cast<std::size_t>(got));
  return true;
}

bool NodeProcess::has_spoken() {
  while (heard_.find('\n') == std::string::npos) {
    if (!read_some(0)) return false;
  }
  return true;
}

std::string NodeProcess::hear() {
  std::size_t end = heard_.find('\n');
  for (; end == std::string::npos; end = heard_.find('\n'))
    CAD_CHECK(read_some(kSilenceMaxMs), "a node answers within a minute");
  std::string line = heard_.substr(0, end);
  heard_.erase(0, end + 1);
  return line;
}

std::size_t first_to_speak(const std::vector<NodeProcess*>& nodes) {
  constexpr int kTurns = 60'000;  // Of a millisecond.
  for (int turn = 0; turn < kTurns; ++turn) {
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      if (nodes[i]->has_spoken()) return i;
    }
    poll(nullptr, 0, 1);
  }
  CAD_CHECK(false, "one of the nodes answers within a minute");
}

}  // namespace cadastre::bench
