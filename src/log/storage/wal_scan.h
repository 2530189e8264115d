// Reading RocksDB's write-ahead files ourselves, before RocksDB does: is every write set there, is the
// last one torn by a crash, or is something damaged, and where?
//
// None of RocksDB's recovery modes can tell the two apart: each of them either refuses to open after
// an ordinary crash, or drops synced sets in silence (docs/decisions/0004). The proof rests on L-43:
// set n + 1 is written only when set n is synced. A crash can thus spoil nothing but the last set, and
// whatever is found behind a bad record shows that the bad record had been synced.
//
//   torn      no later set begins behind the bad bytes, neither in their file nor in another, and they
//             are no more than one set can be. Nobody was told that this set is done: cut it off. A
//             file behind it may hold the empty batch with which RocksDB begins, and nothing else: then
//             the set was read from the cache of a kernel that had failed to sync it, and was flushed.
//   damage    every other bad byte.
//
// What no reader of the files can see: synced sets that are missing from the end with nothing behind
// them (a file cut short or wiped at its end). That takes a witness elsewhere (L-53).
//
// The format, as RocksDB 7.8 writes it with recycling and compression off. Little-endian.
//
//   file      blocks of 32 KiB, the last one shorter; a record never crosses the end of a block, and
//             fewer than 7 bytes left at the end of a block are zeros
//   record     0  4  crc32c     of the type and the payload, masked: rotated right by 15, + 0xa282ead8
//              4  2  size       of the payload
//              6  1  type       1 a whole batch; 2, 3, 4 the first, a middle, the last part of one
//              7  n  payload
//   batch      0  8  sequence   of its first operation: the batch before it, plus that one's count
//              8  4  count      of operations; an opened database begins its file with an empty batch
//             12  n  operations
//
// Pure functions over the bytes of files; no I/O, nothing of RocksDB.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"

namespace cadastre::log {

inline constexpr std::size_t kWalBlockBytes = 32768;
inline constexpr std::size_t kWalHeaderBytes = 7;
inline constexpr std::size_t kWalBatchHeaderBytes = 12;
inline constexpr std::size_t kWalEmptyBatchBytes = kWalHeaderBytes + kWalBatchHeaderBytes;

enum class WalFaultKind : std::uint8_t {
  kShort,     // The file ends inside a record, or between the parts of a batch.
  kLength,    // A record would cross the end of its block.
  kChecksum,  // The sum is not that of the bytes.
  kType,      // No type that we write: a run of zeros, recycled or compressed records.
  kPart,      // A part of a batch without those before it, or a new batch before the last part.
  kBatch,     // A batch shorter than its header.
  kSequence,  // A whole batch that does not follow the one before it: a hole, or an older file.
};
[[nodiscard]] std::string_view name(WalFaultKind kind) noexcept;

// The first thing wrong in a file.
struct WalFault {
  WalFaultKind kind;
  std::uint64_t offset;                // Where the batch begins that is not whole.
  std::optional<std::uint64_t> later;  // Where a batch of a later set begins behind it.
};

// One file, up to its first fault.
struct WalScan {
  std::uint64_t batches = 0;                   // Whole ones, the empty ones included.
  std::uint64_t bytes = 0;                     // The end of the last whole batch.
  std::optional<std::uint64_t> next_sequence;  // What a further batch must have, once there is one.
  std::optional<WalFault> fault;
};

// `sequence_min` is what the file before asks for, and 0 for the first one. A file may begin above it:
// files between the two may have been deleted since everything in them is flushed. Whether such a file
// is missed is for RocksDB to say, whose manifest lists the files it needs.
[[nodiscard]] WalScan scan_wal(base::ByteView file, std::uint64_t sequence_min);

struct WalDamage {
  std::size_t file;  // Index into the files.
  WalFault fault;
};
struct WalTail {
  std::uint64_t batches = 0;        // In all files.
  std::vector<std::uint64_t> ends;  // Of each file: what is behind is to be cut off.
  std::optional<WalDamage> torn;    // The first reason to cut, for the operator.
};

// All write-ahead files of a database, by ascending number, judged as one log. `set_bytes_max` bounds
// the bytes that one set can take in a file.
[[nodiscard]] base::Result<WalTail, WalDamage> judge_wals(std::span<const base::ByteView> files,
                                                          std::uint64_t set_bytes_max);

// The manifest has the same records, without batches in them, and the same tail: where to cut it off.
// Several records may share a sync there, so that a crash which leaves a later one whole and an earlier
// one not is taken for damage. They would have to lie on different pages, and are some 50 bytes long.
[[nodiscard]] base::Result<std::uint64_t, WalFault> judge_manifest(base::ByteView file);

}  // namespace cadastre::log
