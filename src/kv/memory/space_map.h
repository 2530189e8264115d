// SpaceMap: one key space in memory, as an ordered map whose values are shared between versions.

#pragma once

#include <map>
#include <memory>
#include <optional>

#include "base/bytes.h"
#include "base/result.h"
#include "kv/error.h"
#include "kv/kv.h"
#include "kv/transaction_state.h"

namespace cadastre::kv::memory {

struct ByteOrder {
  using is_transparent = void;
  bool operator()(ByteView a, ByteView b) const noexcept { return base::less(a, b); }
};

using SpaceMap = std::map<base::Bytes, std::shared_ptr<const base::Bytes>, ByteOrder>;

// A key space as one transaction sees it: what was committed, until a change makes a copy.
class SpaceVersion {
 public:
  explicit SpaceVersion(std::shared_ptr<const SpaceMap> committed) noexcept;

  [[nodiscard]] const SpaceMap& map() const noexcept { return *seen_; }
  [[nodiscard]] SpaceMap& changeable();
  [[nodiscard]] bool is_changed() const noexcept { return changed_ != nullptr; }
  [[nodiscard]] const std::shared_ptr<const SpaceMap>& shared() const noexcept { return seen_; }

 private:
  std::shared_ptr<const SpaceMap> seen_;
  SpaceMap* changed_ = nullptr;  // The same map as seen_, once it is this version's own.
};

// What a Reader and a Writer answer alike.
[[nodiscard]] Result<std::optional<ByteView>, Error> find(const SpaceMap& map, ByteView key);
[[nodiscard]] std::unique_ptr<Cursor> make_cursor(TransactionState& state,
                                                  const SpaceVersion& version);

}  // namespace cadastre::kv::memory
