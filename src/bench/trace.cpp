#include "bench/trace.hpp"

#include <string>

namespace lugpu {
namespace {

constexpr int kKernels = 1, kTransfers = 2;  // threads
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

nlohmann::json empty_trace() {
  return {{"displayTimeUnit", "ns"}, {"traceEvents", nlohmann::json::array()}};
}

void add_to_trace(nlohmann::json& trace, const Result& result) {
  if (result.commands.empty()) return;
  nlohmann::json& events = trace["traceEvents"];
  const std::size_t process = events.empty() ? 1 : events.back()["pid"].get<std::size_t>() + 1;
  events.push_back(naming("process_name", process, kKernels, title(result.what)));
  events.push_back(naming("thread_name", process, kKernels, "kernels"));
  events.push_back(naming("thread_name", process, kTransfers, "transfers to the host"));
  for (const Timeline::Command& command : result.commands) {
    const bool is_kernel = !command.kernel.empty();
    events.push_back({{"name", is_kernel ? command.kernel : "transfer"},
                      {"cat", command.phase},
                      {"ph", "X"},
                      {"pid", process},
                      {"tid", is_kernel ? kKernels : kTransfers},
                      {"ts", command.start_s * kMicroseconds},
                      {"dur", (command.end_s - command.start_s) * kMicroseconds}});
  }
}

}  // namespace lugpu
