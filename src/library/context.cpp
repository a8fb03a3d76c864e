#include "library/context.hpp"

#include <cstdlib>
#include <utility>

namespace lugpu {
namespace {

std::vector<Device> devices_of_environment() {
  const char* names = std::getenv("LUGPU_DEVICE");
  return choose_devices("", names ? names : "");
}

}  // namespace

Context::Context() : Context(with_errors(devices_of_environment)) {}

Context::Context(const Device& device) : Context(std::vector<Device>{device}) {}

Context::Context(const std::vector<Device>& devices)
    : implementation_(with_errors([&] {
        if (devices.empty()) throw InputError("A context of no devices cannot do anything.");
        return std::make_shared<Implementation>(devices);
      })) {}

Context::~Context() = default;
Context::Context(const Context&) = default;
Context::Context(Context&&) noexcept = default;
Context& Context::operator=(const Context&) = default;
Context& Context::operator=(Context&&) noexcept = default;

const Device& Context::device() const {
  return implementation_->device();
}

std::size_t Context::device_count() const {
  return 1 + implementation_->others().size();
}

}  // namespace lugpu
