#include "formats_help.hpp"

#include "formats/formats.hpp"
#include "terminal.hpp"

namespace lugpu::cli {
namespace {

std::string description(const FormatFacts& format) {
  std::string text = format.contents;
  if (!format.others.empty()) text += "; also " + format.others.substr(0, format.others.size() - 1);
  if (format.has_members) text += "; FILE" + format.extension + ":NAME names one of several";
  if (!format.available) return text + " (NOT READ: built without " + format.needs + ")";
  return format.needs.empty() ? text : text + " (by " + format.needs + ")";
}

}  // namespace

std::string formats_help() {
  std::string text = wrapped(
      "The extension of a file, of any case, chooses its format. Standard input is the file -, in "
      "the format that --format names, as in: zcat a.mtx.gz | lugpu solve - --format mtx",
      0, 0);
  text += "\n\n";
  for (const FormatFacts& format : known_formats()) {
    const std::string head = lugpu::cli::format("  %-8s %-14s ", format.extension.c_str(),
                                                format.written ? "read, written" : "read");
    text += head + wrapped(description(format), head.size(), head.size()) + '\n';
  }
  return text;
}

}  // namespace lugpu::cli
