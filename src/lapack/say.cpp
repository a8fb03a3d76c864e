#include "lapack/say.hpp"

#include <cstdio>

#include "base/printable.hpp"

namespace lugpu::lapack {

void say(const std::string& text) {
  std::fprintf(stderr, "lugpu_lapack: %s\n", printable(text).c_str());
}

}  // namespace lugpu::lapack
