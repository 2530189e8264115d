// Both sides of the border lay the structs out alike (L-31).

#include <cstddef>
#include <cstdint>
#include <vector>

#include <cadastre_raft.h>
#include <gtest/gtest.h>

#include "log/raft/shim_test/raft_node_testing.h"

namespace cadastre::log {
namespace {

// Per struct in the header's order: its size, then the offset of every field.
const std::vector<std::uint64_t>& layout_here() {
#define SIZE(type) sizeof(type)
#define AT(type, field) offsetof(type, field)
  static const std::vector<std::uint64_t> table = {SIZE(cad_slice),
                                                   AT(cad_slice, data),
                                                   AT(cad_slice, size),
                                                   SIZE(cad_ids),
                                                   AT(cad_ids, data),
                                                   AT(cad_ids, size),
                                                   SIZE(cad_entry),
                                                   AT(cad_entry, index),
                                                   AT(cad_entry, term),
                                                   AT(cad_entry, type),
                                                   AT(cad_entry, zero),
                                                   AT(cad_entry, data),
                                                   AT(cad_entry, context),
                                                   SIZE(cad_hard_state),
                                                   AT(cad_hard_state, term),
                                                   AT(cad_hard_state, vote),
                                                   AT(cad_hard_state, commit),
                                                   SIZE(cad_conf_state),
                                                   AT(cad_conf_state, voters),
                                                   AT(cad_conf_state, learners),
                                                   AT(cad_conf_state, voters_outgoing),
                                                   AT(cad_conf_state, learners_next),
                                                   AT(cad_conf_state, auto_leave),
                                                   AT(cad_conf_state, zero),
                                                   SIZE(cad_snapshot),
                                                   AT(cad_snapshot, index),
                                                   AT(cad_snapshot, term),
                                                   AT(cad_snapshot, conf),
                                                   AT(cad_snapshot, data),
                                                   SIZE(cad_message),
                                                   AT(cad_message, to),
                                                   AT(cad_message, type),
                                                   AT(cad_message, zero),
                                                   AT(cad_message, index),
                                                   AT(cad_message, bytes),
                                                   SIZE(cad_head),
                                                   AT(cad_head, from),
                                                   AT(cad_head, to),
                                                   AT(cad_head, term),
                                                   AT(cad_head, index),
                                                   AT(cad_head, snapshot_index),
                                                   AT(cad_head, type),
                                                   AT(cad_head, entries),
                                                   AT(cad_head, reject),
                                                   AT(cad_head, forced),
                                                   AT(cad_head, snapshot_data),
                                                   SIZE(cad_progress),
                                                   AT(cad_progress, id),
                                                   AT(cad_progress, match),
                                                   AT(cad_progress, next),
                                                   AT(cad_progress, pending_snapshot),
                                                   AT(cad_progress, state),
                                                   AT(cad_progress, paused),
                                                   AT(cad_progress, active),
                                                   AT(cad_progress, inflight),
                                                   SIZE(cad_status),
                                                   AT(cad_status, id),
                                                   AT(cad_status, term),
                                                   AT(cad_status, vote),
                                                   AT(cad_status, leader),
                                                   AT(cad_status, commit),
                                                   AT(cad_status, applied),
                                                   AT(cad_status, persisted),
                                                   AT(cad_status, first),
                                                   AT(cad_status, last),
                                                   AT(cad_status, cache_bytes),
                                                   AT(cad_status, transferee),
                                                   AT(cad_status, role),
                                                   AT(cad_status, promotable),
                                                   AT(cad_status, joint),
                                                   AT(cad_status, pending_conf),
                                                   AT(cad_status, reads_pending),
                                                   AT(cad_status, zero),
                                                   SIZE(cad_conf_op),
                                                   AT(cad_conf_op, op),
                                                   AT(cad_conf_op, zero),
                                                   AT(cad_conf_op, id),
                                                   SIZE(cad_conf_change),
                                                   AT(cad_conf_change, ops),
                                                   AT(cad_conf_change, size),
                                                   AT(cad_conf_change, transition),
                                                   AT(cad_conf_change, zero),
                                                   SIZE(cad_read_state),
                                                   AT(cad_read_state, index),
                                                   AT(cad_read_state, context),
                                                   SIZE(cad_soft_state),
                                                   AT(cad_soft_state, leader),
                                                   AT(cad_soft_state, role),
                                                   AT(cad_soft_state, zero),
                                                   SIZE(cad_want),
                                                   AT(cad_want, kind),
                                                   AT(cad_want, zero),
                                                   AT(cad_want, peer),
                                                   AT(cad_want, low),
                                                   AT(cad_want, high),
                                                   AT(cad_want, token),
                                                   SIZE(cad_callbacks),
                                                   AT(cad_callbacks, self),
                                                   AT(cad_callbacks, read),
                                                   AT(cad_callbacks, log),
                                                   SIZE(cad_config),
                                                   AT(cad_config, group),
                                                   AT(cad_config, id),
                                                   AT(cad_config, applied),
                                                   AT(cad_config, seed),
                                                   AT(cad_config, election_tick),
                                                   AT(cad_config, heartbeat_tick),
                                                   AT(cad_config, max_inflight_msgs),
                                                   AT(cad_config, pre_vote),
                                                   AT(cad_config, check_quorum),
                                                   AT(cad_config, zero),
                                                   AT(cad_config, max_size_per_msg),
                                                   AT(cad_config, max_uncommitted_size),
                                                   AT(cad_config, max_committed_size_per_ready),
                                                   AT(cad_config, hard_state),
                                                   AT(cad_config, conf),
                                                   AT(cad_config, conf_index),
                                                   AT(cad_config, truncated_index),
                                                   AT(cad_config, truncated_term),
                                                   AT(cad_config, tail),
                                                   AT(cad_config, tail_size),
                                                   AT(cad_config, term_starts),
                                                   AT(cad_config, term_starts_size)};
#undef SIZE
#undef AT
  return table;
}

TEST(ShimLayout, IsTheSameOnBothSides) {
  std::size_t count = 0;
  const std::uint64_t* there = cad_raft_layout(&count);
  EXPECT_EQ(layout_here(), std::vector<std::uint64_t>(there, there + count));
}

TEST(ShimLayout, ResultsAreAsWideAsTheOtherSideReturnsThem) {
  EXPECT_EQ(sizeof(cad_result), sizeof(std::uint32_t));
}

TEST(ShimLayout, HasNoPaddingAtTheEnd) {
  // Every struct ends where its last field does.
  EXPECT_EQ(sizeof(cad_entry), offsetof(cad_entry, context) + sizeof(cad_slice));
  EXPECT_EQ(sizeof(cad_status), offsetof(cad_status, zero) + sizeof(std::uint32_t));
  EXPECT_EQ(sizeof(cad_config), offsetof(cad_config, term_starts_size) + sizeof(std::size_t));
  EXPECT_EQ(sizeof(cad_head), offsetof(cad_head, snapshot_data) + sizeof(cad_slice));
}

TEST(ShimVersion, NamesTheCrateAndTheAbi) {
  EXPECT_EQ(cad_raft_abi(), 1U);
  EXPECT_EQ(text_of(cad_raft_version()), "raft-rs 0.7.0");
}

}  // namespace
}  // namespace cadastre::log
