// What a write set does to the records, for every storage the same (L-41, L-42).
//
// For each group: the group's record, truncation or the deletion of everything for an install, configurations, the
// deletion of an overwritten suffix, entries, state; then the set's number. An overwritten suffix is deleted in the same set that writes the conflicting
// entry, and the state record names the last entry: either alone would let a stale suffix come back.

#pragma once

#include <span>

#include "base/bytes.h"
#include "log/storage.h"

namespace cadastre::log {

// Takes the changes of one set, in order. Views are borrowed for the call.
class RecordSink {
 public:
  RecordSink() = default;
  RecordSink(const RecordSink&) = delete;
  RecordSink& operator=(const RecordSink&) = delete;
  virtual ~RecordSink() = default;

  // The value is the parts, one behind the other.
  virtual void put(ByteView key, std::span<const ByteView> value) = 0;
  virtual void erase(ByteView key) = 0;
  virtual void erase_range(ByteView begin, ByteView end) = 0;
};

void write_records(const WriteSet& set, RecordSink& sink);

}  // namespace cadastre::log
