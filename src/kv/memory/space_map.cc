#include "kv/memory/space_map.h"

#include <iterator>
#include <memory>
#include <optional>
#include <utility>

#include "base/bytes.h"
#include "kv/error.h"
#include "kv/kv.h"
#include "kv/step_cursor.h"
#include "kv/transaction_state.h"

namespace cadastre::kv::memory {
namespace {

class MapCursor final : public StepCursor {
 public:
  MapCursor(TransactionState& state, const SpaceVersion& version) noexcept
      : StepCursor(state), version_(version) {}

 private:
  Found move_to_first() override { return at(map().begin()); }
  Found move_to_last() override {
    return map().empty() ? at(map().end()) : at(std::prev(map().end()));
  }
  Found move_to_ceiling(ByteView key) override { return at(map().lower_bound(key)); }
  Found move_forward() override { return at(std::next(at_)); }
  Found move_back() override { return at_ == map().begin() ? at(map().end()) : at(std::prev(at_)); }

  [[nodiscard]] const SpaceMap& map() const noexcept { return version_.map(); }
  Found at(SpaceMap::const_iterator position) {
    at_ = position;
    if (at_ == map().end()) return std::nullopt;
    return EntryView{at_->first, *at_->second};
  }

  const SpaceVersion& version_;
  SpaceMap::const_iterator at_;
};

}  // namespace

SpaceVersion::SpaceVersion(std::shared_ptr<const SpaceMap> committed) noexcept
    : seen_(std::move(committed)) {}

SpaceMap& SpaceVersion::changeable() {
  if (changed_ == nullptr) {
    auto copy = std::make_shared<SpaceMap>(*seen_);
    changed_ = copy.get();
    seen_ = std::move(copy);
  }
  return *changed_;
}

Result<std::optional<ByteView>, Error> find(const SpaceMap& map, ByteView key) {
  const auto at = map.find(key);
  if (at == map.end()) return std::nullopt;
  return ByteView(*at->second);
}

std::unique_ptr<Cursor> make_cursor(TransactionState& state, const SpaceVersion& version) {
  return std::make_unique<MapCursor>(state, version);
}

}  // namespace cadastre::kv::memory
