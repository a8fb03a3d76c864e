#include "bench/trace.hpp"

#include <map>
#include <string>

namespace lugpu {
namespace {

constexpr int kKernels = 1, kToHost = 2, kToDevice = 3;  // threads
constexpr double kMicroseconds = 1e6;

nlohmann::json naming(const char* what, std::size_t process, int thread, const std::string& name) {
  return {
      {"name", what}, {"ph", "M"}, {"pid", process}, {"tid", thread}, {"args", {{"name", name}}}};
}

std::string title(const Case& what) {
  const DenseOptions& dense = what.problem.dense;
  return what.routine + ", " + name(dense.pivot) + ", " + precision_name(what.problem) + ", " +
         name(dense.storage) + ", n = " + std::to_string(what.problem.size.n) +
         (what.device ? ", " + *what.device : "");
}

}  // namespace

nlohmann::json trace_events(const Result& result, std::size_t process) {
  nlohmann::json events = nlohmann::json::array();
  if (result.commands.empty()) return events;
  const auto add = [&](const std::string& name, const char* category, int thread, double start_s,
                       double end_s) {
    events.push_back({{"name", name},
                      {"cat", category},
                      {"ph", "X"},
                      {"pid", process},
                      {"tid", thread},
                      {"ts", start_s * kMicroseconds},
                      {"dur", (end_s - start_s) * kMicroseconds}});
  };
  events.push_back(naming("process_name", process, kKernels, title(result.what)));
  events.push_back(naming("thread_name", process, kKernels, "kernels"));
  events.push_back(naming("thread_name", process, kToHost, "transfers to the host"));
  bool comes = false;
  for (const Timeline::Command& command : result.commands) {
    const bool is_kernel = !command.kernel.empty();
    const bool to_device = !is_kernel && command.way == Timeline::Way::to_device;
    comes = comes || to_device;
    add(is_kernel ? command.kernel : "transfer", command.phase,
        is_kernel   ? kKernels
        : to_device ? kToDevice
                    : kToHost,
        command.start_s, command.end_s);
  }
  if (comes) events.push_back(naming("thread_name", process, kToDevice, "transfers to the device"));
  std::map<std::string, int> threads;  // by kind of part
  for (const PartTimes::Ran& ran : result.parts) {
    const auto [thread, is_new] =
        threads.emplace(ran.part.kind, kToDevice + 1 + static_cast<int>(threads.size()));
    if (is_new) events.push_back(naming("thread_name", process, thread->second, ran.part.kind));
    add(ran.part.name, "part", thread->second, ran.start_s, ran.end_s);
  }
  return events;
}

}  // namespace lugpu
