# Runs PROGRAM on a fresh DIRECTORY and holds its output against the file EXPECTED.
file(REMOVE_RECURSE "${DIRECTORY}")
execute_process(COMMAND "${PROGRAM}" "${DIRECTORY}" OUTPUT_VARIABLE said RESULT_VARIABLE status)
file(READ "${EXPECTED}" expected)
if(NOT status EQUAL 0 OR NOT said STREQUAL expected)
  message(FATAL_ERROR "status ${status}, said:\n${said}expected:\n${expected}")
endif()
file(REMOVE_RECURSE "${DIRECTORY}")
