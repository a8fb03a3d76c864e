// `lugpu bench --problem fluid2d` and the like: simulations, with the few iterations of the papers
// and with every linear system taken to a tolerance.
#pragma once

#include <string>
#include <vector>

#include "bench_problem.hpp"

namespace lugpu::cli {

/// Whether a problem is of simulated_problems().
bool is_simulated(const std::string& problem);

/// given.problems: all of them simulated. Throws InputError for sizes that mean nothing.
Exit bench_simulated(const ProblemArguments& given, const Options& options,
                     const std::vector<std::string>& arguments);

}  // namespace lugpu::cli
