// From which order on one solver is faster than another, by samples at several orders.
#pragma once

#include <cstddef>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

namespace lugpu {

/// The samples of a solver, seconds, by n.
using TimesByOrder = std::map<std::size_t, std::vector<double>>;

/// Which of two is faster at an order: where the 95 % interval of the ratio of their medians
/// (ratio_interval) is on one side of 1.
enum class Standing { ahead, behind, unclear };

struct Crossover {
  Standing last;                             ///< at the largest order that both have
  std::size_t smallest, largest;             ///< of those orders
  std::optional<std::size_t> from;           ///< ahead at this order and all larger ones
  std::optional<std::size_t> behind_at;      ///< the largest order below where it is behind
  std::optional<double> at;                  ///< between the two: where the ratio of the medians,
                                             ///< as a power of n, is 1
  std::vector<std::size_t> unclear_between;  ///< the orders between the two
};

/// Of a method against a rival; absent if they have no order in common.
std::optional<Crossover> crossover(const TimesByOrder& method, const TimesByOrder& rival);

/// E.g. "passes getrf at n = 700 (between 512 and 1024)".
std::string words(const Crossover& crossover, const std::string& rival);

/// A sentence for every method of lugpu and every rival of the same precision (of double for mixed)
/// and kind of pivoting (full or not) in the results of dense systems, where they have at least two
/// orders in common; where both ran on several devices, on as many.
std::vector<std::string> crossovers(const nlohmann::json& results);

}  // namespace lugpu
