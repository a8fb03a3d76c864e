// The inputs in corpus/, with the normal compiler: each is given to its target and must end in what
// was read or in one sentence.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "targets.hpp"

namespace lugpu {
namespace {

namespace fs = std::filesystem;

const fs::path kCorpus = LUGPU_SOURCE_DIR "/tests/fuzz/corpus";

std::string bytes_of(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

TEST(Corpus, EndsInAResultOrASentence) {
  for (const auto& [name, run] : fuzz_targets()) {
    ASSERT_TRUE(fs::is_directory(kCorpus / name)) << "no inputs for " << name;
    for (const auto& entry : fs::directory_iterator(kCorpus / name)) {
      SCOPED_TRACE(entry.path().string());
      const std::string bytes = bytes_of(entry.path());
      EXPECT_NO_THROW(run(bytes));
      // Cut short anywhere, as by a full disk.
      for (std::size_t part = 0; part < 16; ++part) {
        EXPECT_NO_THROW(run(bytes.substr(0, bytes.size() * part / 16)));
      }
    }
  }
}

// One to four times a byte changed, a piece left out or put in twice.
std::string changed(std::string bytes, std::minstd_rand& random) {
  for (std::size_t times = 1 + random() % 4; times > 0 && !bytes.empty(); --times) {
    const std::size_t at = random() % bytes.size(), size = 1 + random() % 16;
    switch (random() % 4) {
      case 0:
        bytes[at] = static_cast<char>(random());
        break;
      case 1:
        bytes[at] = "0123456789.,-+eE \n"[random() % 18];
        break;
      case 2:
        bytes.erase(at, size);
        break;
      default:
        bytes.insert(at, bytes.substr(random() % bytes.size(), size));
    }
  }
  return bytes;
}

// What libFuzzer does for hours, for a moment and the same every time.
TEST(Corpus, ChangedInputsEndInAResultOrASentence) {
  constexpr std::size_t kInputs = 1000;  // for a target
  for (const auto& [name, run] : fuzz_targets()) {
    std::vector<std::string> inputs;
    for (const auto& entry : fs::directory_iterator(kCorpus / name)) {
      inputs.push_back(bytes_of(entry.path()));
    }
    std::sort(inputs.begin(), inputs.end());
    std::minstd_rand random(2005);
    for (std::size_t i = 0; i < kInputs; ++i) {
      SCOPED_TRACE(name + ", input " + std::to_string(i));
      EXPECT_NO_THROW(run(changed(inputs[i % inputs.size()], random)));
    }
  }
}

// A folder that no target reads would look like a test and be none.
TEST(Corpus, HasATargetForEveryFolder) {
  for (const auto& entry : fs::directory_iterator(kCorpus)) {
    EXPECT_TRUE(fuzz_targets().contains(entry.path().filename().string())) << entry.path();
  }
}

}  // namespace
}  // namespace lugpu
