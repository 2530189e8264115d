#include "node/ready_page.h"

namespace cadastre::node {

server::HttpAnswer ready_page(const Readiness& now) {
  if (!now.halted.empty()) return {503, "text/plain", "halted: " + now.halted + "\n"};
  if (!now.has_leader) return {503, "text/plain", "no leader\n"};
  if (now.space == log::Space::kCritical) return {503, "text/plain", "disk full\n"};
  return {200, "text/plain", "ready\n"};
}

}  // namespace cadastre::node
