# BLAKE3: the official C and assembly sources, as Debian's librust-blake3-dev ships them.

file(GLOB blake3_dirs "/usr/share/cargo/registry/blake3-*/c")
if(NOT blake3_dirs)
  message(FATAL_ERROR "the BLAKE3 sources are missing: install the Debian package librust-blake3-dev")
endif()
list(SORT blake3_dirs COMPARE NATURAL)
list(GET blake3_dirs -1 CADASTRE_BLAKE3_DIR)

set(blake3_sources blake3.c blake3_dispatch.c blake3_portable.c)
set(blake3_definitions)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  list(APPEND blake3_sources blake3_sse2_x86-64_unix.S blake3_sse41_x86-64_unix.S
    blake3_avx2_x86-64_unix.S blake3_avx512_x86-64_unix.S)
else()
  list(APPEND blake3_definitions BLAKE3_USE_NEON=0)
endif()
list(TRANSFORM blake3_sources PREPEND "${CADASTRE_BLAKE3_DIR}/")

add_library(cadastre_blake3 OBJECT ${blake3_sources})
target_include_directories(cadastre_blake3 SYSTEM INTERFACE "$<BUILD_INTERFACE:${CADASTRE_BLAKE3_DIR}>")
target_compile_definitions(cadastre_blake3 PRIVATE ${blake3_definitions})
