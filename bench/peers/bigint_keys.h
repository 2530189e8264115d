// The big-integer midpoint: GMP as its users would use it, with numbers that keep their memory
// between calls.

#pragma once

#include <memory>

#include "base/bytes.h"
#include "bench/peers/bytewise_keys.h"

namespace cadastre::bench {

class BigintMidpoint {
 public:
  BigintMidpoint();
  ~BigintMidpoint();
  BigintMidpoint(const BigintMidpoint&) = delete;
  BigintMidpoint& operator=(const BigintMidpoint&) = delete;

  // floor((a + b) / 2) of two keys of one width with a < b and b - a >= 2.
  bool operator()(base::ByteView a, base::ByteView b, PeerKey& out);

 private:
  struct Numbers;
  std::unique_ptr<Numbers> numbers_;
};

}  // namespace cadastre::bench
