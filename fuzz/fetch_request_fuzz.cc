// Requests for ranges of checkpoints: whatever reads, writes itself back to the same bytes, with a plain name and a range
// that is bounded. A first byte that is odd puts the sum right, so that the fuzzer gets behind it.

#include "server/fetch_request.h"

#include <cstddef>
#include <cstdint>

#include "base/bytes.h"
#include "base/check.h"
#include "base/crc32c.h"
#include "base/endian.h"
#include "fuzz/target.h"
#include "log/checkpoint.h"
#include "server/limits.h"

namespace cadastre::fuzz {
namespace {

constexpr std::size_t kSumBytes = 4;

}  // namespace

void run_one(base::ByteView input) {
  if (input.size() < 1 + kSumBytes) return;
  base::Bytes bytes = base::to_owned(input.subspan(1));
  if ((input[0] & std::byte{1}) != std::byte{0}) {
    const std::size_t sum_at = bytes.size() - kSumBytes;
    base::store_le(bytes.data() + sum_at, base::crc32c(base::ByteView{bytes}.first(sum_at)));
  }
  const auto request = server::decode_fetch_request(bytes);
  if (!request) return;
  CAD_CHECK(log::is_plain_name(request->range.file), "a name is plain");
  CAD_CHECK(request->range.bytes >= 1 && request->range.bytes <= server::kFetchBytesMax,
            "a range is bounded");
  CAD_CHECK(base::equal(server::encode_fetch_request(*request), bytes), "requests have one form");
}

}  // namespace cadastre::fuzz
