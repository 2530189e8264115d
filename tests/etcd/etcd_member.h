// EtcdMember: one real etcd in a process group and a directory of its own, which ends with this process at the
// latest. EtcdCluster: one or several of them, on loopback ports that were free.
//
// etcd cannot pick ports itself: they are found by binding port 0, and if somebody else takes one in between, the
// cluster is begun anew. A member's output is the file `log` in its directory; that it serves is read there.

#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace cadastre::coord::etcd {

struct MemberOptions {
  std::vector<std::string> flags = {};  // besides addresses and directory
  // Files of TLS for a second address, https://127.0.0.1:tls_port; none if empty.
  std::filesystem::path tls_directory = {};
};

class EtcdMember {
 public:
  // `cluster` as --initial-cluster has it.
  struct Place {
    std::string name;
    std::filesystem::path directory;
    std::uint16_t client_port = 0;
    std::uint16_t peer_port = 0;
    std::uint16_t tls_port = 0;
    std::string cluster;
  };

  EtcdMember(Place place, MemberOptions options);
  EtcdMember(const EtcdMember&) = delete;
  EtcdMember& operator=(const EtcdMember&) = delete;
  ~EtcdMember();

  // By a thread that outlives it: the process ends with that thread at the latest.
  void start();
  // False: it ended, as it does if a port is taken.
  [[nodiscard]] bool wait_until_it_serves(std::chrono::milliseconds limit);
  void kill();  // SIGKILL
  void pause();
  void resume();

  [[nodiscard]] std::string endpoint() const;
  [[nodiscard]] std::string tls_endpoint() const;
  // The body of the answer to a POST of JSON at its HTTP gateway; empty if there was none.
  [[nodiscard]] std::string post(std::string_view path, std::string_view json) const;
  // A field of its status that is a number; empty if it has none.
  [[nodiscard]] std::string status(std::string_view field) const;

 private:
  [[nodiscard]] std::vector<std::string> arguments() const;

  const Place place_;
  const MemberOptions options_;
  pid_t process_ = -1;
};

class EtcdCluster {
 public:
  explicit EtcdCluster(std::size_t size, const MemberOptions& options = {});
  EtcdCluster(const EtcdCluster&) = delete;
  EtcdCluster& operator=(const EtcdCluster&) = delete;
  ~EtcdCluster();

  [[nodiscard]] std::size_t size() const { return members_.size(); }
  [[nodiscard]] EtcdMember& operator[](std::size_t i) { return *members_[i]; }
  [[nodiscard]] std::vector<std::string> endpoints() const;
  // The index of the one that says that it leads, as soon as there is one.
  [[nodiscard]] std::size_t leader() const;

 private:
  [[nodiscard]] bool start(std::size_t size, const MemberOptions& options);

  std::filesystem::path directory_;
  std::vector<std::unique_ptr<EtcdMember>> members_;
};

// A directory that nobody else has.
[[nodiscard]] std::filesystem::path make_scratch_directory();

}  // namespace cadastre::coord::etcd
