#include <iostream>
#include <memory>

#include "base/cores.hpp"
#include "bench/report.hpp"
#include "commands.hpp"
#include "help.hpp"
#include "opencl/device.hpp"
#include "opencl/surface.hpp"
#include "solve/failed_paths.hpp"
#include "terminal.hpp"

namespace lugpu::cli {
namespace {

constexpr std::size_t kLabel = 12;

void print_line(const std::string& label, const std::string& text) {
  const std::string head = "   " + label + std::string(kLabel - label.size(), ' ');
  std::cout << head << wrapped(text, head.size(), head.size()) << '\n';
}

// Of `lugpu solve` by the fastest method; and by one with every pivoting, on images.
std::string largest_orders(const Device& device, Precision precision) {
  const auto order = [&](const char* method, Storage storage) {
    DenseOptions options;
    options.precision = precision;
    options.storage = storage;
    const std::size_t n = largest_order(device, find_method(method), options);
    return n == 0 ? std::string("no") : std::to_string(n);
  };
  return order(methods().front().name, Storage::buffer) + " (method lu " +
         order("lu", Storage::buffer) + ", on images " + order("lu", Storage::image) + ")";
}

std::string images(const Device& device) {
  if (!device.images) return "no";
  return format("up to %llu x %llu texels; CL_R of float %s, of uint32 %s",
                static_cast<unsigned long long>(device.image_max_width),
                static_cast<unsigned long long>(device.image_max_height),
                device.image_float ? "yes" : "no", device.image_uint32 ? "yes" : "no");
}

void print_device(const Device& device) {
  std::cout << device.index << "  " << device.name << '\n';
  print_line("platform", device.platform + ", " + device.platform_version);
  print_line("driver", device.driver_version + ", " + device.device_version);
  const std::string clock = device.clock_mhz > 0 ? format(", %u MHz", device.clock_mhz) : "";
  print_line("type",
             format("%s, %u compute units", device.type.c_str(), device.compute_units) + clock);
  if (device.type == "cpu") {
    const Cores& all = cores();
    print_line("cores",
               format("%u of %u processors usable, on %u cores with %u NUMA node%s", all.usable,
                      all.logical, all.physical, all.numa_nodes, all.numa_nodes == 1 ? "" : "s"));
  }
  print_line("memory", byte_size(static_cast<double>(device.global_memory)) +
                           ", largest allocation " +
                           byte_size(static_cast<double>(device.max_allocation)) + ", local " +
                           byte_size(static_cast<double>(device.local_memory)));
  print_line("doubles", device.double_precision ? "yes" : "no");
  print_line("images", images(device));
  print_line("largest n", "single: " + largest_orders(device, Precision::single_precision) +
                              "; double: " + largest_orders(device, Precision::double_precision));
  const std::vector<std::string> wrong = read_failed_paths(device, {});
  if (wrong.empty()) return;
  print_line("wrong", wrong.front() +
                          (wrong.size() > 1 ? format(" and %zu more", wrong.size() - 1) : "") +
                          " (`lugpu verify --list`)");
}

}  // namespace

Command add_devices(CLI::App& app) {
  CLI::App* command = app.add_subcommand("devices", "List OpenCL devices and their limits");
  command->footer(exit_statuses({Exit::ok, Exit::failure, Exit::usage, Exit::no_device}));
  return [](const std::vector<std::string>&) {
    const std::vector<Device> devices = list_devices();
    for (const Device& device : devices) print_device(device);
    if (devices.empty()) choose_device("", "");
    return Exit::ok;
  };
}

}  // namespace lugpu::cli
