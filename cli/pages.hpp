// What help texts and man pages say beyond the options.
#pragma once

#include <string>
#include <vector>

namespace lugpu::cli {

/// Run in the order of the help in one folder, each example finds the files that it reads.
struct Example {
  const char* purpose;
  const char* line;  ///< up to 76 characters, so that a help text has it whole
};

struct Page {
  const char* details = "";  ///< of the man page
  std::vector<Example> examples;
};

/// That of a subcommand; of the program itself, whose name is empty here.
const Page& page_of(const std::string& command);

}  // namespace lugpu::cli
