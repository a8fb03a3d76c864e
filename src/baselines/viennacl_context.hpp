// ViennaCL in the context and on the queue of a device of lugpu. Only for files that are compiled
// with ViennaCL.
#pragma once

#include <algorithm>
#include <vector>
#include <viennacl/ocl/backend.hpp>

#include "opencl/context.hpp"

namespace lugpu {

/// ViennaCL knows contexts by number and keeps them until the program ends. This one becomes the
/// current one, where ViennaCL puts what it makes by itself.
inline viennacl::ocl::context& context_of(DeviceContext& device) {
  static std::vector<cl_context> known;
  const cl_context handle = device.handle()();
  const auto found = std::find(known.begin(), known.end(), handle);
  const long number = found - known.begin();
  if (found == known.end()) {
    viennacl::ocl::setup_context(number, handle, handle_of(device.device())(), device.queue()());
    known.push_back(handle);
  }
  viennacl::ocl::switch_context(number);
  return viennacl::ocl::get_context(number);
}

}  // namespace lugpu
