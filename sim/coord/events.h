// Events: what happened how often, and a digest of everything that was answered. Two runs with equal
// digests went alike.

#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "sim/coord/request.h"

namespace cadastre::sim {

class Events {
 public:
  void count(std::string_view group, std::string_view event, std::uint64_t times = 1);
  // Counts the answer and adds it to the digest.
  void observe(const Request& request, const Answer& answer);
  void add(const Events& other);

  [[nodiscard]] std::uint64_t digest() const noexcept { return digest_; }
  [[nodiscard]] std::uint64_t requests() const noexcept { return requests_; }
  [[nodiscard]] std::uint64_t of(std::string_view group, std::string_view event) const;
  // One line for each: "checkpoint.stale_fence 17".
  [[nodiscard]] std::string to_text() const;

 private:
  struct Name {
    std::string_view group;  // with static lifetime, both
    std::string_view event;
    friend auto operator<=>(const Name&, const Name&) = default;
  };
  std::map<Name, std::uint64_t> counts_;
  std::uint64_t requests_ = 0;
  std::uint64_t digest_ = 0;
};

}  // namespace cadastre::sim
