#include "opencl/context_number.hpp"

#include <mutex>
#include <set>

namespace lugpu {
namespace {

struct Numbers {
  std::mutex mutex;
  std::set<std::size_t> taken;
};

// Never destroyed: contexts may live until the process ends.
Numbers& numbers() {
  static Numbers* const all = new Numbers;
  return *all;
}

}  // namespace

std::shared_ptr<const std::size_t> context_number(const Device& device) {
  if (device.platform != "Portable Computing Language") return nullptr;
  const std::lock_guard lock(numbers().mutex);
  std::size_t least = 0;
  while (numbers().taken.contains(least)) ++least;
  numbers().taken.insert(least);
  return {new std::size_t(least), [](const std::size_t* number) {
            const std::lock_guard again(numbers().mutex);
            numbers().taken.erase(*number);
            delete number;
          }};
}

}  // namespace lugpu
