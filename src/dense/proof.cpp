#include "dense/proof.hpp"

#include <map>
#include <mutex>
#include <tuple>

#include "base/error.hpp"

namespace lugpu {

bool proven(const DeviceContext& context, const std::string& kernels,
            const std::function<bool()>& comes_out_right) {
  using Key = std::tuple<void*, std::string, std::string>;
  static std::map<Key, bool> known;
  static std::mutex mutex;
  const Key key = {context.device().id, context.settings().folder, kernels};
  {
    const std::lock_guard lock(mutex);
    if (const auto found = known.find(key); found != known.end()) return found->second;
  }
  bool right = false;
  try {
    right = comes_out_right();
  } catch (const Error&) {
  } catch (const cl::Error&) {
  }
  const std::lock_guard lock(mutex);
  return known[key] = right;
}

}  // namespace lugpu
