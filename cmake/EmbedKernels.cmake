# Turns every file of kernels/ into a C++ source that holds its bytes, and lists them in a table
# (src/opencl/kernel_sources.hpp), so that the installed program stands alone.
file(GLOB LUGPU_KERNEL_FILES CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/kernels/*.cl
     ${CMAKE_CURRENT_SOURCE_DIR}/kernels/*.clh)
set(LUGPU_KERNEL_SOURCES ${CMAKE_CURRENT_BINARY_DIR}/kernel_sources.cpp)
add_custom_command(
  OUTPUT ${LUGPU_KERNEL_SOURCES}
  COMMAND ${CMAKE_COMMAND} "-DOUTPUT=${LUGPU_KERNEL_SOURCES}" "-DFILES=${LUGPU_KERNEL_FILES}"
          -P ${CMAKE_CURRENT_SOURCE_DIR}/cmake/write_kernel_sources.cmake
  DEPENDS ${LUGPU_KERNEL_FILES} ${CMAKE_CURRENT_SOURCE_DIR}/cmake/write_kernel_sources.cmake
  COMMENT "Embedding the kernels"
  VERBATIM)
