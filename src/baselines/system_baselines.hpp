// The rivals for systems of grids and sparse matrices: a new one is one file here and one row in
// the table.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>

#include "baselines/baselines.hpp"
#include "iterative/prepared_solver.hpp"
#include "solve/structured_methods.hpp"

namespace lugpu {

struct SystemBaseline {
  const char* name;            ///< as on the command line, e.g. "viennacl-cg"
  const char* implementation;  ///< whose code runs: "viennacl", "cholmod", "openblas", "plain"
  const char* description;     ///< one line for help texts
  bool on_device;              ///< it runs on every device of a sweep; otherwise on the host
  bool direct;                 ///< it takes no steps
  /// Absent if it is not installed. Null if there is none but what lugpu is linked to.
  std::optional<RivalLibrary> (*found_library)();
  /// Throws Unsupported, one clear sentence, if the rival cannot run here: its library is missing,
  /// or the matrix or the precision is none for it. device: of those on a device.
  void (*require)(const Device* device, const StructuredMatrix& a, Precision precision);
  /// What it does once for a matrix is done here, so that the time of this call is that of its
  /// setup; the first one on a device builds its kernels too. context: of those on a device.
  /// stored: the same matrix with its entries. Neither is needed afterwards. Throws as require(),
  /// InputError if a value overflows the precision, and Unsupported where only the setup finds out.
  std::unique_ptr<PreparedSolver> (*make)(DeviceContext* context, const StructuredMatrix& a,
                                          const Sparse& stored, Precision precision,
                                          const StoppingRule& rule);
};

std::span<const SystemBaseline> system_baselines();

/// Throws InputError that lists them if there is no such baseline.
const SystemBaseline& find_system_baseline(const std::string& name);

}  // namespace lugpu
