// The tables of a report.
#pragma once

#include <string>

#include "report/subjects.hpp"

namespace lugpu::report {

/// Every result of a subject, its series one after another: median, interval, speed, checks, status
/// and reason. One that is not ok shows no time and no speed. Numbers carry their exact values
/// (<data>).
std::string results_table(const Subject& subject);

/// Who was fastest at which sizes, of every subject; empty if nothing was timed.
std::string leads_table(const std::vector<Subject>& subjects);

/// lugpu against each rival: how often it was faster, the geometric mean of the ratios, the lowest
/// and the highest; empty if there is no rival.
std::string rivals_table(const std::vector<Subject>& subjects);

/// The same <table> with its caption in a box that scrolls sideways where a page is narrow.
std::string scrolling(const std::string& table, const std::string& caption);

}  // namespace lugpu::report
