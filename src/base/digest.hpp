// Short names of long contents: those with the same digest are taken to be equal.
#pragma once

#include <filesystem>
#include <string>

namespace lugpu {

/// FNV-1a (Fowler, Noll, Vo) of 64 bits, as 16 hexadecimal digits.
std::string digest(const std::string& bytes);

/// The bytes of a file; empty if it cannot be read.
std::string contents(const std::filesystem::path& path);

}  // namespace lugpu
