// From records back to groups: what a crash left, every record and every rule between them checked
// (L-45, L-48, L-52). For every storage the same.

#pragma once

#include <cstdint>
#include <string>

#include "base/bytes.h"
#include "base/result.h"
#include "log/storage.h"
#include "log/storage/records.h"

namespace cadastre::log {

// A walk over the records in the order of their keys.
class RecordCursor {
 public:
  RecordCursor() = default;
  RecordCursor(const RecordCursor&) = delete;
  RecordCursor& operator=(const RecordCursor&) = delete;
  virtual ~RecordCursor() = default;

  // To the first record at or behind the key.
  virtual void seek(ByteView key) = 0;
  virtual void next() = 0;
  [[nodiscard]] virtual bool valid() const = 0;
  // Until the cursor moves.
  [[nodiscard]] virtual ByteView key() const = 0;
  [[nodiscard]] virtual ByteView value() const = 0;
  // Why the walk ended early; empty if it did not.
  [[nodiscard]] virtual std::string error() const = 0;
};

[[nodiscard]] base::Result<NodeRecord, OpenError> read_node_record(RecordCursor& records);

[[nodiscard]] base::Result<LogStorage::Recovered, OpenError> read_images(RecordCursor& records);

// Which entries of which group, and how many bytes of them at most (one entry may be larger).
struct EntryRange {
  GroupKey group;
  Index low;
  Index high;
  std::size_t bytes_max = 0;
};
[[nodiscard]] base::Result<std::vector<Entry>, LogReadError> read_entries(RecordCursor& records,
                                                                          const EntryRange& range);

}  // namespace cadastre::log
