// Both sides of the border lay the structs out alike (L-31).

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <cadastre_raft.h>
#include <gtest/gtest.h>

#include "log/raft/shim_test/raft_node_testing.h"

namespace cadastre::log {
namespace {

// Per struct in the header's order: its size, then the offset of every field.
#define CAD_SIZE(type) sizeof(type)
#define CAD_AT(type, field) offsetof(type, field)
constexpr auto kLayoutHere =
    std::to_array<std::uint64_t>({CAD_SIZE(cad_slice),
                                  CAD_AT(cad_slice, data),
                                  CAD_AT(cad_slice, size),
                                  CAD_SIZE(cad_ids),
                                  CAD_AT(cad_ids, data),
                                  CAD_AT(cad_ids, size),
                                  CAD_SIZE(cad_entry),
                                  CAD_AT(cad_entry, index),
                                  CAD_AT(cad_entry, term),
                                  CAD_AT(cad_entry, type),
                                  CAD_AT(cad_entry, zero),
                                  CAD_AT(cad_entry, data),
                                  CAD_AT(cad_entry, context),
                                  CAD_SIZE(cad_hard_state),
                                  CAD_AT(cad_hard_state, term),
                                  CAD_AT(cad_hard_state, vote),
                                  CAD_AT(cad_hard_state, commit),
                                  CAD_SIZE(cad_conf_state),
                                  CAD_AT(cad_conf_state, voters),
                                  CAD_AT(cad_conf_state, learners),
                                  CAD_AT(cad_conf_state, voters_outgoing),
                                  CAD_AT(cad_conf_state, learners_next),
                                  CAD_AT(cad_conf_state, auto_leave),
                                  CAD_AT(cad_conf_state, zero),
                                  CAD_SIZE(cad_snapshot),
                                  CAD_AT(cad_snapshot, index),
                                  CAD_AT(cad_snapshot, term),
                                  CAD_AT(cad_snapshot, conf),
                                  CAD_AT(cad_snapshot, data),
                                  CAD_SIZE(cad_message),
                                  CAD_AT(cad_message, to),
                                  CAD_AT(cad_message, type),
                                  CAD_AT(cad_message, zero),
                                  CAD_AT(cad_message, index),
                                  CAD_AT(cad_message, bytes),
                                  CAD_SIZE(cad_head),
                                  CAD_AT(cad_head, from),
                                  CAD_AT(cad_head, to),
                                  CAD_AT(cad_head, term),
                                  CAD_AT(cad_head, index),
                                  CAD_AT(cad_head, snapshot_index),
                                  CAD_AT(cad_head, snapshot_term),
                                  CAD_AT(cad_head, type),
                                  CAD_AT(cad_head, entries),
                                  CAD_AT(cad_head, reject),
                                  CAD_AT(cad_head, forced),
                                  CAD_AT(cad_head, snapshot_data),
                                  CAD_SIZE(cad_progress),
                                  CAD_AT(cad_progress, id),
                                  CAD_AT(cad_progress, match),
                                  CAD_AT(cad_progress, next),
                                  CAD_AT(cad_progress, pending_snapshot),
                                  CAD_AT(cad_progress, state),
                                  CAD_AT(cad_progress, paused),
                                  CAD_AT(cad_progress, active),
                                  CAD_AT(cad_progress, inflight),
                                  CAD_SIZE(cad_status),
                                  CAD_AT(cad_status, id),
                                  CAD_AT(cad_status, term),
                                  CAD_AT(cad_status, vote),
                                  CAD_AT(cad_status, leader),
                                  CAD_AT(cad_status, commit),
                                  CAD_AT(cad_status, applied),
                                  CAD_AT(cad_status, persisted),
                                  CAD_AT(cad_status, first),
                                  CAD_AT(cad_status, last),
                                  CAD_AT(cad_status, cache_bytes),
                                  CAD_AT(cad_status, transferee),
                                  CAD_AT(cad_status, role),
                                  CAD_AT(cad_status, promotable),
                                  CAD_AT(cad_status, joint),
                                  CAD_AT(cad_status, pending_conf),
                                  CAD_AT(cad_status, reads_pending),
                                  CAD_AT(cad_status, zero),
                                  CAD_SIZE(cad_conf_op),
                                  CAD_AT(cad_conf_op, op),
                                  CAD_AT(cad_conf_op, zero),
                                  CAD_AT(cad_conf_op, id),
                                  CAD_SIZE(cad_conf_change),
                                  CAD_AT(cad_conf_change, ops),
                                  CAD_AT(cad_conf_change, size),
                                  CAD_AT(cad_conf_change, transition),
                                  CAD_AT(cad_conf_change, zero),
                                  CAD_SIZE(cad_read_state),
                                  CAD_AT(cad_read_state, index),
                                  CAD_AT(cad_read_state, context),
                                  CAD_SIZE(cad_soft_state),
                                  CAD_AT(cad_soft_state, leader),
                                  CAD_AT(cad_soft_state, role),
                                  CAD_AT(cad_soft_state, zero),
                                  CAD_SIZE(cad_want),
                                  CAD_AT(cad_want, kind),
                                  CAD_AT(cad_want, zero),
                                  CAD_AT(cad_want, peer),
                                  CAD_AT(cad_want, low),
                                  CAD_AT(cad_want, high),
                                  CAD_AT(cad_want, token),
                                  CAD_SIZE(cad_callbacks),
                                  CAD_AT(cad_callbacks, self),
                                  CAD_AT(cad_callbacks, read),
                                  CAD_AT(cad_callbacks, log),
                                  CAD_SIZE(cad_config),
                                  CAD_AT(cad_config, group),
                                  CAD_AT(cad_config, id),
                                  CAD_AT(cad_config, applied),
                                  CAD_AT(cad_config, seed),
                                  CAD_AT(cad_config, election_tick),
                                  CAD_AT(cad_config, heartbeat_tick),
                                  CAD_AT(cad_config, max_inflight_msgs),
                                  CAD_AT(cad_config, pre_vote),
                                  CAD_AT(cad_config, check_quorum),
                                  CAD_AT(cad_config, zero),
                                  CAD_AT(cad_config, max_size_per_msg),
                                  CAD_AT(cad_config, max_uncommitted_size),
                                  CAD_AT(cad_config, max_committed_size_per_ready),
                                  CAD_AT(cad_config, hard_state),
                                  CAD_AT(cad_config, conf),
                                  CAD_AT(cad_config, conf_index),
                                  CAD_AT(cad_config, truncated_index),
                                  CAD_AT(cad_config, truncated_term),
                                  CAD_AT(cad_config, tail),
                                  CAD_AT(cad_config, tail_size),
                                  CAD_AT(cad_config, term_starts),
                                  CAD_AT(cad_config, term_starts_size)});
#undef CAD_SIZE
#undef CAD_AT

TEST(ShimLayout, IsTheSameOnBothSides) {
  std::size_t count = 0;
  const std::uint64_t* there = cad_raft_layout(&count);
  EXPECT_EQ(std::vector<std::uint64_t>(kLayoutHere.begin(), kLayoutHere.end()),
            std::vector<std::uint64_t>(there, there + count));
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
