// PostgresServer: Debian's PostgreSQL as a child, on a Unix socket in a directory of its own. Commits are synced.
// It ends with this object, and with this process however that ends.
//
// PostgreSQL refuses to run as root: root starts it as the user `postgres` of Debian's package, who then owns the
// directory and must be able to reach it; others start it as themselves.

#pragma once

#include <sys/types.h>

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>

namespace cadastre::bench {

class PostgresServer {
 public:
  // Makes a database cluster in an empty directory; starts what is in one that has been used.
  PostgresServer(const std::filesystem::path& directory, std::size_t connections_max);
  PostgresServer(const PostgresServer&) = delete;
  PostgresServer& operator=(const PostgresServer&) = delete;
  ~PostgresServer();

  // Why there can be none here, or nothing.
  [[nodiscard]] static std::optional<std::string> obstacle(const std::filesystem::path& directory);
  [[nodiscard]] static std::string version();

  // What libpq connects with.
  [[nodiscard]] const std::string& connection_text() const noexcept { return connection_text_; }

  // All its processes at once, as a machine that loses power would end them.
  void kill_at_once();

 private:
  void wait_until_ready() const;

  std::string connection_text_;
  pid_t pid_ = 0;
};

}  // namespace cadastre::bench
