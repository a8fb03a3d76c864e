// What every layer of the OpenCL loader must tell it (cl_layer.h).
#pragma once

#include <CL/cl_layer.h>

#include <cstring>

/// clGetLayerInfo() of a layer with this name.
template <size_t length>
cl_int layer_info(const char (&name)[length], cl_layer_info what, size_t size, void* value,
                  size_t* needed) {
  const cl_layer_api_version version = CL_LAYER_API_VERSION_100;
  if (what != CL_LAYER_API_VERSION && what != CL_LAYER_NAME) return CL_INVALID_VALUE;
  const void* const found = what == CL_LAYER_NAME ? static_cast<const void*>(name) : &version;
  const size_t bytes = what == CL_LAYER_NAME ? length : sizeof version;
  if (value && size < bytes) return CL_INVALID_VALUE;
  if (value) std::memcpy(value, found, bytes);
  if (needed) *needed = bytes;
  return CL_SUCCESS;
}

/// clInitLayer(): `below` and `layer` become what is below; the caller then puts its own functions
/// into `layer`.
inline cl_int init_layer(cl_uint count, const cl_icd_dispatch* target, cl_uint* count_here,
                         const cl_icd_dispatch** table, cl_icd_dispatch& below,
                         cl_icd_dispatch& layer) {
  constexpr cl_uint kEntries = sizeof(cl_icd_dispatch) / sizeof(void*);
  if (count < kEntries) return CL_INVALID_VALUE;
  below = layer = *target;
  *count_here = kEntries;
  *table = &layer;
  return CL_SUCCESS;
}
