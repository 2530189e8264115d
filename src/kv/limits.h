// The numbers that every embedded backend shares, so that what one stores fits the others.

#pragma once

#include <cstddef>
#include <cstdint>

#include "kv/kv.h"

namespace cadastre::kv {

inline constexpr std::size_t kKeyBytesMax = 511;          // LMDB as Debian builds it.
inline constexpr std::size_t kValueBytesMax = 16U << 20;  // Contiguous pages in LMDB.
inline constexpr std::size_t kTxnBytesMax = 256U << 20;   // Beyond it LMDB spills pages.
inline constexpr std::size_t kSpaceNameBytesMax = 255;
inline constexpr std::uint32_t kSpacesMaxDefault = 128;
inline constexpr std::uint32_t kReadersMaxDefault = 126;  // Two pages of LMDB's reader table.

static_assert(kSpaceNameBytesMax <= kKeyBytesMax, "LMDB keeps names as keys");
static_assert(kValueBytesMax < kTxnBytesMax, "a transaction has room for the largest value");

inline constexpr Limits kEmbeddedLimits{
    .key_bytes_max = kKeyBytesMax,
    .value_bytes_max = kValueBytesMax,
    .txn_bytes_max = kTxnBytesMax,
    .counters_conflict = false,
};

}  // namespace cadastre::kv
