// Copies of kernels/ in folders of their own, with a line changed.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>

namespace lugpu {

namespace fs = std::filesystem;

/// A folder that is empty at first and gone afterwards.
class Folder {
 public:
  Folder() {
    std::string name = (fs::temp_directory_path() / "lugpu-verify-XXXXXX").string();
    if (!mkdtemp(name.data())) throw std::runtime_error("no folder for the test");
    path_ = name;
  }
  ~Folder() { fs::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

inline std::string text_of(const fs::path& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

inline void write_text(const fs::path& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

/// A copy of the kernels in which `wrong` stands for `right`, which must occur in the file.
inline void copy_kernels(const fs::path& folder, const std::string& file, const std::string& right,
                         const std::string& wrong) {
  fs::copy(fs::path(LUGPU_SOURCE_DIR) / "kernels", folder, fs::copy_options::recursive);
  std::string text = text_of(folder / file);
  const std::size_t place = text.find(right);
  ASSERT_NE(place, std::string::npos) << file << " has no " << right;
  write_text(folder / file, text.replace(place, right.size(), wrong));
}

}  // namespace lugpu
