#include "bench/peers/bigint_keys.h"

#include <algorithm>
#include <cstddef>
#include <memory>

#include <gmp.h>

#include "base/bytes.h"
#include "bench/peers/bytewise_keys.h"

namespace cadastre::bench {

struct BigintMidpoint::Numbers {
  mpz_t a;
  mpz_t b;
};

BigintMidpoint::BigintMidpoint() : numbers_(std::make_unique<Numbers>()) {
  mpz_init2(numbers_->a, 8 * kPeerKeyMax + 64);
  mpz_init2(numbers_->b, 8 * kPeerKeyMax + 64);
}

BigintMidpoint::~BigintMidpoint() {
  mpz_clear(numbers_->a);
  mpz_clear(numbers_->b);
}

bool BigintMidpoint::operator()(base::ByteView a, base::ByteView b, PeerKey& out) {
  const std::size_t width = std::max(a.size(), b.size());
  mpz_import(numbers_->a, a.size(), 1, 1, 1, 0, a.data());
  mpz_import(numbers_->b, b.size(), 1, 1, 1, 0, b.data());
  mpz_add(numbers_->a, numbers_->a, numbers_->b);
  mpz_fdiv_q_2exp(numbers_->a, numbers_->a, 1);
  const std::size_t used = (mpz_sizeinbase(numbers_->a, 2) + 7) / 8;
  std::fill_n(out.bytes.begin(), width - used, std::byte{0});
  mpz_export(out.bytes.data() + (width - used), nullptr, 1, 1, 1, 0, numbers_->a);
  out.size = width;
  return true;
}

}  // namespace cadastre::bench
