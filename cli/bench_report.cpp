#include "bench_report.hpp"

#include <fstream>
#include <string>

#include "base/error.hpp"
#include "bench/resume.hpp"

namespace lugpu::cli {

nlohmann::json earlier_report(const Options& options) {
  if (!options.resume) return nullptr;
  if (options.json.empty() || options.json_to_stdout()) {
    throw InputError("--resume needs --json FILE, the file to continue.");
  }
  if (!std::ifstream(options.json)) return nullptr;
  return read_sweep(options.json, "--resume");
}

nlohmann::json begin_report(nlohmann::json head, const Options& options,
                            const nlohmann::json& earlier) {
  add_digests(head, options.kernel_dir);
  if (!earlier.is_object()) return head;
  require_comparable(earlier, head, options.json);
  // Those of rivals that this run does not include.
  head["libraries"].insert(earlier["libraries"].begin(), earlier["libraries"].end());
  return head;
}

bool is_final(const nlohmann::json& row) {
  const std::string status = row.value("status", "");
  return status == "ok" || status == "failed" || status == "unsupported";
}

std::vector<Device> devices_of(const std::vector<DeviceContext>& contexts) {
  std::vector<Device> devices;
  for (const DeviceContext& context : contexts) devices.push_back(context.device());
  return devices;
}

}  // namespace lugpu::cli
