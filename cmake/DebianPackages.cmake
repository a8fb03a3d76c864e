# The Debian packages: their names, dependencies, and the files that only Debian wants. Made only with the
# prefix /usr.
if(NOT CMAKE_INSTALL_PREFIX STREQUAL /usr)
  return()
endif()
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME lugpu)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
if(NOT CPACK_PACKAGE_CONTACT)  # whoever gives packages to others puts a real address here
  set(CPACK_PACKAGE_CONTACT "The lugpu authors <authors@lugpu.invalid>")
endif()
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "")  # each package has its own
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_SET_DESTDIR ON)  # the RUNPATH of liblapack.so.3 is that of the installed package
set(CPACK_STRIP_FILES ON)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_GROUPING IGNORE)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_PACKAGE_SECTION math)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_ENABLE_COMPONENT_DEPENDS ON)
set(debian_dir ${CMAKE_BINARY_DIR}/debian)
find_program(GZIP gzip REQUIRED)

# DEP 5 form of LICENSE.
file(STRINGS LICENSE license_lines)
set(copyright "")
set(license "")
foreach(line IN LISTS license_lines)
  if(line MATCHES "^Copyright \\(c\\) (.*)")
    set(copyright "${CMAKE_MATCH_1}")
  elseif(copyright)
    string(APPEND license " ${line}\n")
  endif()
endforeach()
string(REGEX REPLACE "\n +\n" "\n .\n" license "${license}")
string(REGEX REPLACE "^[ \n]+" " " license "${license}")
file(WRITE ${debian_dir}/copyright "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: lugpu

Files: *
Copyright: ${copyright}
License: BSD-3-Clause
${license}")

string(TIMESTAMP today "%a, %d %b %Y %H:%M:%S +0000" UTC)
file(WRITE ${debian_dir}/changelog.Debian "lugpu (${PROJECT_VERSION}-1) unstable; urgency=medium

  * Version ${PROJECT_VERSION}; /usr/share/doc/lugpu/changelog.gz says what is new.

 -- ${CPACK_PACKAGE_CONTACT}  ${today}
")
configure_file(CHANGELOG.md ${debian_dir}/changelog COPYONLY)
execute_process(COMMAND ${GZIP} -9nf ${debian_dir}/changelog.Debian ${debian_dir}/changelog
                COMMAND_ERROR_IS_FATAL ANY)

# Control files that name the folder of libraries.
foreach(script IN ITEMS postinst prerm)
  configure_file(cmake/debian/liblugpu-lapack.${script}.in ${debian_dir}/lapack/${script} @ONLY
                 FILE_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE
                                  WORLD_READ WORLD_EXECUTE)
endforeach()
foreach(component IN ITEMS lapack scalapack)
  file(WRITE ${debian_dir}/${component}/shlibs
       "liblugpu_${component} 0 liblugpu-${component} (>= ${PROJECT_VERSION})\n")
endforeach()
file(WRITE ${debian_dir}/library/shlibs "liblugpu 0 liblugpu0 (>= ${PROJECT_VERSION})\n")
foreach(component IN ITEMS lapack scalapack library)
  file(WRITE ${debian_dir}/${component}/triggers "activate-noawait ldconfig\n")
endforeach()

# The package of a component; CONTROL: its control files, OVERRIDES: tags of lintian that do not apply.
macro(debian_package component package section summary description)
  cmake_parse_arguments(arg "" "" "RECOMMENDS;SUGGESTS;DEPENDS;CONTROL;OVERRIDES" ${ARGN})
  string(TOUPPER ${component} upper)
  list(APPEND CPACK_COMPONENTS_ALL ${component})
  set(CPACK_DEBIAN_${upper}_PACKAGE_NAME ${package})
  set(CPACK_DEBIAN_${upper}_PACKAGE_SECTION ${section})
  set(CPACK_DEBIAN_${upper}_DESCRIPTION "${summary}\n${description}")
  string(REPLACE ";" ", " CPACK_DEBIAN_${upper}_PACKAGE_RECOMMENDS "${arg_RECOMMENDS}")
  string(REPLACE ";" ", " CPACK_DEBIAN_${upper}_PACKAGE_SUGGESTS "${arg_SUGGESTS}")
  set(CPACK_COMPONENT_${upper}_DEPENDS ${arg_DEPENDS})
  list(TRANSFORM arg_CONTROL PREPEND ${debian_dir}/${component}/
       OUTPUT_VARIABLE CPACK_DEBIAN_${upper}_PACKAGE_CONTROL_EXTRA)
  install(FILES ${debian_dir}/copyright ${debian_dir}/changelog.Debian.gz
                ${debian_dir}/changelog.gz
          DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/${package} COMPONENT ${component}
          EXCLUDE_FROM_ALL)
  set(overrides "")
  foreach(tag IN ITEMS initial-upload-closes-no-bugs ${arg_OVERRIDES})
    string(APPEND overrides "${package}: ${tag} *\n")
  endforeach()
  file(WRITE ${debian_dir}/${component}/overrides "${overrides}")
  install(FILES ${debian_dir}/${component}/overrides RENAME ${package}
          DESTINATION ${CMAKE_INSTALL_DATADIR}/lintian/overrides COMPONENT ${component}
          EXCLUDE_FROM_ALL)
endmacro()

set(of_lugpu "lugpu solves dense linear systems on any OpenCL device: GPUs of all vendors,
and with PoCL every CPU. Its methods are LU decomposition with no, partial,
rook and full pivoting, Gauss-Jordan elimination, and a blocked LU for speed.
Every answer comes with its residual.")
set(driver "pocl-opencl-icd | opencl-icd")
debian_package(tool lugpu math "dense linear systems on OpenCL: solver and benchmark" "${of_lugpu}

This package has the program, which solves systems from files, advises on
pivoting and precision, and times its methods against LAPACK and the libraries
of GPUs."
  RECOMMENDS ${driver} SUGGESTS clinfo liblugpu-lapack lugpu-mpi)
if(TARGET lugpu_mpi)
  debian_package(mpi lugpu-mpi math "dense linear systems on OpenCL: several processes" "${of_lugpu}

This package lets processes that mpirun has started, on one host or on several,
share a system."
    DEPENDS tool)
endif()
# CPack adds scripts that call ldconfig.
if(TARGET lugpu_library)
  debian_package(library liblugpu0 libs "dense linear systems on OpenCL: library" "${of_lugpu}

This package has the library for programs in C++."
    RECOMMENDS ${driver} CONTROL shlibs triggers OVERRIDES maintscript-calls-ldconfig)
  debian_package(development liblugpu-dev libdevel
    "dense linear systems on OpenCL: development files" "${of_lugpu}

This package has the headers, and what CMake and pkg-config need to find the
library."
    DEPENDS library)
endif()
debian_package(lapack liblugpu-lapack libs "dense linear systems on OpenCL: drop-in LAPACK" "${of_lugpu}

This package has a library that gives LAPACK's getrf, getrs, getri, gesv, getc2
and dsgesv to unchanged programs, by LD_PRELOAD or as an alternative for
liblapack.so.3; the rest of LAPACK is then that of OpenBLAS. Installing the
package does not change which LAPACK is used."
  RECOMMENDS ${driver} CONTROL shlibs triggers postinst prerm
  # Its name needs no number, and LD_PRELOAD names its link: no program is linked to it.
  OVERRIDES maintscript-calls-ldconfig package-name-doesnt-match-sonames
            link-to-shared-library-in-wrong-package)
if(TARGET lugpu_scalapack)
  debian_package(scalapack liblugpu-scalapack libs "dense linear systems on OpenCL: drop-in ScaLAPACK" "${of_lugpu}

This package has a library that gives ScaLAPACK's p?getrf, p?getrs and p?gesv
to unchanged programs of Open MPI, by LD_PRELOAD, for grids of one row of
processes; the rest of ScaLAPACK is that which the program has."
    RECOMMENDS ${driver} CONTROL shlibs triggers
    OVERRIDES maintscript-calls-ldconfig package-name-doesnt-match-sonames
              link-to-shared-library-in-wrong-package)
endif()
include(CPack)
