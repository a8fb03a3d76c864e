#include "lugpu/error.hpp"

#include <utility>

namespace lugpu {
namespace {

std::string sentence(const std::string& reason, const Remedy& remedy) {
  return reason + "; " + remedy.option + (remedy.value.empty() ? "" : " \"" + remedy.value + '"') +
         " may help.";
}

}  // namespace

Error::Error(ErrorKind kind, const std::string& sentence)
    : std::runtime_error(sentence), kind_(kind), reason_(sentence) {}

Error::Error(ErrorKind kind, const std::string& reason, Remedy remedy)
    : std::runtime_error(sentence(reason, remedy)),
      kind_(kind),
      reason_(reason),
      remedy_(std::move(remedy)) {}

Error::~Error() = default;

}  // namespace lugpu
