# The raft engine's shim: src/log/raft/shim, built by cargo.
#
#   CADASTRE_RAFT             AUTO: built if cargo, rustc and protoc are there and the crates can be had, else left
#                             out with the reason. ON: built, or the configuration fails. OFF: no Rust at all.
#   CADASTRE_RAFT_TARGET_DIR  cargo's target folder. Presets share one: the shim is the same for all of them.
#
# Result: the target cadastre_raft_shim if it is built, and CADASTRE_RAFT_STATUS, what `cadastre --version` says.
# The crates come from cargo's cache or, once and with a limit, from its registry; a lock pins each of them. What was
# found is kept for this lock. What was missing is looked for again whenever CMake runs.

set(CADASTRE_RAFT AUTO CACHE STRING "The raft engine: AUTO, ON or OFF")
set_property(CACHE CADASTRE_RAFT PROPERTY STRINGS AUTO ON OFF)
set(CADASTRE_RAFT_TARGET_DIR "${CMAKE_BINARY_DIR}/raft_shim" CACHE PATH "Where cargo builds the raft shim")

cmake_path(SET raft_shim_dir NORMALIZE "${CMAKE_CURRENT_LIST_DIR}/../src/log/raft/shim")
set(raft_version "raft-rs 0.7.0")
set(raft_rustc_min 1.63)
set(raft_fetch_seconds_max 120)

# cadastre_raft_tool(<variable> <name> <out>): finds a program; <out> is why not, or empty.
function(cadastre_raft_tool variable name out)
  find_program(${variable} ${name})
  set(reason "")
  if(NOT ${variable} OR NOT EXISTS "${${variable}}")
    set(reason "${name} was not found")
  endif()
  set(${out} "${reason}" PARENT_SCOPE)
endfunction()

# Puts into <out> why the crates cannot be had, or nothing.
function(cadastre_raft_fetch out)
  set(reason "")
  file(SHA256 "${raft_shim_dir}/Cargo.lock" lock)
  set(key "${lock} ${CADASTRE_CARGO}")
  if(NOT CADASTRE_RAFT_FETCHED STREQUAL key)
    set(fetch "${CADASTRE_CARGO}" fetch --quiet --locked --manifest-path "${raft_shim_dir}/Cargo.toml")
    execute_process(COMMAND ${fetch} --offline RESULT_VARIABLE failed OUTPUT_QUIET ERROR_QUIET)
    if(failed)
      message(STATUS "raft: fetching crates")
      execute_process(COMMAND ${fetch} TIMEOUT ${raft_fetch_seconds_max} RESULT_VARIABLE failed
        OUTPUT_QUIET ERROR_VARIABLE said)
    endif()
    if(failed)
      message(STATUS "raft: ${said}")
      set(reason "cargo could not fetch the crates")
    else()
      set(CADASTRE_RAFT_FETCHED "${key}" CACHE INTERNAL "The lock whose crates are here")
    endif()
  endif()
  set(${out} "${reason}" PARENT_SCOPE)
endfunction()

# Puts into <out> why the shim cannot be built, or nothing.
function(cadastre_raft_obstacle out)
  foreach(tool CARGO RUSTC PROTOC)
    string(TOLOWER ${tool} name)
    cadastre_raft_tool(CADASTRE_${tool} ${name} reason)
    if(reason)
      set(${out} "${reason}" PARENT_SCOPE)
      return()
    endif()
  endforeach()
  execute_process(COMMAND "${CADASTRE_RUSTC}" --version OUTPUT_VARIABLE said ERROR_QUIET)
  string(REGEX MATCH "^rustc ([0-9.]+)" matched "${said}")
  if(NOT matched OR CMAKE_MATCH_1 VERSION_LESS raft_rustc_min)
    set(${out} "rustc is older than ${raft_rustc_min}" PARENT_SCOPE)
    return()
  endif()
  cadastre_raft_fetch(reason)
  set(${out} "${reason}" PARENT_SCOPE)
endfunction()

# One command; cargo's own depfile says when it must run again. Debug builds link the optimised shim too.
function(cadastre_raft_build)
  set(library "${CADASTRE_RAFT_TARGET_DIR}/release/libcadastre_raft.a")
  add_custom_command(OUTPUT "${library}"
    COMMAND "${CMAKE_COMMAND}" -E env "PROTOC=${CADASTRE_PROTOC}" "RUSTC=${CADASTRE_RUSTC}"
      "CARGO_TARGET_DIR=${CADASTRE_RAFT_TARGET_DIR}"
      "${CADASTRE_CARGO}" build --quiet --locked --offline --release --manifest-path "${raft_shim_dir}/Cargo.toml"
    DEPENDS "${raft_shim_dir}/Cargo.toml" "${raft_shim_dir}/Cargo.lock"
    DEPFILE "${CADASTRE_RAFT_TARGET_DIR}/release/libcadastre_raft.d"
    COMMENT "Building the raft shim"
    VERBATIM)
  add_custom_target(cadastre_raft_shim_build DEPENDS "${library}")
  add_library(cadastre_raft_shim STATIC IMPORTED GLOBAL)
  add_dependencies(cadastre_raft_shim cadastre_raft_shim_build)
  set_target_properties(cadastre_raft_shim PROPERTIES
    IMPORTED_LOCATION "${library}"
    INTERFACE_INCLUDE_DIRECTORIES "${raft_shim_dir}/include"
    INTERFACE_LINK_LIBRARIES "pthread;dl;m")
endfunction()

if(NOT CADASTRE_RAFT MATCHES "^(AUTO|ON|OFF)$")
  message(FATAL_ERROR "CADASTRE_RAFT is AUTO, ON or OFF, not '${CADASTRE_RAFT}'")
elseif(CADASTRE_RAFT STREQUAL "OFF")
  set(raft_obstacle "switched off")
else()
  cadastre_raft_obstacle(raft_obstacle)
endif()

if(NOT raft_obstacle)
  set(CADASTRE_RAFT_STATUS "${raft_version}")
  cadastre_raft_build()
elseif(CADASTRE_RAFT STREQUAL "ON")
  message(FATAL_ERROR "CADASTRE_RAFT is ON, but the raft shim cannot be built: ${raft_obstacle}")
else()
  set(CADASTRE_RAFT_STATUS "not built (${raft_obstacle})")
endif()
message(STATUS "raft: ${CADASTRE_RAFT_STATUS}")
