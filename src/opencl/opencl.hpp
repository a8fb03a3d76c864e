// The OpenCL C++ binding, and its errors as sentences.
#pragma once

#include <CL/opencl.hpp>
#include <string>

namespace lugpu {

/// The name of an OpenCL error code, e.g. -5 -> "CL_OUT_OF_RESOURCES".
std::string opencl_error_name(cl_int code);

/// One sentence for an exception of the binding: which call failed and how.
std::string describe(const cl::Error& error);

}  // namespace lugpu
