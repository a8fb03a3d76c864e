// OpenCL devices: the list, the choice, and the limits that are asked before anything is allocated.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "opencl/element.hpp"
#include "opencl/opencl.hpp"

namespace lugpu {

/// A device and those of its properties that matter here. Sizes in bytes.
struct Device {
  cl::Device handle;
  int index = 0;  ///< position in list_devices()
  std::string platform, platform_version;
  std::string name, driver_version, device_version;
  std::string type;  ///< "cpu", "gpu", "accelerator" or "other"
  unsigned compute_units = 0;
  unsigned clock_mhz = 0;
  std::uint64_t global_memory = 0;
  std::uint64_t max_allocation = 0;
  std::uint64_t local_memory = 0;
  std::uint64_t max_work_group = 0;
  bool double_precision = false;
  bool correctly_rounded_division = false;  ///< of floats, as a build option
  bool images = false;
  std::uint64_t image_max_width = 0;  ///< texels
  std::uint64_t image_max_height = 0;
  bool image_float = false;    ///< CL_R CL_FLOAT can be read and written
  bool image_uint32 = false;   ///< CL_R CL_UNSIGNED_INT32 can be read and written
  bool vendor_kernels = true;  ///< whether kernels for one vendor's devices may be used
  /// path_name() of what `lugpu verify` found wrong here; see solve/failed_paths.hpp
  std::vector<std::string> failed_paths;

  /// Elements of a vector register: 2, 4, 8 or 16.
  std::size_t vector_width(Precision precision) const;
};

/// Every device of every platform. Empty when there is no OpenCL platform at all.
std::vector<Device> list_devices();

/// The device that the user means.
/// platform: part of a platform's name, any case, or empty for all of them.
/// device: an index of list_devices() or part of a device's name, any case; empty for the first
/// GPU, or the first device where there is no GPU.
/// Throws Error (no_device) that says what there is instead.
Device choose_device(const std::string& platform, const std::string& device);

/// The same device with only `units` of its compute units. Throws Unsupported if it cannot be
/// partitioned or has fewer.
Device with_compute_units(const Device& device, unsigned units);

}  // namespace lugpu
