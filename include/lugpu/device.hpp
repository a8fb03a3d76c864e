// OpenCL devices.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "lugpu/error.hpp"
#include "lugpu/export.hpp"

namespace lugpu {

/// A device: facts that its driver reports. Sizes in bytes.
struct Device {
  void* id = nullptr;  ///< its cl_device_id
  int index = 0;       ///< position in list_devices()
  std::string platform, platform_version;
  std::string name, driver_version, device_version;
  std::string type;  ///< "cpu", "gpu", "accelerator" or "other"
  unsigned compute_units = 0;
  unsigned clock_mhz = 0;
  std::uint64_t global_memory = 0;
  std::uint64_t max_allocation = 0;
  std::uint64_t local_memory = 0;
  std::uint64_t max_work_group = 0;
  unsigned vector_bytes = 16;  ///< of a vector register: 16, 32 or 64
  bool double_precision = false;
  bool correctly_rounded_division = false;  ///< of floats, as a build option
  bool images = false;
  std::uint64_t image_max_width = 0;  ///< texels
  std::uint64_t image_max_height = 0;
  bool image_float = false;   ///< CL_R CL_FLOAT can be read and written
  bool image_uint32 = false;  ///< CL_R CL_UNSIGNED_INT32 can be read and written
};

/// Every device of every platform. Empty when there is no OpenCL platform at all. Throws Error
/// (failure) if a driver fails.
LUGPU_API std::vector<Device> list_devices();

/// The device that the user means.
/// platform: part of a platform's name, any case, or empty for all of them.
/// device: an index of list_devices() or part of a device's name, any case; empty for the first
/// GPU, or the first device where there is no GPU.
/// Throws Error: no_device, which says what there is instead, or failure as list_devices().
LUGPU_API Device choose_device(const std::string& platform = "", const std::string& device = "");

/// The devices that share a system: choose_device() of each entry of a list with commas, where a
/// device may be named several times, e.g. "0,1" or "0,0"; with "all" the default device and all
/// others of its kind. Throws as choose_device(), and bad_input for an empty entry of several.
LUGPU_API std::vector<Device> choose_devices(const std::string& platform,
                                             const std::string& devices);

/// One or several devices in use: kernels that were built stay built. A Context is cheap to copy,
/// and all copies are the same. Any number of threads may use it at the same time; their calls run
/// one after another. It must not be used in a process forked from the one that opened it.
class LUGPU_API Context {
 public:
  /// The device of choose_device() or, if the environment variable LUGPU_DEVICE is set, that or
  /// those of choose_devices("", LUGPU_DEVICE).
  Context();
  /// Throws Error (failure) if the driver refuses.
  explicit Context(const Device& device);
  /// Several devices of one kind that share each dense system, by lu-blocked with no or partial
  /// pivoting; a device may be there several times. At equal Options::nb L, U and the pivots have
  /// the same bits for every number of them above one. What one device alone can do is refused
  /// (unsupported). Throws Error: bad_input if there is no device, failure if a driver refuses.
  explicit Context(const std::vector<Device>& devices);
  ~Context();
  Context(const Context&);
  Context(Context&&) noexcept;
  Context& operator=(const Context&);
  Context& operator=(Context&&) noexcept;

  /// The first device.
  const Device& device() const;
  /// How many share a system.
  std::size_t device_count() const;

  class LUGPU_LOCAL Implementation;
  Implementation& implementation() const { return *implementation_; }

 private:
  std::shared_ptr<Implementation> implementation_;
};

}  // namespace lugpu
