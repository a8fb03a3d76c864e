// The page of `lugpu report`: one HTML file with everything in it, for a screen of any width, light
// or dark, and for paper. Well-formed as XML, too.
#pragma once

#include <string>

#include "report/run.hpp"

namespace lugpu::report {

/// The whole page: a summary, what ran where, and for each subject its figures and its table. The
/// record has at least one row.
std::string page_of(const Record& record);

}  // namespace lugpu::report
