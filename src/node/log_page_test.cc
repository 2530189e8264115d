#include "node/log_page.h"

#include <memory>

#include <gtest/gtest.h>

#include "log/conf_state.h"
#include "log/engine.h"
#include "log/group_status.h"
#include "log/types.h"

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

}  // namespace
}  // namespace cadastre::node
