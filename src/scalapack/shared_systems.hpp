// Systems of ScaLAPACK's on the devices of the processes of a grid.
#pragma once

#include <optional>

#include "distributed/distributed_lu.hpp"
#include "lugpu/error.hpp"
#include "scalapack/columns.hpp"

namespace lugpu::scalapack {

/// The devices of this process, opened by the first call: those of LUGPU_DEVICE, or else the
/// default one or one of its kind for each process of a host. None, but an obstacle, if that
/// failed (unsupported), or if they are CPUs and LUGPU_LAPACK_MIN_N is not set (bad_input).
struct Opened {
  Team team;
  std::optional<Error> obstacle;
};
const Opened& opened();

/// Columns of this process, in the caller's memory.
template <typename Real>
struct Part {
  Columns dealt;
  View<Real> local;
};

/// An n x n matrix, P A = L U with partial pivoting, on the devices of all processes. All of them
/// call the same functions.
template <typename Real>
class SharedSystem {
 public:
  /// A as it is, or its factors: see factor() and adopt(). nrhs: of the solutions to come. Throws
  /// on all processes what one of them cannot do, before anything of the caller's is overwritten.
  SharedSystem(ProcessGroup& processes, const Part<Real>& a, std::size_t nrhs);

  /// The device that fails in one of these ends all processes.
  void factor() { lu_->factor(); }
  /// Instead of factor(): A was L and U, as getrf leaves them. Throws as the constructor.
  void adopt(const int* ipiv);
  int info() const { return lu_->info(); }
  const std::vector<int>& ipiv() const { return lu_->ipiv(); }
  /// B = inv(op(A)) B.
  void solve(Op op, const Part<Real>& b, std::size_t nrhs);
  /// A = L and U.
  void give_factors(const Part<Real>& a);

 private:
  void take(const Part<Real>& a);
  std::size_t holder_of(std::size_t j) const;

  ProcessGroup& processes_;
  const std::size_t n_;
  std::optional<Crew> crew_;
  std::optional<DistributedLu> lu_;
  std::vector<Real> block_;  // a block column on its way
};

}  // namespace lugpu::scalapack
