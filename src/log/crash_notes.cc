#include "log/crash_notes.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "base/bytes.h"
#include "base/crc32c.h"
#include "log/limits.h"

namespace cadastre::log {
namespace {

constexpr std::string_view kFirstLine = "cadastre crash notes 1\n";
constexpr int kDecimal = 10;
constexpr int kHexadecimal = 16;

bool is_control(char c) noexcept {
  return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
}

std::int64_t milliseconds_of(base::Instant at) {
  return std::chrono::floor<std::chrono::milliseconds>(at).time_since_epoch().count();
}

std::string line_of(const CrashNote& note) {
  const std::string head =
      fmt::format("{} {} {}", milliseconds_of(note.at), note.group.value(), note.node.value());
  const std::string sealed = fmt::format("{} {}", head, note.message);
  return fmt::format("{} {:08x} {}\n", head, base::crc32c(base::as_bytes(sealed)), note.message);
}

// The word up to the next blank, which goes too.
std::string_view take_word(std::string_view& line) {
  const std::size_t end = std::min(line.find(' '), line.size());
  const std::string_view word = line.substr(0, end);
  line.remove_prefix(std::min(end + 1, line.size()));
  return word;
}

template <class Number>
std::optional<Number> number_of(std::string_view word, int base) {
  Number value{};
  const auto [end, code] = std::from_chars(word.data(), word.data() + word.size(), value, base);
  if (code != std::errc{} || end != word.data() + word.size()) return std::nullopt;
  return value;
}

std::optional<CrashNote> note_of(std::string_view line) {
  std::string_view rest = line;
  const auto at = number_of<std::int64_t>(take_word(rest), kDecimal);
  const auto group = number_of<std::uint64_t>(take_word(rest), kDecimal);
  const auto node = number_of<std::uint64_t>(take_word(rest), kDecimal);
  const auto sum = number_of<std::uint32_t>(take_word(rest), kHexadecimal);
  constexpr std::int64_t kMillisecondsMax =
      base::Instant::max().time_since_epoch().count() / 1'000'000;
  if (!at || !group || !node || !sum || *at < 0 || *at > kMillisecondsMax) return std::nullopt;
  CrashNote note{base::Instant(std::chrono::milliseconds(*at)), GroupId{*group}, NodeId{*node},
                 std::string(rest)};
  // Its own encoding is the only one, sum and all.
  if (fit_note(note) != note || line_of(note) != fmt::format("{}\n", line)) return std::nullopt;
  return note;
}

}  // namespace

CrashNote fit_note(CrashNote note) {
  note.at = std::chrono::floor<std::chrono::milliseconds>(note.at);
  note.message.resize(std::min(note.message.size(), kCrashMessageBytesMax));
  std::ranges::replace_if(note.message, is_control, ' ');
  if (note.message.empty()) note.message.assign(1, '?');
  return note;
}

std::string encode_crash_notes(std::span<const CrashNote> notes) {
  std::string text(kFirstLine);
  for (const CrashNote& note : notes.last(std::min(notes.size(), kCrashNotesMax)))
    text += line_of(fit_note(note));
  return text;
}

base::Result<std::vector<CrashNote>, CrashNotesError> decode_crash_notes(std::string_view text) {
  if (text.size() > kCrashNotesBytesMax || !text.starts_with(kFirstLine))
    return base::fail(CrashNotesError::kDamaged, "these are no notes of version 1");
  text.remove_prefix(kFirstLine.size());
  std::vector<CrashNote> notes;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    auto note = end == std::string_view::npos ? std::nullopt : note_of(text.substr(0, end));
    if (!note || notes.size() == kCrashNotesMax)
      return base::fail(CrashNotesError::kDamaged,
                        fmt::format("note {} is none", notes.size() + 1));
    notes.push_back(*std::move(note));
    text.remove_prefix(end + 1);
  }
  return notes;
}

std::vector<GroupId> groups_to_quarantine(std::span<const CrashNote> notes) {
  std::map<GroupId, std::deque<base::Instant>> newest;  // The last few of each group.
  std::set<GroupId> found;
  for (const CrashNote& note : notes) {
    std::deque<base::Instant>& times = newest[note.group];
    times.push_back(note.at);
    if (times.size() > kCrashesMax) times.pop_front();
    if (times.size() < kCrashesMax) continue;
    const auto [first, last] = std::ranges::minmax(times);
    if (last - first <= kCrashWindow) found.insert(note.group);
  }
  return {found.begin(), found.end()};
}

std::string quarantine_reason(GroupId group, NodeId node) {
  return fmt::format(
      "group {} is quarantined: node {} died {} times within {} minutes on it, and crash.note says "
      "how. Starting again "
      "does not help. Remove the node from the group and add the machine again, as a learner, with "
      "an empty directory "
      "and a new raft_id (cadastre node replace)",
      group.value(), node.value(), kCrashesMax, kCrashWindow.count());
}

}  // namespace cadastre::log
