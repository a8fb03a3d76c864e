// The figures of a report. There is one only where there is data for it.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "report/subjects.hpp"

namespace lugpu::report {

/// The same colour and mark for the same label, on the whole page.
class Styles {
 public:
  std::size_t of(const std::string& label) {
    return styles_.emplace(label, styles_.size()).first->second;
  }

 private:
  std::map<std::string, std::size_t> styles_;
};

/// Of one subject: speed, or time to the tolerance, or frames a second; the ratio to each rival;
/// phases; the share of the device's ceilings; residual ratios and growth, with their limits;
/// convergence. id: what the figures' ids begin with.
std::string figures_of(const Subject& subject, const std::string& id, Styles& styles);

/// Of all subjects of dense matrices: the time with each pivoting over that without, by precision.
std::string pivoting_figures(const std::vector<Subject>& subjects);

}  // namespace lugpu::report
