// The table of methods for matrices that are not dense: those of grids, and sparse ones. A new
// method is one file in iterative/ or dense/ and one row here. Help texts, the benchmark of
// problems, the tests and the records read it.
#pragma once

#include <memory>
#include <span>

#include "iterative/prepared_solver.hpp"
#include "lugpu/options.hpp"
#include "matrix/grid.hpp"
#include "opencl/context.hpp"

namespace lugpu {

/// The matrix of a system: of a grid, or stored. It must outlive its solver.
struct StructuredMatrix {
  StructuredMatrix(const Grid& of_grid) : grid(&of_grid) {}
  StructuredMatrix(const Sparse& of_entries) : stored(&of_entries) {}

  const Grid* grid = nullptr;      ///< one of the two; the other one is null
  const Sparse* stored = nullptr;  ///< square

  std::size_t order() const { return grid ? grid->unknowns() : stored->rows(); }
};

/// How it is solved.
struct StructuredOptions {
  Precision precision = Precision::double_precision;
  Storage storage = Storage::buffer;
  StoppingRule rule;
  std::size_t nrhs = 1;  ///< right-hand sides to prepare for; any other number works, but slower
};

/// Multiply-adds of a direct method, at least.
struct Work {
  double setup = 0;              ///< of preparing the matrix
  double solution = 0;           ///< of one right-hand side
  bool by_matrix_units = false;  ///< where the device has them (matrix_units.hpp)
};

struct StructuredMethod {
  const char* name;  ///< as on the command line, e.g. "cg"
  const char* description;
  bool direct;  ///< takes no iterations: its answer does not depend on the tolerance
  /// Words of 4 or 8 bytes that a step moves for each unknown of a grid, as the papers' form of it
  /// counts them (a vector that is read or written once: one word); 0 where that says little.
  double words;
  /// Of these, what lugpu's own kernels move at least, when no vector stays in a cache.
  double least_words;
  /// Null where nothing is counted: what iterative methods do is limited by least_words.
  Work (*least_work)(const StructuredMatrix& a);
  /// Throws Unsupported, with what may help, if the method cannot take such a matrix or has no such
  /// precision or storage: before anything is allocated.
  void (*require)(const StructuredMatrix& a, const StructuredOptions& options);
  /// Prepares the matrix. Throws as require(), and Unsupported where the device has no room.
  std::unique_ptr<DeviceSolver> (*make)(DeviceContext& context, const StructuredMatrix& a,
                                        const StructuredOptions& options);
  /// The same for a grid without Dirichlet walls and without a shift, whose conductivity is set on
  /// the device; null if the method needs it on the host. Throws as make().
  std::unique_ptr<VaryingSolver> (*make_varying)(DeviceContext& context, const Grid& grid,
                                                 const StructuredOptions& options) = nullptr;
};

/// Direct ones first.
std::span<const StructuredMethod> structured_methods();

/// Null if there is no such method.
const StructuredMethod* structured_method(const std::string& name);

}  // namespace lugpu
