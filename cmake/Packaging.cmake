# What is installed, and the Debian packages that CPack makes of it:
#   lugpu           the program, its man pages, completions and documents   component tool
#   liblugpu0       the library                                             component library
#   liblugpu-dev    headers, CMake's package files, lugpu.pc                component development
#   liblugpu-lapack the drop-in LAPACK                                      component lapack
#   lugpu-mpi       the plug-in for several processes, with Open MPI        component mpi
#   liblugpu-scalapack  the drop-in ScaLAPACK, likewise                     component scalapack
# Packages need CMAKE_INSTALL_PREFIX=/usr, where Debian keeps libraries by architecture:
#   cmake --preset package && cmake --build --preset package --target package

if(TARGET lugpu)
  # The program writes its man pages and completions itself.
  set(LUGPU_MANUAL ${CMAKE_BINARY_DIR}/manual)
  add_custom_command(
    OUTPUT ${LUGPU_MANUAL}.stamp
    COMMAND ${CMAKE_COMMAND} "-DPROGRAM=$<TARGET_FILE:lugpu>" "-DOUTPUT=${LUGPU_MANUAL}"
            -P ${PROJECT_SOURCE_DIR}/cmake/write_manual.cmake
    COMMAND ${CMAKE_COMMAND} -E touch ${LUGPU_MANUAL}.stamp
    DEPENDS lugpu ${PROJECT_SOURCE_DIR}/cmake/write_manual.cmake
    COMMENT "Writing the man pages and completions"
    VERBATIM)
  add_custom_target(lugpu_manual ALL DEPENDS ${LUGPU_MANUAL}.stamp)

  install(TARGETS lugpu RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT tool)
  install(DIRECTORY ${LUGPU_MANUAL}/man1 DESTINATION ${CMAKE_INSTALL_MANDIR} COMPONENT tool)
  install(DIRECTORY ${LUGPU_MANUAL}/bash-completion ${LUGPU_MANUAL}/zsh ${LUGPU_MANUAL}/fish
          DESTINATION ${CMAKE_INSTALL_DATADIR} COMPONENT tool)
  install(FILES README.md DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT tool)
  install(DIRECTORY docs/ DESTINATION ${CMAKE_INSTALL_DOCDIR}/docs COMPONENT tool
          FILES_MATCHING PATTERN "*.md" PATTERN "*.json" PATTERN "*.svg")
endif()
# Debian's packages have these in Debian's form (DebianPackages.cmake).
install(FILES LICENSE CHANGELOG.md DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT plain_documents)

if(TARGET lugpu_library)
  install(TARGETS lugpu_library EXPORT lugpuTargets
          LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT library
                  NAMELINK_COMPONENT development)
  install(DIRECTORY include/lugpu DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT development)

  include(CMakePackageConfigHelpers)
  set(LUGPU_CONFIG_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/lugpu)
  configure_package_config_file(cmake/lugpuConfig.cmake.in lugpuConfig.cmake
                                INSTALL_DESTINATION ${LUGPU_CONFIG_DIR})
  write_basic_package_version_file(lugpuConfigVersion.cmake COMPATIBILITY SameMinorVersion)
  install(FILES ${CMAKE_CURRENT_BINARY_DIR}/lugpuConfig.cmake
                ${CMAKE_CURRENT_BINARY_DIR}/lugpuConfigVersion.cmake
          DESTINATION ${LUGPU_CONFIG_DIR} COMPONENT development)
  install(EXPORT lugpuTargets NAMESPACE lugpu:: DESTINATION ${LUGPU_CONFIG_DIR}
          COMPONENT development)
  file(RELATIVE_PATH LUGPU_PC_TO_PREFIX /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
  string(REGEX REPLACE "/$" "" LUGPU_PC_TO_PREFIX "${LUGPU_PC_TO_PREFIX}")
  configure_file(cmake/lugpu.pc.in lugpu.pc @ONLY)
  install(FILES ${CMAKE_CURRENT_BINARY_DIR}/lugpu.pc
          DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT development)
endif()

if(TARGET lugpu_lapack)
  # Programs name the drop-in in LD_PRELOAD rather than link to it, so its link without a number belongs
  # to it and not to the files for developers.
  set_target_properties(lugpu_lapack PROPERTIES SOVERSION 0)
  install(TARGETS lugpu_lapack LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT lapack)
  install(TARGETS lugpu_liblapack LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/lugpu COMPONENT lapack
          NAMELINK_SKIP)
  install(CODE "set(LUGPU_LIBDIR \"${CMAKE_INSTALL_LIBDIR}\")" COMPONENT lapack)
  install(SCRIPT cmake/SetRunpath.cmake COMPONENT lapack)
endif()

if(TARGET lugpu_mpi)  # where process_group() looks for it
  install(TARGETS lugpu_mpi LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/lugpu COMPONENT mpi)
  set_target_properties(lugpu_scalapack PROPERTIES SOVERSION 0)
  install(TARGETS lugpu_scalapack LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT scalapack)
endif()

if(TARGET lugpu)
  include(cmake/DebianPackages.cmake)
endif()
