// Errors that end a command, each with the exit status it causes.
#pragma once

#include <stdexcept>
#include <string>

namespace lugpu {

/// Exit status of the program. Part of the command line's contract.
enum class Exit {
  ok = 0,
  failure = 1,       ///< something failed while running: OpenCL, memory, I/O
  usage = 2,         ///< bad usage or bad input
  singular = 3,      ///< an exact zero pivot although pivoting was on
  check_failed = 4,  ///< a check failed, or elimination without pivoting broke down
  no_device = 5,     ///< no usable OpenCL device
};

/// An error with one clear sentence for the user: what, where (file and line, flag and value) and
/// what to do. Thrown anywhere, caught once in main, or per case of a sweep.
class Error : public std::runtime_error {
 public:
  Error(Exit status, const std::string& sentence) : std::runtime_error(sentence), status_(status) {}
  Exit status() const { return status_; }

 private:
  Exit status_;
};

/// Bad input or bad usage: exit status 2.
class InputError : public Error {
 public:
  explicit InputError(const std::string& sentence) : Error(Exit::usage, sentence) {}
};

/// What could not even be tried, because its kernels did not build or memory ran out: it says
/// nothing about the answers of what was to run.
class NotTried : public Error {
 public:
  explicit NotTried(const std::string& sentence) : Error(Exit::failure, sentence) {}
};

/// What this device (or this host's memory) cannot run, decided from its limits before anything is
/// allocated: exit status 2 from `solve`, `unsupported` as the status of a bench row.
class Unsupported : public InputError {
 public:
  using InputError::InputError;
};

}  // namespace lugpu
