#include "lapack/call.hpp"

#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <new>
#include <string>
#include <vector>

#include "lapack/environment.hpp"
#include "lapack/say.hpp"

namespace lugpu::lapack {
namespace {

std::string sentence_of(const std::exception& error) {
  const auto* opencl = dynamic_cast<const cl::Error*>(&error);
  return opencl ? describe(*opencl) + "." : error.what();
}

// Opened by the first call that wants it; null if that failed, or if it is a CPU and nobody asked
// for one. Never destroyed: OpenCL drivers may be gone before the destructors of static objects
// run.
struct Opened {
  DeviceLapack* device = nullptr;
  std::string why_not;
  pid_t process = getpid();
};

// Null in a process that was forked while its parent opened the device: nobody would end that.
const Opened* opened() {
  static constinit std::atomic<pid_t> opener = 0;
  static constinit std::atomic<bool> done = false;
  pid_t process = 0;
  if (!done && !opener.compare_exchange_strong(process, getpid()) && process != getpid()) {
    return nullptr;
  }
  static const Opened first = [] {
    Opened result;
    try {
      const char* names = std::getenv("LUGPU_DEVICE");
      const std::vector<Device> chosen = choose_devices("", names ? names : "");
      // Where the device is the host, copies cost more than faster kernels gain.
      const bool worthwhile = chosen.front().type != "cpu";
      if (worthwhile || asked_order()) {
        result.device = new DeviceLapack(chosen);
      } else {
        result.why_not = "the device is a CPU, used only if LUGPU_LAPACK_MIN_N is set";
      }
    } catch (const std::exception& error) {
      result.why_not = sentence_of(error);
      warn_once(result.why_not);
    }
    return result;
  }();
  done = true;
  return &first;
}

constinit std::mutex device_mutex;

}  // namespace

int check(const std::function<void()>& host, std::initializer_list<Argument> arguments) {
  for (const Argument& argument : arguments) {
    if (argument.valid) continue;
    host();
    return -argument.position;  // OpenBLAS sets no INFO for an illegal TRANS
  }
  return 0;
}

Call::Call(char prefix, const char* routine, Size first, Size second)
    : prefix_(prefix),
      routine_(routine),
      first_(first),
      second_(second),
      start_(std::chrono::steady_clock::now()) {}

// The caller of LAPACK must not end for lack of memory for a line of the trace.
Call::~Call() {
  if (!traced()) return;
  try {
    trace();
  } catch (const std::bad_alloc&) {
  }
}

void Call::trace() const {
  const std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - start_;
  const char* place = place_ == Place::host ? "host" : place_ == Place::cache ? "cache" : "device";
  const auto text = [](const Size& size) {
    return size.name ? std::string(" ") + size.name + "=" + std::to_string(size.value) : "";
  };
  char milliseconds[32];
  std::snprintf(milliseconds, sizeof milliseconds, "%.3f", time.count());
  say(prefix_ + std::string(routine_) + text(first_) + text(second_) + ' ' + place + ' ' +
      milliseconds + " ms" + (place_ == Place::host ? ": " + reason_ : ""));
}

bool Call::on_device(int order, const std::function<Place(DeviceLapack&)>& work) {
  if (order < least_order()) {
    // Small calls are frequent: no text that nobody reads.
    if (traced()) {
      on_host("order " + std::to_string(order) + " is below " +
              (asked_order() ? "LUGPU_LAPACK_MIN_N=" + std::to_string(*asked_order())
                             : std::to_string(least_order())));
    }
    return false;
  }
  const Opened* const here = opened();
  if (here && !here->device) {
    on_host(here->why_not);
    return false;
  }
  if (!here || getpid() != here->process) {
    on_host("a forked process cannot use the device of its parent.");
    warn_once(reason_);
    return false;
  }
  const std::lock_guard lock(device_mutex);
  try {
    place_ = work(*here->device);
    return true;
  } catch (const std::exception& error) {
    here->device->forget();
    on_host(sentence_of(error));
    warn_once(reason_);
    return false;
  }
}

}  // namespace lugpu::lapack
