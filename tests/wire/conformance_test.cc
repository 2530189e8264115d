// The suite on one server.

#include <gtest/gtest.h>

#include "coord/conformance/suite_testing.h"
#include "tests/wire/over_the_wire.h"
#include "tests/wire/wire_home.h"

namespace cadastre::coord::conformance {
namespace {

BackendFactory factory() {
  return wire_factory<wire::WireHome>("wire");
}

INSTANTIATE_TEST_SUITE_P(Wire, Conformance, testing::Values(factory()), name_of);
INSTANTIATE_TEST_SUITE_P(Wire, BoundedConformance, testing::Values(factory()), name_of);
INSTANTIATE_TEST_SUITE_P(Wire, PlantedConformance, testing::Values(factory()), name_of);

}  // namespace
}  // namespace cadastre::coord::conformance
