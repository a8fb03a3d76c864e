// An OpenCL that misbehaves where a test wants it to: a layer of the OpenCL loader (OPENCL_LAYERS),
// which hands every call on to the device, except those that these environment variables choose:
//   OPENCL_FAULT_FUNCTION  the function, e.g. clFinish
//   OPENCL_FAULT_CALL      which of its calls, from 1; "3+" for the third and all after it
//   OPENCL_FAULT_KIND      what becomes of them:
//     error (default)  they do nothing and return OPENCL_FAULT_CODE, e.g. -5; what creates
//     something
//                      returns null; 0 hands the call on
//     drop             a command is not enqueued, and success is returned
//     flip             one byte of what is read or written, in the middle, is changed by the bits
//     of
//                      OPENCL_FAULT_CODE, e.g. 64: the exponent of a number
//     hang             they never return
//   OPENCL_FAULT_LOG       a file that gets a line for each of these calls (optional)
//   OPENCL_FAULT_SUMMARY   a file that gets at the end of the process how often each function was
//                          called, and what is left (optional): "clFinish 3", "live handles 0"
//   OPENCL_FAULT_LACKS     what no device has: "images", "double" or both (optional)
// Each process counts its own calls, anew when the variables change. A program that links to this,
// as some tests do, has the layer too, and what is left from opencl_faults_live().
#include <dlfcn.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

#include "opencl_layer.hpp"

namespace {

cl_icd_dispatch below, layer;  // what calls are handed on to, and what the loader calls

std::string variable(const char* name) {
  const char* const text = std::getenv(name);
  return text ? text : "";
}

enum class Kind { none, error, drop, flip, hang };

struct Fault {
  Kind kind = Kind::none;
  int code = 0;
};

// What is counted, of all threads.
struct Counts {
  std::mutex mutex;
  std::string choice;  // the variables
  int chosen = 0;      // calls of OPENCL_FAULT_FUNCTION since they changed
  std::map<std::string, int> calls;
  struct Handle {
    int references = 0;
    std::size_t bytes = 0;
  };
  std::map<const void*, Handle> live;
};

Counts& counts() {
  static Counts* const all = new Counts;  // outlives whatever releases at the end of the process
  return *all;
}

// What is to become of this call.
Fault fault_of(const char* function) {
  const std::lock_guard lock(counts().mutex);
  ++counts().calls[function];
  const std::string call = variable("OPENCL_FAULT_CALL");
  const std::string choice = variable("OPENCL_FAULT_FUNCTION") + ' ' + call + ' ' +
                             variable("OPENCL_FAULT_KIND") + ' ' + variable("OPENCL_FAULT_CODE");
  if (std::exchange(counts().choice, choice) != choice) counts().chosen = 0;
  if (variable("OPENCL_FAULT_FUNCTION") != function) return {};
  const int number = ++counts().chosen;
  const int first = std::atoi(call.c_str());
  if (number != first && !(call.ends_with('+') && number > first)) return {};
  if (std::FILE* log = std::fopen(variable("OPENCL_FAULT_LOG").c_str(), "a")) {
    std::fprintf(log, "%s %d\n", function, number);
    std::fclose(log);
  }
  const std::string kind = variable("OPENCL_FAULT_KIND");
  const int code = std::atoi(variable("OPENCL_FAULT_CODE").c_str());
  if (kind == "drop") return {Kind::drop, code};
  if (kind == "flip") return {Kind::flip, code};
  if (kind == "hang") return {Kind::hang, code};
  return {code == CL_SUCCESS ? Kind::none : Kind::error, code};
}

// A handle that was created or retained.
void add(const void* handle, std::size_t bytes = 0) {
  if (!handle) return;
  const std::lock_guard lock(counts().mutex);
  Counts::Handle& entry = counts().live[handle];
  ++entry.references;
  entry.bytes += bytes;
}

void release(const void* handle) {
  const std::lock_guard lock(counts().mutex);
  const auto found = counts().live.find(handle);
  if (found != counts().live.end() && --found->second.references == 0) counts().live.erase(found);
}

// The byte to flip of a block of `size` bytes: the last one of the eight in its middle, which has
// sign and exponent of a double and of every second float.
std::size_t middle(std::size_t size) {
  return size < 8 ? size - 1 : size / 16 * 8 + 7;
}

// The arguments of transfers between a buffer and the host's memory, which is void* or const void*.
template <typename Host>
using Transfer = std::tuple<cl_command_queue, cl_mem, cl_bool, size_t, size_t, Host, cl_uint,
                            const cl_event*, cl_event*>;
template <typename Host>
using RectTransfer =
    std::tuple<cl_command_queue, cl_mem, cl_bool, const size_t*, const size_t*, const size_t*,
               size_t, size_t, size_t, size_t, Host, cl_uint, const cl_event*, cl_event*>;

char* byte_at(const void* host, std::size_t offset) {
  return static_cast<char*>(const_cast<void*>(host)) + offset;
}

// The byte of the host's memory to flip in a transfer, which is to be done at once; null of other
// calls.
template <typename Host>
char* byte_of(Transfer<Host>& all) {
  std::get<2>(all) = CL_TRUE;
  return byte_at(std::get<5>(all), middle(std::get<4>(all)));
}
template <typename Host>
char* byte_of(RectTransfer<Host>& all) {
  std::get<2>(all) = CL_TRUE;
  const size_t *const origin = std::get<4>(all), *const region = std::get<5>(all);
  const size_t row = std::get<8>(all) > 0 ? std::get<8>(all) : region[0];
  return byte_at(std::get<10>(all),
                 (origin[1] + region[1] / 2) * row + origin[0] + middle(region[0]));
}
template <typename... Others>
char* byte_of(std::tuple<Others...>&) {
  return nullptr;
}

template <auto Member>
struct Call;

// The call of the function at Member of the table of functions.
template <typename Result, typename... Arguments,
          Result (CL_API_CALL* cl_icd_dispatch::*Member)(Arguments...)>
struct Call<Member> {
  using All = std::tuple<Arguments...>;
  static constexpr std::size_t kCount = sizeof...(Arguments);
  static inline std::string name;

  template <auto Other>
  static constexpr bool is() {
    return std::is_same_v<Call, Call<Other>>;
  }
  static bool begins(const char* text) { return name.starts_with(text); }

  static Result pass_on(const All& all) { return std::apply(below.*Member, all); }

  // A function that creates something returns its error through its last argument.
  static Result fail(const All& all, cl_int code) {
    if constexpr (std::is_pointer_v<Result>) {
      if (cl_int* const error = std::get<kCount - 1>(all)) *error = code;
      return nullptr;
    } else {
      return code;
    }
  }

  // What waits for the event of a command that was dropped finds that of an empty one.
  static Result drop(const All& all) {
    if constexpr (std::is_same_v<std::tuple_element_t<kCount - 1, All>, cl_event*>) {
      if (cl_event* const event = std::get<kCount - 1>(all)) {
        return below.clEnqueueMarkerWithWaitList(std::get<0>(all), 0, nullptr, event);
      }
      return CL_SUCCESS;
    } else {
      return pass_on(all);
    }
  }

  // The side of a transfer that it goes to gets a wrong byte.
  static Result flip(All all, int bits) {
    char* const byte = byte_of(all);
    if (!byte) return pass_on(all);
    if (begins("clEnqueueWrite")) *byte = static_cast<char>(*byte ^ bits);
    const Result result = pass_on(all);
    *byte = static_cast<char>(*byte ^ bits);
    return result;
  }

  // Devices are the platform's: it does not count them.
  static void count(const All& all, Result result) {
    if (name.ends_with("Device")) return;
    if constexpr (std::is_pointer_v<Result>) {
      std::size_t bytes = 0;
      if constexpr (Call::is<&cl_icd_dispatch::clCreateBuffer>()) bytes = std::get<2>(all);
      if (begins("clCreate")) add(result, bytes);
    } else if (result == CL_SUCCESS) {
      if constexpr (kCount == 1) {
        if (begins("clRetain")) add(std::get<0>(all));
        if (begins("clRelease")) release(std::get<0>(all));
      }
      if constexpr (std::is_same_v<std::tuple_element_t<kCount - 1, All>, cl_event*>) {
        if (std::get<kCount - 1>(all)) add(*std::get<kCount - 1>(all));
      }
    }
  }

  // What a device says of itself, without what none has.
  static void hide(const All& all) {
    if constexpr (Call::is<&cl_icd_dispatch::clGetDeviceInfo>()) {
      const cl_device_info what = std::get<1>(all);
      void* const value = std::get<3>(all);
      const std::string lacks = variable("OPENCL_FAULT_LACKS");
      if (!value || lacks.empty()) return;
      if (what == CL_DEVICE_IMAGE_SUPPORT && lacks.find("images") != std::string::npos) {
        *static_cast<cl_bool*>(value) = CL_FALSE;
      }
      if (what == CL_DEVICE_EXTENSIONS && lacks.find("double") != std::string::npos) {
        char* const extension = std::strstr(static_cast<char*>(value), "cl_khr_fp64");
        if (extension) *std::strchr(extension, '4') = '-';
      }
    }
  }

  static Result CL_API_CALL call(Arguments... arguments) {
    const All all(arguments...);
    const Fault fault = fault_of(name.c_str());
    while (fault.kind == Kind::hang) pause();
    if (fault.kind == Kind::error) return fail(all, fault.code);
    const Result result = fault.kind == Kind::drop   ? drop(all)
                          : fault.kind == Kind::flip ? flip(all, fault.code)
                                                     : pass_on(all);
    hide(all);
    count(all, result);
    return result;
  }
};

template <auto Member>
void take(const char* name) {
  Call<Member>::name = name;
  layer.*Member = Call<Member>::call;
}

// Every function that lugpu calls.
void take_all() {
  using Table = cl_icd_dispatch;
  take<&Table::clBuildProgram>("clBuildProgram");
  take<&Table::clCreateBuffer>("clCreateBuffer");
  take<&Table::clCreateCommandQueue>("clCreateCommandQueue");
  take<&Table::clCreateContext>("clCreateContext");
  take<&Table::clCreateImage>("clCreateImage");
  take<&Table::clCreateKernel>("clCreateKernel");
  take<&Table::clCreateProgramWithBinary>("clCreateProgramWithBinary");
  take<&Table::clCreateProgramWithSource>("clCreateProgramWithSource");
  take<&Table::clCreateSubBuffer>("clCreateSubBuffer");
  take<&Table::clCreateSubDevices>("clCreateSubDevices");
  take<&Table::clEnqueueBarrierWithWaitList>("clEnqueueBarrierWithWaitList");
  take<&Table::clEnqueueCopyBuffer>("clEnqueueCopyBuffer");
  take<&Table::clEnqueueCopyBufferRect>("clEnqueueCopyBufferRect");
  take<&Table::clEnqueueFillBuffer>("clEnqueueFillBuffer");
  take<&Table::clEnqueueMapBuffer>("clEnqueueMapBuffer");
  take<&Table::clEnqueueMarkerWithWaitList>("clEnqueueMarkerWithWaitList");
  take<&Table::clEnqueueNDRangeKernel>("clEnqueueNDRangeKernel");
  take<&Table::clEnqueueReadBuffer>("clEnqueueReadBuffer");
  take<&Table::clEnqueueReadBufferRect>("clEnqueueReadBufferRect");
  take<&Table::clEnqueueUnmapMemObject>("clEnqueueUnmapMemObject");
  take<&Table::clEnqueueWriteBuffer>("clEnqueueWriteBuffer");
  take<&Table::clEnqueueWriteBufferRect>("clEnqueueWriteBufferRect");
  take<&Table::clFinish>("clFinish");
  take<&Table::clFlush>("clFlush");
  take<&Table::clGetContextInfo>("clGetContextInfo");
  take<&Table::clGetDeviceIDs>("clGetDeviceIDs");
  take<&Table::clGetDeviceInfo>("clGetDeviceInfo");
  take<&Table::clGetEventProfilingInfo>("clGetEventProfilingInfo");
  take<&Table::clGetKernelInfo>("clGetKernelInfo");
  take<&Table::clGetKernelWorkGroupInfo>("clGetKernelWorkGroupInfo");
  take<&Table::clGetPlatformIDs>("clGetPlatformIDs");
  take<&Table::clGetPlatformInfo>("clGetPlatformInfo");
  take<&Table::clGetProgramBuildInfo>("clGetProgramBuildInfo");
  take<&Table::clGetProgramInfo>("clGetProgramInfo");
  take<&Table::clGetSupportedImageFormats>("clGetSupportedImageFormats");
  take<&Table::clReleaseCommandQueue>("clReleaseCommandQueue");
  take<&Table::clReleaseContext>("clReleaseContext");
  take<&Table::clReleaseDevice>("clReleaseDevice");
  take<&Table::clReleaseEvent>("clReleaseEvent");
  take<&Table::clReleaseKernel>("clReleaseKernel");
  take<&Table::clReleaseMemObject>("clReleaseMemObject");
  take<&Table::clReleaseProgram>("clReleaseProgram");
  take<&Table::clRetainCommandQueue>("clRetainCommandQueue");
  take<&Table::clRetainContext>("clRetainContext");
  take<&Table::clRetainDevice>("clRetainDevice");
  take<&Table::clRetainEvent>("clRetainEvent");
  take<&Table::clRetainMemObject>("clRetainMemObject");
  take<&Table::clSetKernelArg>("clSetKernelArg");
  take<&Table::clSetMemObjectDestructorCallback>("clSetMemObjectDestructorCallback");
  take<&Table::clWaitForEvents>("clWaitForEvents");
}

}  // namespace

extern "C" {

/// Handles that are neither released nor lost to a failed release, and the bytes of their buffers.
void opencl_faults_live(std::size_t* handles, std::size_t* bytes) {
  const std::lock_guard lock(counts().mutex);
  *handles = counts().live.size();
  *bytes = 0;
  for (const auto& [handle, entry] : counts().live) *bytes += entry.bytes;
}

cl_int clGetLayerInfo(cl_layer_info what, size_t size, void* value, size_t* needed) {
  return layer_info("opencl_faults", what, size, value, needed);
}

cl_int clInitLayer(cl_uint count, const cl_icd_dispatch* target, cl_uint* count_here,
                   const cl_icd_dispatch** table) {
  const cl_int status = init_layer(count, target, count_here, table, below, layer);
  if (status != CL_SUCCESS) return status;
  take_all();
  return CL_SUCCESS;
}

}  // extern "C"

namespace {

// For programs that link to this: the loader finds the layer at the first call.
[[gnu::constructor]] void enter() {
  Dl_info here;
  if (!dladdr(reinterpret_cast<const void*>(&enter), &here)) return;
  const std::string others = variable("OPENCL_LAYERS");
  if (others.find(here.dli_fname) != std::string::npos) return;
  setenv("OPENCL_LAYERS", (others + (others.empty() ? "" : ":") + here.dli_fname).c_str(), 1);
}

[[gnu::destructor]] void summarize() {
  std::FILE* const file = std::fopen(variable("OPENCL_FAULT_SUMMARY").c_str(), "w");
  if (!file) return;
  for (const auto& [function, calls] : counts().calls) {
    std::fprintf(file, "%s %d\n", function.c_str(), calls);
  }
  std::size_t handles = 0, bytes = 0;
  opencl_faults_live(&handles, &bytes);
  std::fprintf(file, "live handles %zu\nlive bytes %zu\n", handles, bytes);
  std::fclose(file);
}

}  // namespace
