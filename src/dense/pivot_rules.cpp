#include "dense/pivot_rules.hpp"

#include <algorithm>

namespace lugpu {

std::span<const PivotRule> pivot_rules() {
  static const PivotRule table[] = {
      {Pivot::none, "none", "", "the diagonal element", Search::nothing, "none", nullptr, false,
       false, false, 4, Pivot::partial},
      {Pivot::partial, "partial", "", "the largest element of the column", Search::column,
       "partial", "search_column", true, true, false, 0, Pivot::full},
      {Pivot::scaled, "scaled", "", "the largest element of the column relative to its row of A",
       Search::scaled, "partial", "search_scaled", false, true, false, 1, Pivot::full},
      {Pivot::rook, "rook", "", "one that is the largest of its row and of its column",
       Search::walk, "rook", "search_rook", false, true, true, 2, Pivot::full},
      {Pivot::full, "full", "complete", "the largest element of the trailing matrix",
       Search::matrix, "full", nullptr, true, true, true, 3, std::nullopt},
  };
  return table;
}

const PivotRule& rule_of(Pivot pivot) {
  const auto rules = pivot_rules();
  return *std::find_if(rules.begin(), rules.end(),
                       [&](const PivotRule& rule) { return rule.pivot == pivot; });
}

const char* name(Pivot pivot) {
  return rule_of(pivot).name;
}

std::vector<std::string> pivot_names() {
  std::vector<std::string> names;
  for (const PivotRule& rule : pivot_rules()) names.push_back(rule.name);
  return names;
}

std::optional<Pivot> pivot_named(const std::string& name) {
  for (const PivotRule& rule : pivot_rules()) {
    if (!name.empty() && (name == rule.name || name == rule.alias)) return rule.pivot;
  }
  return std::nullopt;
}

}  // namespace lugpu
