# cadastre_room(<name> [FOLDERS …] [LINK …]): the library cadastre::<name> from src/<name> and the folders
# named (backends, engines), and its test binary.
#
# Sources are every *.cc beside the room's CMakeLists.txt except *_test.cc, which make up
# <name>_test. The library links exactly the rooms of its row in cmake/house.txt that exist in this
# tree; a room that a later release adds joins by creating its folder.

set(CADASTRE_HOUSE "${CMAKE_SOURCE_DIR}/cmake/house.txt")
set_property(DIRECTORY "${CMAKE_SOURCE_DIR}" APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${CADASTRE_HOUSE}")

function(cadastre_row name out)
  file(STRINGS "${CADASTRE_HOUSE}" lines REGEX "^${name}:")
  list(LENGTH lines count)
  if(NOT count EQUAL 1)
    message(FATAL_ERROR "room '${name}' has ${count} rows in cmake/house.txt, it needs one")
  endif()
  string(REGEX REPLACE "^${name}:[ ]*" "" row "${lines}")
  string(REGEX REPLACE "[ ]+" ";" row "${row}")
  set(${out} "${row}" PARENT_SCOPE)
endfunction()

function(cadastre_room name)
  cmake_parse_arguments(arg "" "" "FOLDERS;LINK" ${ARGN})
  list(TRANSFORM arg_FOLDERS APPEND "/*.cc" OUTPUT_VARIABLE folder_sources)
  file(GLOB sources CONFIGURE_DEPENDS "*.cc" ${folder_sources})
  file(GLOB headers CONFIGURE_DEPENDS "*.h")
  set(tests ${sources})
  list(FILTER sources EXCLUDE REGEX "_test\\.cc$")
  list(FILTER tests INCLUDE REGEX "_test\\.cc$")

  set(target "cadastre_${name}")
  add_library(${target} STATIC ${sources})
  add_library(cadastre::${name} ALIAS ${target})
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${name})
  target_include_directories(${target} PUBLIC
    "$<BUILD_INTERFACE:${CMAKE_SOURCE_DIR}/src>"
    "$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>"
    "$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/cadastre>")
  target_compile_features(${target} PUBLIC cxx_std_23)
  target_link_libraries(${target} PRIVATE ${arg_LINK})
  cadastre_warnings(${target})
  # What users run is compiled for speed; the tests around it need not be. Nobody replaces our functions at
  # load time, so the compiler may inline what is position-independent too (clang does so by itself).
  target_compile_options(${target} PRIVATE "$<$<CONFIG:Release>:-O3>"
    "$<$<AND:$<CONFIG:Release>,$<CXX_COMPILER_ID:GNU>>:-fno-semantic-interposition>")

  if(CADASTRE_FUZZ)  # What the fuzzer is to find its way in. Tests around it run the same code.
    target_compile_options(${target} PRIVATE -fsanitize=fuzzer-no-link)
  endif()

  cadastre_row(${name} row)
  foreach(lower IN LISTS row)
    if(TARGET cadastre_${lower})
      target_link_libraries(${target} PUBLIC cadastre_${lower})
    endif()
  endforeach()

  install(TARGETS ${target} EXPORT cadastreTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
  list(FILTER headers EXCLUDE REGEX "_testing\\.h$")
  install(FILES ${headers} DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/cadastre/${name}")
  foreach(folder IN LISTS arg_FOLDERS)
    file(GLOB headers CONFIGURE_DEPENDS "${folder}/*.h")
    list(FILTER headers EXCLUDE REGEX "_testing\\.h$")
    install(FILES ${headers} DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/cadastre/${name}/${folder}")
  endforeach()

  if(CADASTRE_TESTS AND tests)
    cadastre_test(${name}_test SOURCES ${tests} LINK ${target})
  endif()
endfunction()

# cadastre_test(<name> SOURCES … LINK … [FILTER …]): one GoogleTest binary; every TEST that the filter takes becomes a
# CTest entry called <preset>.<suite>.<test>, so that one run can hold several presets.
function(cadastre_test name)
  cmake_parse_arguments(arg "" "FILTER" "SOURCES;LINK" ${ARGN})
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE ${arg_LINK} rapidcheck GTest::gtest GTest::gtest_main)
  cadastre_warnings(${name})
  # Only where it is used: a path in every command would keep two clones from sharing a ccache.
  foreach(source IN LISTS arg_SOURCES)
    file(STRINGS "${source}" uses REGEX "CADASTRE_SOURCE_DIR" LIMIT_COUNT 1)
    if(uses)
      set_source_files_properties("${source}" PROPERTIES
        COMPILE_DEFINITIONS "CADASTRE_SOURCE_DIR=\"${CMAKE_SOURCE_DIR}\"")
    endif()
  endforeach()
  # Less optimisation than the libraries: tests compile in half the time. Properties run 10,000 cases,
  # and a tenth of that where a sanitizer slows each one.
  if(CADASTRE_SANITIZE)
    target_compile_options(${name} PRIVATE -O0)
    set(cases 1000)
  else()
    target_compile_options(${name} PRIVATE $<$<CONFIG:Release>:-O1>)
    set(cases 10000)
  endif()
  if(NOT arg_FILTER)
    set(arg_FILTER "*")
  endif()
  gtest_discover_tests(${name}
    TEST_FILTER "${arg_FILTER}"
    TEST_PREFIX "${CADASTRE_PRESET}."
    DISCOVERY_TIMEOUT 60
    PROPERTIES TIMEOUT 300 LABELS "${CADASTRE_PRESET}" ENVIRONMENT "RC_PARAMS=max_success=${cases}"
    ENVIRONMENT_MODIFICATION "TSAN_OPTIONS=set:suppressions=${CMAKE_SOURCE_DIR}/cmake/tsan_suppressions.txt")
endfunction()

# cadastre_process_tests(<file> [words…]): each test_… of <file>_test.py beside the CMakeLists.txt, run with the binary and the
# words, as <preset>.<file>.<test>. By Debian's Python, which has Debian's grpcio.
find_program(CADASTRE_DEBIAN_PYTHON python3 PATHS /usr/bin NO_DEFAULT_PATH REQUIRED)
function(cadastre_process_tests file)
  set(script "${CMAKE_CURRENT_SOURCE_DIR}/${file}_test.py")
  file(STRINGS "${script}" process_tests REGEX "^    def test_")
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${script}")
  foreach(line IN LISTS process_tests)
    string(REGEX REPLACE "^    def (test_[a-z0-9_]+).*" "\\1" test "${line}")
    string(REGEX REPLACE "^test_" "" name "${test}")
    add_test(NAME "${CADASTRE_PRESET}.${file}.${name}"
      COMMAND "${CADASTRE_DEBIAN_PYTHON}" "${script}" $<TARGET_FILE:cadastre> ${ARGN} ${test})
    set_tests_properties("${CADASTRE_PRESET}.${file}.${name}" PROPERTIES TIMEOUT 300 LABELS "${CADASTRE_PRESET}")
  endforeach()
endfunction()
