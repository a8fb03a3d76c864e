#include "baselines/system_baselines.hpp"

#include <vector>

#include "base/error.hpp"
#include "baselines/cholmod.hpp"
#include "baselines/gbtrf.hpp"
#include "baselines/plain_solvers.hpp"
#include "baselines/viennacl.hpp"
#include "baselines/viennacl_cg.hpp"

namespace lugpu {
namespace {

template <ViennaClPreconditioner preconditioner>
SystemBaseline viennacl_row(const char* name, const char* description) {
  return {name,
          "viennacl",
          description,
          true,
          false,
          viennacl_library,
          [](const Device* device, const StructuredMatrix& a, Precision precision) {
            require_viennacl_cg(preconditioner, *device, a, precision);
          },
          [](DeviceContext* context, const StructuredMatrix& a, const Sparse& stored,
             Precision precision, const StoppingRule& rule) {
            return make_viennacl_cg(preconditioner, *context, a, stored, precision, rule);
          }};
}

template <PlainMethod method>
SystemBaseline plain_row(const char* name, const char* description) {
  return {name,
          "plain",
          description,
          false,
          false,
          nullptr,
          [](const Device*, const StructuredMatrix& a, Precision precision) {
            require_plain(method, a, precision);
          },
          [](DeviceContext*, const StructuredMatrix& a, const Sparse&, Precision precision,
             const StoppingRule& rule) { return make_plain(method, a, precision, rule); }};
}

SystemBaseline cholmod_row() {
  return {"cholmod",
          "cholmod",
          "SuiteSparse's sparse Cholesky factorization on the host",
          false,
          true,
          cholmod_library,
          [](const Device*, const StructuredMatrix& a, Precision precision) {
            require_cholmod(a, precision);
          },
          [](DeviceContext*, const StructuredMatrix& a, const Sparse& stored, Precision precision,
             const StoppingRule& rule) { return make_cholmod(a, stored, precision, rule); }};
}

SystemBaseline gbtrf_row() {
  return {"gbtrf",
          "openblas",
          "LAPACK's banded LU with partial pivoting on the host",
          false,
          true,
          nullptr,
          [](const Device*, const StructuredMatrix& a, Precision precision) {
            require_gbtrf(a, precision);
          },
          [](DeviceContext*, const StructuredMatrix& a, const Sparse& stored, Precision precision,
             const StoppingRule& rule) { return make_gbtrf(a, stored, precision, rule); }};
}

}  // namespace

std::span<const SystemBaseline> system_baselines() {
  static const std::vector<SystemBaseline> table = {
      viennacl_row<ViennaClPreconditioner::none>(
          "viennacl-cg", "ViennaCL's pipelined conjugate gradients on the OpenCL device"),
      viennacl_row<ViennaClPreconditioner::amg>(
          "viennacl-amg-cg", "the same with its algebraic multigrid as the preconditioner"),
      cholmod_row(),
      gbtrf_row(),
      plain_row<PlainMethod::jacobi>("plain-jacobi", "Jacobi's method, plain loops of one thread"),
      plain_row<PlainMethod::gauss_seidel>(
          "plain-gauss-seidel",
          "Gauss-Seidel with red and black points, plain loops of one thread"),
      plain_row<PlainMethod::cg>("plain-cg", "conjugate gradients, plain loops of one thread"),
  };
  return table;
}

const SystemBaseline& find_system_baseline(const std::string& name) {
  std::string known;
  for (const SystemBaseline& baseline : system_baselines()) {
    if (name == baseline.name) return baseline;
    known += (known.empty() ? "" : ", ") + std::string(baseline.name);
  }
  throw InputError("There is no baseline \"" + name + "\"; there are: " + known + ".");
}

}  // namespace lugpu
