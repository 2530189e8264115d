// EtcdCluster: several members of etcd on this machine, each a child with a directory of its own on one disk, with etcd's
// defaults. When it is there, all members follow one leader.

#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "bench/peers/etcd_server.h"

namespace cadastre::bench {

// What a member says of itself.
struct EtcdStatus {
  std::uint64_t member = 0;
  std::uint64_t leader = 0;  // 0: none that it knows
};
[[nodiscard]] EtcdStatus etcd_status(const std::string& address);

class EtcdCluster {
 public:
  explicit EtcdCluster(const std::filesystem::path& directory, std::size_t members = 3);

  // Of the member that led when it was asked: a put there is on its way at once.
  [[nodiscard]] const std::string& leader_address() const noexcept { return leader_address_; }
  [[nodiscard]] std::vector<std::string> addresses() const;

  // SIGKILL.
  void kill(const std::string& address);

 private:
  // Whether all agree; then the leader's address is known.
  [[nodiscard]] bool agree();

  std::vector<std::unique_ptr<EtcdServer>> members_;
  std::string leader_address_;
};

}  // namespace cadastre::bench
