// The kinds of errors that are told apart where they are caught.
#pragma once

#include <string>
#include <utility>

#include "lugpu/error.hpp"

namespace lugpu {

/// ErrorKind::bad_input.
class InputError : public Error {
 public:
  explicit InputError(const std::string& sentence) : Error(ErrorKind::bad_input, sentence) {}
  InputError(const std::string& reason, Remedy remedy)
      : Error(ErrorKind::bad_input, reason, std::move(remedy)) {}
};

/// ErrorKind::unsupported: decided from the limits of the device, or of this host's memory, before
/// anything is allocated.
class Unsupported : public Error {
 public:
  explicit Unsupported(const std::string& sentence) : Error(ErrorKind::unsupported, sentence) {}
  Unsupported(const std::string& reason, Remedy remedy)
      : Error(ErrorKind::unsupported, reason, std::move(remedy)) {}
};

/// ErrorKind::not_tried.
class NotTried : public Error {
 public:
  explicit NotTried(const std::string& sentence) : Error(ErrorKind::not_tried, sentence) {}
  NotTried(const std::string& reason, Remedy remedy)
      : Error(ErrorKind::not_tried, reason, std::move(remedy)) {}
};

}  // namespace lugpu
