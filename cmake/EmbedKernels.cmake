# Turns every file of the folders of kernels/ into a C++ source that holds its bytes, and lists them in a table
# (src/opencl/kernel_sources.hpp), so that the installed program stands alone.
set(LUGPU_KERNEL_DIR ${CMAKE_CURRENT_SOURCE_DIR}/kernels)
file(GLOB_RECURSE LUGPU_KERNEL_FILES CONFIGURE_DEPENDS ${LUGPU_KERNEL_DIR}/*.cl
     ${LUGPU_KERNEL_DIR}/*.clh ${LUGPU_KERNEL_DIR}/*.h)
set(LUGPU_KERNEL_SOURCES ${CMAKE_CURRENT_BINARY_DIR}/kernel_sources.cpp)
add_custom_command(
  OUTPUT ${LUGPU_KERNEL_SOURCES}
  COMMAND ${CMAKE_COMMAND} "-DOUTPUT=${LUGPU_KERNEL_SOURCES}"
          "-DFOLDER=${LUGPU_KERNEL_DIR}" "-DFILES=${LUGPU_KERNEL_FILES}"
          -P ${CMAKE_CURRENT_SOURCE_DIR}/cmake/write_kernel_sources.cmake
  DEPENDS ${LUGPU_KERNEL_FILES} ${CMAKE_CURRENT_SOURCE_DIR}/cmake/write_kernel_sources.cmake
  COMMENT "Embedding the kernels"
  VERBATIM)
