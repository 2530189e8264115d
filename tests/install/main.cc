// The least an outside project does: include an installed header, call into an installed library.

#include <cstdio>

#include <cadastre/base/bytes.h>
#include <cadastre/shard/limits.h>

int main() {
  std::printf("kMaxKeySize %zu\n", cadastre::shard::kMaxKeySize);
  std::printf("hex %s\n", cadastre::base::to_hex(cadastre::base::as_bytes("key")).c_str());
}
