// verify: looks at every stored byte of a key or a table and says what is wrong (3.7). Changes nothing.
//
// Checks I-1 to I-6: keys, checksums, content and canonical form of every segment, fences, intervals,
// shards, sizes, statistics.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "bitmap/config.h"
#include "bitmap/error.h"
#include "bitmap/faults.h"
#include "kv/kv.h"

namespace cadastre::bitmap {

using base::Result;

// Not errors, but worth knowing.
enum class Remark : std::uint8_t {
  kWithoutChecksum,  // Form 01 or 02; the next change writes it sealed.
  kNotCanonical,     // Readable, but not the bytes that this set has.
};

struct Finding {
  base::Bytes raw_key;
  std::variant<KeyFault, ValueFault, RecordFault, PartitionFault, Remark> what;

  [[nodiscard]] bool is_error() const noexcept {
    const auto* const remark = std::get_if<Remark>(&what);
    return remark == nullptr || *remark == Remark::kNotCanonical;
  }
  friend bool operator==(const Finding&, const Finding&) = default;
};

[[nodiscard]] std::string to_string(const Finding& finding);

// At most findings_max of them, in the order of keys.
[[nodiscard]] Result<std::vector<Finding>, Error> verify_key(kv::Cursor& cursor,
                                                             const Config& config,
                                                             base::ByteView base_key,
                                                             std::size_t findings_max);
[[nodiscard]] Result<std::vector<Finding>, Error> verify_table(kv::Cursor& cursor,
                                                               const Config& config,
                                                               std::size_t findings_max);

}  // namespace cadastre::bitmap
