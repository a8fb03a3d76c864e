#include <iostream>
#include <memory>

#include "base/cores.hpp"
#include "base/error.hpp"
#include "bench/report.hpp"
#include "commands.hpp"
#include "dense/lu_blocked.hpp"
#include "distributed/distributed_lu.hpp"
#include "help.hpp"
#include "opencl/device.hpp"
#include "opencl/surface.hpp"
#include "options.hpp"
#include "outputs.hpp"
#include "solve/failed_paths.hpp"
#include "table.hpp"
#include "terminal.hpp"

namespace lugpu::cli {
namespace {

constexpr std::size_t kLabel = 12;

void print_line(const std::string& label, const std::string& text) {
  const std::string head = "   " + label + std::string(kLabel - label.size(), ' ');
  std::cout << head << wrapped(text, head.size(), head.size()) << '\n';
}

std::string order_or_no(std::size_t n) {
  return n == 0 ? "no" : std::to_string(n);
}

// Of `lugpu solve` by the fastest method, in each way; and by one with every pivoting, on images.
std::string largest_orders(const Device& device, Precision precision) {
  const auto order = [&](const char* method, Storage storage) {
    DenseOptions options;
    options.precision = precision;
    options.storage = storage;
    return order_or_no(largest_order(device, find_method(method), options));
  };
  DenseOptions options;
  options.precision = precision;
  const std::size_t whole = largest_order(
      [&](std::size_t n) { LuBlocked::require_room(device, Size::square(n, 1), options); });
  const std::size_t in_core = largest_order([&](std::size_t n) {
    if (DistributedLu::windows(device, Size::square(n, 1), options) > 1) throw Unsupported("");
  });
  const std::size_t any = largest_order(device, methods().front(), options);
  return order_or_no(whole) + " in one buffer, " + order_or_no(std::max(whole, in_core)) +
         " in several, " + order_or_no(any) + " out of core (method lu " +
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
  const std::vector<std::string> wrong = read_record(kFailedPathsRecord, device, {});
  if (wrong.empty()) return;
  print_line("wrong", wrong.front() +
                          (wrong.size() > 1 ? format(" and %zu more", wrong.size() - 1) : "") +
                          " (`lugpu verify --list`)");
}

// In CSV or Markdown, what tells devices apart and limits what they can do.
std::string rows_of(const std::vector<Device>& devices, Format format) {
  const Table table({{"index", "index", 5, 0},
                     {"name", "name", -1, 0},
                     {"platform", "platform", -1, 0},
                     {"type", "type", -1, 0}},
                    {{"compute units", "compute_units", 1, 0},
                     {"clock", "clock_mhz", 1, 0},
                     {"memory", "global_memory_bytes", 1, 0},
                     {"doubles", "double_precision", -1, 0},
                     {"images", "images", -1, 0}},
                    format);
  std::string text = table.header();
  for (const Device& device : devices) {
    const auto memory = static_cast<double>(device.global_memory);
    text += table.row(
        {{{std::to_string(device.index)}, {device.name}, {device.platform}, {device.type}},
         {{std::to_string(device.compute_units)},
          {std::to_string(device.clock_mhz) + " MHz", device.clock_mhz},
          {byte_size(memory), memory},
          {device.double_precision ? "yes" : "no"},
          {device.images ? "yes" : "no"}}});
  }
  return text;
}

}  // namespace

Command add_devices(CLI::App& app) {
  CLI::App* command = app.add_subcommand("devices", "List OpenCL devices and their limits");
  const auto options = std::make_shared<Options>();
  add_format_option(*command, *options);
  command->footer(exit_statuses({Exit::ok, Exit::failure, Exit::usage, Exit::no_device}));
  return [options](const std::vector<std::string>& arguments) {
    const std::vector<Device> devices = list_devices();
    if (devices.empty()) choose_device("", "");
    if (options->prints_rows() && !options->prints())
      std::cout << rows_of(devices, options->format);
    for (const Device& device : devices) {
      if (options->prints()) print_device(device);
    }
    JsonOutput json(*options);
    json.write(report_head(arguments, devices, options->kernels()));
    return json.status(Exit::ok);
  };
}

}  // namespace lugpu::cli
