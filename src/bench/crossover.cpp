#include "bench/crossover.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "bench/statistics.hpp"

namespace lugpu {
namespace {

using nlohmann::json;

Standing standing(const std::vector<double>& method, const std::vector<double>& rival) {
  const std::optional<Interval> ratio = ratio_interval(rival, method);
  if (!ratio || (ratio->low <= 1 && ratio->high >= 1)) return Standing::unclear;
  return ratio->low > 1 ? Standing::ahead : Standing::behind;
}

// Where a power of n through both ratios is 1.
double interpolated(double n, double ratio, double larger_n, double larger_ratio) {
  const double part = -std::log(ratio) / (std::log(larger_ratio) - std::log(ratio));
  return n * std::pow(larger_n / n, part);
}

std::string list(const std::vector<std::size_t>& numbers) {
  std::string text;
  for (const std::size_t n : numbers) text += (text.empty() ? "" : ", ") + std::to_string(n);
  return text;
}

// What tells the solvers of a sweep apart, apart from n.
struct Solver {
  std::string name;
  bool lugpu, full;  // full pivoting
  std::string precision;
  std::string devices;  // how many, where it ran on several at once
  TimesByOrder times;
};

std::string text_of(const json& row, const char* field) {
  const json value = row.value(field, json());
  return value.is_null() ? "" : value.is_string() ? value.get<std::string>() : value.dump();
}

std::string in_words(const std::string& field, const std::string& value) {
  if (field == "nb") return " nb " + value;
  return field == "devices_used" ? " on " + value + " devices" : " " + value;
}

// The solvers, in the order of the rows, by routine, pivoting and precision, and by what they have
// several of at one order.
std::vector<Solver> solvers_of(const json& results) {
  static const char* const fields[] = {"storage",       "texel",        "schedule", "nb",  "device",
                                       "compute_units", "devices_used", "matrix",   "nrhs"};
  const auto name_of = [](const json& row) {
    return text_of(row, "routine") + ' ' + text_of(row, "pivot") + ' ' + text_of(row, "precision");
  };
  const auto is_timed = [](const json& row) {
    return row.value("status", "") == "ok" && row.contains("flop_formula");
  };
  using Place = std::array<std::string, 3>;  // name, field, n
  std::map<Place, std::string> values;
  std::set<std::pair<std::string, std::string>> varies;  // name, field
  for (const json& row : results) {
    if (!is_timed(row)) continue;
    for (const std::string field : fields) {
      const std::string value = text_of(row, field.c_str());
      const auto [place, is_new] =
          values.emplace(Place{name_of(row), field, text_of(row, "n")}, value);
      if (!is_new && place->second != value) varies.emplace(name_of(row), field);
    }
  }
  std::vector<Solver> solvers;
  for (const json& row : results) {
    if (!is_timed(row)) continue;
    std::string name = name_of(row);
    for (const std::string field : fields) {
      const std::string value = text_of(row, field.c_str());
      if (varies.contains({name_of(row), field}) && !value.empty()) {
        name += in_words(field, value);
      }
    }
    auto found = std::ranges::find(solvers, name, &Solver::name);
    if (found == solvers.end()) {
      const std::string precision = text_of(row, "precision");
      std::string devices = text_of(row, "devices_used");
      if (devices.empty() && varies.contains({name_of(row), "devices_used"})) devices = "1";
      solvers.push_back({name,
                         row["implementation"] == "lugpu",
                         row["pivot"] == "full",
                         precision == "mixed" ? "double" : precision,
                         devices,
                         {}});
      found = solvers.end() - 1;
    }
    found->times.emplace(row["n"].get<std::size_t>(), row["times_s"].get<std::vector<double>>());
  }
  return solvers;
}

}  // namespace

std::optional<Crossover> crossover(const TimesByOrder& method, const TimesByOrder& rival) {
  std::vector<std::size_t> orders;
  for (const auto& [n, times] : method) {
    if (rival.contains(n)) orders.push_back(n);
  }
  if (orders.empty()) return std::nullopt;
  const auto at = [&](std::size_t n) { return standing(method.at(n), rival.at(n)); };
  Crossover result{at(orders.back()), orders.front(), orders.back(), {}, {}, {}, {}};
  if (result.last != Standing::ahead) return result;
  std::size_t first = orders.size();  // ahead from here on
  while (first > 0 && at(orders[first - 1]) == Standing::ahead) --first;
  result.from = orders[first];
  while (first > 0 && at(orders[first - 1]) == Standing::unclear) {
    result.unclear_between.insert(result.unclear_between.begin(), orders[--first]);
  }
  if (first == 0) return result;
  const auto ratio = [&](std::size_t n) { return median(rival.at(n)) / median(method.at(n)); };
  result.behind_at = orders[first - 1];
  result.at = interpolated(static_cast<double>(*result.behind_at), ratio(*result.behind_at),
                           static_cast<double>(*result.from), ratio(*result.from));
  return result;
}

std::string words(const Crossover& crossover, const std::string& rival) {
  const auto at = [](double n) { return "n = " + std::to_string(std::lround(n)); };
  const std::string largest = std::to_string(crossover.largest);
  if (crossover.last == Standing::behind) return "is behind " + rival + " up to n = " + largest;
  if (crossover.last == Standing::unclear) {
    return "against " + rival + ": unclear at n = " + largest + ", the largest";
  }
  const std::string from = std::to_string(*crossover.from);
  const std::vector<std::size_t>& unclear = crossover.unclear_between;
  if (crossover.at) {
    return "passes " + rival + " at " + at(*crossover.at) + " (between " +
           std::to_string(*crossover.behind_at) + " and " + from +
           (unclear.empty() ? "" : "; unclear at " + list(unclear)) + ")";
  }
  if (*crossover.from == crossover.smallest) {
    return "beats " + rival + " from n = " + from + " on, the smallest";
  }
  return "beats " + rival + " from n = " + from + " on (unclear at " + list(unclear) + ")";
}

std::vector<std::string> crossovers(const json& results) {
  const std::vector<Solver> solvers = solvers_of(results);
  std::vector<std::string> sentences;
  for (const Solver& method : solvers) {
    if (!method.lugpu) continue;
    for (const Solver& rival : solvers) {
      if (rival.lugpu || rival.full != method.full || rival.precision != method.precision) continue;
      const bool elsewhere = !rival.devices.empty() && !method.devices.empty();
      if (elsewhere && rival.devices != method.devices) continue;
      const std::optional<Crossover> found = crossover(method.times, rival.times);
      if (!found || found->smallest == found->largest) continue;
      const std::string routine = rival.name.substr(0, rival.name.find(' '));
      sentences.push_back(method.name + ' ' + words(*found, routine) + '.');
    }
  }
  return sentences;
}

}  // namespace lugpu
