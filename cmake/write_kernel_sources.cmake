# Usage: cmake -DOUTPUT=FILE -DFOLDER=kernels "-DFILES=kernels/x/a.cl;kernels/y/b.cl" -P write_kernel_sources.cmake
# The names in the table are relative to FOLDER.
string(CONCAT text "// Generated from kernels/. Do not edit.\n#include \"opencl/kernel_sources.hpp\"\n\n"
         "namespace lugpu {\nconst std::vector<KernelSource>& kernel_sources() {\n"
         "  static const std::vector<KernelSource> sources = {\n")
foreach(file IN LISTS FILES)
  file(RELATIVE_PATH name "${FOLDER}" "${file}")
  file(READ "${file}" bytes)
  string(APPEND text "      {\"${name}\", R\"lugpu_cl(${bytes})lugpu_cl\"},\n")
endforeach()
string(APPEND text "  };\n  return sources;\n}\n}  // namespace lugpu\n")
file(WRITE "${OUTPUT}" "${text}")
