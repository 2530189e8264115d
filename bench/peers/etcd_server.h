// EtcdServer: Debian's etcd as a child, one node, on loopback ports, in a directory of its own. It ends with
// this object, and with this process however that ends.

#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace cadastre::bench {

class EtcdServer {
 public:
  explicit EtcdServer(const std::filesystem::path& directory);
  EtcdServer(const EtcdServer&) = delete;
  EtcdServer& operator=(const EtcdServer&) = delete;
  ~EtcdServer();

  [[nodiscard]] static bool is_installed();
  [[nodiscard]] static std::string version();

  [[nodiscard]] const std::string& address() const noexcept { return address_; }

  static constexpr std::string_view kPutMethod = "/etcdserverpb.KV/Put";
  // A PutRequest: key is field 1, value is field 2.
  [[nodiscard]] static std::string put_request(std::uint64_t number, std::size_t value_bytes);

 private:
  std::string address_;
  pid_t pid_ = 0;
};

}  // namespace cadastre::bench
