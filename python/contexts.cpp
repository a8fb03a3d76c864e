#include "contexts.hpp"

#include <sys/types.h>
#include <unistd.h>

#include <atomic>
#include <map>
#include <mutex>
#include <vector>

namespace lugpu::python {
namespace {

std::atomic<pid_t> first_user = 0;  // the process that used OpenCL first; 0: none yet

struct Contexts {
  std::mutex mutex;
  std::map<std::string, std::vector<int>> indices;  // of the devices that a text means
  std::map<std::vector<int>, Context> open;
};

}  // namespace

bool is_forked() {
  const pid_t user = first_user;
  return user != 0 && user != getpid();
}

void require_not_forked() {
  pid_t none = 0;
  first_user.compare_exchange_strong(none, getpid());
  if (is_forked()) {
    throw Error(
        ErrorKind::failure,
        "This process was forked from one that had used an OpenCL device already; use "
        "lugpu in the forked processes only, or start them by multiprocessing's \"spawn\".");
  }
}

Context context(const std::string& device) {
  require_not_forked();
  // Never destroyed: the drivers may have ended before static objects are.
  static Contexts& contexts = *new Contexts;
  const std::lock_guard lock(contexts.mutex);
  if (const auto known = contexts.indices.find(device); known != contexts.indices.end()) {
    return contexts.open.at(known->second);
  }
  const std::vector<Device> chosen = choose_devices("", device);
  std::vector<int> indices;
  for (const Device& each : chosen) indices.push_back(each.index);
  const auto [entry, added] = contexts.open.count(indices)
                                  ? std::pair(contexts.open.find(indices), false)
                                  : contexts.open.emplace(indices, Context(chosen));
  contexts.indices.emplace(device, indices);
  return entry->second;
}

}  // namespace lugpu::python
