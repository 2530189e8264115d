// Between our values and the views of the shim's header. Views borrow from what they were made of.

#pragma once

#include <memory>
#include <span>
#include <vector>

#include <cadastre_raft.h>

#include "base/bytes.h"
#include "log/conf_state.h"
#include "log/entry.h"
#include "log/types.h"

namespace cadastre::log {

struct RaftFree {
  void operator()(cad_raft* raft) const noexcept { cad_raft_destroy(raft); }
};
using RaftHandle = std::unique_ptr<cad_raft, RaftFree>;

[[nodiscard]] inline cad_slice slice_of(ByteView bytes) noexcept {
  return {reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()};
}
[[nodiscard]] inline ByteView view_of(cad_slice slice) noexcept {
  return {reinterpret_cast<const std::byte*>(slice.data), slice.size};
}

// Entries as the shim wants them.
[[nodiscard]] std::vector<cad_entry> entry_views(std::span<const Entry> entries);

// Entries of a handle, which lives as long as one of their bodies does.
[[nodiscard]] std::vector<Entry> entries_of(std::shared_ptr<const void> owner,
                                            std::span<const cad_entry> views);
// The bytes of a handle, which lives as long as they do.
[[nodiscard]] Body body_of(const std::shared_ptr<const void>& owner, cad_slice slice);

// A configuration as the shim wants it, with the numbers that it points to.
class ConfView {
 public:
  explicit ConfView(const ConfState& conf);
  ConfView(const ConfView&) = delete;
  ConfView& operator=(const ConfView&) = delete;

  [[nodiscard]] cad_conf_state view() const noexcept;

 private:
  std::vector<std::uint64_t> voters_, learners_, voters_outgoing_, learners_next_;
};
[[nodiscard]] ConfState conf_of(const cad_conf_state& view);

}  // namespace cadastre::log
