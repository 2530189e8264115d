// LeaderFinder: where a request is answered: here, on another node, or for now nowhere.

#pragma once

#include <cstdint>
#include <string>

namespace cadastre::server {

struct LeaderRoute {
  enum class Where : std::uint8_t {
    kHere,
    kThere,    // At `address`.
    kUnknown,  // An election is under way, or this node is cut off: try again.
  };
  Where where = Where::kUnknown;
  std::string address = {};  // HOST:PORT of its service.
};

class LeaderFinder {
 public:
  LeaderFinder() = default;
  LeaderFinder(const LeaderFinder&) = delete;
  LeaderFinder& operator=(const LeaderFinder&) = delete;
  virtual ~LeaderFinder() = default;

  // What is known now; it may be wrong by the time that it is used. Any thread, and does not wait.
  [[nodiscard]] virtual LeaderRoute find_leader() const = 0;
};

}  // namespace cadastre::server
