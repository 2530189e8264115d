# bitmap_peers: the stores that bitmap tables are measured against, and ours behind the same interface.
# For the benchmark and for the test that holds each of them against a std::set.

if(NOT TARGET bitmap_peers)
  set(here "${CMAKE_SOURCE_DIR}/bench")
  include("${here}/peers/redb.cmake")
  add_library(bitmap_peers STATIC "${here}/table_store.cc" "${here}/peers/blob_store.cc"
    "${here}/peers/chunk_value.cc" "${here}/peers/croaring_store.cc" "${here}/peers/lmdb_files.cc"
    "${here}/peers/process_io.cc" "${here}/peers/redis_server.cc" "${here}/peers/redis_store.cc"
    "${here}/peers/roaring64.cc" "${here}/peers/rocksdb_store.cc" "${here}/peers/rolled_store.cc"
    "${here}/peers/set_store.cc" "${here}/peers/sqlite_store.cc" ${redb_peer_sources})
  target_include_directories(bitmap_peers PUBLIC "${CMAKE_SOURCE_DIR}")
  target_link_libraries(bitmap_peers PUBLIC cadastre::bitmap lmdb roaring rocksdb sqlite3 hiredis
    ${redb_peer_links})
  cadastre_warnings(bitmap_peers)
endif()
