// Crash notes: what a node remembers of the panics that ended its processes, and which groups it no longer opens
// because of them (L-36).
//
// A panic is a broken invariant of one group: memory or disk cannot be trusted. Once may be chance; a node that died
// three times within ten minutes on the same group leaves that group alone from then on. Waiting does not help: the
// way back is a new node in its place.
//
// The notes of a node as a file, version 1. Text, a line each:
//
//   cadastre crash notes 1
//   TIME GROUP NODE SUM MESSAGE      for each, the oldest first
//
//   TIME     milliseconds since 1970-01-01 00:00 UTC
//   GROUP, NODE   ids
//   SUM      crc32c of "TIME GROUP NODE MESSAGE", eight hexadecimal digits
//   MESSAGE  1 to kCrashMessageBytesMax bytes, without control characters
//
// A reader rejects whatever an encoder does not write. Pure functions.

#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "log/types.h"

namespace cadastre::log {

// Of the file, in the directory of a log; and of the next one while it is being written.
inline constexpr std::string_view kCrashNoteName = "crash.note";
inline constexpr std::string_view kCrashNoteNewName = "crash.note.new";

struct CrashNote {
  base::Instant at{};
  GroupId group = {};
  NodeId node = {};
  std::string message;

  friend bool operator==(const CrashNote&, const CrashNote&) = default;
};

enum class CrashNotesError : std::uint8_t {
  kDamaged,  // Not what was written, or of another release: go on without.
};

// The note with its message made fit for a file: one line, not too long.
[[nodiscard]] CrashNote fit_note(CrashNote note);

// The newest kCrashNotesMax of them.
[[nodiscard]] std::string encode_crash_notes(std::span<const CrashNote> notes);
[[nodiscard]] base::Result<std::vector<CrashNote>, CrashNotesError> decode_crash_notes(
    std::string_view text);

// The groups on which the node died kCrashesMax times within kCrashWindow, ever; ascending. Wall clocks may go back:
// what counts is how far apart the notes are.
[[nodiscard]] std::vector<GroupId> groups_to_quarantine(std::span<const CrashNote> notes);

// Why such a group is not opened, and what to do.
[[nodiscard]] std::string quarantine_reason(GroupId group, NodeId node);

// Told of a panic by the thread that is about to end the process: it is brief, and waits for nothing.
class CrashListener {
 public:
  CrashListener() = default;
  CrashListener(const CrashListener&) = delete;
  CrashListener& operator=(const CrashListener&) = delete;
  virtual ~CrashListener() = default;

  virtual void crashed(GroupId group, std::string_view text) noexcept = 0;
};

}  // namespace cadastre::log
