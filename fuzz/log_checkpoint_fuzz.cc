// Manifests and file lists of checkpoints: whatever reads, writes itself back to the same bytes. A first
// byte that is odd puts the sum right, so that the fuzzer gets behind it.

#include <cstddef>

#include "base/bytes.h"
#include "base/check.h"
#include "base/crc32c.h"
#include "base/endian.h"
#include "fuzz/target.h"
#include "log/checkpoint.h"

namespace cadastre::fuzz {

void run_one(base::ByteView input) {
  constexpr std::size_t kSumBytes = 4;
  if (input.size() < 1 + kSumBytes) return;
  base::Bytes bytes = base::to_owned(input.subspan(1));
  if ((input[0] & std::byte{1}) != std::byte{0}) {
    const std::size_t before = bytes.size() - kSumBytes;
    base::store_le(bytes.data() + before, base::crc32c(base::ByteView{bytes}.first(before)));
  }
  if (const auto manifest = log::decode_manifest(bytes))
    CAD_CHECK(base::equal(log::encode_manifest(*manifest), bytes), "a manifest has one form");
  if (const auto files = log::decode_file_list(bytes))
    CAD_CHECK(base::equal(log::encode_file_list(*files), bytes), "a list has one form");
}

}  // namespace cadastre::fuzz
