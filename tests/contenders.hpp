// Methods as tests use them: again and again, and with everything that they say about a system.
#pragma once

#include "bench/measure.hpp"
#include "bench/method_contender.hpp"

namespace lugpu {

inline Problem problem_of(std::size_t n, std::size_t nrhs, Pivot pivot, Precision precision,
                          Storage storage = Storage::buffer, Texel texel = Texel::r,
                          Schedule schedule = Schedule::paper) {
  return {Size::square(n, nrhs), {pivot, precision, storage, texel, schedule}, {}};
}

/// For matrices whose largest element is near 1.
inline std::unique_ptr<MethodContender> make_contender(DeviceContext& context, const Method& method,
                                                       const Problem& problem) {
  return std::make_unique<MethodContender>(context, method, problem, 1);
}

/// Besides the record; empty where there is no solution.
struct Answers {
  Matrix x;        ///< n x nrhs
  Matrix inverse;  ///< n x n
};

inline Matrix to_matrix(const std::vector<double>& values, std::size_t n) {
  Matrix matrix(values.empty() ? 0 : n, n == 0 ? 0 : values.size() / n);
  matrix.values() = values;
  return matrix;
}

/// The record of solve() with its answers.
inline Result solve_once(DeviceContext& context, const Method& method, const Case& what,
                         const Matrix& a, const Matrix& b, Answers& answers) {
  context.deadline().set(INFINITY);
  const Solution<double> solution = solve(context, {&method, what.problem}, a.view(), b.view());
  answers.x = to_matrix(solution.x, solution.n);
  answers.inverse = to_matrix(solution.inverse, solution.n);
  return record_of(what, solution);
}

}  // namespace lugpu
