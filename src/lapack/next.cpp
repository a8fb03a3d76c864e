#include "lapack/next.hpp"

#include <dlfcn.h>
#include <unistd.h>

#include "lapack/say.hpp"

namespace lugpu::lapack {
namespace {

// Whether a symbol is of this library.
bool is_own(void* symbol) {
  Dl_info found{}, own{};
  dladdr(symbol, &found);
  dladdr(reinterpret_cast<void*>(&next_symbol), &own);
  return found.dli_fbase == own.dli_fbase;
}

}  // namespace

void* next_symbol(const std::string& name) {
  if (void* symbol = dlsym(RTLD_NEXT, name.c_str())) return symbol;
  // A LAPACK that was opened with RTLD_LOCAL, as by Python for its modules, is not in that order;
  // and liblapack.so.3 may stand for this library, with OpenBLAS for the rest.
  for (const char* file : kFiles) {
    void* library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    void* symbol = library ? dlsym(library, name.c_str()) : nullptr;
    if (symbol && !is_own(symbol)) return symbol;
  }
  say("error: no other library has " + name + "; load one that has, e.g. " + kFiles.front() + ".");
  _exit(127);
}

}  // namespace lugpu::lapack
