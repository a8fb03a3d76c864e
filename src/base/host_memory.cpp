#include "base/host_memory.hpp"

#include <unistd.h>

namespace lugpu {

std::uint64_t host_memory() {
  return static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES)) *
         static_cast<std::uint64_t>(sysconf(_SC_PAGE_SIZE));
}

}  // namespace lugpu
