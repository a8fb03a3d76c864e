// What a process runs on a device, and a device of another type: a layer of the OpenCL loader
// (OPENCL_LAYERS), for oclgrind_test. These environment variables choose:
//   OPENCL_WATCH_LOG     a file that gets a line for each kernel that is enqueued, once for each
//                        cl_kernel: "common/copy.clh copy_row", the file that the last #line before
//                        its definition names
//   OPENCL_WATCH_AS_CPU  if there: devices say that they are CPUs
#include <cstdlib>
#include <fstream>
#include <mutex>
#include <regex>
#include <set>
#include <string>

#include "opencl_layer.hpp"

namespace {

cl_icd_dispatch below, layer;  // what calls are handed on to, and what the loader calls

std::string source_of(cl_kernel kernel) {
  cl_program program = nullptr;
  below.clGetKernelInfo(kernel, CL_KERNEL_PROGRAM, sizeof program, &program, nullptr);
  size_t bytes = 0;
  below.clGetProgramInfo(program, CL_PROGRAM_SOURCE, 0, nullptr, &bytes);
  std::string source(bytes, '\0');
  below.clGetProgramInfo(program, CL_PROGRAM_SOURCE, bytes, source.data(), nullptr);
  return source;
}

std::string name_of(cl_kernel kernel) {
  char name[256] = "";
  below.clGetKernelInfo(kernel, CL_KERNEL_FUNCTION_NAME, sizeof name, name, nullptr);
  return name;
}

// Of the definition, which is the first that has this name after "void".
std::string file_of(const std::string& source, const std::string& name) {
  const std::regex definition("__kernel[^;{}]* void " + name + "\\(");
  std::smatch found;
  if (!std::regex_search(source, found, definition)) return "?";
  const std::string before = found.prefix();
  const size_t line = before.rfind("#line "), file = before.find('"', line) + 1;
  return before.substr(file, before.find('"', file) - file);
}

void note(cl_kernel kernel) {
  static std::mutex mutex;
  static std::set<cl_kernel> noted;
  const char* const log = std::getenv("OPENCL_WATCH_LOG");
  const std::lock_guard lock(mutex);
  if (!log || !noted.insert(kernel).second) return;
  const std::string name = name_of(kernel);
  std::ofstream(log, std::ios::app) << file_of(source_of(kernel), name) + ' ' + name + '\n';
}

cl_int CL_API_CALL enqueue(cl_command_queue queue, cl_kernel kernel, cl_uint dimensions,
                           const size_t* offset, const size_t* global, const size_t* local,
                           cl_uint events, const cl_event* list, cl_event* event) {
  note(kernel);
  return below.clEnqueueNDRangeKernel(queue, kernel, dimensions, offset, global, local, events,
                                      list, event);
}

cl_int CL_API_CALL device_info(cl_device_id device, cl_device_info what, size_t bytes, void* value,
                               size_t* needed) {
  const cl_int status = below.clGetDeviceInfo(device, what, bytes, value, needed);
  if (status == CL_SUCCESS && what == CL_DEVICE_TYPE && value && std::getenv("OPENCL_WATCH_AS_CPU"))
    *static_cast<cl_device_type*>(value) = CL_DEVICE_TYPE_CPU;
  return status;
}

}  // namespace

extern "C" {

cl_int clGetLayerInfo(cl_layer_info what, size_t size, void* value, size_t* needed) {
  return layer_info("opencl_watch", what, size, value, needed);
}

cl_int clInitLayer(cl_uint count, const cl_icd_dispatch* target, cl_uint* count_here,
                   const cl_icd_dispatch** table) {
  const cl_int status = init_layer(count, target, count_here, table, below, layer);
  if (status != CL_SUCCESS) return status;
  layer.clEnqueueNDRangeKernel = enqueue;
  layer.clGetDeviceInfo = device_info;
  return CL_SUCCESS;
}

}  // extern "C"
