// One system and how it is to be solved.
#pragma once

#include "dense/options.hpp"
#include "dense/pivot_rules.hpp"
#include "lugpu/solve.hpp"

namespace lugpu {

/// The precision of the factors and how X is improved: what --precision chooses.
struct Arithmetic {
  Arithmetic(Precision of_factors, Refine refinement = Refine::none)
      : precision(of_factors), refine(refinement) {}
  bool operator==(const Arithmetic&) const = default;

  Precision precision;
  Refine refine;
};

/// What is done around the factorization.
struct SolveOptions {
  Refine refine = Refine::none;  ///< with mixed, DenseOptions::precision is single
  bool equilibrate = false;      ///< whether R A C is factored in place of A where that helps
  bool determinant = false;
  bool inverse = false;
  bool check = true;
};

struct Problem {
  Size size;
  DenseOptions dense;
  SolveOptions solve;
};

constexpr const char* name(Schedule schedule) {
  return schedule == Schedule::paper ? "paper" : "fused";
}

/// The precision that X is to have.
constexpr Precision working_precision(const Problem& problem) {
  return problem.solve.refine == Refine::mixed ? Precision::double_precision
                                               : problem.dense.precision;
}

/// The name of the arithmetic, on the command line and in records: single, double or mixed.
constexpr const char* precision_name(const Problem& problem) {
  return problem.solve.refine == Refine::mixed ? "mixed" : name(problem.dense.precision);
}

/// As in records.
constexpr const char* name(FactorArithmetic factors) {
  return factors == FactorArithmetic::half_products      ? "half-products"
         : factors == FactorArithmetic::local_pivots     ? "local-pivots"
         : factors == FactorArithmetic::single_precision ? "single"
                                                         : "double";
}

/// The factors that a problem begins with.
constexpr FactorArithmetic first_factors(const DenseOptions& options) {
  return options.shortcut == Shortcut::half_products        ? FactorArithmetic::half_products
         : options.shortcut == Shortcut::local_pivots       ? FactorArithmetic::local_pivots
         : options.precision == Precision::single_precision ? FactorArithmetic::single_precision
                                                            : FactorArithmetic::double_precision;
}

/// Of the factors that were used last: mixed precision may have fallen back to double.
inline Precision precision_of_factors(const Problem& problem,
                                      const std::optional<Refinement>& refinement) {
  const bool fell_back = refinement && !refinement->fallback.empty();
  return fell_back ? Precision::double_precision : problem.dense.precision;
}

/// Their unit round-off: with products in half precision 2^-11.
inline double epsilon_of_factors(const Problem& problem,
                                 const std::optional<Refinement>& refinement) {
  if (refinement && refinement->factors == FactorArithmetic::half_products) return 0x1p-11;
  return epsilon(precision_of_factors(problem, refinement));
}

}  // namespace lugpu
