// RedisServer: Debian's redis-server as a child, on a Unix socket in a directory of its own, without
// snapshots. It ends with this object, and with this process however that ends.

#pragma once

#include <sys/types.h>

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <hiredis/hiredis.h>

namespace cadastre::bench {

// One connection, for one thread. Replies that are errors end the process.
class RedisConnection {
 public:
  explicit RedisConnection(const std::string& socket_path);

  struct Free {
    void operator()(redisReply* reply) const noexcept { freeReplyObject(reply); }
    void operator()(redisContext* context) const noexcept { redisFree(context); }
  };
  using Reply = std::unique_ptr<redisReply, Free>;

  // Sends and waits.
  Reply call(const std::vector<std::string_view>& words);
  // Queues; the replies come in order.
  void send(const std::vector<std::string_view>& words);
  Reply receive();

 private:
  std::unique_ptr<redisContext, Free> context_;
  std::vector<const char*> pointers_;
  std::vector<std::size_t> lengths_;
};

class RedisServer {
 public:
  explicit RedisServer(const std::string& directory);
  RedisServer(const RedisServer&) = delete;
  RedisServer& operator=(const RedisServer&) = delete;
  ~RedisServer();

  [[nodiscard]] const std::string& socket_path() const { return socket_path_; }
  [[nodiscard]] pid_t pid() const { return pid_; }

 private:
  void wait_until_ready() const;

  std::string socket_path_;
  pid_t pid_ = 0;
  int output_ = -1;  // What the server says, to know when it is ready.
};

}  // namespace cadastre::bench
