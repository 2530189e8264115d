/* raft-rs 0.7.0 behind a C ABI, version 1. Written by hand; src/abi.rs is its mirror, and a test
   compares the two through cad_raft_layout. The rules (L-n) are told in src/log/raft/DESIGN.md.

   Threads. All functions of one cad_raft must be called from one thread at a time, except where
   "any thread" is said. No function blocks, except through callbacks.read. Every function that
   takes a cad_raft without const may call callbacks.log, and those that send, campaign or hand out
   entries callbacks.read; the ones for any thread call nothing.

   Ownership (L-31). What goes in is borrowed for the call. What comes out is owned by a handle and
   dies with it; handles are freed on any thread, also after the cad_raft they came from.

   Errors. Whatever a peer or a disk can cause is a cad_result. A broken contract of the caller and
   a broken invariant inside raft-rs are panics: one text goes through callbacks.log at level
   CAD_LOG_PANIC, on the thread that called, and when the callback returns the process aborts
   (L-36). Nothing unwinds across the border (L-35): callbacks must not throw. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* RawNode and its storage cache; freed by cad_raft_destroy. */
typedef struct cad_raft cad_raft;
/* One output; freed by cad_ready_free, any thread. */
typedef struct cad_ready cad_ready;
/* An immutable run of entries; freed by cad_entries_free, any thread. */
typedef struct cad_entries cad_entries;

/* Borrowed bytes and ids. In: for the call. Out: as long as the owner named there. */
typedef struct {
  const uint8_t* data;
  size_t size;
} cad_slice;
typedef struct {
  const uint64_t* data;
  size_t size;
} cad_ids;

typedef struct {
  uint64_t index, term;
  uint32_t type; /* 0 normal, 1 and 2 conf change */
  uint32_t zero;
  cad_slice data, context;
} cad_entry;
typedef struct {
  uint64_t term, vote, commit;
} cad_hard_state;
typedef struct {
  cad_ids voters, learners, voters_outgoing, learners_next; /* out: ascending */
  uint32_t auto_leave, zero; /* auto_leave is always 0: joint is left explicitly */
} cad_conf_state;
typedef struct {
  uint64_t index, term;
  cad_conf_state conf;
  cad_slice data;
} cad_snapshot;
typedef struct {
  uint64_t to;
  uint32_t type, zero; /* eraftpb.MessageType */
  uint64_t index;
  cad_slice bytes; /* eraftpb.Message */
} cad_message;
typedef struct {
  uint64_t from, to, term, index, snapshot_index, snapshot_term;
  uint32_t type, entries, reject, forced; /* forced: a vote request of a leadership transfer */
  cad_slice snapshot_data;
} cad_head;
typedef struct {
  uint64_t id, match, next, pending_snapshot;
  uint32_t state, paused, active, inflight; /* state: 0 probe, 1 replicate, 2 snapshot */
} cad_progress;
typedef struct {
  uint64_t id, term, vote, leader, commit, applied, persisted, first, last, cache_bytes, transferee;
  uint32_t role, promotable, joint, pending_conf, reads_pending, zero; /* role: CAD_ROLE_* */
} cad_status;

typedef struct {
  uint32_t op /* 0 add voter, 1 remove, 2 add learner */, zero;
  uint64_t id;
} cad_conf_op;
typedef struct {
  const cad_conf_op* ops; /* none, with transition 0: leave the joint configuration */
  size_t size;
  uint32_t transition /* 0 simple: one op; 2 explicit joint */, zero;
} cad_conf_change;
typedef struct {
  uint64_t index;
  cad_slice context; /* of our own read; or of none, if a peer answers what nobody asked */
} cad_read_state;
typedef struct {
  uint64_t leader;
  uint32_t role, zero; /* CAD_ROLE_FOLLOWER .. CAD_ROLE_LEADER: a learner is a follower here */
} cad_soft_state;
typedef struct {
  uint32_t kind /* 1 snapshot, 2 entries */, zero;
  uint64_t peer, low, high, token; /* entries [low, high); snapshot: at least index low, high 0 */
} cad_want;

enum {
  CAD_ROLE_FOLLOWER = 0,
  CAD_ROLE_PRE_CANDIDATE,
  CAD_ROLE_CANDIDATE,
  CAD_ROLE_LEADER,
  CAD_ROLE_LEARNER
};
enum {
  CAD_LOG_PANIC = 0,
  CAD_LOG_CRITICAL,
  CAD_LOG_ERROR,
  CAD_LOG_WARNING,
  CAD_LOG_INFO
};
enum {
  CAD_WANT_SNAPSHOT = 1,
  CAD_WANT_ENTRIES = 2
};
/* Every heartbeat of a leader carries a read's context: a longer one of a peer is malformed. */
enum {
  CAD_READ_CONTEXT_BYTES_MAX = 64,
  CAD_MEMBERS_MAX = 64 /* ids in a list of a configuration that a peer sends */
};

typedef enum {
  CAD_OK = 0,
  CAD_NOT_LEADER,
  CAD_DROPPED, /* transfer pending or uncommitted bytes full */
  CAD_CONF_PENDING,
  CAD_CONF_INVALID,
  CAD_UNKNOWN_PEER,
  CAD_IGNORED, /* filtered by the shim's rules; nothing happened */
  CAD_MALFORMED,
  CAD_BAD_CONFIG
} cad_result;

typedef struct { /* called on the calling thread, never concurrently */
  void* self;
  cad_result (*read)(
      void* self, uint64_t low, uint64_t high, uint64_t bytes_max, cad_entries** out);
  void (*log)(void* self, uint32_t level, cad_slice text);
} cad_callbacks;

typedef struct {
  uint64_t group, id, applied, seed;
  uint32_t election_tick, heartbeat_tick, max_inflight_msgs, pre_vote, check_quorum, zero;
  uint64_t max_size_per_msg, max_uncommitted_size, max_committed_size_per_ready;
  cad_hard_state hard_state;
  cad_conf_state conf;
  uint64_t conf_index; /* conf entries at or below it are not applied again (L-56) */
  uint64_t truncated_index, truncated_term;
  const cad_entry* tail; /* newest entries: at least the last one and all above `applied` */
  size_t tail_size;
  const uint64_t* term_starts; /* pairs (first index, term) for the whole log */
  size_t term_starts_size;     /* numbers, two for each pair */
} cad_config;

uint32_t cad_raft_abi(void);
cad_slice cad_raft_version(void); /* static */
const uint64_t* cad_raft_layout(
    size_t* count); /* static; per struct above: size, then every field's offset */
cad_result cad_raft_create(const cad_config*, const cad_callbacks*, cad_raft** out);
void cad_raft_destroy(cad_raft*);
uint32_t cad_raft_tick(cad_raft*);                          /* 1: look at has_ready */
cad_result cad_raft_head(cad_slice message, cad_head* out); /* any thread; borrows from message */
cad_result cad_raft_step(cad_raft*, cad_slice message);
cad_result cad_raft_propose(cad_raft*,
                            uint64_t term_or_0,
                            const cad_slice* bodies,
                            size_t count,
                            uint64_t* first_index,
                            uint64_t* term); /* all or nothing; bytes copied once */
cad_result cad_raft_propose_conf(
    cad_raft*, const cad_conf_change*, cad_slice context, uint64_t* index, uint64_t* term);
cad_result cad_raft_apply_conf(cad_raft*,
                               const cad_entry*,
                               cad_conf_state* out /* valid until the next call */);
void cad_raft_read_index(cad_raft*, cad_slice context); /* at most CAD_READ_CONTEXT_BYTES_MAX */
cad_result cad_raft_transfer(cad_raft*, uint64_t to);
cad_result cad_raft_campaign(cad_raft*);
void cad_raft_report_unreachable(cad_raft*, uint64_t peer);
void cad_raft_report_snapshot(cad_raft*, uint64_t peer, uint32_t ok);

uint32_t cad_raft_has_ready(const cad_raft*);
cad_ready* cad_raft_take_ready(
    cad_raft*); /* never null; see L-32. Views below die with the handle */
uint64_t cad_ready_number(const cad_ready*);
uint32_t cad_ready_must_sync(const cad_ready*);
const cad_hard_state* cad_ready_hard_state(const cad_ready*);           /* null: unchanged */
const cad_soft_state* cad_ready_soft_state(const cad_ready*);           /* null: unchanged */
const cad_snapshot* cad_ready_snapshot(const cad_ready*);               /* null: none */
const cad_entry* cad_ready_entries(const cad_ready*, size_t* count);    /* to persist */
const cad_message* cad_ready_messages(const cad_ready*, size_t* count); /* may go now (leader) */
const cad_message* cad_ready_persisted_messages(const cad_ready*,
                                                size_t* count); /* go after the sync */
const cad_read_state* cad_ready_read_states(const cad_ready*, size_t* count);
cad_entries* cad_ready_take_committed(cad_ready*); /* the caller's own; null: none */
void cad_ready_free(cad_ready*);

void cad_raft_on_persist(cad_raft*, uint64_t ready_number); /* and all before it */
void cad_raft_on_applied(cad_raft*, uint64_t index);
void cad_raft_truncate(cad_raft*, uint64_t index, uint64_t term);
void cad_raft_shrink_cache(cad_raft*, uint64_t keep_from); /* never drops what is above `applied` */
void cad_raft_set_snapshot(
    cad_raft*, const cad_snapshot*); /* copied; answers the next request; null: none is on offer */
uint32_t cad_raft_next_want(cad_raft*, cad_want* out); /* 0: none left */
void cad_raft_entries_fetched(cad_raft*,
                              uint64_t token,
                              const cad_entries*); /* copied; null: the fetch failed */
void cad_raft_get_status(const cad_raft*, cad_status* out);
size_t cad_raft_get_progress(const cad_raft*,
                             cad_progress* out,
                             size_t capacity); /* leader; how many there are */

cad_entries* cad_entries_new(const cad_entry*, size_t count); /* any thread; for read and fetched */
const cad_entry* cad_entries_view(const cad_entries*, size_t* count); /* any thread */
void cad_entries_free(cad_entries*);                                  /* any thread */

#ifdef __cplusplus
}
#endif
