// The results of a report in the groups that are drawn together: subjects, the series of each, and
// the rivals of lugpu there.
#pragma once

#include <string>
#include <vector>

#include "bench/comparison.hpp"
#include "report/run.hpp"

namespace lugpu::report {

/// Results of one method, by size.
struct Series {
  std::string label;  ///< its routine, and in brackets what tells it from others of its subject
  std::vector<const Row*> rows;
  bool rival() const { return rows.front()->rival; }
};

/// Results that can be compared: of dense matrices those with one pivoting in one precision; of a
/// problem on grids those to one tolerance; of a simulation also those of one scene.
struct Subject {
  std::string title;
  Kind kind;
  std::vector<Series> series;  ///< lugpu's first; not empty, and neither are their rows
};

/// In the order of their first results. The record must outlive them.
std::vector<Subject> subjects_of(const Record& record);

/// A rival at one size, and lugpu's fastest result there.
struct Contest {
  const Row* rival;
  const Row* lugpu;
  SpeedRatio ratio;  ///< the speed of lugpu over that of the rival
};

struct Rivalry {
  std::string label;  ///< the rival's series; against which device where lugpu ran on several
  const Series* series;
  std::vector<Contest> contests;  ///< by size; not empty
};

/// Each rival's ok results with lugpu's of the same file, subject, size, matrix and right-hand
/// sides: its fastest, on as many cores as the rival has threads where lugpu ran on so many, and on
/// the rival's device.
std::vector<Rivalry> rivalries_of(const Subject& subject);

/// The series that was fastest from a size to another one.
struct Lead {
  const Series* series;
  std::vector<const Row*> rows;  ///< by size
};

/// Who was fastest at each size; neighbours with the same series are joined.
std::vector<Lead> leads_of(const Subject& subject);

}  // namespace lugpu::report
