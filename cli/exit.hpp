// Exit statuses: part of the contract of the command line.
#pragma once

#include "lugpu/error.hpp"

namespace lugpu::cli {

enum class Exit {
  ok = 0,
  failure = 1,       ///< something failed while running: OpenCL, memory, I/O
  usage = 2,         ///< bad usage or bad input
  singular = 3,      ///< an exact zero pivot although pivoting was on
  check_failed = 4,  ///< a check failed, or elimination without pivoting broke down
  no_device = 5,     ///< no usable OpenCL device
  slower = 6,        ///< compare --fail-slower: a case is slower than it allows
};

/// The one that an error causes.
constexpr Exit exit_of(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::bad_input:
    case ErrorKind::unsupported:
      return Exit::usage;
    case ErrorKind::no_device:
      return Exit::no_device;
    case ErrorKind::failure:
    case ErrorKind::not_tried:
      break;
  }
  return Exit::failure;
}

}  // namespace lugpu::cli
