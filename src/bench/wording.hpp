// Reasons and remedies in the words of the command line.
#pragma once

#include <string>

#include "lugpu/solve.hpp"

namespace lugpu {

/// E.g. "--pivot partial".
std::string option_of(const Remedy& remedy);

/// One sentence, e.g. "gauss-jordan has no rook pivoting; use --method lu."
std::string words(const Error& error);
std::string words(const Warning& warning);

}  // namespace lugpu
