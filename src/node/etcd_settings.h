// EtcdSettings: what a user says about an etcd besides its address: files with what is secret, and a number.

#pragma once

#include <chrono>
#include <filesystem>
#include <optional>

namespace cadastre::node {

struct EtcdSettings {
  std::filesystem::path ca = {};           // PEM; any of the three means TLS
  std::filesystem::path certificate = {};  // of this client
  std::filesystem::path key = {};          // of that certificate
  std::filesystem::path user_file = {};    // its first line is NAME:PASSWORD
  std::optional<std::chrono::seconds> owner_ttl = {};
};

}  // namespace cadastre::node
