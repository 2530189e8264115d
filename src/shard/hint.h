// Hints: what a shard's metadata says about the shape of its range.
//
// Range says nothing; Prefix says that the range is all keys with a prefix; Manifest says that it is
// the rows [start_row, end_row) of a manifest. Beside the hint a connector keeps bytes of its own,
// which nobody here reads.
//
// Wire format. Integers are big-endian. There is no version: the tag is the only point of extension,
// and a reader refuses tags that it does not know.
//
//   frame      layout                                             size
//   Range      00                                                    1
//   Prefix     01, u32 length, bytes                             5 + n
//   Manifest   02, u64 manifest id, u64 start row, u64 end row      25
//   envelope   u32 hint length, hint frame, connector bytes          4 + hint + extra
//
// Metadata of no bytes at all means "absent" and reads as Range without connector bytes; it is never
// written. Decoding judges the framing and the order of rows, not the prefix, and not the limit
// kMaxMetadataSize (the spec does). check_hint_matches_range holds a hint against its range.
//
// Nothing here allocates; decoded hints are views of the input.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <type_traits>

#include "base/attributes.h"
#include "base/bytes.h"
#include "base/check.h"
#include "base/result.h"
#include "shard/key_buf.h"
#include "shard/shard_spec.h"
#include "shard/view_guard.h"

namespace cadastre::shard::inline CAD_SHARD_FLAVOUR {

using base::Result;

// Half-open rows of one manifest. A value may hold inverted rows; the codec refuses them.
struct ManifestRows {
  std::uint64_t manifest_id = 0;
  std::uint64_t start_row = 0;
  std::uint64_t end_row = 0;

  friend constexpr bool operator==(const ManifestRows&, const ManifestRows&) noexcept = default;
};

class ShardHint {
 public:
  enum class Kind : std::uint8_t {
    kRange,
    kPrefix,
    kManifest,
  };

  ShardHint() noexcept = default;
  explicit ShardHint(const ManifestRows& rows) noexcept : kind_(Kind::kManifest), value_(rows) {}
  explicit ShardHint(ByteView prefix_bytes CAD_LIFETIMEBOUND, ViewGuard guard = {}) noexcept
      : kind_(Kind::kPrefix), value_(prefix_bytes), guard_(guard) {}

  [[nodiscard]] static ShardHint range() noexcept { return {}; }
  [[nodiscard]] static ShardHint prefix(ByteView bytes CAD_LIFETIMEBOUND,
                                        ViewGuard guard = {}) noexcept {
    return ShardHint(bytes, guard);
  }
  [[nodiscard]] static ShardHint manifest(const ManifestRows& rows) noexcept {
    return ShardHint(rows);
  }

  [[nodiscard]] Kind kind() const noexcept { return kind_; }
  // kPrefix only.
  [[nodiscard]] ByteView prefix_bytes() const noexcept {
    CAD_CHECK(kind_ == Kind::kPrefix, "only a prefix hint has a prefix");
    guard_.check();
    return value_.prefix;
  }
  // kManifest only.
  [[nodiscard]] const ManifestRows& manifest_rows() const noexcept CAD_LIFETIMEBOUND {
    CAD_CHECK(kind_ == Kind::kManifest, "only a manifest hint has rows");
    return value_.manifest;
  }

  // A prefix compares by content.
  friend bool operator==(const ShardHint& a, const ShardHint& b) noexcept;

 private:
  // Which one is told by kind_; a union keeps the hint small and trivially copyable.
  union Value {
    ManifestRows manifest;
    ByteView prefix;

    Value() noexcept : manifest() {}
    explicit Value(const ManifestRows& rows) noexcept : manifest(rows) {}
    explicit Value(ByteView bytes) noexcept : prefix(bytes) {}
  };

  Kind kind_ = Kind::kRange;
  Value value_;
  [[no_unique_address]] ViewGuard guard_;
};

static_assert(std::is_trivially_copyable_v<ShardHint>);
static_assert(sizeof(ShardHint) == (kCheckedViews ? 48 : 32));

struct ShardMetadata {
  ShardHint hint;
  ByteView connector_extra;

  ShardMetadata() noexcept = default;
  ShardMetadata(const ShardHint& shard_hint, ByteView extra CAD_LIFETIMEBOUND) noexcept
      : hint(shard_hint), connector_extra(extra) {}
  // In place, as the decoder does: see DecodedHint.
  ShardMetadata(const ManifestRows& rows, ByteView extra CAD_LIFETIMEBOUND) noexcept
      : hint(rows), connector_extra(extra) {}
  ShardMetadata(ByteView prefix CAD_LIFETIMEBOUND,
                ViewGuard guard,
                ByteView extra CAD_LIFETIMEBOUND) noexcept
      : hint(prefix, guard), connector_extra(extra) {}
};

// In the order of detection.
struct HintEncodeError {
  enum class Code : std::uint8_t {
    kInvertedManifestRows,  // start_row, end_row
    kPrefixTooLarge,        // size, max: the length does not fit the wire's 32 bits
    kHintTooLarge,          // size, max
    kMetadataTooLarge,      // size, max
  };

  Code code{};
  std::uint64_t first = 0;   // size or start_row
  std::uint64_t second = 0;  // max or end_row

  friend constexpr bool operator==(const HintEncodeError&,
                                   const HintEncodeError&) noexcept = default;
};

struct HintDecodeError {
  enum class Code : std::uint8_t {
    kEmptyData,
    kTruncatedPrefix,       // expected_min, actual
    kTruncatedManifest,     // expected_min, actual
    kInvertedManifestRows,  // start_row, end_row
    kUnknownTag,            // tag
  };

  Code code{};
  std::uint64_t first = 0;   // expected_min, start_row or tag
  std::uint64_t second = 0;  // actual or end_row

  friend constexpr bool operator==(const HintDecodeError&,
                                   const HintDecodeError&) noexcept = default;
};

struct MetadataDecodeError {
  enum class Reason : std::uint8_t {
    kShortLengthPrefix,
    kLengthExceedsInput,
    kHint,  // hint_error says which
    kTrailingHintBytes,
  };

  Reason reason{};
  std::optional<HintDecodeError> hint_error;

  friend constexpr bool operator==(const MetadataDecodeError&,
                                   const MetadataDecodeError&) noexcept = default;
};

struct HintRangeError {
  enum class Code : std::uint8_t {
    kMetadataUndecodable,  // the inner error says why
    kHintStartMismatch,    // the range does not begin where the hint says
    kHintEndMismatch,      // nor end
    kHintPrefixUnbounded,  // no key is above every key with this prefix
  };

  Code code{};
  std::optional<MetadataDecodeError> metadata_error;

  friend constexpr bool operator==(const HintRangeError&, const HintRangeError&) noexcept = default;
};

[[nodiscard]] std::string_view code_name(const HintEncodeError& error) noexcept;
[[nodiscard]] std::string_view code_name(const HintDecodeError& error) noexcept;
[[nodiscard]] std::string_view code_name(
    const MetadataDecodeError& error) noexcept;  // the innermost
[[nodiscard]] std::string_view code_name(const HintRangeError& error) noexcept;
char* format_to(char* first, char* last, const HintEncodeError& error) noexcept;
char* format_to(char* first, char* last, const HintDecodeError& error) noexcept;
char* format_to(char* first, char* last, const MetadataDecodeError& error) noexcept;
char* format_to(char* first, char* last, const HintRangeError& error) noexcept;

// What encode_into would write, or why it would refuse.
[[nodiscard]] Result<std::size_t, HintEncodeError> encoded_size(const ShardHint& hint) noexcept;
[[nodiscard]] Result<std::size_t, HintEncodeError> encoded_size(
    const ShardMetadata& metadata) noexcept;

// Writes the hint frame, or the whole envelope. On an error the buffer is unchanged. The prefix and
// the connector bytes must not overlap the buffer.
[[nodiscard]] Result<ByteView, HintEncodeError> encode_into(
    const ShardHint& hint, MetadataBuf& out CAD_LIFETIMEBOUND) noexcept;
[[nodiscard]] Result<ByteView, HintEncodeError> encode_into(
    const ShardMetadata& metadata, MetadataBuf& out CAD_LIFETIMEBOUND) noexcept;

struct DecodedHint {
  ShardHint hint;
  std::size_t consumed;  // bytes of the frame; what follows is left alone

  // Made in place from what the frame holds: a copy of a hint just written stalls on its stores.
  explicit DecodedHint(std::size_t frame_size) noexcept : consumed(frame_size) {}
  DecodedHint(const ManifestRows& rows, std::size_t frame_size) noexcept
      : hint(rows), consumed(frame_size) {}
  DecodedHint(ByteView prefix CAD_LIFETIMEBOUND, ViewGuard guard, std::size_t frame_size) noexcept
      : hint(prefix, guard), consumed(frame_size) {}
};

[[nodiscard]] Result<DecodedHint, HintDecodeError> decode_hint_frame(
    ByteView bytes CAD_LIFETIMEBOUND, ViewGuard guard = {}) noexcept;
[[nodiscard]] Result<ShardMetadata, MetadataDecodeError> decode_metadata_bytes(
    ByteView bytes CAD_LIFETIMEBOUND, ViewGuard guard = {}) noexcept;

// Of a spec's metadata; each checks the whole envelope and returns views of it.
[[nodiscard]] Result<ShardMetadata, MetadataDecodeError> decode_metadata(
    const ShardSpecRef& spec) noexcept;
[[nodiscard]] Result<ShardHint, MetadataDecodeError> decode_hint(const ShardSpecRef& spec) noexcept;
[[nodiscard]] Result<ByteView, MetadataDecodeError> decode_connector_extra(
    const ShardSpecRef& spec) noexcept;

// Whether a spec's hint tells the truth about its range.
[[nodiscard]] Result<void, HintRangeError> check_hint_matches_range(
    const ShardSpecRef& spec) noexcept;

}  // namespace cadastre::shard::inline CAD_SHARD_FLAVOUR
