# Run by the installation: the RUNPATH of liblapack.so.3 becomes the folder of the drop-in under the
# prefix that it is installed to. LUGPU_LIBDIR: that folder, relative to the prefix or absolute.
cmake_path(ABSOLUTE_PATH LUGPU_LIBDIR BASE_DIRECTORY "${CMAKE_INSTALL_PREFIX}" NORMALIZE)
file(RPATH_SET FILE "$ENV{DESTDIR}${LUGPU_LIBDIR}/lugpu/liblapack.so.3" NEW_RPATH "${LUGPU_LIBDIR}")
