# coord_durable_peers: what durable coordination is measured against: a queue in PostgreSQL, and etcd's own API. For
# the benchmark and for the test that shows the peers' guarantees.

find_package(PkgConfig REQUIRED)
pkg_check_modules(LIBPQ REQUIRED IMPORTED_TARGET libpq)

add_library(grpc_peers STATIC closed_loop.cc peers/etcd_server.cc peers/grpc_channels.cc peers/grpc_loop.cc
  peers/grpc_streams.cc)
target_include_directories(grpc_peers PUBLIC "${CMAKE_SOURCE_DIR}")
target_link_libraries(grpc_peers PUBLIC cadastre::base PRIVATE PkgConfig::GRPC fmt::fmt)
cadastre_warnings(grpc_peers)

add_library(coord_durable_peers STATIC peers/etcd_talk.cc peers/postgres_connection.cc peers/postgres_queue.cc
  peers/postgres_queue_load.cc peers/postgres_server.cc)
target_include_directories(coord_durable_peers PUBLIC "${CMAKE_SOURCE_DIR}")
target_link_libraries(coord_durable_peers PUBLIC grpc_peers PkgConfig::LIBPQ fmt::fmt
  PRIVATE cadastre_proto_etcd_messages)
cadastre_warnings(coord_durable_peers)
