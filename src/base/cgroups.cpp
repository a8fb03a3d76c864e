#include "base/cgroups.hpp"

#include <fstream>
#include <sstream>

namespace lugpu {
namespace fs = std::filesystem;

std::string text_of(const fs::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

std::vector<fs::path> cgroup_folders(const fs::path& root, const std::string& groups,
                                     const std::string& controller) {
  std::vector<fs::path> folders;
  std::istringstream lines(groups);
  for (std::string line; std::getline(lines, line);) {
    // number:controllers:/path; no controllers in version 2
    const std::size_t first = line.find(':'), second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = "," + line.substr(first + 1, second - first - 1) + ",";
    const bool second_version = controllers == ",,";
    if (!second_version && controllers.find("," + controller + ",") == std::string::npos) continue;
    const fs::path base = second_version ? root : root / controller;
    fs::path group = fs::path(line.substr(second + 1)).relative_path().lexically_normal();
    for (bool top = false; !top; group = group.parent_path()) {
      top = group.empty() || group == ".";
      folders.push_back(base / group);
    }
  }
  return folders;
}

}  // namespace lugpu
