// The vector file: what the protocol answers, row by row.
//
// A section is one table of the file. Every section has one check here and a row in vectors_test.cc;
// the tests come from those rows, so that a section without a check, or a check without a section,
// fails. The sections of the etcd backend wait for it in a table of their own.

#pragma once

#include <string_view>

#include "coord/vector_values_testing.h"

namespace cadastre::coord::vectors {

struct Section {
  const Json& rows;
  const Json& file;
};

// The row with this id, in any section.
[[nodiscard]] const Json& row_named(const Json& file, std::string_view id);

void check_anchors(const Section& section);
void check_canonical_bytes(const Section& section);
void check_derived_ids(const Section& section);
void check_replay_probe(const Section& section);
void check_payload_hashes(const Section& section);
void check_hash_relations(const Section& section);

void check_records(const Section& section);
void check_rejections(const Section& section);
void check_offsets(const Section& section);

void check_cursor_advance(const Section& section);
void check_cursor_bounds(const Section& section);
void check_checkpoints(const Section& section);
void check_split_coverage(const Section& section);
void check_residual_splits(const Section& section);
void check_successors(const Section& section);
void check_residual_points(const Section& section);
void check_replace_points(const Section& section);
void check_progress(const Section& section);
void check_manifests(const Section& section);
void check_shard_limits(const Section& section);
void check_spawn_limits(const Section& section);

void check_timeline(const Section& section);
void check_saturation(const Section& section);
void check_run_operations(const Section& section);
void check_first_candidates(const Section& section);
void check_cooldown(const Section& section);
void check_claims(const Section& section);

void check_slab_blocks(const Section& section);
void check_slab_exhaustion(const Section& section);
void check_planning_memory(const Section& section);
void check_texts(const Section& section);

void check_keyspace(const Section& section);
void check_prefixes(const Section& section);
void check_key_kinds(const Section& section);
void check_retry_delays(const Section& section);
void check_transaction_sizes(const Section& section);

}  // namespace cadastre::coord::vectors
