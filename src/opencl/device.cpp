#include "opencl/device.hpp"

#include <algorithm>
#include <cctype>

#include "base/error.hpp"
#include "opencl/pocl_cache.hpp"
#include "opencl/pocl_threads.hpp"

namespace lugpu {
namespace {

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

// Some drivers pad their names with blanks and NULs.
std::string trimmed(const std::string& text) {
  const char* blank = " \t\n";
  const std::string whole = text.substr(0, text.find('\0'));
  const auto first = whole.find_first_not_of(blank);
  return first == std::string::npos
             ? ""
             : whole.substr(first, whole.find_last_not_of(blank) - first + 1);
}

bool contains(const std::string& text, const std::string& part) {
  return lower(text).find(lower(part)) != std::string::npos;
}

bool has_format(const std::vector<cl::ImageFormat>& formats, cl_channel_type type) {
  return std::any_of(formats.begin(), formats.end(), [type](const cl::ImageFormat& format) {
    return format.image_channel_order == CL_R && format.image_channel_data_type == type;
  });
}

void ask_image_limits(const cl::Device& handle, Device& device) {
  device.images = handle.getInfo<CL_DEVICE_IMAGE_SUPPORT>() == CL_TRUE;
  if (!device.images) return;
  device.image_max_width = handle.getInfo<CL_DEVICE_IMAGE2D_MAX_WIDTH>();
  device.image_max_height = handle.getInfo<CL_DEVICE_IMAGE2D_MAX_HEIGHT>();
  std::vector<cl::ImageFormat> formats;
  cl::Context(handle).getSupportedImageFormats(CL_MEM_READ_WRITE, CL_MEM_OBJECT_IMAGE2D, &formats);
  device.image_float = has_format(formats, CL_FLOAT);
  device.image_uint32 = has_format(formats, CL_UNSIGNED_INT32);
}

std::string type_name(cl_device_type type) {
  if (type & CL_DEVICE_TYPE_GPU) return "gpu";
  if (type & CL_DEVICE_TYPE_ACCELERATOR) return "accelerator";
  if (type & CL_DEVICE_TYPE_CPU) return "cpu";
  return "other";
}

Device describe_device(const cl::Platform& platform, const cl::Device& handle) {
  Device device;
  device.id = handle();
  device.platform = trimmed(platform.getInfo<CL_PLATFORM_NAME>());
  device.platform_version = trimmed(platform.getInfo<CL_PLATFORM_VERSION>());
  device.name = trimmed(handle.getInfo<CL_DEVICE_NAME>());
  device.driver_version = trimmed(handle.getInfo<CL_DRIVER_VERSION>());
  device.device_version = trimmed(handle.getInfo<CL_DEVICE_VERSION>());
  device.type = type_name(handle.getInfo<CL_DEVICE_TYPE>());
  device.compute_units = handle.getInfo<CL_DEVICE_MAX_COMPUTE_UNITS>();
  device.clock_mhz = handle.getInfo<CL_DEVICE_MAX_CLOCK_FREQUENCY>();
  device.global_memory = handle.getInfo<CL_DEVICE_GLOBAL_MEM_SIZE>();
  device.max_allocation = handle.getInfo<CL_DEVICE_MAX_MEM_ALLOC_SIZE>();
  device.local_memory = handle.getInfo<CL_DEVICE_LOCAL_MEM_SIZE>();
  device.max_work_group = handle.getInfo<CL_DEVICE_MAX_WORK_GROUP_SIZE>();
  device.double_precision = contains(handle.getInfo<CL_DEVICE_EXTENSIONS>(), "cl_khr_fp64");
  device.correctly_rounded_division =
      handle.getInfo<CL_DEVICE_SINGLE_FP_CONFIG>() & CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT;
  const unsigned vector_bytes = 4 * handle.getInfo<CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT>();
  device.vector_bytes = std::clamp(vector_bytes, 16u, 64u);
  ask_image_limits(handle, device);
  return device;
}

// None if there is no OpenCL at all, which is reported as an error.
std::vector<cl::Platform> platforms() {
  std::vector<cl::Platform> found;
  try {
    cl::Platform::get(&found);
  } catch (const cl::Error& error) {
    constexpr cl_int kPlatformNotFound = -1001;
    if (error.err() != kPlatformNotFound) throw;
  }
  return found;
}

// Why PoCL, which is there, has no device; empty if it has one, or if it is not known.
std::string pocl_without_a_cache() {
  const std::string& problem = prepare_pocl_cache().problem;
  if (problem.empty()) return "";
  const std::vector<cl::Platform> all = platforms();
  const bool installed = std::any_of(all.begin(), all.end(), [](const cl::Platform& platform) {
    return contains(platform.getInfo<CL_PLATFORM_NAME>(), "Portable Computing Language");
  });
  if (!installed) return "";
  return "PoCL has no folder for its compiled kernels, it cannot write to " + problem +
         "; set POCL_CACHE_DIR to one that it can write.";
}

// A platform without devices reports that as an error; here it is not one.
std::vector<cl::Device> devices_of(const cl::Platform& platform) {
  std::vector<cl::Device> handles;
  try {
    platform.getDevices(CL_DEVICE_TYPE_ALL, &handles);
  } catch (const cl::Error& error) {
    if (error.err() != CL_DEVICE_NOT_FOUND) throw;
  }
  return handles;
}

// Records refer to devices by name: the second of one name becomes "NAME #2".
void number_if_repeated(std::vector<Device>& devices) {
  const std::string name = devices.back().name;
  const auto same = [&](const Device& device) {
    return device.name == name || device.name.starts_with(name + " #");
  };
  const auto count = std::count_if(devices.begin(), devices.end(), same);
  if (count > 1) devices.back().name += " #" + std::to_string(count);
}

// Each once.
std::string platforms_of(const std::vector<Device>& devices) {
  std::vector<std::string> names;
  std::string text;
  for (const Device& device : devices) {
    if (std::find(names.begin(), names.end(), device.platform) != names.end()) continue;
    names.push_back(device.platform);
    text += (text.empty() ? "\"" : ", \"") + device.platform + '"';
  }
  return text;
}

std::string names_of(const std::vector<Device>& devices) {
  std::string names;
  for (const Device& device : devices) {
    names +=
        (names.empty() ? "" : ", ") + std::to_string(device.index) + " \"" + device.name + "\"";
  }
  return names;
}

bool is_index(const std::string& text) {
  return !text.empty() && text.size() < 6 &&
         std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isdigit(c); });
}

}  // namespace

cl::Device handle_of(const Device& device) {
  return cl::Device(static_cast<cl_device_id>(device.id), true);
}

std::string kind_of(const Device& device) {
  return device.name.substr(0, device.name.find(" #"));
}

std::size_t vector_width(const Device& device, Precision precision) {
  return device.vector_bytes / element_size(precision);
}

std::vector<Device> list_devices() try {
  prepare_pocl_cache();
  limit_threads_of_pocl();
  std::vector<Device> devices;
  for (const cl::Platform& platform : platforms()) {
    for (const cl::Device& handle : devices_of(platform)) {
      devices.push_back(describe_device(platform, handle));
      devices.back().index = static_cast<int>(devices.size()) - 1;
      number_if_repeated(devices);
    }
  }
  return devices;
} catch (const cl::Error& error) {
  throw Error(ErrorKind::failure, describe(error) + ".");
}

Device choose_device(const std::string& platform, const std::string& device) try {
  const std::vector<Device> all = list_devices();
  const std::string pocl = pocl_without_a_cache();
  if (all.empty()) {
    throw Error(ErrorKind::no_device,
                "No OpenCL device was found; " +
                    (pocl.empty() ? "install a driver for yours, or PoCL for the CPU "
                                    "(Debian: pocl-opencl-icd)."
                                  : pocl));
  }
  const std::string without_pocl = pocl.empty() ? "" : " " + pocl;
  std::vector<Device> there, candidates;
  for (const Device& candidate : all) {
    if (!contains(candidate.platform, platform)) continue;
    there.push_back(candidate);
    const bool meant =
        is_index(device) ? candidate.index == std::stoi(device) : contains(candidate.name, device);
    if (meant) candidates.push_back(candidate);
  }
  if (there.empty()) {
    throw Error(ErrorKind::no_device, "There is no OpenCL platform \"" + platform +
                                          "\" with a device; there are: " + platforms_of(all) +
                                          "." + without_pocl);
  }
  if (candidates.empty()) {
    const std::string asked = platform.empty() ? "" : " on the platform \"" + platform + "\"";
    throw Error(ErrorKind::no_device, "There is no OpenCL device \"" + device + "\"" + asked +
                                          "; there are: " + names_of(there) + "." + without_pocl);
  }
  const auto gpu = std::find_if(candidates.begin(), candidates.end(),
                                [](const Device& d) { return d.type == "gpu"; });
  return gpu != candidates.end() ? *gpu : candidates.front();
} catch (const cl::Error& error) {
  throw Error(ErrorKind::failure, describe(error) + ".");
}

std::vector<Device> choose_devices(const std::string& platform, const std::string& devices) {
  std::vector<Device> chosen;
  if (devices == "all") {
    const Device first = choose_device(platform, "");
    for (const Device& device : list_devices()) {
      if (device.platform == first.platform && kind_of(device) == kind_of(first)) {
        chosen.push_back(device);
      }
    }
    return chosen;
  }
  for (std::size_t begin = 0; begin <= devices.size();) {
    const std::size_t end = std::min(devices.find(',', begin), devices.size());
    const std::string entry = devices.substr(begin, end - begin);
    if (entry.empty() && !devices.empty()) {
      throw Error(ErrorKind::bad_input,
                  '"' + devices + "\" has an empty entry; each must name a device.");
    }
    chosen.push_back(choose_device(platform, entry));
    begin = end + 1;
  }
  return chosen;
}

Device with_compute_units(const Device& device, unsigned units) {
  if (units == 0 || units > device.compute_units) {
    throw Unsupported(std::to_string(units) + " compute units are not possible: " + device.name +
                      " has " + std::to_string(device.compute_units) + ".");
  }
  if (units == device.compute_units) return device;
  Device part = device;
  const cl_device_partition_property counts[] = {CL_DEVICE_PARTITION_BY_COUNTS,
                                                 static_cast<cl_device_partition_property>(units),
                                                 CL_DEVICE_PARTITION_BY_COUNTS_LIST_END, 0};
  cl_device_id handle = nullptr;
  cl_uint parts = 0;
  cl_device_id whole = handle_of(device)();
  if (clCreateSubDevices(whole, counts, 1, &handle, &parts) != CL_SUCCESS) {
    throw Unsupported(std::to_string(units) + " compute units are not possible: " + device.name +
                      " cannot be partitioned.");
  }
  part.id = handle;  // never released, like those of platforms
  part.compute_units = units;
  return part;
}

}  // namespace lugpu
