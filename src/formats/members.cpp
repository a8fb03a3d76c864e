#include "formats/members.hpp"

#include <algorithm>

namespace lugpu {
namespace {

// E.g. "'a', 'b', 'c'"; cut where there are many.
std::string listed(const std::vector<std::string>& names) {
  constexpr std::size_t kLongest = 80;
  std::string text;
  for (const std::string& name : names) {
    if (text.size() > kLongest) {
      text += ", ...";
      break;
    }
    text += (text.empty() ? "" : ", ") + shown(name);
  }
  return text;
}

}  // namespace

std::string chosen_member(const Origin& origin, const std::vector<std::string>& names,
                          const std::string& noun) {
  if (names.empty()) {
    throw origin.error(0, "the file holds no " + noun + "; expected at least one");
  }
  if (!origin.member().empty()) {
    if (std::find(names.begin(), names.end(), origin.member()) != names.end()) {
      return origin.member();
    }
    throw origin.error(0, "there is no such " + noun + "; expected one of " + listed(names));
  }
  if (names.size() == 1) return names.front();
  throw origin.error(0, "more than one " + noun + " in the file: " + listed(names) +
                            "; name one, as in FILE:NAME");
}

}  // namespace lugpu
