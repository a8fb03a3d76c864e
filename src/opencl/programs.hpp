// Kernels: their sources, built once for each set of build options.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "opencl/device.hpp"
#include "opencl/patched_program.hpp"

namespace lugpu {

/// Names a kernel: its file with its folder in kernels/, the function there, and how to build it.
struct KernelId {
  const char* file;
  const char* function;
  Precision precision;
  Storage storage;
  Texel texel = Texel::r;
  std::string options = "";  ///< more build options, e.g. " -DLANES=64"
  std::size_t group = 0;     ///< work-items of a work-group, where the kernel leaves that open
  std::optional<Patch> patch = std::nullopt;  ///< of the program's binary; NVIDIA's alone
};

/// Which kernels are used.
struct KernelSettings {
  std::string folder = "";   ///< one like kernels/ to read them from; empty for the embedded ones
  bool vendor = true;        ///< whether kernels for one vendor's devices may be used
  bool verbose = false;      ///< print build logs to stderr
  std::string options = "";  ///< more build options, for tests: " -cl-opt-disable"
};

/// A kernel that was built, and its fixed work-group size.
struct Kernel {
  cl::Kernel handle;
  std::size_t group_x, group_y;
};

class Programs {
 public:
  Programs(const cl::Context& context, const Device& device, KernelSettings settings);

  const KernelSettings& settings() const { return settings_; }
  /// Builds what has not been built yet. Throws NotTried with the error and the log if that fails,
  /// Unsupported if the device's work-groups are too small or the program cannot be patched.
  Kernel& find(const KernelId& id);
  /// Seconds spent building so far.
  double build_seconds() const { return build_seconds_; }
  /// How many different kernels have been asked for; one built for another precision, storage or
  /// option counts again. Drivers may compile at the first launch.
  std::size_t kernel_count() const { return kernels_.size(); }

 private:
  std::string build_options(const KernelId& id) const;
  /// One for each program: by file, build options and patch.
  std::string program_key(const KernelId& id) const;
  std::string source_of(const std::string& file) const;
  /// The text of a kernel file, with its `#include "file"` lines replaced by those files.
  std::string with_includes(const std::string& file) const;
  cl::Program& find_program(const KernelId& id);

  cl::Context context_;
  cl::Device handle_;
  std::string device_name_;
  std::size_t max_work_group_;
  bool correctly_rounded_division_;
  std::shared_ptr<const std::size_t> number_;  // see context_number()
  KernelSettings settings_;
  std::map<std::string, cl::Program> programs_;  // by program_key()
  std::map<std::string, Kernel> kernels_;        // by function and program_key()
  double build_seconds_ = 0;
};

}  // namespace lugpu
