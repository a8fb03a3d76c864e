// Options that several subcommands share.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "opencl/context.hpp"
#include "solve/path_records.hpp"
#include "solve/problem.hpp"
#include "table.hpp"

namespace lugpu::cli {

struct Options {
  std::string platform;
  std::string device;  ///< index or part of a name; or several, separated by commas
  std::string kernel_dir;
  std::vector<unsigned> units;  ///< compute units of the device to use; for bench several numbers,
                                ///< each in its turn; none for all of them
  std::optional<std::uint64_t> device_memory;  ///< bytes that a device may take at most
  bool no_vendor_kernels = false;
  std::string json;               ///< a file, "-" for stdout, or empty
  Format format = Format::table;  ///< of what goes to stdout
  std::string colour = "auto";
  bool quiet = false;
  bool verbose = false;

  bool force = false;   ///< overwrite what check_outputs would keep
  bool resume = false;  ///< bench: continue from the results in `json`

  /// Whether `json` is "-" or names standard output, e.g. /dev/stdout.
  bool json_to_stdout() const;
  /// Which kernels run.
  KernelSettings kernels() const { return {kernel_dir, !no_vendor_kernels, verbose}; }
  /// Whether text for people goes to stdout.
  bool prints() const { return prints_rows() && format == Format::table; }
  /// Whether a table goes there, for people or for programs.
  bool prints_rows() const { return !quiet && !json_to_stdout() && format != Format::json; }
};

/// How many devices and numbers of compute units a subcommand takes: one; several, for one run
/// after another; or several devices that work together on one system.
enum class DeviceUse { one, in_turn, together };

/// -p, -d, --units, --no-vendor-kernels, --kernel-dir; --device-memory except for DeviceUse::one.
void add_device_options(CLI::App& command, Options& options, DeviceUse use);

/// --json, --force, -q, --color.
void add_report_options(CLI::App& command, Options& options);

/// --format.
void add_format_option(CLI::App& command, Options& options);

/// Those of add_report_options and -v.
void add_output_options(CLI::App& command, Options& options);

/// Names of methods() and "auto".
std::vector<std::string> method_names();

/// These and the names of structured_methods().
std::vector<std::string> all_method_names();

/// These and "explicit".
std::vector<std::string> simulation_method_names();

/// Values that --pivot, --precision and --storage take.
std::vector<std::string> pivot_names();
std::vector<std::string> precision_names();   ///< of surfaces
std::vector<std::string> arithmetic_names();  ///< these and "mixed"
std::vector<std::string> storage_names();
std::vector<std::string> texel_names();
std::vector<std::string> schedule_names();

/// From one of the names above; "complete" is "full".
Pivot to_pivot(const std::string& name);
Precision to_precision(const std::string& name);
Arithmetic to_arithmetic(const std::string& name);
Storage to_storage(const std::string& name, const Device& device);
std::optional<Texel> to_texel(const std::string& name);  ///< absent for "auto"
Schedule to_schedule(const std::string& name);

/// The largest value of --nb.
constexpr std::size_t kLargestBlock = 4096;

/// The largest value of --seed, exact as a JSON number.
constexpr std::int64_t kLargestSeed = std::int64_t{1} << 53;

/// Refuses an empty value: most often an unset variable of a script.
CLI::Validator not_empty();

/// Takes decimal digits, a whole number in [least, most], and nothing else; for transform().
CLI::Validator whole_number(std::int64_t least, std::int64_t most);

/// Takes bytes as a positive whole number, with K, M or G for powers of 1024, and makes it a plain
/// number; for transform().
CLI::Validator memory_size();

/// Takes a decimal number in [least, most].
CLI::Validator number(double least, double most);

/// Takes a fraction in [least, most], e.g. 0.02, or the same in per cent, e.g. 2%, and makes it a
/// fraction; for transform().
CLI::Validator fraction(double least, double most);

/// prepare_pocl_cache(), with a note about it on stderr for -v; open_devices() does it.
void prepare_pocl(const Options& options);

/// A context for every device that the options name. If this starts PoCL, it is told to keep each
/// of its threads on one core (POCL_AFFINITY) where it may use all.
std::vector<DeviceContext> open_devices(const Options& options);
/// Contexts for DeviceUse::together: a device may be named more than once; `all` are all of the
/// default device's kind.
std::vector<DeviceContext> open_devices_together(const Options& options);

/// The devices of DeviceUse::in_turn, where 0+1 are two that share each system.
struct SweepDevices {
  std::vector<DeviceContext> contexts;  ///< one of every device and number of compute units
  std::vector<DeviceContext> repeated;  ///< of devices that share a system with themselves
  std::vector<Device> alone;            ///< of `contexts`, that have each system alone
  std::vector<std::vector<DeviceContext*>> teams;  ///< that share each
};
SweepDevices open_sweep_devices(const Options& options);

/// What earlier runs found out about a device with its kernels; with one line on stderr if `lugpu
/// verify` found anything wrong.
PathRecords note_path_records(const DeviceContext& context);

}  // namespace lugpu::cli
