// Libraries of rivals that may be missing: opened at run time.
#pragma once

#include <string>
#include <vector>

#include "base/error.hpp"

namespace lugpu {

/// A shared library that stays open until the program ends.
class SharedLibrary {
 public:
  /// Where a library is looked for, and what to do without it.
  struct Search {
    std::vector<std::string> names;    ///< of the file, the first choice first
    std::vector<std::string> folders;  ///< with a slash at the end; empty: where the linker looks
    std::string if_missing;            ///< ends the sentence, e.g. "install libx"
    std::string if_too_old;            ///< e.g. "use version 2 or later"
  };

  /// Opens the first that is found. Throws Unsupported.
  explicit SharedLibrary(const Search& search);

  /// Throws Unsupported if the library has neither the first of `symbols` nor, failing that, the
  /// second.
  template <typename Function>
  void find(Function*& function, const char* symbol, const char* other = nullptr) const {
    function = reinterpret_cast<Function*>(address_of(symbol, other));
  }

 private:
  void* address_of(const char* symbol, const char* other) const;

  std::string path_, if_too_old_;
  void* handle_ = nullptr;
};

/// The functions that find() found in libraries, or why it threw Unsupported: it is called once.
template <typename Functions>
class Opened {
 public:
  explicit Opened(Functions (*find)()) {
    try {
      functions_ = find();
    } catch (const Unsupported& error) {
      why_not_ = error.what();
    }
  }

  /// Throws Unsupported, each time for the same reason.
  const Functions& get() const {
    if (!why_not_.empty()) throw Unsupported(why_not_);
    return functions_;
  }

 private:
  Functions functions_{};
  std::string why_not_;
};

/// The file that holds a function; empty if it is not known.
std::string file_of(const void* address);

}  // namespace lugpu
