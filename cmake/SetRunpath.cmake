# Run by the installation: the RUNPATH of liblapack.so.3 becomes the folder of the drop-in under the
# prefix that it is installed to; none where every program looks anyway.
# LUGPU_LIBDIR: that folder, relative to the prefix or absolute.
cmake_path(ABSOLUTE_PATH LUGPU_LIBDIR BASE_DIRECTORY "${CMAKE_INSTALL_PREFIX}" NORMALIZE)
set(LUGPU_LIBLAPACK "$ENV{DESTDIR}${LUGPU_LIBDIR}/lugpu/liblapack.so.3")
if(LUGPU_LIBDIR MATCHES "^/usr/lib(/[^/]+-linux-gnu[^/]*)?$")
  file(RPATH_REMOVE FILE "${LUGPU_LIBLAPACK}")
else()
  file(RPATH_SET FILE "${LUGPU_LIBLAPACK}" NEW_RPATH "${LUGPU_LIBDIR}")
endif()
