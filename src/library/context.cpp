#include "library/context.hpp"

#include <cstdlib>
#include <utility>

namespace lugpu {
namespace {

Device device_of_environment() {
  const char* name = std::getenv("LUGPU_DEVICE");
  return choose_device("", name ? name : "");
}

}  // namespace

Context::Context() : Context(with_errors(device_of_environment)) {}

Context::Context(const Device& device)
    : implementation_(with_errors([&] { return std::make_shared<Implementation>(device); })) {}

Context::~Context() = default;
Context::Context(const Context&) = default;
Context::Context(Context&&) noexcept = default;
Context& Context::operator=(const Context&) = default;
Context& Context::operator=(Context&&) noexcept = default;

const Device& Context::device() const {
  return implementation_->device();
}

}  // namespace lugpu
