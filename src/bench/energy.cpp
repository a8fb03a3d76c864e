#include "bench/energy.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <optional>
#include <vector>

#include "base/error.hpp"
#include "baselines/shared_library.hpp"
#include "opencl/opencl.hpp"

namespace lugpu {
namespace {

std::optional<std::uint64_t> number_in(const std::filesystem::path& file) {
  std::ifstream stream(file);
  std::uint64_t number = 0;
  return stream >> number ? std::optional(number) : std::nullopt;
}

// A processor's counter of microjoules, which starts again from 0 after `range`.
struct Package {
  std::filesystem::path file;
  std::uint64_t range, last;
};

// intel-rapl:0 is a processor, intel-rapl:0:1 a part of it.
bool is_package(const std::string& name) {
  return name.starts_with("intel-rapl:") && std::ranges::count(name, ':') == 1;
}

std::vector<Package> packages_in(const std::string& folder) {
  std::vector<Package> packages;
  std::error_code none;
  for (const auto& entry : std::filesystem::directory_iterator(folder, none)) {
    if (!is_package(entry.path().filename())) continue;
    const auto now = number_in(entry.path() / "energy_uj");
    const auto range = number_in(entry.path() / "max_energy_range_uj");
    if (now && range) packages.push_back({entry.path() / "energy_uj", *range, *now});
  }
  return packages;
}

// NVML's types are opaque pointers and enumerations; 0 is success.
using NvmlDevice = struct nvmlDevice_st*;

struct Nvml {
  int (*init)() = nullptr;
  int (*device_at)(const char*, NvmlDevice*) = nullptr;
  int (*millijoules)(NvmlDevice, unsigned long long*) = nullptr;
};

// Null without NVML.
const Nvml* nvml() {
  static const std::optional<Nvml> library = []() -> std::optional<Nvml> {
    try {
      const SharedLibrary file(
          {{"libnvidia-ml.so.1"}, {""}, "install NVIDIA's driver", "use a newer driver"});
      Nvml found;
      file.find(found.init, "nvmlInit_v2");
      file.find(found.device_at, "nvmlDeviceGetHandleByPciBusId_v2");
      file.find(found.millijoules, "nvmlDeviceGetTotalEnergyConsumption");
      return found.init() == 0 ? std::optional(found) : std::nullopt;
    } catch (const Unsupported&) {
      return std::nullopt;
    }
  }();
  return library ? &*library : nullptr;
}

// "DDDDDDDD:BB:SS.0" by cl_nv_device_attribute_query; empty for devices without it.
std::string bus_place(const Device& device) {
  constexpr cl_device_info kBus = 0x4008, kSlot = 0x4009, kDomain = 0x400A;
  const auto id = static_cast<cl_device_id>(device.id);
  cl_uint bus = 0, slot = 0, domain = 0;
  const auto read = [&](cl_device_info what, cl_uint& value) {
    return clGetDeviceInfo(id, what, sizeof value, &value, nullptr) == CL_SUCCESS;
  };
  if (!read(kBus, bus) || !read(kSlot, slot)) return "";
  read(kDomain, domain);  // 0 with old drivers
  char text[32];
  std::snprintf(text, sizeof text, "%08X:%02X:%02X.0", domain, bus, slot >> 3);
  return text;
}

}  // namespace

EnergyCounter processor_energy(const std::string& folder) {
  std::vector<Package> packages = packages_in(folder);
  if (packages.empty()) return {};
  return [packages, joules = 0.0]() mutable {
    for (Package& package : packages) {
      const std::uint64_t now = number_in(package.file).value_or(package.last);
      const std::uint64_t wrapped = now < package.last ? package.range : 0;
      joules += 1e-6 * static_cast<double>(now + wrapped - package.last);
      package.last = now;
    }
    return joules;
  };
}

EnergyCounter gpu_energy(const Device& device) {
  const std::string place = bus_place(device);
  NvmlDevice handle = nullptr;
  unsigned long long now = 0;
  if (place.empty() || !nvml() || nvml()->device_at(place.c_str(), &handle) != 0 ||
      nvml()->millijoules(handle, &now) != 0) {
    return {};
  }
  return [handle, now]() mutable {
    nvml()->millijoules(handle, &now);
    return 1e-3 * static_cast<double>(now);
  };
}

EnergyCounter energy_of(const Device* device) {
  return device && device->type != "cpu" ? gpu_energy(*device) : processor_energy();
}

}  // namespace lugpu
