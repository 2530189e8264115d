# redb_peer: the Rust original as a static library, where cargo is there and its crates can be had: from
# cargo's own cache, else over the network. Without them the store's absence is compiled in, and the
# report says that the peer was not there.

set(redb_peer_from "${CMAKE_SOURCE_DIR}/bench/peers/redb_extras")
set(redb_peer_out "${CMAKE_BINARY_DIR}/redb_extras")
set(redb_peer_library "${redb_peer_out}/release/libredb_extras_peer.a")

find_program(CADASTRE_CARGO cargo HINTS "$ENV{CARGO_HOME}/bin" "$ENV{HOME}/.cargo/bin")
set(redb_peer_found FALSE)
if(CADASTRE_CARGO)
  foreach(reach IN ITEMS --offline "")
    execute_process(COMMAND "${CADASTRE_CARGO}" fetch --locked ${reach}
      --manifest-path "${redb_peer_from}/Cargo.toml" TIMEOUT 120 RESULT_VARIABLE failed OUTPUT_QUIET ERROR_QUIET)
    if(failed EQUAL 0)
      set(redb_peer_found TRUE)
      break()
    endif()
  endforeach()
endif()

if(redb_peer_found)
  add_custom_command(OUTPUT "${redb_peer_library}"
    COMMAND "${CADASTRE_CARGO}" build --quiet --release --locked --offline
      --manifest-path "${redb_peer_from}/Cargo.toml" --target-dir "${redb_peer_out}"
    DEPENDS "${redb_peer_from}/Cargo.toml" "${redb_peer_from}/Cargo.lock" "${redb_peer_from}/src/lib.rs"
    COMMENT "Building the Rust original with cargo")
  add_custom_target(redb_peer_build DEPENDS "${redb_peer_library}")
  add_library(redb_peer STATIC IMPORTED)
  set_target_properties(redb_peer PROPERTIES IMPORTED_LOCATION "${redb_peer_library}")
  add_dependencies(redb_peer redb_peer_build)
  set(redb_peer_sources "${CMAKE_SOURCE_DIR}/bench/peers/redb_store.cc")
  set(redb_peer_links redb_peer)
else()
  message(STATUS "The Rust original is not measured: no cargo, or its crates cannot be had")
  set(redb_peer_sources "${CMAKE_SOURCE_DIR}/bench/peers/redb_store_absent.cc")
  set(redb_peer_links "")
endif()
