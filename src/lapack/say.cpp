#include "lapack/say.hpp"

#include <atomic>
#include <cstdio>

#include "base/printable.hpp"

namespace lugpu::lapack {

void say(const std::string& text) {
  std::fprintf(stderr, "%s: %s\n", kLibrary, printable(text).c_str());
}

void warn_once(const std::string& sentence) {
  static std::atomic<bool> warned = false;
  if (warned.exchange(true)) return;
  say("warning: the host computes what the device cannot: " + sentence);
}

}  // namespace lugpu::lapack
