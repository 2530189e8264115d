// The suite on three nodes, asked by way of one that does not lead (coordination.md 10.8, "tests").

#include <gtest/gtest.h>

#include "coord/conformance/suite_testing.h"
#include "tests/cluster/cluster_home.h"
#include "tests/wire/over_the_wire.h"

namespace cadastre::coord::conformance {
namespace {

BackendFactory factory() {
  return wire_factory<cluster::ClusterHome>("cluster");
}

INSTANTIATE_TEST_SUITE_P(Cluster, Conformance, testing::Values(factory()), name_of);
INSTANTIATE_TEST_SUITE_P(Cluster, BoundedConformance, testing::Values(factory()), name_of);
INSTANTIATE_TEST_SUITE_P(Cluster, PlantedConformance, testing::Values(factory()), name_of);

}  // namespace
}  // namespace cadastre::coord::conformance
