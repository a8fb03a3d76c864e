#include "formats/npz.hpp"

namespace lugpu {

bool is_npz(std::string_view beginning) {
  return beginning.starts_with("PK\x03\x04");
}

}  // namespace lugpu

#ifdef LUGPU_LIBZIP

#include <unistd.h>
#include <zip.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "formats/members.hpp"
#include "formats/npy.hpp"

namespace lugpu {
namespace {

constexpr std::string_view kSuffix = ".npy";

// The archive in a file; what is damaged in it is found when its arrays are read.
class Archive {
 public:
  explicit Archive(const InputFile& file) : origin_(file) {
    const int fd = dup(file.descriptor());  // libzip closes it
    int error = 0;
    archive_ = fd >= 0 ? zip_fdopen(fd, ZIP_CHECKCONS, &error) : nullptr;
    if (archive_ != nullptr) return;
    if (fd >= 0) close(fd);
    zip_error_t what;
    zip_error_init_with_code(&what, error);
    const std::string text = zip_error_strerror(&what);
    zip_error_fini(&what);
    throw origin_.error(
        0, "not a zip archive that can be read (" + text + "); expected a whole .npz file");
  }
  Archive(const Archive&) = delete;
  Archive& operator=(const Archive&) = delete;
  ~Archive() { zip_discard(archive_); }

  // Without their suffix, in the order of the archive.
  std::vector<std::string> arrays() const {
    std::vector<std::string> names;
    for (zip_int64_t k = 0; k < zip_get_num_entries(archive_, 0); ++k) {
      const char* const name = zip_get_name(archive_, static_cast<zip_uint64_t>(k), 0);
      std::string_view text = name != nullptr ? name : "";
      if (!text.ends_with(kSuffix)) continue;
      text.remove_suffix(kSuffix.size());
      names.emplace_back(text);
    }
    return names;
  }
  // An array of it, whose bytes the caller closes.
  zip_file_t* open(const std::string& array) const {
    zip_file_t* const bytes = zip_fopen(archive_, (array + std::string(kSuffix)).c_str(), 0);
    if (bytes == nullptr) fail(zip_strerror(archive_));
    return bytes;
  }
  [[noreturn]] void fail(const std::string& what) const {
    throw origin_.error(0, "the archive is damaged (" + what + "); expected a whole .npz file");
  }

 private:
  const Origin origin_;
  zip_t* archive_ = nullptr;
};

class ArrayStream : public Stream {
 public:
  // The archive must be open as long as this.
  ArrayStream(const Archive& archive, std::string array)
      : archive_(archive), array_(std::move(array)), bytes_(archive.open(array_)) {}
  ArrayStream(const ArrayStream&) = delete;
  ArrayStream& operator=(const ArrayStream&) = delete;
  ~ArrayStream() override { zip_fclose(bytes_); }

  void rewind() override {
    zip_file_t* const again = archive_.open(array_);
    zip_fclose(std::exchange(bytes_, again));
  }
  std::size_t next(std::span<char> to) override {
    const zip_int64_t got = zip_fread(bytes_, to.data(), to.size());
    if (got < 0) archive_.fail(zip_file_strerror(bytes_));
    return static_cast<std::size_t>(got);
  }

 private:
  const Archive& archive_;
  const std::string array_;
  zip_file_t* bytes_;
};

InputFile array_of(const InputFile& file, const Archive& archive, const std::string& name,
                   WantedShape wanted) {
  return {Origin(file.path(), wanted, name), std::make_unique<ArrayStream>(archive, name)};
}

}  // namespace

std::variant<Matrix, Sparse> read_npz(const InputFile& file) {
  const Archive archive(file);
  const std::string array = chosen_member(file, archive.arrays(), "array");
  return read_npy(array_of(file, archive, array, file.wanted()));
}

}  // namespace lugpu

#endif
