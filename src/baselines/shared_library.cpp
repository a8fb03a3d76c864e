#include "baselines/shared_library.hpp"

#include <dlfcn.h>

#include "base/error.hpp"

namespace lugpu {

SharedLibrary::SharedLibrary(const Search& search) : if_too_old_(search.if_too_old) {
  const std::string& first = search.names.front();
  std::string obstacle = first.substr(0, first.find('.')) + " was not found";
  for (const std::string& folder : search.folders) {
    for (const std::string& name : search.names) {
      path_ = folder + name;
      handle_ = dlopen(path_.c_str(), RTLD_NOW | RTLD_LOCAL);
      if (handle_) return;
      // A file that is there but cannot be used, e.g. because it needs a missing one.
      const std::string error = dlerror();
      if (!error.starts_with(path_ + ": cannot open")) {
        obstacle = path_ + " cannot be opened (" + error + ")";
      }
    }
  }
  throw Unsupported(obstacle + "; " + search.if_missing + ".");
}

void* SharedLibrary::address_of(const char* symbol, const char* other) const {
  void* address = dlsym(handle_, symbol);
  if (!address && other) address = dlsym(handle_, other);
  if (!address) throw Unsupported(path_ + " has no " + symbol + "; " + if_too_old_ + ".");
  return address;
}

std::string file_of(const void* address) {
  Dl_info found;
  return dladdr(address, &found) && found.dli_fname ? found.dli_fname : "";
}

}  // namespace lugpu
