// The least an outside project does: include installed headers, call into an installed library.

#include <cstdio>

#include <cadastre/base/bytes.h>
#include <cadastre/shard/key_arith.h>
#include <cadastre/shard/key_buf.h>
#include <cadastre/shard/limits.h>

int main() {
  using cadastre::base::as_bytes;
  cadastre::shard::KeyBuf buffer;
  const auto cut = cadastre::shard::balanced_split_point(as_bytes("a"), as_bytes("b"), buffer);
  std::printf("kMaxKeySize %zu\n", cadastre::shard::kMaxKeySize);
  std::printf("cut %s\n", cut ? cadastre::base::to_hex(*cut).c_str() : "none");
}
