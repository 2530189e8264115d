#include "node/crash_note_file.h"

#include <fstream>
#include <string>
#include <system_error>

#include "log/limits.h"

namespace cadastre::node {

CrashNoteFile::CrashNoteFile(const std::filesystem::path& directory,
                             log::NodeId node,
                             const base::Clock& clock,
                             const base::Logger& logger)
    : file_(directory / log::kCrashNoteName), node_(node), clock_(clock), logger_(logger) {}

std::vector<log::CrashNote> CrashNoteFile::read() const {
  std::ifstream in(file_, std::ios::binary);
  if (!in) return {};
  std::string text(log::kCrashNotesBytesMax + 1, '\0');
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(in.gcount()));
  auto notes = log::decode_crash_notes(text);
  if (notes) return *std::move(notes);
  logger_.warn("crash notes are damaged and ignored",
               {{"file", file_.string()}, {"reason", notes.error().detail}});
  return {};
}

std::vector<log::GroupId> CrashNoteFile::quarantined() const {
  std::vector<log::CrashNote> notes = read();
  std::erase_if(notes, [this](const log::CrashNote& note) { return note.node != node_; });
  std::vector<log::GroupId> groups = log::groups_to_quarantine(notes);
  for (const log::GroupId group : groups)
    logger_.error("a group is quarantined",
                  {{"group", group}, {"node", node_}, {"file", file_.string()}});
  return groups;
}

void CrashNoteFile::crashed(log::GroupId group, std::string_view text) noexcept {
  std::vector<log::CrashNote> notes = read();
  notes.push_back({clock_.now(), group, node_, std::string(text)});
  const std::filesystem::path beside = file_.parent_path() / log::kCrashNoteNewName;
  std::ofstream out(beside, std::ios::binary | std::ios::trunc);
  out << log::encode_crash_notes(notes);
  out.close();
  std::error_code code;
  if (out) std::filesystem::rename(beside, file_, code);
  if (!out || code) logger_.error("a crash was not noted", {{"file", file_.string()}});
}

}  // namespace cadastre::node
