// The Rust original: redb-extras' roaring facade on redb, one blob for each key. Its crates are built by
// cargo and may not be there; then there is no such store, and redb_store_absent.cc says so.

#pragma once

#include <memory>
#include <optional>
#include <string>

#include "bench/peers/set_store.h"

namespace cadastre::bench {

// Versions of the crates, or nothing where they could not be had.
[[nodiscard]] std::optional<std::string> redb_versions();
// An empty store; only where there are versions.
[[nodiscard]] std::unique_ptr<SetStore> make_redb_store(const std::string& directory);

}  // namespace cadastre::bench
