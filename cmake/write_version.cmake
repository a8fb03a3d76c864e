# Usage: cmake -DOUTPUT=FILE -DSOURCE=DIR -DVERSION=V -DBUILD_TYPE=T -P write_version.cmake
execute_process(COMMAND git -C "${SOURCE}" describe --always --dirty --abbrev=12
                OUTPUT_VARIABLE revision OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
string(CONCAT text "#include \"base/version.hpp\"\n\nnamespace lugpu {\nconst char* version() { return \"${VERSION}\"; }\n"
         "const char* git_revision() { return \"${revision}\"; }\n"
         "const char* build_type() { return \"${BUILD_TYPE}\"; }\n}  // namespace lugpu\n")
set(old "")
if(EXISTS "${OUTPUT}")
  file(READ "${OUTPUT}" old)
endif()
if(NOT old STREQUAL text)
  file(WRITE "${OUTPUT}" "${text}")
endif()
