#include "node/log_page.h"

#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "log/conf_state.h"
#include "log/engine.h"
#include "log/group_detail.h"
#include "log/group_status.h"
#include "log/replica.h"
#include "log/types.h"
#include "server/http/http_server.h"

namespace cadastre::node {
namespace {

TEST(LogPage, HasALineForAGroup) {
  log::GroupStatus status;
  status.role = log::Role::kLeader;
  status.term = log::Term{4};
  status.leader = log::NodeId{2};
  status.last = log::Index{9};
  status.halted = "a \"reason\"";
  log::ConfRecord conf;
  conf.index = log::Index{1};
  conf.conf.voters = {log::NodeId{1}, log::NodeId{2}};
  status.conf = std::make_shared<const log::ConfRecord>(conf);
  EXPECT_EQ(group_line(log::GroupId{1}, log::NodeId{2}, status),
            R"({"group":1,"node":2,"role":"leader","term":4,"leader":2,"last":9,"persisted":0,)"
            R"("committed":0,"applied":0,"durable":0,"truncated":0,"conf_index":1,"voters":[1,2],)"
            R"("learners":[],"outgoing":[],"log_bytes":0,"halted":"a  reason "})"
            "\n");
}

TEST(LogPage, ShowsWhatTheLogThreadAdds) {
  log::GroupStatus status;
  status.last = log::Index{9};
  log::GroupDetail detail;
  detail.progress = {{log::NodeId{2}, log::Index{7}, log::PeerState::kReplicate, true}};
  detail.confs = {{log::Index{1}, {.voters = {log::NodeId{1}}, .learners = {log::NodeId{2}}}}};
  detail.queued_commands = 3;
  detail.held_messages = 4;
  detail.waiting_entries = 5;
  detail.transfer = true;
  const std::string page = group_page(log::GroupId{1}, log::NodeId{1}, status, detail);
  for (const std::string part :
       {R"({"group":1,"node":1,)",
        R"("peers":[{"node":2,"match":7,"behind":2,"state":"follows","active":true}])",
        R"("memberships":[{"index":1,"voters":[1],"learners":[2],"outgoing":[]}])",
        R"("queue":{"commands":3,)", R"("messages":4})", R"("waits":{"entries":5,)",
        R"("transfer":true)", "}\n"}) {
    EXPECT_NE(page.find(part), std::string::npos) << part << page;
  }
}

TEST(LogPage, HasALineForAnEntry) {
  EXPECT_EQ(entries_page({{{log::Term{2}, log::Index{5}}, log::EntryType::kNormal, 40},
                          {{log::Term{2}, log::Index{6}}, log::EntryType::kConfChange, 9}}),
            R"({"index":5,"term":2,"type":"commands","bytes":40})"
            "\n"
            R"({"index":6,"term":2,"type":"membership","bytes":9})"
            "\n");
}

TEST(LogPage, AnswersOnlyWhatItWasAskedRightly) {
  struct Case {
    std::string what;
    server::HttpRequest request;
    int status;  // 0: it is answered.
  };
  const std::vector<Case> groups = {
      {"the group that is here", {{"7"}, {}}, 0},
      {"another one", {{"8"}, {}}, 404},
      {"no number", {{"seven"}, {}}, 400},
      {"a sign", {{"-7"}, {}}, 400},
      {"more than a number", {{"7x"}, {}}, 400},
      {"too large a number", {{"99999999999999999999"}, {}}, 400},
  };
  for (const Case& one : groups) {
    const auto asks = asks_about(one.request, log::GroupId{7});
    EXPECT_EQ(asks ? 0 : refusal(asks.error()).status, one.status) << one.what;
  }
  const std::vector<Case> entries = {
      {"both", {{"7"}, {{"from", "3"}, {"count", "1000"}}}, 0},
      {"neither", {{"7"}, {}}, 0},
      {"no entry is the zeroth", {{"7"}, {{"from", "0"}}}, 400},
      {"no number", {{"7"}, {{"from", "x"}}}, 400},
      {"an empty one", {{"7"}, {{"from", ""}}}, 400},
      {"none", {{"7"}, {{"count", "0"}}}, 400},
      {"too many", {{"7"}, {{"count", "1001"}}}, 400},
      {"what nobody knows", {{"7"}, {{"until", "3"}}}, 400},
  };
  for (const Case& one : entries) {
    const auto asked = asked_entries(one.request, log::Index{10});
    EXPECT_EQ(asked ? 0 : refusal(asked.error()).status, one.status) << one.what;
  }
  EXPECT_EQ(asked_entries({{"7"}, {}}, log::Index{10})->from, log::Index{11});
  EXPECT_EQ(asked_entries({{"7"}, {}}, log::Index{10})->count, kEntriesListed);
}

}  // namespace
}  // namespace cadastre::node
