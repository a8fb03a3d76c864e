// What every routine does around its work: LAPACK's check of arguments, where it runs, the trace.
#pragma once

#include <chrono>
#include <functional>
#include <initializer_list>
#include <string>

#include "lapack/device_lapack.hpp"

namespace lugpu::lapack {

/// Where a call ran; `cache`: on the device, with factors that were there already.
enum class Place { host, device, cache };

/// An argument of a routine, of position 1, 2, ...: whether it is as LAPACK demands.
struct Argument {
  int position;
  bool valid;
};

/// LAPACK's check: 0, or -position of the first argument that is not valid. The next LAPACK reports
/// it, in `host`, the same call of its routine, so that it reaches the xerbla_ that the loader gave
/// to that LAPACK: the program's, that of the module that loaded it (NumPy's raises ValueError), or
/// its own.
int check(const std::function<void()>& host, std::initializer_list<Argument> arguments);

/// A call of a routine with legal arguments. With LUGPU_LAPACK_TRACE=1 the end prints a line to
/// stderr: routine, sizes, place, milliseconds, and why the place is the host, if it is.
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

  /// Does the work on the device if `order` is at least LUGPU_LAPACK_MIN_N or, if that is not set,
  /// if a device other than the CPU saves time. False if it did not finish there: too small an
  /// order, no device, or a failure, the first of which prints a warning to stderr. The work must
  /// not overwrite an argument until nothing can fail any more.
  bool on_device(int order, const std::function<Place(DeviceLapack&)>& work);

  /// The call ends on the host, for this reason.
  void on_host(const std::string& reason) { reason_ = reason; }

 private:
  void trace() const;

  char prefix_;
  const char* routine_;
  Size first_, second_;
  Place place_ = Place::host;
  std::string reason_;  // of the host
  std::chrono::steady_clock::time_point start_;
};

}  // namespace lugpu::lapack
