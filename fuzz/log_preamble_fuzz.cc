// Preambles of streams: whatever reads, writes itself back to the same bytes. A first byte that is odd puts the
// sum right, so that the fuzzer gets behind it.

#include <cstddef>

#include "base/bytes.h"
#include "base/check.h"
#include "base/crc32c.h"
#include "base/endian.h"
#include "fuzz/target.h"
#include "log/frame_codec.h"

namespace cadastre::fuzz {

void run_one(base::ByteView input) {
  constexpr std::size_t kSumAt = 40;
  if (input.empty()) return;
  base::Bytes bytes = base::to_owned(input.subspan(1));
  if ((input[0] & std::byte{1}) != std::byte{0} && bytes.size() >= log::kPreambleBytes)
    base::store_le(bytes.data() + kSumAt, base::crc32c(base::ByteView{bytes}.first(kSumAt)));
  if (const auto preamble = log::decode_preamble(bytes))
    CAD_CHECK(base::equal(log::encode_preamble(*preamble), bytes), "a preamble has one form");
}

}  // namespace cadastre::fuzz
