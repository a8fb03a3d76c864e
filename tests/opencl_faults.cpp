// An OpenCL that fails where a test wants it to. Preloaded (LD_PRELOAD), it passes on every call to
// the real one, except those that these environment variables choose:
//   OPENCL_FAULT_FUNCTION  the function, e.g. clFinish
//   OPENCL_FAULT_CALL      which of its calls fails, from 1; "3+" for the third and all after it
//   OPENCL_FAULT_CODE      the error code, e.g. -5; a function that creates something returns null
//   OPENCL_FAULT_LOG       a file that gets a line for each call that failed (optional)
// A call that fails does nothing else. Each process counts its own calls.
#include <CL/cl.h>
#include <dlfcn.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

namespace {

std::string variable(const char* name) {
  const char* const text = std::getenv(name);
  return text ? text : "";
}

// The error code of this call of the function; 0 if it is to be passed on.
cl_int fault(const char* function) {
  static std::atomic<int> calls = 0;
  if (variable("OPENCL_FAULT_FUNCTION") != function) return CL_SUCCESS;
  const std::string call = variable("OPENCL_FAULT_CALL");
  const int number = ++calls;
  const int first = std::atoi(call.c_str());
  if (number != first && !(call.ends_with('+') && number > first)) return CL_SUCCESS;
  if (std::FILE* log = std::fopen(variable("OPENCL_FAULT_LOG").c_str(), "a")) {
    std::fprintf(log, "%s %d\n", function, number);
    std::fclose(log);
  }
  return std::atoi(variable("OPENCL_FAULT_CODE").c_str());
}

// The function of that name behind this library.
template <typename Function>
Function* behind(const char* name, Function*) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

// A function that returns its error code.
template <typename Function, typename... Arguments>
cl_int call(const char* name, Function* type, Arguments... arguments) {
  const cl_int code = fault(name);
  return code == CL_SUCCESS ? behind(name, type)(arguments...) : code;
}

// A function that returns what it creates, its error code through its last argument.
template <typename Function, typename... Arguments>
auto create(const char* name, Function* type, cl_int* error, Arguments... arguments) {
  const cl_int code = fault(name);
  if (code == CL_SUCCESS) return behind(name, type)(arguments..., error);
  if (error) *error = code;
  return decltype(behind(name, type)(arguments..., error))(nullptr);
}

}  // namespace

// clang-format off
extern "C" {
cl_int clFinish(cl_command_queue queue) { return call("clFinish", clFinish, queue); }
cl_int clFlush(cl_command_queue queue) { return call("clFlush", clFlush, queue); }
cl_int clWaitForEvents(cl_uint count, const cl_event* events) {
  return call("clWaitForEvents", clWaitForEvents, count, events);
}
cl_int clGetEventProfilingInfo(cl_event event, cl_profiling_info what, size_t size, void* value, size_t* needed) {
  return call("clGetEventProfilingInfo", clGetEventProfilingInfo, event, what, size, value, needed);
}

cl_int clGetDeviceInfo(cl_device_id device, cl_device_info what, size_t size, void* value, size_t* needed) {
  return call("clGetDeviceInfo", clGetDeviceInfo, device, what, size, value, needed);
}
cl_int clBuildProgram(cl_program program, cl_uint count, const cl_device_id* devices, const char* options,
                      void (CL_CALLBACK* notify)(cl_program, void*), void* data) {
  return call("clBuildProgram", clBuildProgram, program, count, devices, options, notify, data);
}
cl_int clGetProgramBuildInfo(cl_program program, cl_device_id device, cl_program_build_info what, size_t size,
                             void* value, size_t* needed) {
  return call("clGetProgramBuildInfo", clGetProgramBuildInfo, program, device, what, size, value, needed);
}
cl_int clSetKernelArg(cl_kernel kernel, cl_uint index, size_t size, const void* value) {
  return call("clSetKernelArg", clSetKernelArg, kernel, index, size, value);
}
cl_int clGetKernelWorkGroupInfo(cl_kernel kernel, cl_device_id device, cl_kernel_work_group_info what, size_t size,
                                void* value, size_t* needed) {
  return call("clGetKernelWorkGroupInfo", clGetKernelWorkGroupInfo, kernel, device, what, size, value, needed);
}

cl_int clEnqueueNDRangeKernel(cl_command_queue queue, cl_kernel kernel, cl_uint dimensions, const size_t* offset,
                              const size_t* global, const size_t* local, cl_uint count, const cl_event* wait,
                              cl_event* event) {
  return call("clEnqueueNDRangeKernel", clEnqueueNDRangeKernel, queue, kernel, dimensions, offset, global, local,
              count, wait, event);
}
cl_int clEnqueueReadBuffer(cl_command_queue queue, cl_mem buffer, cl_bool blocking, size_t offset, size_t size,
                           void* host, cl_uint count, const cl_event* wait, cl_event* event) {
  return call("clEnqueueReadBuffer", clEnqueueReadBuffer, queue, buffer, blocking, offset, size, host, count, wait,
              event);
}
cl_int clEnqueueWriteBuffer(cl_command_queue queue, cl_mem buffer, cl_bool blocking, size_t offset, size_t size,
                            const void* host, cl_uint count, const cl_event* wait, cl_event* event) {
  return call("clEnqueueWriteBuffer", clEnqueueWriteBuffer, queue, buffer, blocking, offset, size, host, count, wait,
              event);
}
cl_int clEnqueueReadBufferRect(cl_command_queue queue, cl_mem buffer, cl_bool blocking, const size_t* origin,
                               const size_t* host_origin, const size_t* region, size_t row, size_t slice,
                               size_t host_row, size_t host_slice, void* host, cl_uint count, const cl_event* wait,
                               cl_event* event) {
  return call("clEnqueueReadBufferRect", clEnqueueReadBufferRect, queue, buffer, blocking, origin, host_origin,
              region, row, slice, host_row, host_slice, host, count, wait, event);
}
cl_int clEnqueueWriteBufferRect(cl_command_queue queue, cl_mem buffer, cl_bool blocking, const size_t* origin,
                                const size_t* host_origin, const size_t* region, size_t row, size_t slice,
                                size_t host_row, size_t host_slice, const void* host, cl_uint count,
                                const cl_event* wait, cl_event* event) {
  return call("clEnqueueWriteBufferRect", clEnqueueWriteBufferRect, queue, buffer, blocking, origin, host_origin,
              region, row, slice, host_row, host_slice, host, count, wait, event);
}
cl_int clEnqueueFillBuffer(cl_command_queue queue, cl_mem buffer, const void* pattern, size_t pattern_size,
                           size_t offset, size_t size, cl_uint count, const cl_event* wait, cl_event* event) {
  return call("clEnqueueFillBuffer", clEnqueueFillBuffer, queue, buffer, pattern, pattern_size, offset, size, count,
              wait, event);
}
cl_int clEnqueueCopyBuffer(cl_command_queue queue, cl_mem source, cl_mem target, size_t source_offset,
                           size_t target_offset, size_t size, cl_uint count, const cl_event* wait, cl_event* event) {
  return call("clEnqueueCopyBuffer", clEnqueueCopyBuffer, queue, source, target, source_offset, target_offset, size,
              count, wait, event);
}
cl_int clEnqueueUnmapMemObject(cl_command_queue queue, cl_mem memory, void* mapped, cl_uint count,
                               const cl_event* wait, cl_event* event) {
  return call("clEnqueueUnmapMemObject", clEnqueueUnmapMemObject, queue, memory, mapped, count, wait, event);
}
void* clEnqueueMapBuffer(cl_command_queue queue, cl_mem buffer, cl_bool blocking, cl_map_flags flags, size_t offset,
                         size_t size, cl_uint count, const cl_event* wait, cl_event* event, cl_int* error) {
  return create("clEnqueueMapBuffer", clEnqueueMapBuffer, error, queue, buffer, blocking, flags, offset, size, count,
                wait, event);
}

cl_context clCreateContext(const cl_context_properties* properties, cl_uint count, const cl_device_id* devices,
                           void (CL_CALLBACK* notify)(const char*, const void*, size_t, void*), void* data,
                           cl_int* error) {
  return create("clCreateContext", clCreateContext, error, properties, count, devices, notify, data);
}
cl_command_queue clCreateCommandQueue(cl_context context, cl_device_id device, cl_command_queue_properties properties,
                                      cl_int* error) {
  return create("clCreateCommandQueue", clCreateCommandQueue, error, context, device, properties);
}
cl_mem clCreateBuffer(cl_context context, cl_mem_flags flags, size_t size, void* host, cl_int* error) {
  return create("clCreateBuffer", clCreateBuffer, error, context, flags, size, host);
}
cl_mem clCreateImage(cl_context context, cl_mem_flags flags, const cl_image_format* format,
                     const cl_image_desc* description, void* host, cl_int* error) {
  return create("clCreateImage", clCreateImage, error, context, flags, format, description, host);
}
cl_program clCreateProgramWithSource(cl_context context, cl_uint count, const char** texts, const size_t* lengths,
                                     cl_int* error) {
  return create("clCreateProgramWithSource", clCreateProgramWithSource, error, context, count, texts, lengths);
}
cl_kernel clCreateKernel(cl_program program, const char* name, cl_int* error) {
  return create("clCreateKernel", clCreateKernel, error, program, name);
}

cl_int clReleaseMemObject(cl_mem memory) { return call("clReleaseMemObject", clReleaseMemObject, memory); }
cl_int clReleaseKernel(cl_kernel kernel) { return call("clReleaseKernel", clReleaseKernel, kernel); }
cl_int clReleaseProgram(cl_program program) { return call("clReleaseProgram", clReleaseProgram, program); }
cl_int clReleaseEvent(cl_event event) { return call("clReleaseEvent", clReleaseEvent, event); }
cl_int clReleaseCommandQueue(cl_command_queue queue) {
  return call("clReleaseCommandQueue", clReleaseCommandQueue, queue);
}
cl_int clReleaseContext(cl_context context) { return call("clReleaseContext", clReleaseContext, context); }
}
