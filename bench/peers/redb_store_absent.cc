#include <memory>
#include <optional>
#include <string>

#include "base/check.h"
#include "bench/peers/redb_store.h"
#include "bench/peers/set_store.h"

namespace cadastre::bench {

std::optional<std::string> redb_versions() {
  return std::nullopt;
}

std::unique_ptr<SetStore> make_redb_store(const std::string&) {
  CAD_CHECK(false, "a store without versions is not made");
}

}  // namespace cadastre::bench
