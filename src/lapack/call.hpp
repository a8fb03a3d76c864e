// What every routine does around its work: where it runs, the trace, LAPACK's check of arguments.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <initializer_list>

#include "lapack/device_lapack.hpp"

namespace lugpu::lapack {

/// Where a call ran; `cache`: on the device, with factors that were there already.
enum class Place { host, device, cache };

/// An argument of a routine, of position 1, 2, ...: whether it is as LAPACK demands.
struct Argument {
  int position;
  bool valid;
};

/// LAPACK's check: 0, or -position of the first argument that is not valid, which was reported to
/// xerbla. prefix: 's' or 'd'; routine: the rest of the name as xerbla gets it, e.g. "GETRF".
int check(char prefix, const char* routine, std::initializer_list<Argument> arguments);

/// A call of a routine, from its check to its end. With LUGPU_LAPACK_TRACE=1 the end prints a line
/// to stderr: routine, sizes, place, milliseconds.
class Call {
 public:
  struct Size {
    const char* name;
    int value;
  };

  Call(char prefix, const char* routine, Size first, Size second = {nullptr, 0});
  ~Call();
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  /// Does the work on the device if `order` is at least LUGPU_LAPACK_MIN_N, or without that a
  /// device that is not the CPU gains time. False if it did not come to an end there: too small an
  /// order, no device, or a failure, of which the first prints a warning to stderr. The work must
  /// not overwrite an argument before nothing can fail any more.
  bool on_device(int order, const std::function<Place(DeviceLapack&)>& work);

 private:
  char prefix_;
  const char* routine_;
  Size first_, second_;
  Place place_ = Place::host;
  std::chrono::steady_clock::time_point start_;
};

}  // namespace lugpu::lapack
