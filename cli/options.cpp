#include "options.hpp"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <map>
#include <set>

#include "base/cores.hpp"
#include "base/error.hpp"
#include "base/output_file.hpp"
#include "distributed/crew.hpp"
#include "opencl/pocl_cache.hpp"
#include "solve/methods.hpp"
#include "solve/structured_methods.hpp"
#include "terminal.hpp"

namespace lugpu::cli {
namespace {

// For --device: entries between single commas. CLI11 shows the value of LUGPU_DEVICE to all
// subcommands, those too that are not called.
CLI::Validator device_list(DeviceUse use, const CLI::App* command) {
  return CLI::Validator(
      [=](const std::string& value) -> std::string {
        if (!command->parsed()) return "";
        if (use == DeviceUse::one && value.find(',') != std::string::npos) {
          return '"' + value + "\" has a comma; this subcommand uses one device";
        }
        if (use == DeviceUse::in_turn && ("+" + value + "+").find("++") != std::string::npos) {
          return '"' + value + "\" has a + without a device";
        }
        // Not by CLI11's split(), which drops an empty entry at the end.
        if (("," + value + ",").find(",,") != std::string::npos) {
          return '"' + value + "\" has an empty entry; each must name a device";
        }
        return "";
      },
      "");
}

}  // namespace

bool Options::json_to_stdout() const {
  return json == "-" || is_standard_output(json);
}

void add_device_options(CLI::App& command, Options& options, DeviceUse use) {
  command.option_defaults()->group("Device");
  const char* const more[] = {"", "; several separated by commas; 0+1 share the work (bench)",
                              "; several that share the work separated by commas, or all"};
  command.add_option("-p,--platform", options.platform, "Part of an OpenCL platform's name")
      ->check(not_empty())
      ->type_name("NAME");
  command
      .add_option("-d,--device", options.device,
                  std::string("Device: its index in `lugpu devices` or part of its name") +
                      more[static_cast<int>(use)] +
                      " (default: the first GPU, or else the first device)")
      ->check(device_list(use, &command))
      ->type_name("DEVICE")
      ->envname("LUGPU_DEVICE");
  CLI::Option* units =
      command
          .add_option("--units", options.units,
                      std::string("Use this many compute units, if the device can be partitioned") +
                          (use == DeviceUse::in_turn ? "; several numbers are a sweep" : ""))
          ->transform(whole_number(1, 1 << 20));
  if (use == DeviceUse::in_turn) {
    units->delimiter(',')->type_name("LIST");
  } else {
    units->expected(1)->type_name("N");
  }
  if (use != DeviceUse::one) {
    command
        .add_option("--device-memory", options.device_memory,
                    "Take at most so much memory of a device: bytes, or 500M or 2G; lu-blocked "
                    "holds larger matrices in parts")
        ->transform(memory_size())
        ->type_name("SIZE");
  }
  command.add_flag("--no-vendor-kernels", options.no_vendor_kernels,
                   "Use the kernels that any OpenCL device can run");
  command
      .add_option("--kernel-dir", options.kernel_dir,
                  "Read the kernels from this folder, laid out like the project's kernels/")
      ->check(CLI::Validator(CLI::ExistingDirectory).description(""))
      ->type_name("DIR");
}

void add_report_options(CLI::App& command, Options& options) {
  command.option_defaults()->group("Output");
  command.add_option("--json", options.json, "Write the results as JSON; - for stdout")
      ->check(not_empty())
      ->type_name("FILE|-");
  command.add_flag("--force", options.force,
                   "Write even over an input file or the results of an earlier benchmark");
  command.add_option("--color", options.colour, "Colour the text (default: auto)")
      ->check(CLI::IsMember({"auto", "always", "never"}))
      ->type_name("WHEN");
  command.add_flag("-q,--quiet", options.quiet, "Print errors only")->each([](const std::string&) {
    be_quiet();
  });
}

void add_format_option(CLI::App& command, Options& options) {
  command.option_defaults()->group("Output");
  static const std::map<std::string, Format> formats = {{"table", Format::table},
                                                        {"csv", Format::csv},
                                                        {"markdown", Format::markdown},
                                                        {"json", Format::json}};
  command
      .add_option_function<std::string>(
          "--format", [&](const std::string& name) { options.format = formats.at(name); },
          "Of standard output (default: table); json: the same as --json -")
      ->check(CLI::IsMember({"table", "csv", "markdown", "json"}))
      ->type_name("FORMAT");
}

void add_output_options(CLI::App& command, Options& options) {
  add_report_options(command, options);
  command.add_flag("-v,--verbose", options.verbose, "Print kernel builds and their logs too");
}

std::vector<std::string> method_names() {
  std::vector<std::string> names = {"auto"};
  for (const Method& method : methods()) names.push_back(method.name);
  return names;
}

std::vector<std::string> all_method_names() {
  std::vector<std::string> names = method_names();
  for (const StructuredMethod& method : structured_methods()) {
    if (std::find(names.begin(), names.end(), method.name) == names.end()) {
      names.emplace_back(method.name);
    }
  }
  return names;
}

std::vector<std::string> simulation_method_names() {
  std::vector<std::string> names = all_method_names();
  names.emplace_back("explicit");
  return names;
}

std::vector<std::string> pivot_names() {
  std::vector<std::string> names = lugpu::pivot_names();
  for (const PivotRule& rule : pivot_rules()) {
    if (*rule.alias) names.push_back(rule.alias);
  }
  return names;
}
std::vector<std::string> precision_names() {
  return {"single", "double"};
}
std::vector<std::string> arithmetic_names() {
  return {"single", "double", "mixed"};
}
std::vector<std::string> storage_names() {
  return {"auto", "image", "buffer"};
}

std::vector<std::string> texel_names() {
  return {"auto", "r", "rgba"};
}
std::vector<std::string> schedule_names() {
  return {"fused", "paper"};
}

Pivot to_pivot(const std::string& name) {
  const std::optional<Pivot> pivot = pivot_named(name);
  if (!pivot) throw InputError("There is no pivoting \"" + name + "\".");
  return *pivot;
}

Precision to_precision(const std::string& name) {
  return name == "double" ? Precision::double_precision : Precision::single_precision;
}

Arithmetic to_arithmetic(const std::string& name) {
  if (name == "mixed") return {Precision::single_precision, Refine::mixed};
  return to_precision(name);
}

Storage to_storage(const std::string& name, const Device& device) {
  if (name == "auto") return automatic_storage(device);
  return name == "image" ? Storage::image : Storage::buffer;
}

std::optional<Texel> to_texel(const std::string& name) {
  if (name == "auto") return std::nullopt;
  return name == "rgba" ? Texel::rgba : Texel::r;
}

Schedule to_schedule(const std::string& name) {
  return name == "paper" ? Schedule::paper : Schedule::fused;
}

namespace {

// The whole text, in decimal, without a leading + or blanks; CLI11 would accept 0x10 too.
template <typename Number>
std::optional<Number> read_number(const std::string& text) {
  Number number = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || rest != end) return std::nullopt;
  return number;
}

}  // namespace

CLI::Validator not_empty() {
  return CLI::Validator(
      [](std::string& value) { return std::string(value.empty() ? "empty name" : ""); }, "");
}

CLI::Validator whole_number(std::int64_t least, std::int64_t most) {
  const std::string range = std::to_string(least) + ".." + std::to_string(most);
  return CLI::Validator(
      [=](std::string& value) {
        const auto number = read_number<std::int64_t>(value);
        if (!number || *number < least || *number > most) {
          return '"' + value + "\" is not a whole number in " + range;
        }
        value = std::to_string(*number);  // CLI11 would take 010 for eight
        return std::string();
      },
      range);
}

CLI::Validator memory_size() {
  return CLI::Validator(
      [](std::string& value) {
        const std::string units = "KMG";
        const std::size_t unit = value.empty() ? std::string::npos : units.find(value.back());
        const bool plain = unit == std::string::npos;
        const std::int64_t factor = plain ? 1 : std::int64_t{1} << (10 * (unit + 1));
        const auto number =
            read_number<std::int64_t>(plain ? value : value.substr(0, value.size() - 1));
        if (!number || *number < 1 || *number > std::numeric_limits<std::int64_t>::max() / factor) {
          return '"' + value + "\" is not a size in bytes, such as 2000000000, 500M or 2G";
        }
        value = std::to_string(*number * factor);
        return std::string();
      },
      "");
}

CLI::Validator number(double least, double most) {
  const std::string range = format("%g..%g", least, most);
  return CLI::Validator(
      [=](const std::string& value) {
        const auto read = read_number<double>(value);
        const bool ok = read && *read >= least && *read <= most;
        return ok ? std::string() : '"' + value + "\" is not a number in " + range;
      },
      range);
}

CLI::Validator fraction(double least, double most) {
  const std::string range = format("%g..%g or %g%%..%g%%", least, most, 100 * least, 100 * most);
  return CLI::Validator(
      [=](std::string& value) {
        const bool per_cent = value.ends_with('%');
        const auto read = read_number<double>(value.substr(0, value.size() - per_cent));
        const double part = read.value_or(-1) / (per_cent ? 100 : 1);
        if (!(part >= least && part <= most)) {
          return '"' + value + "\" is not a fraction in " + range;
        }
        value = format("%.17g", part);
        return std::string();
      },
      range);
}

namespace {

// The devices that the options name, each once.
std::vector<Device> chosen_devices(const Options& options) {
  if (options.device.empty()) return {default_device_of_process(options.platform)};
  std::vector<Device> devices;
  for (const std::string& entry : CLI::detail::split(options.device, ',')) {
    devices.push_back(choose_device(options.platform, entry));
    for (std::size_t i = 0; i + 1 < devices.size(); ++i) {
      if (devices[i].index != devices.back().index) continue;
      throw InputError("--device " + options.device + " names " + devices.back().name +
                       " more than once; each entry must name a different device.");
    }
  }
  return devices;
}

// The system moves PoCL's threads between cores, at times two onto the same one, which can double
// the time of a short factorization. Each gets its own core, unless the user says otherwise or this
// process may not use all of them: PoCL counts its cores from the machine's first one.
void pin_threads_of_pocl() {
  if (cores().usable == static_cast<unsigned>(sysconf(_SC_NPROCESSORS_CONF))) {
    setenv("POCL_AFFINITY", "1", 0);
  }
}

Device device_to_use(const Device& whole, unsigned units, const Options& options) {
  Device device = with_compute_units(whole, units);
  device.global_memory = std::min(device.global_memory, options.device_memory.value_or(UINT64_MAX));
  return device;
}

// A context of the device that is not in the team yet.
DeviceContext& context_for(const Device& whole, const std::vector<DeviceContext*>& team,
                           const Options& options, SweepDevices& opened) {
  const auto find_in = [&](std::vector<DeviceContext>& contexts) -> DeviceContext* {
    for (DeviceContext& context : contexts) {
      const bool taken = std::find(team.begin(), team.end(), &context) != team.end();
      if (context.device().index == whole.index && !taken) return &context;
    }
    return nullptr;
  };
  if (DeviceContext* found = find_in(opened.contexts)) return *found;
  if (DeviceContext* found = find_in(opened.repeated)) return *found;
  const bool known = std::any_of(
      opened.contexts.begin(), opened.contexts.end(),
      [&](const DeviceContext& context) { return context.device().index == whole.index; });
  const unsigned units = options.units.empty() ? whole.compute_units : options.units.front();
  return (known ? opened.repeated : opened.contexts)
      .emplace_back(device_to_use(whole, units, options), options.kernels());
}

}  // namespace

void prepare_pocl(const Options& options) {
  static bool noted = false;
  const PoclCache& cache = prepare_pocl_cache();
  if (cache.folder.empty() || !options.verbose || noted) return;
  noted = true;
  print_note("PoCL's usual folder for compiled kernels cannot be written; it gets " + cache.folder +
             " (POCL_CACHE_DIR).");
}

std::vector<DeviceContext> open_devices(const Options& options) {
  prepare_pocl(options);
  pin_threads_of_pocl();
  std::vector<DeviceContext> contexts;
  for (const Device& whole : chosen_devices(options)) {
    const std::set<unsigned> numbers = options.units.empty()
                                           ? std::set{whole.compute_units}
                                           : std::set(options.units.begin(), options.units.end());
    for (const unsigned units : numbers) {
      contexts.emplace_back(device_to_use(whole, units, options), options.kernels());
    }
  }
  return contexts;
}

std::vector<DeviceContext> open_devices_together(const Options& options) {
  const std::vector<std::string> entries = CLI::detail::split(options.device, ',');
  if (options.device != "all" && entries.size() < 2) return open_devices(options);
  prepare_pocl(options);
  pin_threads_of_pocl();
  std::vector<DeviceContext> contexts;
  for (const Device& whole : choose_devices(options.platform, options.device)) {
    const unsigned units = options.units.empty() ? whole.compute_units : options.units.front();
    contexts.emplace_back(device_to_use(whole, units, options), options.kernels());
  }
  return contexts;
}

SweepDevices open_sweep_devices(const Options& options) {
  SweepDevices opened;
  Options alone = options;
  alone.device.clear();
  std::vector<std::vector<Device>> teams;
  std::size_t members = 0;
  for (const std::string& entry : CLI::detail::split(options.device, ',')) {
    if (entry.find('+') == std::string::npos) {
      alone.device += (alone.device.empty() ? "" : ",") + entry;
      continue;
    }
    teams.emplace_back();
    for (const std::string& name : CLI::detail::split(entry, '+')) {
      teams.back().push_back(choose_device(options.platform, name));
      ++members;
    }
  }
  if (teams.empty() || !alone.device.empty()) opened.contexts = open_devices(alone);
  for (const DeviceContext& context : opened.contexts) opened.alone.push_back(context.device());
  if (!teams.empty() && options.units.size() > 1) {
    throw InputError("Devices that share the work have one number of --units.");
  }
  // Contexts do not move once a team points to them.
  opened.contexts.reserve(opened.contexts.size() + members);
  opened.repeated.reserve(members);
  for (const std::vector<Device>& devices : teams) {
    std::vector<DeviceContext*> team;
    for (const Device& device : devices) {
      team.push_back(&context_for(device, team, options, opened));
    }
    opened.teams.push_back(std::move(team));
  }
  return opened;
}

PathRecords note_path_records(const DeviceContext& context) {
  const Device& device = context.device();
  PathRecords records = read_path_records(device, context.settings());
  const FailedPaths& failed = records.failed;
  if (failed.empty()) return records;
  const std::string more =
      failed.size() > 1 ? " and " + std::to_string(failed.size() - 1) + " more" : "";
  print_note("`lugpu verify` found " + failed.front() + more + " wrong on " + device.name +
             "; auto avoids it.");
  return records;
}

}  // namespace lugpu::cli
