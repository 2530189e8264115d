// EtcdServer: Debian's etcd as a child, on loopback ports, in a directory of its own: one node, or one member of a
// cluster. It ends with this object, and with this process however that ends.

#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace cadastre::bench {

// Where a member stands.
struct EtcdPlace {
  // One that nobody uses now.
  [[nodiscard]] static EtcdPlace pick(std::string name);
  // NAME=URL, as each member of the cluster is told of all.
  [[nodiscard]] std::string introduction() const;

  std::string name;  // Of its directory, too.
  int client_port = 0;
  int peer_port = 0;
};

class EtcdServer {
 public:
  // Alone.
  explicit EtcdServer(const std::filesystem::path& directory);
  // A member of the cluster that consists of the introductions of its members, separated by commas.
  EtcdServer(const std::filesystem::path& directory,
             const EtcdPlace& place,
             const std::string& cluster);
  EtcdServer(const EtcdServer&) = delete;
  EtcdServer& operator=(const EtcdServer&) = delete;
  ~EtcdServer();

  [[nodiscard]] static bool is_installed();
  [[nodiscard]] static std::string version();

  [[nodiscard]] const std::string& address() const noexcept { return address_; }

  static constexpr std::string_view kPutMethod = "/etcdserverpb.KV/Put";
  // A PutRequest: key is field 1, value is field 2.
  [[nodiscard]] static std::string put_request(std::uint64_t number, std::size_t value_bytes);
  static constexpr std::string_view kRangeMethod = "/etcdserverpb.KV/Range";
  // A RangeRequest for the key of that put, linearizable.
  [[nodiscard]] static std::string range_request(std::uint64_t number);

 private:
  std::string address_;
  pid_t pid_ = 0;
};

}  // namespace cadastre::bench
