// The OpenCL C++ binding, and its errors as sentences.
#pragma once

#include <CL/opencl.hpp>
#include <string>

namespace lugpu {

/// An OpenCL error code with its name, of all versions: -5 -> "CL_OUT_OF_RESOURCES (-5)"; -9999,
/// which is a vendor's -> "OpenCL error -9999".
std::string opencl_error_name(cl_int code);

/// What the compiler said when a program was last built for a device, or "".
std::string build_log(const cl::Program& program, const cl::Device& device);

/// Whether the device or the host had no memory left. (-5 is also what NVIDIA's driver reports
/// after a kernel that went astray.)
bool is_out_of_memory(cl_int code);

/// One sentence for an exception of the binding: which call failed and how.
std::string describe(const cl::Error& error);

}  // namespace lugpu
