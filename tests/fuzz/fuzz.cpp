// A target under libFuzzer (clang, -D LUGPU_FUZZ=ON):
//   lugpu_fuzz TARGET [FOLDER_OF_INPUTS...] [-max_total_time=SECONDS]
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "targets.hpp"

namespace {
const std::function<void(const std::string&)>* target = nullptr;
}

// The name of the target is taken out of what libFuzzer reads next.
extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  const auto& targets = lugpu::fuzz_targets();
  const auto found = *argc > 1 ? targets.find((*argv)[1]) : targets.end();
  if (found == targets.end()) {
    std::fputs("usage: lugpu_fuzz TARGET [options of libFuzzer]; targets:", stderr);
    for (const auto& [name, run] : targets) std::fprintf(stderr, " %s", name.c_str());
    std::fputs("\n", stderr);
    std::exit(2);
  }
  target = &found->second;
  for (int i = 1; i < *argc; ++i) (*argv)[i] = (*argv)[i + 1];
  --*argc;
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  (*target)({reinterpret_cast<const char*>(data), size});
  return 0;
}
