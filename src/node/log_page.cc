#include "node/log_page.h"

#include <string>
#include <vector>

#include <fmt/format.h>

#include "log/conf_state.h"
#include "log/engine.h"
#include "log/group_status.h"
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

}  // namespace cadastre::node
