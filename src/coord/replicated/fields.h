// Fields that commands, answers and snapshots have in common, in the encoding of coord/record_codec.h.
// Byte fields are read as views and bounded by what is there.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/bytes.h"
#include "base/result.h"
#include "coord/blob_reader.h"
#include "coord/identity.h"
#include "coord/lease.h"
#include "coord/record_codec.h"
#include "coord/replicated/settings.h"
#include "shard/cursor.h"
#include "shard/shard_spec.h"

namespace cadastre::coord::replicated {

[[nodiscard]] inline DecodeError violation(std::string_view what) noexcept {
  return {.code = DecodeError::Code::kInvariantViolation, .first = 0, .second = 0, .what = what};
}

void write_optional_bytes(BlobWriter& out, std::optional<ByteView> bytes);
void write_cursor(BlobWriter& out, const shard::CursorUpdate& cursor);
void write_spec(BlobWriter& out, const shard::ShardSpecRef& spec);
void write_lease(BlobWriter& out, const Lease& lease);
void write_optional_u64(BlobWriter& out, std::optional<std::uint64_t> value);
void write_settings(BlobWriter& out, const Settings& settings);

[[nodiscard]] Result<ByteView, DecodeError> read_bytes(BlobReader& in) noexcept;
[[nodiscard]] Result<shard::CursorUpdate, DecodeError> read_cursor(BlobReader& in) noexcept;
[[nodiscard]] Result<shard::ShardSpecRef, DecodeError> read_spec(BlobReader& in) noexcept;
[[nodiscard]] Result<Lease, DecodeError> read_lease(BlobReader& in) noexcept;
[[nodiscard]] Result<Settings, DecodeError> read_settings(BlobReader& in) noexcept;

// A strong id, whichever.
template <class I>
[[nodiscard]] Result<I, DecodeError> read_id(BlobReader& in) noexcept {
  return I::from_raw(CAD_TRY(in.u64()));
}

}  // namespace cadastre::coord::replicated
