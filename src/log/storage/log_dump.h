// A look into a log's directory, for people: every record that can be read, and where one cannot.
//
// Read-only: takes no lock, writes nothing, and can be used beside the process that owns the log, of which
// it then sees what was written when it opened. A damaged log is read as far as it goes.

#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "base/result.h"
#include "log/storage.h"
#include "log/storage/records.h"

namespace cadastre::log {

struct DumpOptions {
  std::filesystem::path directory;
  std::optional<GroupId> group;  // Nothing: all of them.
};

struct DumpedGroup {
  GroupId group;
  Incarnation incarnation;
  std::optional<EngineKind> engine;  // Nothing: its record is missing or damaged.
  std::optional<StateRecord> state;  // The same.
  Position truncated;
};

// Borrowed for the call.
struct DumpedEntry {
  GroupId group;
  Position at;
  ByteView body;
  std::size_t commands = 0;
  std::string damage;  // Empty: every sum is right.
};

// Takes what is found, in the order of the records: a group, then its entries.
class DumpSink {
 public:
  DumpSink() = default;
  DumpSink(const DumpSink&) = delete;
  DumpSink& operator=(const DumpSink&) = delete;
  virtual ~DumpSink() = default;

  virtual void on_node(const NodeRecord& node, SetNumber last_set) = 0;
  virtual void on_group(const DumpedGroup& group) = 0;
  virtual void on_entry(const DumpedEntry& entry) = 0;
  virtual void on_damage(const std::string& where, const std::string& detail) = 0;
};

// Damage goes to the sink, and the walk goes on behind it; an error means that nothing could be read.
[[nodiscard]] base::Result<void, OpenError> dump_log(const DumpOptions& options, DumpSink& sink);

}  // namespace cadastre::log
