// TransactionState: what a backend's transaction, its readers and its cursors know in common.

#pragma once

#include <cstdint>

#include "base/check.h"
#include "base/result.h"
#include "kv/error.h"
#include "kv/kv.h"

namespace cadastre::kv {

struct TransactionState {
  std::uint64_t mutations = 0;
  std::uint64_t cursors = 0;
  bool is_over = false;  // Ended, or failed so that only the end is left.

  TransactionState() = default;
  TransactionState(const TransactionState&) = delete;
  TransactionState& operator=(const TransactionState&) = delete;
  ~TransactionState() { CAD_CHECK(cursors == 0, "a cursor is destroyed before its transaction"); }

  [[nodiscard]] Result<void, Error> usable() const {
    if (is_over) return base::fail(Error{ErrorCode::kEnded});
    return {};
  }
};

}  // namespace cadastre::kv
