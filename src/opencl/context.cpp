#include "opencl/context.hpp"

#include <sys/mman.h>

#include <cstdlib>
#include <fstream>
#include <iostream>
#include <sstream>

#include "error.hpp"
#include "opencl/kernel_sources.hpp"
#include "opencl/surface.hpp"
#include "printable.hpp"

namespace lugpu {
namespace {

std::size_t round_up(std::size_t count, std::size_t multiple) {
  return (count + multiple - 1) / multiple * multiple;
}

std::string build_options(const Device& device, const KernelId& id) {
  std::string options = "-cl-std=CL1.2" + id.options;
  if (id.precision == Precision::double_precision) options += " -DLUGPU_DOUBLE";
  if (id.storage == Storage::image) options += " -DLUGPU_IMAGE";
  if (id.texel == Texel::rgba) options += " -DLUGPU_RGBA";
  if (device.correctly_rounded_division) options += " -cl-fp32-correctly-rounded-divide-sqrt";
  return options;
}

// Empty where the driver has none or does not give it: what the build returned matters more.
std::string build_log(cl_program program, cl_device_id device) {
  std::size_t size = 0;
  if (clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, 0, nullptr, &size) !=
      CL_SUCCESS) {
    return "";
  }
  std::string log(size, '\0');
  if (clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, size, log.data(), nullptr) !=
      CL_SUCCESS) {
    return "";
  }
  log.erase(0, log.find_first_not_of(" \n"));
  return log.c_str();  // up to its NUL
}

}  // namespace

DeviceContext::DeviceContext(Device device, std::string kernel_dir, bool verbose)
    : device_(std::move(device)),
      kernel_dir_(std::move(kernel_dir)),
      verbose_(verbose),
      context_(device_.handle),
      queue_(context_, device_.handle),
      profiling_queue_(context_, device_.handle, CL_QUEUE_PROFILING_ENABLE) {}

void DeviceContext::set_profiling(bool on) {
  const cl::CommandQueue& last = queue();
  profiling_ = on;  // before what may throw
  last.finish();
}

// Whether the wait succeeds does not matter: there already is an error to report.
void DeviceContext::abandon_profiling() noexcept {
  clFinish(queue()());
  profiling_ = false;
}

cl::Buffer DeviceContext::allocate(std::size_t bytes) {
  constexpr std::size_t kHugePage = std::size_t{2} << 20;
  if (device_.type != "cpu" || bytes < kHugePage) {
    return cl::Buffer(context_, CL_MEM_READ_WRITE, std::max<std::size_t>(bytes, 1));
  }
  // On a CPU, large buffers are in huge pages where the system has them: strides from row to row
  // would miss the TLB with small ones.
  const std::size_t whole = round_up(bytes, kHugePage);
  void* memory = std::aligned_alloc(kHugePage, whole);
  if (!memory) throw std::bad_alloc();
  madvise(memory, whole, MADV_HUGEPAGE);
  cl::Buffer buffer(context_, CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR, bytes, memory);
  buffer.setDestructorCallback([](cl_mem, void* used) { std::free(used); }, memory);
  return buffer;
}

const cl::Buffer& DeviceContext::scratch(std::size_t bytes) {
  if (bytes > scratch_bytes_) {
    scratch_ = allocate(bytes);
    scratch_bytes_ = bytes;
  }
  return scratch_;
}

std::string DeviceContext::source_of(const std::string& file) const {
  if (!kernel_dir_.empty()) {
    std::ifstream stream(kernel_dir_ + "/" + file, std::ios::binary);
    std::ostringstream text;
    if (!stream || !(text << stream.rdbuf())) {
      throw InputError("Cannot read the kernel file " + kernel_dir_ + "/" + file +
                       "; --kernel-dir takes a directory laid out like the project's kernels/.");
    }
    return text.str();
  }
  for (const KernelSource& source : kernel_sources()) {
    if (source.name == file) return source.text;
  }
  throw Error(Exit::failure, "The program was built without the kernel file " + file + ".");
}

std::string DeviceContext::with_includes(const std::string& file) const {
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
    }
  }
  return text;
}

cl::Program& DeviceContext::find_program(const KernelId& id) {
  const std::string options = build_options(device_, id);
  const std::string key = id.file + options;
  if (const auto found = programs_.find(key); found != programs_.end()) return found->second;

  const auto start = Clock::now();
  const std::string file = id.file;
  cl::Program program(context_, with_includes("common/surface.clh") + with_includes(file));
  const cl_device_id device = device_.handle();
  const cl_int built = clBuildProgram(program(), 1, &device, options.c_str(), nullptr, nullptr);
  const std::string log = build_log(program(), device);
  if (built != CL_SUCCESS) {
    throw NotTried("The kernels of " + file + " (" + options + ") do not build on " + device_.name +
                   ": clBuildProgram failed with " + opencl_error_name(built) +
                   (log.empty() ? ", no log." : ": " + log));
  }
  build_seconds_ += std::chrono::duration<double>(Clock::now() - start).count();
  if (verbose_) std::cerr << "built " << file << " (" << options << ")\n" << printable_lines(log);
  return programs_.emplace(key, std::move(program)).first->second;
}

DeviceContext::Kernel& DeviceContext::find_kernel(const KernelId& id) {
  const std::string key = std::string(id.function) + ' ' + id.file + build_options(device_, id);
  if (const auto found = kernels_.find(key); found != kernels_.end()) return found->second;
  Kernel kernel{cl::Kernel(find_program(id), id.function), 0, 0};
  const auto group =
      kernel.handle.getWorkGroupInfo<CL_KERNEL_COMPILE_WORK_GROUP_SIZE>(device_.handle);
  kernel.group_x = id.group > 0 ? id.group : group[0];
  kernel.group_y = id.group > 0 ? 1 : group[1];
  if (kernel.group_x * kernel.group_y > device_.max_work_group) {
    throw Unsupported("The kernel " + std::string(id.function) + " needs work-groups of " +
                      std::to_string(kernel.group_x * kernel.group_y) + ", and " + device_.name +
                      " allows " + std::to_string(device_.max_work_group) + ".");
  }
  return kernels_.emplace(key, std::move(kernel)).first->second;
}

void DeviceContext::set_argument(cl::Kernel& kernel, cl_uint& index, const Surface& surface) {
  kernel.setArg(index++, surface.memory());
  kernel.setArg(index++, static_cast<cl_int>(surface.pitch()));
}

void DeviceContext::enqueue(const char* phase, Kernel& kernel, Items items) {
  const cl::NDRange global(round_up(items.x, kernel.group_x), round_up(items.y, kernel.group_y));
  cl::Event event;
  const cl::NDRange offset = items.offset_x + items.offset_y == 0
                                 ? cl::NullRange
                                 : cl::NDRange(items.offset_x, items.offset_y);
  queue().enqueueNDRangeKernel(kernel.handle, offset, global,
                               cl::NDRange(kernel.group_x, kernel.group_y), nullptr,
                               profiling_ ? &event : nullptr);
  timeline_.add_kernel(phase, std::move(event));
}

void DeviceContext::read_back(const char* phase, const cl::Buffer& buffer, std::size_t offset,
                              std::size_t bytes, void* host) {
  cl::Event event;
  queue().enqueueReadBuffer(buffer, CL_TRUE, offset, bytes, host, nullptr,
                            profiling_ ? &event : nullptr);
  timeline_.add_readback(phase, std::move(event));
}

void DeviceContext::require_long_loops() {
  if (!long_loops_) {
    constexpr cl_int kIterations = 1 << 20;
    const cl::Buffer done = allocate(sizeof(cl_int));
    cl_int count = 0;
    run("trial",
        {"common/loops.cl", "count_iterations", Precision::single_precision, Storage::buffer}, {1},
        done, kIterations);
    read_back("trial", done, 0, sizeof count, &count);
    long_loops_ = count == kIterations;
  }
  if (!*long_loops_) {
    throw Unsupported("The driver of " + device_.name +
                      " ends long loops of a work-item early; use --method lu --schedule paper.");
  }
}

void DeviceContext::set_deadline(double seconds, int pace) {
  // A deadline more than a century away is no deadline.
  deadline_ = seconds < 3e9 ? Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                                 std::chrono::duration<double>(seconds))
                            : Clock::time_point::max();
  last_wait_ = Clock::now();
  steps_between_waits_ = pace;
  steps_since_wait_ = 0;
}

void DeviceContext::checkpoint() {
  if (++steps_since_wait_ < steps_between_waits_) return;
  queue().finish();
  const auto now = Clock::now();
  if (now > deadline_) throw TimedOut();
  // Waits cost some 10 to 100 microseconds: a few per second cost almost nothing.
  const double seconds = std::chrono::duration<double>(now - last_wait_).count();
  if (seconds < 0.05) steps_between_waits_ *= 2;
  if (seconds > 0.2 && steps_between_waits_ > 1) steps_between_waits_ /= 2;
  last_wait_ = now;
  steps_since_wait_ = 0;
}

}  // namespace lugpu
