# Compiler and linker settings. What must agree between the library and its callers (checked views
# change layouts) is PUBLIC on cadastre_base; warnings are for our own files only.

set(CMAKE_CXX_STANDARD 23)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

function(cadastre_warnings target)
  target_compile_options(${target} PRIVATE
    $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Wpedantic -Wconversion -Werror>
    $<$<COMPILE_LANG_AND_ID:CXX,Clang>:-Wthread-safety>)
endfunction()

find_program(CADASTRE_CCACHE ccache)
if(CADASTRE_CCACHE)
  set(CMAKE_C_COMPILER_LAUNCHER "${CADASTRE_CCACHE}")
  set(CMAKE_CXX_COMPILER_LAUNCHER "${CADASTRE_CCACHE}")
endif()
find_program(CADASTRE_MOLD mold)
if(CADASTRE_MOLD)
  add_link_options(-fuse-ld=mold)
endif()

if(CADASTRE_SANITIZE)
  add_compile_options(-fsanitize=${CADASTRE_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${CADASTRE_SANITIZE})
endif()
