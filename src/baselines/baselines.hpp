// The rivals: LAPACK's solvers on the host, other libraries' on the device. A new rival is one file
// here and one row in the table.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>

#include "baselines/contender.hpp"
#include "opencl/context.hpp"
#include "solve/methods.hpp"

namespace lugpu {

/// An optional library, as it was found.
struct RivalLibrary {
  std::string version;  ///< as the library says, e.g. "11.7.5"
  std::string path;     ///< the file it was loaded from; empty if it is compiled in
};

/// What a rival on a device has in addition. It runs once on every device of a sweep.
struct DeviceRival {
  /// Throws Unsupported, before anything is allocated, if the rival cannot run here: its library is
  /// missing, it does not run on the device, or the problem does not fit.
  void (*require)(const Device& device, const Problem& problem);
  std::unique_ptr<Contender> (*make)(DeviceContext& context, const Problem& problem);
  /// Absent if it is not installed.
  std::optional<RivalLibrary> (*found_library)();
};

struct Baseline {
  const char* name;            ///< the routine, as on the command line, e.g. "getrf"
  const char* implementation;  ///< whose code runs: "openblas", "lapack", "cusolver", "viennacl"
  const char* description;     ///< one line for help texts
  Pivot pivot;
  bool threaded;  ///< whether it uses more than one thread of the host
  std::unique_ptr<Contender> (*make)(const Problem& problem);  ///< on the host; null for a device's
  std::optional<DeviceRival> on_device = std::nullopt;         ///< absent on the host
  FlopFormula flops = kLuFlops;
  bool shares = false;        ///< whether several devices can share the work: DenseOptions::others
  bool in_processes = false;  ///< whether it takes several processes of mpirun
};

std::span<const Baseline> baselines();

/// Throws InputError that lists the baselines if there is no such baseline.
const Baseline& find_baseline(const std::string& name);

/// Threads of the BLAS that runs here; set_blas_threads throws InputError unless 1 <= threads.
int blas_threads();
void set_blas_threads(int threads);
/// Has it reserve the memory that its threads work in, which it does at the first use, so that it
/// is known how much is left.
void reserve_memory_of_blas();

/// The BLAS and LAPACK that actually run, as found by the dynamic linker.
struct BlasLibrary {
  std::string name;         ///< "OpenBLAS"
  std::string config;       ///< version and build options
  std::string core;         ///< the processor that its kernels were chosen for
  std::string path;         ///< of the library that holds dgetrf
  std::string lapack_path;  ///< of the library that holds dgetc2
};
BlasLibrary blas_library();

}  // namespace lugpu
