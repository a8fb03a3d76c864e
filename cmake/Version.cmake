# Writes version.cpp: the version, the git revision (asked at every build) and the build type.
set(LUGPU_VERSION_SOURCE ${CMAKE_CURRENT_BINARY_DIR}/version.cpp)
add_custom_target(lugpu_version ALL
  COMMAND ${CMAKE_COMMAND} "-DOUTPUT=${LUGPU_VERSION_SOURCE}" "-DSOURCE=${CMAKE_CURRENT_SOURCE_DIR}"
          "-DVERSION=${PROJECT_VERSION}" "-DBUILD_TYPE=${CMAKE_BUILD_TYPE}"
          -P ${CMAKE_CURRENT_SOURCE_DIR}/cmake/write_version.cmake
  BYPRODUCTS ${LUGPU_VERSION_SOURCE}
  VERBATIM)
