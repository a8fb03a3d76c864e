#include "memory_table.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "base/host_memory.hpp"
#include "bench/case_memory.hpp"
#include "bench/probe.hpp"
#include "bench/wording.hpp"
#include "bench_table.hpp"

namespace lugpu::cli {
namespace {

std::vector<Column> columns_of_memory() {
  return {{"host", "host_bytes", 8, 0}, {"device", "device_bytes", 8, 0}, {"fits", "fits", -12, 0}};
}

Cell memory(double bytes) {
  return {gigabytes(bytes), bytes};
}

// Null on the host.
const Device* device_of(const Case& what, const std::vector<Device>& devices) {
  const auto found = std::ranges::find_if(devices, [&](const Device& device) {
    return device.index == what.device_index && device.compute_units == what.units;
  });
  return found == devices.end() ? nullptr : &*found;
}

// Without numbers if it fits at no n.
Row row_of(const Case& what, const Device* device, const Effort& effort, double host_bytes,
           bool over_cores) {
  Row row{cells_of(what, over_cores), {}};
  Cell fits{"yes", std::nullopt, Ink::good};
  try {
    require_possible(device, what, effort, host_bytes);
  } catch (const Unsupported& error) {
    row.status = name(RunStatus::unsupported);
    row.reason = words(error);
    const std::size_t largest = largest_order(device, what, effort, host_bytes);
    if (largest == 0 || error.remedy()) return row;
    fits = {"n <= " + std::to_string(largest), std::nullopt, Ink::bad};
  }
  const MemoryNeed need = memory_alone(device, what, effort);
  row.numbers = {memory(need.host), device ? memory(need.device) : Cell{"-"}, fits};
  return row;
}

std::string footer(double most, const std::vector<Device>& devices, double host_bytes) {
  const bool on_cpu =
      std::ranges::any_of(devices, [](const Device& device) { return device.type == "cpu"; });
  return wrapped("The cases of an order, as many as fit, are measured in turn and take up to " +
                     gigabytes(most) + " of " + gigabytes(host_bytes) + " on the host at a time" +
                     (on_cpu ? ", which is the device." : "."),
                 0, 0) +
         '\n';
}

}  // namespace

std::string memory_table(const std::vector<Case>& cases, const std::vector<Device>& devices,
                         const Effort& effort, double host_bytes, bool over_cores, Format format) {
  const Table table(columns_of_cases(over_cores), columns_of_memory(), format);
  std::string text = table.header();
  double most = 0;
  for (const Device& device : devices) most = std::max(most, host_bytes_of_ceilings(device));
  MemoryInTurn together(effort);
  for (const Case& what : cases) {
    const Device* const device = device_of(what, devices);
    text += table.row(row_of(what, device, effort, host_bytes, over_cores));
    if (!together.has_room_for(what, device, host_bytes)) together = MemoryInTurn(effort);
    together.add(what, device, host_bytes);
    most = std::max(most, together.need().host);
  }
  return format == Format::table ? text + '\n' + footer(most, devices, host_bytes) : text;
}

}  // namespace lugpu::cli
