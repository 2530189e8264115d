#include "tests/log/victim_process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>

#include "base/bytes.h"
#include "base/check.h"
#include "base/clock.h"
#include "base/endian.h"

namespace cadastre::log {
namespace {

constexpr std::chrono::milliseconds kDrainMax{30'000};

std::chrono::milliseconds left_until(base::Elapsed deadline) {
  const auto left = deadline - base::SystemClock().elapsed();
  return std::max(std::chrono::ceil<std::chrono::milliseconds>(left), std::chrono::milliseconds{0});
}

}  // namespace

VictimProcess::VictimProcess(const VictimCommand& command) {
  const std::string program =
      (std::filesystem::read_symlink("/proc/self/exe").parent_path() / command.program).string();
  const std::string number = std::to_string(command.life);
  std::array<int, 2> ends{};
  CAD_CHECK(pipe2(ends.data(), O_CLOEXEC) == 0, "a pipe can be made");
  process_ = fork();
  CAD_CHECK(process_ >= 0, "a process can be made");
  if (process_ == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    setpgid(0, 0);
    dup2(ends[1], STDOUT_FILENO);
    execl(program.c_str(), program.c_str(), command.mode.c_str(), command.directory.c_str(),
          number.c_str(), nullptr);
    _exit(127);
  }
  close(ends[1]);
  output_ = ends[0];
}

VictimProcess::~VictimProcess() {
  if (process_ > 0) (void)kill();
  close(output_);
}

bool VictimProcess::read_some(std::chrono::milliseconds limit) {
  pollfd waiting{.fd = output_, .events = POLLIN, .revents = 0};
  if (poll(&waiting, 1, static_cast<int>(limit.count())) <= 0) return false;
  std::array<char, 4096> buffer;
  const ssize_t got = read(output_, buffer.data(), buffer.size());
  if (got <= 0) return false;
  partial_.append(buffer.data(), static_cast<std::size_t>(got));
  std::size_t at = 0;
  for (; at + sizeof(std::uint64_t) <= partial_.size(); at += sizeof(std::uint64_t))
    words_.push_back(base::load_le<std::uint64_t>(base::as_bytes(partial_).data() + at));
  partial_.erase(0, at);
  return true;
}

const std::vector<std::uint64_t>& VictimProcess::read_words(std::size_t count,
                                                            std::chrono::milliseconds limit) {
  const base::Elapsed deadline = base::SystemClock().elapsed() + limit;
  while (words_.size() < count && read_some(left_until(deadline))) {}
  return words_;
}

int VictimProcess::reap() {
  int status = 0;
  while (waitpid(process_, &status, 0) < 0)
    CAD_CHECK(errno == EINTR, "a child can be waited for");
  process_ = -1;
  return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

bool VictimProcess::kill() {
  ::kill(process_, SIGKILL);
  while (read_some(kDrainMax)) {}
  return reap() == -SIGKILL;
}

int VictimProcess::wait(std::chrono::milliseconds limit) {
  const base::Elapsed deadline = base::SystemClock().elapsed() + limit;
  while (read_some(left_until(deadline))) {}
  if (left_until(deadline).count() == 0) ::kill(process_, SIGKILL);
  return reap();
}

}  // namespace cadastre::log
