# `cmake --install`: headers, static libraries, the binary, and what find_package(cadastre) reads.

include(CMakePackageConfigHelpers)
set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/cadastre")

install(EXPORT cadastreTargets NAMESPACE cadastre:: DESTINATION "${package_dir}")
file(WRITE "${CMAKE_BINARY_DIR}/cadastreConfig.cmake"
  "include(CMakeFindDependencyMacro)\n"
  "find_dependency(fmt)\n"
  "find_dependency(spdlog)\n"
  "find_dependency(roaring)\n"
  "include(\"\${CMAKE_CURRENT_LIST_DIR}/cadastreTargets.cmake\")\n")
write_basic_package_version_file("${CMAKE_BINARY_DIR}/cadastreConfigVersion.cmake"
  COMPATIBILITY SameMinorVersion)
install(FILES "${CMAKE_BINARY_DIR}/cadastreConfig.cmake" "${CMAKE_BINARY_DIR}/cadastreConfigVersion.cmake"
  DESTINATION "${package_dir}")
