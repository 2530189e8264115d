// The engine suite, unchanged, on the raft engine (14.3).

#include "log/raft/raft_environments_testing.h"

namespace cadastre::log::conformance {
namespace {

INSTANTIATE_TEST_SUITE_P(Raft,
                         EngineSuite,
                         testing::Values(raft_alone_on_memory(), raft_of_three_on_memory()),
                         environment_name);

}  // namespace
}  // namespace cadastre::log::conformance
