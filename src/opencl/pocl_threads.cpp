#include "opencl/pocl_threads.hpp"

#include <cstdlib>
#include <string>

#include "base/cores.hpp"

namespace lugpu {

void limit_threads_of_pocl() {
  if (cores().usable >= cores().logical || std::getenv("POCL_CPU_MAX_CU_COUNT")) return;
  setenv("POCL_MAX_PTHREAD_COUNT", std::to_string(cores().usable).c_str(), 0);
}

}  // namespace lugpu
