// Coordination records: whatever bytes decode encode to themselves, whatever record is legal survives
// its encoding, and a legal encoding with some bytes changed is refused or is another record's.
//
// The whole input is decoded as every kind. It is read as choices too: which kind of record, the
// record (src/coord/any_record_testing.h), then edits of its bytes.

#include <cstddef>
#include <cstdint>

#include "base/bytes.h"
#include "base/check.h"
#include "coord/any_record_testing.h"
#include "coord/record_codec.h"
#include "fuzz/input.h"
#include "fuzz/target.h"

namespace cadastre::fuzz {
namespace {

using base::Bytes;
using base::ByteView;
using coord::DecodeError;

constexpr std::size_t kEditsMax = 8;

// Every error has a name and a short text.
void check_error(const DecodeError& error) {
  CAD_CHECK(coord::code_name(error) != "unknown", "an error has a name");
  CAD_CHECK(coord::to_text(error).size() < 256, "an error's text is short");
}

// Whether the bytes are a record of this kind. If they are, they are its only encoding.
template <class Decode>
bool check_decoding(ByteView bytes, const Decode& decode) {
  const auto decoded = decode(bytes);
  if (!decoded) {
    check_error(decoded.error());
    return false;
  }
  CAD_CHECK(base::equal(coord::encode(*decoded), bytes), "a record has one encoding");
  return true;
}

void check_every_decoder(ByteView bytes) {
  const int kinds = static_cast<int>(check_decoding(bytes, coord::decode_shard)) +
                    static_cast<int>(check_decoding(bytes, coord::decode_run)) +
                    static_cast<int>(check_decoding(bytes, coord::decode_owner));
  CAD_CHECK(kinds <= 1, "bytes are of one kind");
  const auto count = coord::decode_shard_count(bytes);
  CAD_CHECK(count.has_value() == (bytes.size() == sizeof(std::uint64_t)), "a count is 8 bytes");
  if (!count) return;
  CAD_CHECK(base::equal(coord::encode_shard_count(*count), bytes), "a count has one encoding");
}

// Changes, inserts, removes or cuts.
void edit(Input& in, Bytes& bytes) {
  if (bytes.empty()) return;
  const std::size_t place = in.below(65536) % bytes.size();
  const auto at = bytes.begin() + static_cast<std::ptrdiff_t>(place);
  switch (in.below(8)) {
    case 0: bytes.insert(at, std::byte{in.byte()}); break;
    case 1: bytes.erase(at); break;
    case 2: bytes.resize(place); break;
    case 3: *at = std::byte{in.byte()}; break;
    default: *at ^= std::byte{1} << in.below(8); break;
  }
}

template <class Record, class Decode>
void check_record(Input& in, const Record& record, const Decode& decode) {
  Bytes bytes = coord::encode(record);
  const auto decoded = decode(bytes);
  CAD_CHECK(decoded.has_value(), "what was encoded decodes");
  CAD_CHECK(*decoded == record, "to itself");
  for (std::size_t left = kEditsMax; left > 0 && !in.done(); --left) {
    edit(in, bytes);
    check_every_decoder(bytes);
  }
}

}  // namespace

void run_one(ByteView input) {
  check_every_decoder(input);
  Input in(input);
  switch (in.below(3)) {
    case 0: return check_record(in, coord::testing::any_shard(in), coord::decode_shard);
    case 1: return check_record(in, coord::testing::any_run(in), coord::decode_run);
    default: return check_record(in, coord::testing::any_owner(in), coord::decode_owner);
  }
}

}  // namespace cadastre::fuzz
