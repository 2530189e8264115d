# log_raft_peers: what the replicated log is measured against: etcd with several members. For the benchmark and for the
# test that shows that the members are a cluster.

add_library(log_raft_peers STATIC peers/etcd_cluster.cc)
target_include_directories(log_raft_peers PUBLIC "${CMAKE_SOURCE_DIR}")
target_link_libraries(log_raft_peers PUBLIC grpc_peers PRIVATE cadastre_proto_etcd_messages fmt::fmt)
cadastre_warnings(log_raft_peers)
