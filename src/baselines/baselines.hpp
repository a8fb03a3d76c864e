// The rivals: LAPACK's solvers on the host. A new rival is one file here and one row in the table.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "solvers/solver.hpp"

namespace lugpu {

struct Baseline {
  const char* name;            ///< the routine, as on the command line, e.g. "getrf"
  const char* implementation;  ///< whose code runs: "openblas" or "lapack"
  const char* description;     ///< one line for help texts
  Pivot pivot;
  bool threaded;  ///< whether it uses more than one thread
  std::unique_ptr<Solver> (*make)(const Problem& problem);
};

std::span<const Baseline> baselines();

/// Throws InputError that lists the baselines if there is no such baseline.
const Baseline& find_baseline(const std::string& name);

/// Threads of the BLAS that runs here; set_blas_threads throws InputError unless 1 <= threads.
int blas_threads();
void set_blas_threads(int threads);

/// The BLAS and LAPACK that really run, as found by the dynamic linker.
struct BlasLibrary {
  std::string name;         ///< "OpenBLAS"
  std::string config;       ///< version and build options
  std::string core;         ///< the processor that its kernels were chosen for
  std::string path;         ///< of the library that holds dgetrf
  std::string lapack_path;  ///< of the library that holds dgetc2
};
BlasLibrary blas_library();

}  // namespace lugpu
