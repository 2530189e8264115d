/* The C interface of the Rust crate beside this file. Keys are bytes; a failure ends the process.
   A store is used by one thread at a time, a reader by one thread; readers do not outlive their store. */

#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct RedbPeerStore RedbPeerStore;
typedef struct RedbPeerReader RedbPeerReader;
typedef void (*RedbPeerVisit)(void* context, const uint64_t* ids, size_t count);

/* "redb 3.1.3, ...": writes at most `size` bytes and answers how many. */
size_t redb_peer_versions(char* out, size_t size);

RedbPeerStore* redb_peer_open(const char* path, size_t size);
void redb_peer_close(RedbPeerStore* store);
/* Commits to come are on the device when they return; at first they are not. */
void redb_peer_set_durable(RedbPeerStore* store, bool durable);
void redb_peer_begin(RedbPeerStore* store);
void redb_peer_insert(RedbPeerStore* store, const char* key, size_t size, uint64_t id);
void redb_peer_insert_many(
    RedbPeerStore* store, const char* key, size_t size, const uint64_t* ids, size_t count);
void redb_peer_remove_many(
    RedbPeerStore* store, const char* key, size_t size, const uint64_t* ids, size_t count);
void redb_peer_commit(RedbPeerStore* store);
/* Flushes, then counts the pages in use. */
uint64_t redb_peer_live_bytes(RedbPeerStore* store);

RedbPeerReader* redb_peer_reader(RedbPeerStore* store);
void redb_peer_end_reader(RedbPeerReader* reader);
void redb_peer_renew(RedbPeerReader* reader);
bool redb_peer_contains(const RedbPeerReader* reader, const char* key, size_t size, uint64_t id);
uint64_t redb_peer_count_present(
    const RedbPeerReader* reader, const char* key, size_t size, const uint64_t* ids, size_t count);
uint64_t redb_peer_count(const RedbPeerReader* reader, const char* key, size_t size);
/* The ids from `first` to `last`, in order, in blocks. */
void redb_peer_visit(const RedbPeerReader* reader,
                     const char* key,
                     size_t size,
                     uint64_t first,
                     uint64_t last,
                     RedbPeerVisit visit,
                     void* context);
/* 0: intersection, 1: union, 2: difference. */
uint64_t redb_peer_count_of(const RedbPeerReader* reader,
                            uint32_t operation,
                            const char* a,
                            size_t a_size,
                            const char* b,
                            size_t b_size);

#ifdef __cplusplus
}
#endif
