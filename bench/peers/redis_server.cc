#include "bench/peers/redis_server.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include <hiredis/hiredis.h>

#include "base/check.h"

namespace cadastre::bench {
namespace {

constexpr int kReadyTimeoutMs = 30'000;  // Of silence.
constexpr std::string_view kReady = "ready to accept connections";

// Becomes the server, or ends. Only calls that are safe between fork and exec.
[[noreturn]] void become_server(const std::vector<char*>& arguments, int output, pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(1);  // It ended before the line above.
  dup2(output, STDOUT_FILENO);
  execvp(arguments.front(), arguments.data());
  _exit(1);
}

}  // namespace

RedisConnection::RedisConnection(const std::string& socket_path)
    : context_(redisConnectUnix(socket_path.c_str())) {
  CAD_CHECK(context_ != nullptr && context_->err == 0, "the server takes connections");
}

RedisConnection::Reply RedisConnection::call(const std::vector<std::string_view>& words) {
  send(words);
  return receive();
}

void RedisConnection::send(const std::vector<std::string_view>& words) {
  pointers_.clear();
  lengths_.clear();
  for (const std::string_view word : words) {
    pointers_.push_back(word.data());
    lengths_.push_back(word.size());
  }
  const int code = redisAppendCommandArgv(context_.get(), static_cast<int>(words.size()),
                                          pointers_.data(), lengths_.data());
  CAD_CHECK(code == REDIS_OK, "a command is queued");
}

RedisConnection::Reply RedisConnection::receive() {
  void* reply = nullptr;
  CAD_CHECK(redisGetReply(context_.get(), &reply) == REDIS_OK, "the server answers");
  Reply out(static_cast<redisReply*>(reply));
  CAD_CHECK(out->type != REDIS_REPLY_ERROR, out->str);
  return out;
}

RedisServer::RedisServer(const std::string& directory) : socket_path_(directory + "/redis.sock") {
  std::filesystem::create_directories(directory);
  std::vector<std::string> words = {"redis-server",
                                    "--port",
                                    "0",
                                    "--unixsocket",
                                    socket_path_,
                                    "--dir",
                                    directory,
                                    "--save",
                                    "",
                                    "--appendonly",
                                    "no",
                                    "--daemonize",
                                    "no",
                                    "--auto-aof-rewrite-percentage",
                                    "0"};
  std::vector<char*> arguments;
  arguments.reserve(words.size() + 1);
  for (std::string& word : words)
    arguments.push_back(word.data());
  arguments.push_back(nullptr);
  std::array<int, 2> ends{};
  CAD_CHECK(pipe2(ends.data(), O_CLOEXEC) == 0, "a pipe can be made");
  const pid_t parent = getpid();
  pid_ = fork();
  CAD_CHECK(pid_ >= 0, "a process can be made");
  if (pid_ == 0) become_server(arguments, ends[1], parent);
  close(ends[1]);
  output_ = ends[0];
  wait_until_ready();
  RedisConnection(socket_path_).call({"CONFIG", "SET", "loglevel", "warning"});
}

void RedisServer::wait_until_ready() const {
  std::string said;
  while (said.find(kReady) == std::string::npos) {
    pollfd watched{.fd = output_, .events = POLLIN, .revents = 0};
    CAD_CHECK(poll(&watched, 1, kReadyTimeoutMs) == 1, "redis-server starts");
    std::array<char, 4096> block{};
    const ssize_t size = read(output_, block.data(), block.size());
    CAD_CHECK(size > 0, "redis-server is installed and starts");
    said.append(block.data(), static_cast<std::size_t>(size));
  }
}

RedisServer::~RedisServer() {
  kill(pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
  close(output_);
}

}  // namespace cadastre::bench
