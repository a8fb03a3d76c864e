// The tables that `lugpu bench --problem` prints: a row for each case, then which method is the
// fastest.
#pragma once

#include <string>
#include <vector>

#include "bench/problem_bench.hpp"
#include "table.hpp"

namespace lugpu::cli {

class ProblemTable {
 public:
  explicit ProblemTable(Format format);
  std::string header() const { return table_.header(); }
  std::string row(const StructuredResult& result) const;

 private:
  Table table_;
};
std::string problem_footer();

/// By problem, precision and grid, for 1, 10, 100 and 1000 right-hand sides one after the other:
/// which of lugpu's methods reaches the tolerance first, its setup included.
std::string answer(const std::vector<StructuredResult>& results);

}  // namespace lugpu::cli
