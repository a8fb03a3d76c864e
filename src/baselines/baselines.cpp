#include "baselines/baselines.hpp"

#include <cblas.h>
#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <vector>

#include "base/error.hpp"
#include "baselines/cusolver.hpp"
#include "baselines/cusolver_mg.hpp"
#include "baselines/cusolver_mp.hpp"
#include "baselines/getc2.hpp"
#include "baselines/getrf.hpp"
#include "baselines/scalapack.hpp"
#include "baselines/viennacl.hpp"

namespace lugpu {
namespace {

template <template <typename> class T>
std::unique_ptr<Contender> make(const Problem& problem) {
  if (problem.dense.precision == Precision::double_precision)
    return std::make_unique<T<double>>(problem);
  return std::make_unique<T<float>>(problem);
}

// The file that a symbol was loaded from, symbolic links resolved.
std::string library_of(const char* symbol) {
  Dl_info found;
  void* address = dlsym(RTLD_DEFAULT, symbol);
  if (!address || !dladdr(address, &found) || !found.dli_fname) return "unknown";
  char* resolved = realpath(found.dli_fname, nullptr);
  const std::string path = resolved ? resolved : found.dli_fname;
  std::free(resolved);
  return path;
}

}  // namespace

std::span<const Baseline> baselines() {
  static const DeviceRival cusolver = {require_cusolver, make_cusolver, cusolver_library};
  static const DeviceRival cusolver_mg = {require_cusolver_mg, make_cusolver_mg,
                                          cusolver_mg_library};
  static const DeviceRival cusolver_mp = {require_cusolver_mp, make_cusolver_mp,
                                          cusolver_mp_library};
  static const DeviceRival viennacl = {require_viennacl, make_viennacl, viennacl_library};
  static const std::vector<Baseline> table = {
      {"getrf", "openblas", "LAPACK's blocked LU with partial pivoting", Pivot::partial, true,
       make<Getrf>},
      {"getc2", "lapack", "LAPACK's unblocked LU with full pivoting", Pivot::full, false,
       make<Getc2>},
      {"scalapack", "scalapack",
       "ScaLAPACK's p?getrf with partial pivoting in the processes of mpirun, a core for each",
       Pivot::partial, false, make_scalapack, std::nullopt, kLuFlops, false, true},
      {"cusolver", "cusolver", "NVIDIA's getrf with partial pivoting on the GPU", Pivot::partial,
       false, nullptr, cusolver},
      {"cusolver-none", "cusolver", "NVIDIA's getrf without pivoting on the GPU", Pivot::none,
       false, nullptr, cusolver},
      {"cusolver-mg", "cusolver-mg", "NVIDIA's getrf with partial pivoting on several GPUs",
       Pivot::partial, false, nullptr, cusolver_mg, kLuFlops, true},
      {"cusolver-mp", "cusolver-mp", "NVIDIA's getrf with partial pivoting on GPUs that NCCL joins",
       Pivot::partial, false, nullptr, cusolver_mp, kLuFlops, true},
      {"viennacl", "viennacl", "ViennaCL's LU without pivoting on the OpenCL device", Pivot::none,
       false, nullptr, viennacl},
  };
  return table;
}

const Baseline& find_baseline(const std::string& name) {
  std::string known;
  for (const Baseline& baseline : baselines()) {
    if (name == baseline.name) return baseline;
    known += (known.empty() ? "" : ", ") + std::string(baseline.name);
  }
  throw InputError("There is no baseline \"" + name + "\"; there are: " + known + ".");
}

int blas_threads() {
  return openblas_get_num_threads();
}

void set_blas_threads(int threads) {
  if (threads < 1) {
    throw InputError(std::to_string(threads) + " is not a possible number of threads.");
  }
  openblas_set_num_threads(threads);
}

void reserve_memory_of_blas() {
  constexpr int kOrder = 256;  // that all threads share
  const std::vector<double> a(kOrder * kOrder);
  std::vector<double> c(kOrder * kOrder);
  cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, kOrder, kOrder, kOrder, 1.0, a.data(),
              kOrder, a.data(), kOrder, 0.0, c.data(), kOrder);
}

BlasLibrary blas_library() {
  return {"OpenBLAS", openblas_get_config(), openblas_get_corename(), library_of("dgetrf_"),
          library_of("dgetc2_")};
}

}  // namespace lugpu
