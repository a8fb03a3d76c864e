#include "opencl/programs.hpp"

#include <fstream>
#include <iostream>
#include <sstream>
#include <utility>

#include "base/clock.hpp"
#include "base/error.hpp"
#include "base/printable.hpp"
#include "opencl/context_number.hpp"
#include "opencl/kernel_sources.hpp"

namespace lugpu {

Programs::Programs(const cl::Context& context, const Device& device, KernelSettings settings)
    : context_(context),
      handle_(handle_of(device)),
      device_name_(device.name),
      max_work_group_(device.max_work_group),
      correctly_rounded_division_(device.correctly_rounded_division),
      number_(context_number(device)),
      settings_(std::move(settings)) {}

std::string Programs::build_options(const KernelId& id) const {
  std::string options = "-cl-std=CL1.2" + id.options + settings_.options;
  if (id.precision == Precision::double_precision) options += " -DLUGPU_DOUBLE";
  if (id.storage == Storage::image) options += " -DLUGPU_IMAGE";
  if (id.texel == Texel::rgba) options += " -DLUGPU_RGBA";
  if (number_ && *number_ > 0) options += " -DLUGPU_CONTEXT=" + std::to_string(*number_);
  if (correctly_rounded_division_) options += " -cl-fp32-correctly-rounded-divide-sqrt";
  return options;
}

std::string Programs::program_key(const KernelId& id) const {
  std::string key = id.file + build_options(id);
  if (id.patch) key.append(" patched, bytes ").append(std::to_string(id.patch->local_bytes));
  return key;
}

std::string Programs::source_of(const std::string& file) const {
  if (!settings_.folder.empty()) {
    std::ifstream stream(settings_.folder + "/" + file, std::ios::binary);
    std::ostringstream text;
    if (!stream || !(text << stream.rdbuf())) {
      throw InputError("Cannot read the kernel file " + settings_.folder + "/" + file +
                       "; the folder of the kernels must be laid out like the project's kernels/.");
    }
    return text.str();
  }
  for (const KernelSource& source : kernel_sources()) {
    if (source.name == file) return source.text;
  }
  throw Error(ErrorKind::failure, "The program was built without the kernel file " + file + ".");
}

std::string Programs::with_includes(const std::string& file) const {
  static const std::string include = "#include \"";
  const auto line_directive = [&](int line) {
    return "#line " + std::to_string(line) + " \"" + file + "\"\n";
  };
  std::istringstream source(source_of(file));
  std::string text = line_directive(1), line;
  for (int number = 1; std::getline(source, line); ++number) {
    if (line.starts_with(include)) {
      const std::string name =
          line.substr(include.size(), line.find('"', include.size()) - include.size());
      text += with_includes(name) + line_directive(number + 1);
    } else {
      text += line + '\n';
      // The lines above are not counted where they are skipped, with what was included there.
      const bool ends_skipping =
          line.starts_with("#endif") || line.starts_with("#else") || line.starts_with("#elif");
      if (ends_skipping) text += line_directive(number + 1);
    }
  }
  return text;
}

cl::Program& Programs::find_program(const KernelId& id) {
  const std::string key = program_key(id);
  if (const auto found = programs_.find(key); found != programs_.end()) return found->second;

  const Clock::time_point start = Clock::now();
  const std::string file = id.file, options = build_options(id);
  const std::string source = with_includes("common/surface.clh") + with_includes(file);
  cl::Program program;
  std::string log;
  const auto build = [&] {
    program = cl::Program(context_, source);
    const cl_device_id device = handle_();
    const cl_int result = clBuildProgram(program(), 1, &device, options.c_str(), nullptr, nullptr);
    log = build_log(program, handle_);
    return result;
  };
  cl_int built = build();
  // Processes that fill one cache of PoCL at the same time may fail without an error in the source.
  for (int again = 0; again < 2 && built != CL_SUCCESS && log.find("error") == std::string::npos;
       ++again)
    built = build();
  if (built != CL_SUCCESS) {
    throw NotTried("The kernels of " + file + " (" + options + ") do not build on " + device_name_ +
                   ": clBuildProgram failed with " + opencl_error_name(built) +
                   (log.empty() ? ", no log." : ": " + log));
  }
  if (id.patch) {
    program = patched_program(program, handle_, *id.patch);
    log += build_log(program, handle_);
  }
  build_seconds_ += seconds_since(start);
  if (settings_.verbose)
    std::cerr << "built " << file << " (" << options << ")\n" << printable_lines(log);
  return programs_.emplace(key, std::move(program)).first->second;
}

Kernel& Programs::find(const KernelId& id) {
  const std::string key = std::string(id.function) + ' ' + program_key(id);
  if (const auto found = kernels_.find(key); found != kernels_.end()) return found->second;
  Kernel kernel{cl::Kernel(find_program(id), id.function), 0, 0};
  const auto group = kernel.handle.getWorkGroupInfo<CL_KERNEL_COMPILE_WORK_GROUP_SIZE>(handle_);
  kernel.group_x = id.group > 0 ? id.group : group[0];
  kernel.group_y = id.group > 0 ? 1 : group[1];
  if (kernel.group_x * kernel.group_y > max_work_group_) {
    throw Unsupported("The kernel " + std::string(id.function) + " needs work-groups of " +
                      std::to_string(kernel.group_x * kernel.group_y) + ", and " + device_name_ +
                      " allows " + std::to_string(max_work_group_) + ".");
  }
  return kernels_.emplace(key, std::move(kernel)).first->second;
}

}  // namespace lugpu
