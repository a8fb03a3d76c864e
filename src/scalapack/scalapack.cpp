// ScaLAPACK's general systems for matrices whose columns are dealt to a grid of 1 x P processes:
// p?getrf, p?getrs, p?gesv, single and double, under their Fortran names. Arguments, results and
// INFO are ScaLAPACK's; documented at https://netlib.org/scalapack/explore-html. What is dealt
// otherwise, or is wrong, goes to the ScaLAPACK behind this library.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <new>
#include <optional>
#include <string>

#include "base/error.hpp"
#include "lapack/environment.hpp"
#include "lapack/next.hpp"
#include "lapack/say.hpp"
#include "lapack/trans.hpp"
#include "scalapack/grid.hpp"
#include "scalapack/shared_systems.hpp"

namespace lugpu::lapack {

const char* const kLibrary = "lugpu_scalapack";
static constexpr const char* kScalapacks[] = {"libscalapack-openmpi.so.2.2", "libscalapack.so.2.2"};
const std::span<const char* const> kFiles = kScalapacks;

}  // namespace lugpu::lapack

namespace lugpu::scalapack {
namespace {

// A distributed matrix as arguments give it: local memory, the place of the submatrix, and the
// descriptor of nine ints.
template <typename Real>
struct Distributed {
  Real* local;
  int i, j;
  const int* descriptor;

  bool is_dense() const { return descriptor[0] == 1; }
  int context() const { return descriptor[1]; }
  int rows() const { return descriptor[2]; }
  int columns() const { return descriptor[3]; }
  int mb() const { return descriptor[4]; }
  int nb() const { return descriptor[5]; }
  int first_row() const { return descriptor[6]; }
  int first_process() const { return descriptor[7]; }
  int ld() const { return descriptor[8]; }

  // Columns 0 : count of the submatrix, with n rows.
  Part<Real> part(int n, int count, const Grid& grid) const {
    const auto size = [](int value) { return static_cast<std::size_t>(value); };
    return {{size(nb()), size(first_process()), size(grid.columns)},
            {local, size(n), size(count), size(ld())}};
  }
};

// What keeps a call from the devices, or nothing. `bad_input` needs no warning: wrong arguments,
// which ScaLAPACK reports, and small orders.
using Obstacle = Error;

Obstacle unshared(const std::string& why) {
  return {ErrorKind::unsupported, why};
}

Obstacle unwarned(const std::string& why) {
  return {ErrorKind::bad_input, why};
}

template <typename Real>
std::optional<Obstacle> obstacle_of(const Distributed<Real>& a, int rows, int columns) {
  if (!a.is_dense()) return unwarned("its matrix is no dense one");
  const Grid grid = grid_of(a.context());
  if (grid.rows < 1) return unwarned("this process is not in the grid");
  if (rows < 0 || columns < 0 || a.i < 1 || a.j < 1 || a.mb() < 1 || a.nb() < 1 ||
      a.first_row() < 0 || a.first_row() >= grid.rows ||
      (grid.rows == 1 && a.ld() < std::max(1, rows)) || a.rows() < a.i - 1 + rows ||
      a.columns() < a.j - 1 + columns || a.first_process() < 0 ||
      a.first_process() >= grid.columns) {
    return unwarned("an argument is wrong");
  }
  if (grid.rows > 1) {
    return unshared("its grid has " + std::to_string(grid.rows) + " rows of processes, not one");
  }
  if (a.i != 1 || a.j != 1) return unshared("its matrix begins in the middle of another one");
  if (rows < lapack::least_order()) {
    return unwarned("order " + std::to_string(rows) + " is below " +
                    std::to_string(lapack::least_order()));
  }
  return std::nullopt;
}

bool is_first(const Grid& grid) {
  return grid.row == 0 && grid.column == 0;
}

// A call with LUGPU_LAPACK_TRACE=1 prints a line, on the first process.
class Call {
 public:
  Call(std::string routine, int context) : routine_(std::move(routine)), grid_(grid_of(context)) {}
  ~Call() {
    if (!lapack::traced() || !is_first(grid_)) return;
    const std::chrono::duration<double, std::milli> time = Clock::now() - start_;
    char text[64];
    std::snprintf(text, sizeof text, " grid=%dx%d %s %.3f ms", grid_.rows, grid_.columns,
                  why_.empty() ? "device" : "host", time.count());
    try {
      lapack::say(routine_ + text + (why_.empty() ? "" : ": " + why_));
    } catch (const std::bad_alloc&) {
    }
  }
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  /// Does the work on the devices of the grid's processes, if none of them has an obstacle. False
  /// on all of them if one has, or if the work failed before anything was overwritten.
  template <typename Work>
  bool on_devices(int context, const std::optional<Obstacle>& obstacle, const Work& work) {
    const auto require_possible = [&] {
      if (obstacle) throw Obstacle(*obstacle);
    };
    try {
      if (grid_.rows != 1) require_possible();  // for all of the grid's processes alike
      GridProcesses processes(context, grid_);
      agree(processes.group(), require_possible);
      work(processes.group());
      return true;
    } catch (const Error& error) {
      decline(error.what(), error.kind() != ErrorKind::bad_input);
    } catch (const cl::Error& error) {
      decline(describe(error) + ".", true);
    } catch (const std::exception& error) {
      decline(error.what(), true);
    }
    return false;
  }

  const Grid& grid() const { return grid_; }

 private:
  using Clock = std::chrono::steady_clock;

  void decline(const std::string& why, bool warns) {
    why_ = why;
    if (warns && is_first(grid_)) lapack::warn_once(why);
  }

  std::string routine_, why_;  // why: of the host
  Grid grid_;
  Clock::time_point start_ = Clock::now();
};

template <typename Real>
std::string name_of(const char* routine, int n) {
  return std::string("p") + lapack::kPrefix<Real> + routine + " n=" + std::to_string(n);
}

// The next ScaLAPACK's routine.
template <typename Real, typename Routine>
Routine* next(const char* routine) {
  return reinterpret_cast<Routine*>(
      lapack::next_symbol(std::string("p") + lapack::kPrefix<Real> + routine + '_'));
}

template <typename Real>
void getrf(const int* m, const int* n, const Distributed<Real>& a, int* ipiv, int* info) {
  Call call(name_of<Real>("getrf", *n), a.context());
  std::optional<Obstacle> obstacle = obstacle_of(a, *m, *n);
  if (!obstacle && *m != *n) obstacle = unshared("its matrix is not square");
  if (call.on_devices(a.context(), obstacle, [&](ProcessGroup& processes) {
        const Part<Real> part = a.part(*n, *n, call.grid());
        SharedSystem<Real> system(processes, part, 0);
        system.factor();
        system.give_factors(part);
        std::copy(system.ipiv().begin(), system.ipiv().end(), ipiv);
        *info = system.info();
      })) {
    return;
  }
  using Getrf = void(const int*, const int*, Real*, const int*, const int*, const int*, int*, int*);
  static Getrf* const host = next<Real, Getrf>("getrf");
  host(m, n, a.local, &a.i, &a.j, a.descriptor, ipiv, info);
}

// Of A and B of a system.
template <typename Real>
std::optional<Obstacle> obstacle_of_system(const Distributed<Real>& a, const Distributed<Real>& b,
                                           int n, int nrhs) {
  if (std::optional<Obstacle> obstacle = obstacle_of(a, n, n)) return obstacle;
  if (std::optional<Obstacle> obstacle = obstacle_of(b, n, nrhs)) return obstacle;
  if (a.context() != b.context()) return unwarned("A and B have different grids");
  return std::nullopt;
}

template <typename Real>
void getrs(const char* trans, const int* n, const int* nrhs, const Distributed<Real>& a,
           const int* ipiv, const Distributed<Real>& b, int* info) {
  Call call(name_of<Real>("getrs", *n), a.context());
  const std::optional<Op> op = lapack::op_of(*trans);
  std::optional<Obstacle> obstacle = obstacle_of_system(a, b, *n, *nrhs);
  if (!op) obstacle = unwarned("an argument is wrong");
  if (call.on_devices(a.context(), obstacle, [&](ProcessGroup& processes) {
        const auto columns = static_cast<std::size_t>(*nrhs);
        SharedSystem<Real> system(processes, a.part(*n, *n, call.grid()), columns);
        system.adopt(ipiv);
        system.solve(*op, b.part(*n, *nrhs, call.grid()), columns);
        *info = 0;
      })) {
    return;
  }
  using Getrs =
      void(const char*, const int*, const int*, const Real*, const int*, const int*, const int*,
           const int*, Real*, const int*, const int*, const int*, int*, std::size_t);
  static Getrs* const host = next<Real, Getrs>("getrs");
  host(trans, n, nrhs, a.local, &a.i, &a.j, a.descriptor, ipiv, b.local, &b.i, &b.j, b.descriptor,
       info, 1);
}

template <typename Real>
void gesv(const int* n, const int* nrhs, const Distributed<Real>& a, int* ipiv,
          const Distributed<Real>& b, int* info) {
  Call call(name_of<Real>("gesv", *n), a.context());
  if (call.on_devices(a.context(), obstacle_of_system(a, b, *n, *nrhs),
                      [&](ProcessGroup& processes) {
                        const auto columns = static_cast<std::size_t>(*nrhs);
                        const Part<Real> part = a.part(*n, *n, call.grid());
                        SharedSystem<Real> system(processes, part, columns);
                        system.factor();
                        *info = system.info();
                        if (*info == 0)
                          system.solve(Op::none, b.part(*n, *nrhs, call.grid()), columns);
                        system.give_factors(part);
                        std::copy(system.ipiv().begin(), system.ipiv().end(), ipiv);
                      })) {
    return;
  }
  using Gesv = void(const int*, const int*, Real*, const int*, const int*, const int*, int*, Real*,
                    const int*, const int*, const int*, int*);
  static Gesv* const host = next<Real, Gesv>("gesv");
  host(n, nrhs, a.local, &a.i, &a.j, a.descriptor, ipiv, b.local, &b.i, &b.j, b.descriptor, info);
}

}  // namespace
}  // namespace lugpu::scalapack

namespace scalapack = lugpu::scalapack;

// The length of TRANS, which Fortran passes behind the other arguments, is not declared.
extern "C" {

void psgetrf_(const int* m, const int* n, float* a, const int* ia, const int* ja, const int* desca,
              int* ipiv, int* info) {
  scalapack::getrf<float>(m, n, {a, *ia, *ja, desca}, ipiv, info);
}
void pdgetrf_(const int* m, const int* n, double* a, const int* ia, const int* ja, const int* desca,
              int* ipiv, int* info) {
  scalapack::getrf<double>(m, n, {a, *ia, *ja, desca}, ipiv, info);
}

void psgetrs_(const char* trans, const int* n, const int* nrhs, float* a, const int* ia,
              const int* ja, const int* desca, const int* ipiv, float* b, const int* ib,
              const int* jb, const int* descb, int* info) {
  scalapack::getrs<float>(trans, n, nrhs, {a, *ia, *ja, desca}, ipiv, {b, *ib, *jb, descb}, info);
}
void pdgetrs_(const char* trans, const int* n, const int* nrhs, double* a, const int* ia,
              const int* ja, const int* desca, const int* ipiv, double* b, const int* ib,
              const int* jb, const int* descb, int* info) {
  scalapack::getrs<double>(trans, n, nrhs, {a, *ia, *ja, desca}, ipiv, {b, *ib, *jb, descb}, info);
}

void psgesv_(const int* n, const int* nrhs, float* a, const int* ia, const int* ja,
             const int* desca, int* ipiv, float* b, const int* ib, const int* jb, const int* descb,
             int* info) {
  scalapack::gesv<float>(n, nrhs, {a, *ia, *ja, desca}, ipiv, {b, *ib, *jb, descb}, info);
}
void pdgesv_(const int* n, const int* nrhs, double* a, const int* ia, const int* ja,
             const int* desca, int* ipiv, double* b, const int* ib, const int* jb, const int* descb,
             int* info) {
  scalapack::gesv<double>(n, nrhs, {a, *ia, *ja, desca}, ipiv, {b, *ib, *jb, descb}, info);
}
}
