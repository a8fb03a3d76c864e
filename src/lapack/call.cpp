#include "lapack/call.hpp"

#include <unistd.h>

#include <atomic>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <optional>
#include <string>

#include "lapack/next.hpp"

namespace lugpu::lapack {
namespace {

// From this order on, a GPU saves more time than the transfers of the matrix take (README.md).
constexpr int kLeastOrder = 512;

void warn_once(const std::string& sentence) {
  static std::atomic<bool> warned = false;
  if (warned.exchange(true)) return;
  std::fprintf(stderr, "liblugpu_lapack: the host computes what the device cannot: %s\n",
               sentence.c_str());
}

// LUGPU_LAPACK_MIN_N; absent if that is not set.
std::optional<int> asked_order() {
  static const std::optional<int> asked = []() -> std::optional<int> {
    const char* text = std::getenv("LUGPU_LAPACK_MIN_N");
    if (!text || !*text) return std::nullopt;
    int value = 0;
    const char* end = text + std::strlen(text);
    const auto [rest, error] = std::from_chars(text, end, value);
    if (error == std::errc() && rest == end && value >= 0) return value;
    std::fprintf(stderr, "liblugpu_lapack: LUGPU_LAPACK_MIN_N=%s is no order; it is ignored.\n",
                 text);
    return std::nullopt;
  }();
  return asked;
}

bool traced() {
  static const bool on = [] {
    const char* text = std::getenv("LUGPU_LAPACK_TRACE");
    return text && std::string(text) == "1";
  }();
  return on;
}

std::string sentence_of(const std::exception& error) {
  const auto* opencl = dynamic_cast<const cl::Error*>(&error);
  return opencl ? describe(*opencl) + "." : error.what();
}

// Opened by the first call that wants it; null if that failed, or if it is a CPU and nobody asked
// for one. Never destroyed: OpenCL drivers may be gone before the destructors of static objects
// run.
struct Opened {
  DeviceLapack* device = nullptr;
  pid_t process = getpid();
};

const Opened& opened() {
  static const Opened first = [] {
    Opened result;
    try {
      const char* name = std::getenv("LUGPU_DEVICE");
      const Device chosen = choose_device("", name ? name : "");
      // Where the device is the host, copies cost more than faster kernels gain.
      const bool worthwhile = chosen.type != "cpu";
      if (worthwhile || asked_order()) result.device = new DeviceLapack(chosen);
    } catch (const std::exception& error) {
      warn_once(sentence_of(error));
    }
    return result;
  }();
  return first;
}

constinit std::mutex device_mutex;

}  // namespace

int check(char prefix, const char* routine, std::initializer_list<Argument> arguments) {
  for (const Argument& argument : arguments) {
    if (argument.valid) continue;
    xerbla(static_cast<char>(prefix - 'a' + 'A') + std::string(routine), argument.position);
    return -argument.position;
  }
  return 0;
}

Call::Call(char prefix, const char* routine, Size first, Size second)
    : prefix_(prefix),
      routine_(routine),
      first_(first),
      second_(second),
      start_(std::chrono::steady_clock::now()) {}

Call::~Call() {
  if (!traced()) return;
  const std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - start_;
  const char* place = place_ == Place::host ? "host" : place_ == Place::cache ? "cache" : "device";
  const auto text = [](const Size& size) {
    return size.name ? std::string(" ") + size.name + "=" + std::to_string(size.value) : "";
  };
  std::fprintf(stderr, "lugpu_lapack: %c%s%s%s %s %.3f ms\n", prefix_, routine_,
               text(first_).c_str(), text(second_).c_str(), place, time.count());
}

bool Call::on_device(int order, const std::function<Place(DeviceLapack&)>& work) {
  if (order < asked_order().value_or(kLeastOrder) || !opened().device) return false;
  if (getpid() != opened().process) {
    warn_once("a forked process cannot use the device of its parent.");
    return false;
  }
  const std::lock_guard lock(device_mutex);
  try {
    place_ = work(*opened().device);
    return true;
  } catch (const std::exception& error) {
    opened().device->forget();
    warn_once(sentence_of(error));
    return false;
  }
}

}  // namespace lugpu::lapack
