// The pages /debug/log, /debug/log/GROUP and /debug/log/GROUP/entries?from=&count= (log.md section 11): JSON, positions,
// numbers and sizes, never a command's bytes.
//
//   {"group":1,"node":2,"role":"leader","term":4,"leader":2,"last":17,…,"voters":[1,2,3],"halted":""}

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "log/group_detail.h"
#include "log/group_status.h"
#include "log/types.h"
#include "server/http/http_server.h"

namespace cadastre::node {

// With a line's end. `node` is 0 on a server of its own.
[[nodiscard]] std::string group_line(log::GroupId group,
                                     log::NodeId node,
                                     const log::GroupStatus& status);

// The same and what the log thread adds, as one object.
[[nodiscard]] std::string group_page(log::GroupId group,
                                     log::NodeId node,
                                     const log::GroupStatus& status,
                                     const log::GroupDetail& detail);

// A line for each entry.
[[nodiscard]] std::string entries_page(const std::vector<log::EntryFacts>& entries);

enum class AskError : std::uint8_t {
  kBad,      // The detail says what is wrong with the request.
  kUnknown,  // There is no such group here.
};
// Whether the request is about the group that is here.
[[nodiscard]] base::Result<void, AskError> asks_about(const server::HttpRequest& request,
                                                      log::GroupId here);

// Which entries: from where the log begins, and kEntriesListed of them, unless the request says otherwise.
inline constexpr std::size_t kEntriesListed = 100;
struct EntriesAsked {
  log::Index from;
  std::size_t count = kEntriesListed;
};
[[nodiscard]] base::Result<EntriesAsked, AskError> asked_entries(const server::HttpRequest& request,
                                                                 log::Index truncated);

[[nodiscard]] server::HttpAnswer refusal(const base::Error<AskError>& error);

}  // namespace cadastre::node
