// The inputs in corpus/, with the normal compiler: each is given to its target and must end in what
// was read or in one sentence.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "targets.hpp"

namespace lugpu {
namespace {

namespace fs = std::filesystem;

const fs::path kCorpus = LUGPU_SOURCE_DIR "/tests/fuzz/corpus";

TEST(Corpus, EndsInAResultOrASentence) {
  for (const auto& [name, run] : fuzz_targets()) {
    ASSERT_TRUE(fs::is_directory(kCorpus / name)) << "no inputs for " << name;
    for (const auto& entry : fs::directory_iterator(kCorpus / name)) {
      SCOPED_TRACE(entry.path().string());
      std::ifstream in(entry.path(), std::ios::binary);
      const std::string bytes{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
      EXPECT_NO_THROW(run(bytes));
      // Cut short anywhere, as by a full disk.
      for (std::size_t part = 0; part < 16; ++part) {
        EXPECT_NO_THROW(run(bytes.substr(0, bytes.size() * part / 16)));
      }
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
