// The codec on drawn records.

#include "coord/record_codec.h"

#include <cstddef>
#include <cstdint>

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "base/bytes.h"
#include "coord/any_record_testing.h"
#include "coord/backend.h"
#include "coord/run_record.h"
#include "coord/shard_record.h"
#include "shard/property_testing.h"

namespace cadastre::coord {
namespace {

// What a record is made of: the dice of the current case.
struct Dice {
  [[nodiscard]] static std::size_t below(std::size_t bound) { return shard::dice(bound); }
  [[nodiscard]] static std::uint64_t number() { return shard::any_u64(); }
  [[nodiscard]] static base::Bytes string(std::size_t bytes_max) {
    return shard::any_bytes(bytes_max);
  }
};

// Flips one bit: the result is refused, or it is the encoding of another record.
template <class Record, class Decode>
void check_flipped(base::Bytes bytes, const Record& record, const Decode& decode) {
  bytes[shard::dice(bytes.size())] ^= std::byte{1} << shard::dice(8);
  const auto decoded = decode(bytes);
  if (!decoded) return;
  RC_ASSERT(!(*decoded == record));
  RC_ASSERT(base::equal(encode(*decoded), bytes));
}

// C-10.3
TEST(RecordCodecProperty, ShardsSurvive) {
  shard::check_many("decode(encode(shard)) == shard", [] {
    Dice dice;
    const ShardDump shard = testing::any_shard(dice);
    base::Bytes scratch;
    RC_ASSERT(check_invariants(view_of(shard, scratch)).has_value());
    const base::Bytes bytes = encode(shard);
    const auto decoded = decode_shard(bytes);
    RC_ASSERT((decoded.has_value() && *decoded == shard));
    check_flipped(bytes, shard, decode_shard);
  });
}

TEST(RecordCodecProperty, RunsSurvive) {
  shard::check_many("decode(encode(run)) == run", [] {
    Dice dice;
    const RunRecord run = testing::any_run(dice);
    RC_ASSERT(check_invariants(run).has_value());
    const base::Bytes bytes = encode(run);
    const auto decoded = decode_run(bytes);
    RC_ASSERT((decoded.has_value() && *decoded == run));
    check_flipped(bytes, run, decode_run);
  });
}

TEST(RecordCodecProperty, OwnersSurvive) {
  shard::check_many("decode(encode(owner)) == owner", [] {
    Dice dice;
    const OwnerValue owner = testing::any_owner(dice);
    const base::Bytes bytes = encode(owner);
    const auto decoded = decode_owner(bytes);
    RC_ASSERT((decoded.has_value() && *decoded == owner));
    check_flipped(bytes, owner, decode_owner);
  });
}

}  // namespace
}  // namespace cadastre::coord
