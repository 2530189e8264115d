#include "node/ready_page.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "log/disk_space.h"

namespace cadastre::node {
namespace {

TEST(ReadyPage, SaysWhyNobodyShouldComeHere) {
  struct Case {
    std::string what;
    Readiness now;
    int status;
    std::string body;
  };
  const std::vector<Case> cases = {
      {"all is well", {}, 200, "ready\n"},
      {"a group has halted", {.halted = "its disk is gone"}, 503, "halted: its disk is gone\n"},
      {"nobody leads", {.has_leader = false}, 503, "no leader\n"},
      {"little room is room", {.space = log::Space::kLow}, 200, "ready\n"},
      {"no room", {.space = log::Space::kCritical}, 503, "disk full\n"},
  };
  for (const Case& one : cases) {
    const server::HttpAnswer answer = ready_page(one.now);
    EXPECT_EQ(answer.status, one.status) << one.what;
    EXPECT_EQ(answer.body, one.body) << one.what;
  }
}

}  // namespace
}  // namespace cadastre::node
