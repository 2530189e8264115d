# The wire: C++ made from proto/ into the build directory, one library for each door.
#
#   cadastre_proto        messages of cadastre/v1 and what gRPC carries in statuses
#   cadastre_proto_grpc   the services of cadastre/v1, for `client` and `server`
#   cadastre_proto_etcd   etcd's API, for `coord/etcd`
#   cadastre_proto_files  what protoc makes, and nothing compiled, for tools that read code

find_package(PkgConfig REQUIRED)
pkg_check_modules(GRPC REQUIRED IMPORTED_TARGET grpc++)
pkg_check_modules(PROTOBUF REQUIRED IMPORTED_TARGET protobuf)
find_program(CADASTRE_PROTOC protoc REQUIRED)
find_program(CADASTRE_GRPC_PLUGIN grpc_cpp_plugin REQUIRED)

set(CADASTRE_PROTO_DIR "${CMAKE_BINARY_DIR}/proto")
file(MAKE_DIRECTORY "${CADASTRE_PROTO_DIR}")

# cadastre_proto_library(<target> [GRPC] FILES a/b.proto … [LINK …])
function(cadastre_proto_library target)
  cmake_parse_arguments(arg "GRPC" "" "FILES;LINK" ${ARGN})
  set(sources)
  foreach(file IN LISTS arg_FILES)
    string(REGEX REPLACE "\\.proto$" "" stem "${file}")
    set(out "${CADASTRE_PROTO_DIR}/${stem}")
    if(arg_GRPC)
      add_custom_command(OUTPUT "${out}.grpc.pb.cc" "${out}.grpc.pb.h"
        COMMAND "${CADASTRE_PROTOC}" "--grpc_out=${CADASTRE_PROTO_DIR}"
          "--plugin=protoc-gen-grpc=${CADASTRE_GRPC_PLUGIN}" "-I${CMAKE_SOURCE_DIR}/proto" "${file}"
        DEPENDS "${CMAKE_SOURCE_DIR}/proto/${file}" VERBATIM)
      set(made "${out}.grpc.pb")
    else()
      add_custom_command(OUTPUT "${out}.pb.cc" "${out}.pb.h"
        COMMAND "${CADASTRE_PROTOC}" "--cpp_out=${CADASTRE_PROTO_DIR}" "-I${CMAKE_SOURCE_DIR}/proto" "${file}"
        DEPENDS "${CMAKE_SOURCE_DIR}/proto/${file}" VERBATIM)
      set(made "${out}.pb")
    endif()
    list(APPEND sources "${made}.cc" "${made}.h")
    if(file MATCHES "^cadastre/")  # Our own service, for whoever calls it from C++.
      cmake_path(GET file PARENT_PATH folder)
      install(FILES "${made}.h" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/${folder}")
    endif()
  endforeach()
  set_property(GLOBAL APPEND PROPERTY cadastre_proto_files ${sources})
  add_library(${target} STATIC ${sources})
  set_target_properties(${target} PROPERTIES EXPORT_NAME "${target}")
  # Made by others: their warnings are not ours to settle.
  target_include_directories(${target} SYSTEM PUBLIC "$<BUILD_INTERFACE:${CADASTRE_PROTO_DIR}>")
  target_compile_options(${target} PRIVATE -w)
  target_link_libraries(${target} PUBLIC ${arg_LINK})
  install(TARGETS ${target} EXPORT cadastreTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
endfunction()

cadastre_proto_library(cadastre_proto FILES cadastre/v1/admin.proto cadastre/v1/coordination.proto cadastre/v1/topology.proto google/rpc/status.proto
  LINK "$<BUILD_INTERFACE:PkgConfig::PROTOBUF>" "$<INSTALL_INTERFACE:protobuf>")
cadastre_proto_library(cadastre_proto_grpc GRPC FILES cadastre/v1/admin.proto cadastre/v1/coordination.proto
  LINK cadastre_proto "$<BUILD_INTERFACE:PkgConfig::GRPC>" "$<INSTALL_INTERFACE:grpc++>" "$<INSTALL_INTERFACE:grpc>" "$<INSTALL_INTERFACE:gpr>")
cadastre_proto_library(cadastre_proto_etcd_messages FILES etcd/rpc.proto
  LINK "$<BUILD_INTERFACE:PkgConfig::PROTOBUF>" "$<INSTALL_INTERFACE:protobuf>")
cadastre_proto_library(cadastre_proto_etcd GRPC FILES etcd/rpc.proto
  LINK cadastre_proto_etcd_messages "$<BUILD_INTERFACE:PkgConfig::GRPC>" "$<INSTALL_INTERFACE:grpc++>" "$<INSTALL_INTERFACE:grpc>" "$<INSTALL_INTERFACE:gpr>")

get_property(proto_files GLOBAL PROPERTY cadastre_proto_files)
add_custom_target(cadastre_proto_files DEPENDS ${proto_files})
