// Bodies of entries: any bytes are refused or read, and what is read is exactly what a builder would
// write. Behind a first byte that is odd the sums are put right, so that the fields are met, too.

#include <cstddef>
#include <cstdint>

#include "base/bytes.h"
#include "base/check.h"
#include "base/crc32c.h"
#include "base/endian.h"
#include "fuzz/target.h"
#include "log/body.h"

namespace cadastre::fuzz {
namespace {

// The sums that the lengths in the table ask for, as far as they fit.
void put_sums(base::Bytes& body) {
  if (body.size() < log::kBodyHeaderBytes) return;
  const std::size_t count = base::load_le<std::uint16_t>(body.data() + 2);
  const std::size_t head = log::kBodyHeaderBytes + count * log::kBodySlotBytes;
  if (head > body.size()) return;
  std::size_t at = head;
  for (std::size_t i = 0; i < count; ++i) {
    std::byte* slot = body.data() + log::kBodyHeaderBytes + i * log::kBodySlotBytes;
    const std::size_t bytes = base::load_le<std::uint32_t>(slot);
    if (bytes > body.size() - at) break;
    base::store_le(slot + 4, base::crc32c(base::ByteView{body}.subspan(at, bytes)));
    at += bytes;
  }
  const std::uint32_t first = base::crc32c(base::ByteView{body}.first(4));
  base::store_le(body.data() + 4,
                 base::crc32c_extend(first, base::ByteView{body}.subspan(8, head - 8)));
}

void check_body(base::ByteView body) {
  const auto commands = log::read_body(body);
  if (!commands) return;
  CAD_CHECK(commands->size() <= log::kBatchCommandsMax, "a body has a bound");
  if (commands->empty()) {
    CAD_CHECK(body.empty(), "only an empty body has no command");
    return;
  }
  if (body.size() > log::kEntryBytesMax) return;
  log::BodyBuilder builder;
  for (const base::ByteView command : *commands)
    builder.add({command, base::crc32c(command)});
  const log::Body again = builder.close(log::body_hint_ms(body));
  CAD_CHECK(base::equal(again.bytes(), body), "a body has one form");
}

}  // namespace

void run_one(base::ByteView input) {
  if (input.empty()) return check_body(input);
  base::Bytes body = base::to_owned(input.subspan(1));
  if ((input[0] & std::byte{1}) != std::byte{0}) put_sums(body);
  check_body(body);
}

}  // namespace cadastre::fuzz
