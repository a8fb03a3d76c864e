#include "dense/matrix_units.hpp"

namespace lugpu {

int compute_capability(const Device& device) {
  constexpr cl_device_info kMajor = 0x4000, kMinor = 0x4001;  // cl_nv_device_attribute_query
  if (device.platform.find("NVIDIA") == std::string::npos) return 0;
  cl_uint major = 0, minor = 0;
  clGetDeviceInfo(handle_of(device)(), kMajor, sizeof major, &major, nullptr);
  clGetDeviceInfo(handle_of(device)(), kMinor, sizeof minor, &minor, nullptr);
  return static_cast<int>(10 * major + minor);
}

bool has_warp_instructions(const DeviceContext& context) {
  return context.settings().vendor && compute_capability(context.device()) >= 80;
}

bool has_matrix_units(const Device& device, Precision precision) {
  return compute_capability(device) >= (precision == Precision::double_precision ? 90 : 80);
}

bool has_wgmma(const Device& device) {
  return compute_capability(device) / 10 == 9;
}

}  // namespace lugpu
