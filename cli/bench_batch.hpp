// `lugpu bench --batch`: many small systems at once.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench/batch_bench.hpp"
#include "exit.hpp"
#include "options.hpp"

namespace lugpu::cli {

struct BatchArguments {
  std::size_t count = 0;  ///< members; 0: no such benchmark
  std::string sizes;
  std::vector<Pivot> pivots;
  std::vector<Precision> precisions;
  std::vector<std::string> baselines;  ///< names of batch_rivals()
  std::string matrix = "auto";
  std::uint64_t seed = 1;
  std::size_t nrhs = 1;
  Effort effort;
};

/// Throws InputError for names and sizes that mean nothing.
Exit bench_batches(const BatchArguments& given, const Options& options,
                   const std::vector<std::string>& arguments);

}  // namespace lugpu::cli
