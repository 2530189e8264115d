#include "log/raft/shim_views.h"

#include <cstddef>
#include <cstdint>
#include <utility>

#include "base/check.h"
#include "log/conf_body.h"

namespace cadastre::log {
namespace {

std::vector<std::uint64_t> numbers_of(const std::vector<NodeId>& ids) {
  std::vector<std::uint64_t> numbers;
  numbers.reserve(ids.size());
  for (const NodeId id : ids)
    numbers.push_back(id.value());
  return numbers;
}

std::vector<NodeId> ids_of(cad_ids view) {
  std::vector<NodeId> ids;
  ids.reserve(view.size);
  for (std::size_t i = 0; i < view.size; ++i)
    ids.emplace_back(view.data[i]);
  return ids;
}

}  // namespace

std::vector<cad_entry> entry_views(std::span<const Entry> entries) {
  std::vector<cad_entry> views;
  views.reserve(entries.size());
  for (const Entry& entry : entries) {
    cad_entry view{entry.at.index.value(),
                   entry.at.term.value(),
                   static_cast<std::uint32_t>(entry.type),
                   0,
                   slice_of(entry.body.bytes()),
                   {}};
    if (entry.type == EntryType::kConfChange) {
      const auto parts = split_conf_body(entry.body.bytes());
      CAD_CHECK(parts.has_value(), "an entry of ours reads back");
      view.data = slice_of(parts->change);
      view.context = slice_of(parts->context);
    }
    views.push_back(view);
  }
  return views;
}

Body body_of(const std::shared_ptr<const void>& owner, cad_slice slice) {
  const ByteView bytes = view_of(slice);
  return {std::shared_ptr<const std::byte[]>(owner, bytes.data()), bytes};
}

std::vector<Entry> entries_of(std::shared_ptr<const void> owner, std::span<const cad_entry> views) {
  std::vector<Entry> entries;
  entries.reserve(views.size());
  for (const cad_entry& view : views) {
    Entry& entry = entries.emplace_back();
    entry.at = {Term{view.term}, Index{view.index}};
    if (view.type == static_cast<std::uint32_t>(EntryType::kNormal)) {
      if (view.data.size != 0) entry.body = body_of(owner, view.data);
    } else {
      entry.type = EntryType::kConfChange;
      entry.body = join_conf_body({view_of(view.data), view_of(view.context)});
    }
  }
  return entries;
}

ConfView::ConfView(const ConfState& conf)
    : voters_(numbers_of(conf.voters)),
      learners_(numbers_of(conf.learners)),
      voters_outgoing_(numbers_of(conf.voters_outgoing)),
      learners_next_(numbers_of(conf.learners_next)) {}

cad_conf_state ConfView::view() const noexcept {
  const auto ids = [](const std::vector<std::uint64_t>& list) {
    return cad_ids{list.data(), list.size()};
  };
  return {ids(voters_), ids(learners_), ids(voters_outgoing_), ids(learners_next_), 0, 0};
}

ConfState conf_of(const cad_conf_state& view) {
  return {.voters = ids_of(view.voters),
          .learners = ids_of(view.learners),
          .voters_outgoing = ids_of(view.voters_outgoing),
          .learners_next = ids_of(view.learners_next)};
}

}  // namespace cadastre::log
