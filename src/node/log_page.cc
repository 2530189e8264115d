#include "node/log_page.h"

#include <charconv>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <fmt/format.h>

#include "log/conf_state.h"
#include "log/engine.h"
#include "log/group_status.h"
#include "log/limits.h"
#include "log/replica.h"
#include "log/types.h"

namespace cadastre::node {
namespace {

std::string list_of(const std::vector<log::NodeId>& nodes) {
  std::string text = "[";
  for (const log::NodeId node : nodes)
    text += fmt::format("{}{}", text.size() == 1 ? "" : ",", node.value());
  return text + "]";
}

// Reasons are our own sentences: a quote or a control character in one becomes a space.
std::string quoted(std::string text) {
  for (char& c : text) {
    if (c == '"' || c == '\\' || static_cast<unsigned char>(c) < ' ') c = ' ';
  }
  return '"' + text + '"';
}

std::string_view name_of(log::PeerState state) noexcept {
  switch (state) {
    case log::PeerState::kProbe: return "probed";
    case log::PeerState::kReplicate: return "follows";
    case log::PeerState::kSnapshot: return "snapshot";
  }
  return "none";
}

std::string_view name_of(log::EntryType type) noexcept {
  switch (type) {
    case log::EntryType::kNormal: return "commands";
    case log::EntryType::kConfChange: return "membership";
  }
  return "none";
}

std::string peers_of(const log::GroupDetail& detail, log::Index last) {
  std::string text;
  for (const log::PeerProgress& peer : detail.progress) {
    text += fmt::format(R"({}{{"node":{},"match":{},"behind":{},"state":"{}","active":{}}})",
                        text.empty() ? "" : ",", peer.node.value(), peer.match.value(),
                        log::entries_between(peer.match, last), name_of(peer.state), peer.active);
  }
  return text;
}

std::string history_of(const log::GroupDetail& detail) {
  std::string text;
  for (const log::ConfRecord& conf : detail.confs) {
    text += fmt::format(R"({}{{"index":{},"voters":{},"learners":{},"outgoing":{}}})",
                        text.empty() ? "" : ",", conf.index.value(), list_of(conf.conf.voters),
                        list_of(conf.conf.learners), list_of(conf.conf.voters_outgoing));
  }
  return text;
}

// A number that is all of the text.
std::optional<std::uint64_t> number_of(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace

std::string group_line(log::GroupId group, log::NodeId node, const log::GroupStatus& status) {
  const log::ConfRecord none;
  const log::ConfRecord& conf = status.conf ? *status.conf : none;
  return fmt::format(
      R"({{"group":{},"node":{},"role":"{}","term":{},"leader":{},"last":{},"persisted":{},)"
      R"("committed":{},"applied":{},"durable":{},"truncated":{},"conf_index":{},"voters":{},)"
      R"("learners":{},"outgoing":{},"log_bytes":{},"halted":{}}})"
      "\n",
      group.value(), node.value(), log::name_of(status.role), status.term.value(),
      status.leader.value(), status.last.value(), status.persisted.value(),
      status.committed.value(), status.applied.value(), status.durable.value(),
      status.truncated.value(), conf.index.value(), list_of(conf.conf.voters),
      list_of(conf.conf.learners), list_of(conf.conf.voters_outgoing), status.log_bytes,
      quoted(status.halted));
}

std::string group_page(log::GroupId group,
                       log::NodeId node,
                       const log::GroupStatus& status,
                       const log::GroupDetail& detail) {
  std::string line = group_line(group, node, status);
  line.resize(line.rfind('}'));
  return line +
         fmt::format(
             R"(,"peers":[{}],"memberships":[{}],)"
             R"("queue":{{"commands":{},"bytes":{},"unapplied":{}}},)"
             R"("apply_queue":{{"entries":{},"bytes":{}}},"held":{{"outputs":{},"messages":{}}},)"
             R"("waits":{{"entries":{},"readers":{},"read_rounds":{},"lost_terms":{},)"
             R"("membership":{},"membership_sync":{},"transfer":{},"install":{}}},)"
             R"("cache_bytes":{}}})"
             "\n",
             peers_of(detail, status.last), history_of(detail), detail.queued_commands,
             detail.queued_bytes, detail.unapplied_commands, detail.apply_entries,
             detail.apply_bytes, detail.held_outputs, detail.held_messages, detail.waiting_entries,
             detail.readers, detail.read_rounds, detail.outcome_waits, detail.conf_waits,
             detail.conf_in_disk, detail.transfer, detail.installing, detail.cache_bytes);
}

std::string entries_page(const std::vector<log::EntryFacts>& entries) {
  std::string page;
  for (const log::EntryFacts& entry : entries) {
    page += fmt::format(R"({{"index":{},"term":{},"type":"{}","bytes":{}}})"
                        "\n",
                        entry.at.index.value(), entry.at.term.value(), name_of(entry.type),
                        entry.bytes);
  }
  return page;
}

base::Result<void, AskError> asks_about(const server::HttpRequest& request, log::GroupId here) {
  const auto id = request.places.empty() ? std::nullopt : number_of(request.places.front());
  if (!id) return base::fail(AskError::kBad, "a group is a number, as in /debug/log/1");
  if (log::GroupId{*id} == here) return {};
  return base::fail(AskError::kUnknown,
                    fmt::format("group {} is not here: group {} is", *id, here.value()));
}

base::Result<EntriesAsked, AskError> asked_entries(const server::HttpRequest& request,
                                                   log::Index truncated) {
  EntriesAsked asked{.from = truncated + 1};
  for (const auto& [name, text] : request.parameters) {
    const auto value = number_of(text);
    if (name == "from") {
      if (!value || *value == 0)
        return base::fail(AskError::kBad, "from is the index of an entry, 1 or more");
      asked.from = log::Index{*value};
    } else if (name == "count") {
      if (!value || *value == 0 || *value > log::kEntriesListedMax) {
        return base::fail(AskError::kBad,
                          fmt::format("count is from 1 to {}", log::kEntriesListedMax));
      }
      asked.count = *value;
    } else {
      return base::fail(AskError::kBad, "entries are asked for by from and count");
    }
  }
  return asked;
}

server::HttpAnswer refusal(const base::Error<AskError>& error) {
  return {error.code == AskError::kBad ? 400 : 404, "text/plain", error.detail + "\n"};
}

}  // namespace cadastre::node
