// The table of methods: a new algorithm is one file in dense/ and one row here. Help texts, the
// sweep, the tests and the records read it.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "dense/factorization.hpp"
#include "solve/path_records.hpp"
#include "solve/problem.hpp"

namespace lugpu {

/// Work by the counts of the LU-GPU paper, Tables 1 and 2, for a matrix of order n.
struct WorkModel {
  std::uint64_t elements_updated;  ///< multiply-adds of the elimination
  std::uint64_t bytes;             ///< memory traffic for 4-byte elements
};

/// What A must be.
enum class Structure { general };

/// Floating-point operations as benchmarks count them.
struct FlopFormula {
  const char* text;  ///< e.g. "2/3 n^3"
  double (*count)(double n);
};
extern const FlopFormula kLuFlops;

struct Method {
  const char* name;         ///< the routine, as on the command line, e.g. "gauss-jordan"
  const char* description;  ///< one line for help texts
  Structure structure;
  bool (*has)(const PivotRule& rule);  ///< which pivotings it has
  FlopFormula flops;
  WorkModel (*work)(std::uint64_t n);
  bool keeps_factors;  ///< so that it can refine, solve again and be checked by P A Q = L U; one
                       ///< that does not is checked by I = A inv(A)
  bool has_schedules;  ///< whether DenseOptions::schedule means anything
  bool shares;         ///< whether several devices can share the work: DenseOptions::others
  /// Throws Unsupported if the device cannot hold the system, before anything is allocated.
  void (*require_room)(const Device& device, const Size& size, const DenseOptions& options);
  std::unique_ptr<DenseFactorization> (*make)(DeviceContext& context, const Size& size,
                                              const DenseOptions& options);
  /// The fastest number of columns of a block; null for a method without blocks.
  std::size_t (*block_size)(const Device& device, const Size& size,
                            const DenseOptions& options) = nullptr;
  /// In how many windows A is held on the device, the rest of it being on the host; null for a
  /// method that always has all of it there. Throws as require_room.
  std::size_t (*windows)(const Device& device, const Size& size,
                         const DenseOptions& options) = nullptr;
  /// The one that pays for the problem, which is in single; null for a method without.
  Shortcut (*shortcut)(const Device& device, const Size& size,
                       const DenseOptions& options) = nullptr;

  std::vector<Pivot> pivots() const;
};

/// The fastest first.
std::span<const Method> methods();

/// Throws InputError that lists the methods if there is no such method.
const Method& find_method(const std::string& name);

/// Throws Unsupported, before anything is allocated, if the device cannot hold the system, or the
/// method has no such pivoting, cannot refine or has one device only.
void require_possible(const Device& device, const Method& method, const Problem& problem);

/// lu-blocked of a square matrix, as after factor(): lu is L and U of P A = L U, with the ipiv of
/// getrf. Throws as the method's constructor and upload().
std::unique_ptr<DenseFactorization> adopt_factors(DeviceContext& context, const Problem& problem,
                                                  const MatrixView& lu,
                                                  const std::vector<int>& ipiv);

/// What the factors of a problem are for: A, and B unless only residuals go to the device, as in
/// mixed precision.
Size size_on_device(const Problem& problem);

/// Method::windows of a problem; absent for a method without windows and where none fits.
std::optional<std::size_t> windows_of(const Device& device, const Method& method,
                                      const Problem& problem);

/// Whether the device holds the system in one window and has so many bytes left.
bool has_room_beside(const Device& device, const Method& method, const Size& size,
                     const DenseOptions& options, std::uint64_t bytes);

/// The largest n for which `require` does not throw Unsupported; 0 if it does for all.
std::size_t largest_order(const std::function<void(std::size_t n)>& require);
/// The largest n whose system with one right-hand side the method can solve on the device.
std::size_t largest_order(const Device& device, const Method& method, const DenseOptions& options);

/// One way through the kernels as the options of the command line spell it, e.g. "lu partial single
/// image r fused": what `lugpu verify` judges.
std::string path_name(const Method& method, const Problem& problem);

/// What is fastest: the method that can do what the problem (pivoting, storage, schedule) and the
/// texels asked for need, by a path that has not failed, and, of those that `lugpu tune` measured
/// at such an order, the one that took the least time; the storage on a device (buffers on every
/// device measured: on a CPU, images cost a function call an access). Throws Unsupported if every
/// path failed.
const Method& automatic_method(const Device& device, const Problem& problem,
                               std::optional<Texel> texel, const PathRecords& records);
Storage automatic_storage(const Device& device);

/// The problem with the texels and the block size that are asked for, or else the fastest ones of
/// the method on the device, as `lugpu tune` found them or by default, that have not failed. nb = 0
/// asks for none. Mixed precision has the least exact factors that the method has for it.
Problem completed(Problem problem, const Method& method, const Device& device,
                  std::optional<Texel> texel, std::size_t nb, const PathRecords& records);

/// A method and all that it needs to know.
struct Plan {
  const Method* method;
  Problem problem;
};

/// From what a user asks for. others, crew: as in DenseOptions. data: the precision of A and B, for
/// where none is asked for. Throws InputError for options that contradict one another, and as
/// automatic_method().
Plan make_plan(const Options& options, const Device& device, const Size& size, Precision data,
               const PathRecords& records, const std::vector<DeviceContext*>& others = {},
               Crew* crew = nullptr);

}  // namespace lugpu
