#include "base/digest.hpp"

#include <cstdint>
#include <cstdio>
#include <fstream>
#include <sstream>
#include <utility>

namespace lugpu {

std::string digest(const std::string& bytes) {
  std::uint64_t value = 0xcbf29ce484222325;
  for (const unsigned char byte : bytes) value = (value ^ byte) * 0x100000001b3;
  char digits[17];
  std::snprintf(digits, sizeof digits, "%016llx", static_cast<unsigned long long>(value));
  return digits;
}

std::string contents(const std::filesystem::path& path) {
  std::ostringstream bytes;
  bytes << std::ifstream(path, std::ios::binary).rdbuf();
  return std::move(bytes).str();
}

}  // namespace lugpu
