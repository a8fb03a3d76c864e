// The devices that this Python process uses.
#pragma once

#include <string>
#include <utility>

#include "lugpu/device.hpp"

namespace lugpu::python {

/// Throws Error (failure) in a process forked from one that used OpenCL: the threads of its drivers
/// are not there.
void require_not_forked();

/// Whether this is such a process.
bool is_forked();

/// The context of the devices that choose_devices("", device) gives: one for each device and each
/// list of them, opened on first use and never closed. The caller must not hold the GIL.
Context context(const std::string& device);

/// What belongs to a device, and in a forked process is not released.
template <typename T>
class OnDevice {
 public:
  explicit OnDevice(T value) : value_(new T(std::move(value))) {}
  OnDevice(const OnDevice&) = delete;
  OnDevice& operator=(const OnDevice&) = delete;
  ~OnDevice() {
    if (!is_forked()) delete value_;
  }

  T& operator*() const {
    require_not_forked();
    return *value_;
  }
  T* operator->() const { return &**this; }

 private:
  T* value_;
};

}  // namespace lugpu::python
