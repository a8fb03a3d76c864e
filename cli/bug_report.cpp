#include "bug_report.hpp"

#include <dlfcn.h>

#include <iostream>

#include "base/printable.hpp"
#include "base/version.hpp"
#include "bench/report.hpp"
#include "opencl/device.hpp"
#include "opencl/kernel_digest.hpp"
#include "opencl/opencl.hpp"
#include "terminal.hpp"

namespace lugpu::cli {
namespace {

std::string line(const std::string& label, const std::string& text) {
  const std::string head = format("%-13s ", label.c_str());
  return head + wrapped(text, head.size(), head.size()) + '\n';
}

// What the loader says of itself, if it is ocl-icd or a recent one of Khronos.
std::string loader_version() {
  constexpr cl_uint kOpenClVersion = 1, kVersion = 2, kName = 3;
  using GetInfo = cl_int (*)(cl_uint name, std::size_t size, void* value, std::size_t* size_found);
  // Its function is found by a call that OpenCL 1.2 deprecates for the functions of drivers.
  using Find = void* (*)(const char* function);
  const auto find = reinterpret_cast<Find>(dlsym(RTLD_DEFAULT, "clGetExtensionFunctionAddress"));
  const auto get_info =
      reinterpret_cast<GetInfo>(find ? find("clGetICDLoaderInfoOCLICD") : nullptr);
  if (!get_info) return "version unknown";
  const auto ask = [&](cl_uint name) {
    char text[256] = "";
    return get_info(name, sizeof text - 1, text, nullptr) == CL_SUCCESS ? std::string(text) : "?";
  };
  return ask(kName) + ' ' + ask(kVersion) + ", " + ask(kOpenClVersion);
}

std::string platforms_and_devices() {
  std::vector<cl::Platform> platforms;
  std::string text;
  try {
    cl::Platform::get(&platforms);
    const std::vector<Device> devices = list_devices();
    for (const cl::Platform& platform : platforms) {
      text += line("platform", platform.getInfo<CL_PLATFORM_NAME>() + ", " +
                                   platform.getInfo<CL_PLATFORM_VERSION>());
    }
    for (const Device& device : devices) {
      text += line(format("device %d", device.index), device.name + " (" + device.platform +
                                                          "), driver " + device.driver_version +
                                                          ", " + device.device_version);
    }
    if (devices.empty()) text += line("device", "none");
  } catch (const cl::Error& error) {
    text += line("device", "none: " + describe(error));
  } catch (const Error& error) {
    text += line("device", std::string("none: ") + error.what());
  }
  return text;
}

}  // namespace

std::string version_line() {
  return std::string("lugpu ") + version();
}

void print_bug_report() {
  const nlohmann::json head = report_head({}, {}, {});
  const nlohmann::json &tool = head["tool"], &context = head["context"],
                       &libraries = head["libraries"];
  const auto text_of = [](const nlohmann::json& value) { return value.get<std::string>(); };
  const std::string revision = text_of(tool["git_rev"]);
  std::cout << version_line() << '\n'
            << line("revision", revision.empty() ? "unknown" : revision)
            << line("compiler", text_of(tool["compiler"]) + ", " + text_of(tool["build_type"]))
            << line("kernels", kernel_digest("")) << line("system", text_of(context["kernel"]))
            << line("processor",
                    text_of(context["cpu"]) + ", cores: " + context["cores"].dump() +
                        ", memory: " + byte_size(context["memory_bytes"].get<double>()))
            << line("BLAS", text_of(libraries["blas"]["config"]) +
                                ", threads: " + libraries["blas"]["threads"].dump() + ", " +
                                text_of(libraries["blas"]["path"]))
            << line("LAPACK", text_of(libraries["lapack"]["path"]));
  for (const auto& [name, value] : context["environment"].items()) {
    std::cout << line("variable", name + '=' + text_of(value));
  }
  std::cout << line("OpenCL loader",
                    loader_version() + ", " + text_of(libraries["opencl_loader"]["path"]))
            << std::flush  // a driver may end the process
            << platforms_and_devices();
}

}  // namespace lugpu::cli
