// StepCursor: a cursor made of five steps, which is all that a backend writes.
//
// Where the cursor stands, what lies beyond both ends, and that a mutation unseats it: decided here,
// once for every backend.

#pragma once

#include <cstdint>
#include <optional>

#include "base/bytes.h"
#include "base/result.h"
#include "kv/error.h"
#include "kv/kv.h"
#include "kv/transaction_state.h"

namespace cadastre::kv {

class StepCursor : public Cursor {
 public:
  ~StepCursor() override;
  StepCursor(const StepCursor&) = delete;
  StepCursor& operator=(const StepCursor&) = delete;

  [[nodiscard]] Result<std::optional<EntryView>, Error> seek_ceiling(ByteView key) final;
  [[nodiscard]] Result<std::optional<EntryView>, Error> seek_floor(ByteView key) final;
  [[nodiscard]] Result<std::optional<EntryView>, Error> next() final;
  [[nodiscard]] Result<std::optional<EntryView>, Error> prev() final;

 protected:
  using Found = Result<std::optional<EntryView>, Error>;

  explicit StepCursor(TransactionState& state) noexcept;
  [[nodiscard]] const TransactionState& state() const noexcept { return state_; }

  // Each moves to the entry it answers. The last two start from the entry answered before, and nothing
  // has changed since.
  [[nodiscard]] virtual Found move_to_first() = 0;
  [[nodiscard]] virtual Found move_to_last() = 0;
  [[nodiscard]] virtual Found move_to_ceiling(ByteView key) = 0;  // The key is not empty.
  [[nodiscard]] virtual Found move_forward() = 0;
  [[nodiscard]] virtual Found move_back() = 0;

 private:
  enum class Position : std::uint8_t {
    kNowhere,
    kBeforeFirst,
    kOnEntry,
    kAfterLast,
    kLost
  };

  [[nodiscard]] Result<void, Error> standing() const;
  [[nodiscard]] Found placed(const Found& found, Position if_nothing);

  TransactionState& state_;
  std::uint64_t mutations_seen_ = 0;
  Position position_ = Position::kNowhere;
};

}  // namespace cadastre::kv
