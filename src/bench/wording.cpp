#include "bench/wording.hpp"

namespace lugpu {

std::string option_of(const Remedy& remedy) {
  return "--" + remedy.option + (remedy.value.empty() ? "" : " " + remedy.value);
}

std::string words(const Error& error) {
  return error.remedy() ? words(Warning{error.reason(), error.remedy()}) : error.reason();
}

std::string words(const Warning& warning) {
  const std::string remedy = warning.remedy ? "; use " + option_of(*warning.remedy) : "";
  return warning.reason + remedy + '.';
}

}  // namespace lugpu
