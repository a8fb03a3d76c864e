// The matrices of a file that may hold several, each with a name.
#pragma once

#include <string>
#include <vector>

#include "formats/input_file.hpp"

namespace lugpu {

/// The one that origin.member() names, or the only one if that is empty. `noun`: what they are
/// called, e.g. "array". Throws InputError if there is none, none of that name, or if several wait
/// for a name; the sentence lists them.
std::string chosen_member(const Origin& origin, const std::vector<std::string>& names,
                          const std::string& noun);

}  // namespace lugpu
