// The table of pivoting rules: a new one is a row here, its search among the kernels, and nothing
// else. Methods, help texts, the sweep, verification, advice and the records read it.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "lugpu/options.hpp"

namespace lugpu {

/// How the pivot of a step is found.
enum class Search {
  nothing,  ///< it is the diagonal element
  column,   ///< the largest of a column, by the pass that updates it or by a search of its own
  scaled,   ///< the same relative to the rows' sizes, which measure_rows() finds beforehand
  walk,     ///< a search of its own, which walks from columns to rows
  matrix,  ///< the largest of the trailing matrix, by the pass that updates it or by its own search
};

struct PivotRule {
  Pivot pivot;
  const char* name;         ///< on the command line and in records
  const char* alias;        ///< another name on the command line; empty for none
  const char* description;  ///< one line for help texts
  Search search;
  const char* step;  ///< how dense/fused.cl names its steps: lu_step_NAME, gauss_jordan_step_NAME
  const char* find;  ///< the kernel of dense/pivot_search.clh that finds the pivot of a step by
                     ///< one work-group; null for Search::nothing and Search::matrix
  bool step_finds_next;  ///< whether the step's pass finds the next pivot, so that `find` is needed
                         ///< for the first one alone
  bool exchanges_rows, exchanges_columns;
  int safety;  ///< place in the order in which answers are preferred, the best one 0
  std::optional<Pivot> safer;  ///< what keeps growth smaller, if there is such a rule
};

std::span<const PivotRule> pivot_rules();

const PivotRule& rule_of(Pivot pivot);

/// Whether any interchange is made: P A Q = L U.
inline bool exchanges_rows(Pivot pivot) {
  return rule_of(pivot).exchanges_rows;
}
inline bool exchanges_columns(Pivot pivot) {
  return rule_of(pivot).exchanges_columns;
}

}  // namespace lugpu
