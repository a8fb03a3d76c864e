#include "formats/gzip.hpp"

#include <unistd.h>
#include <zlib.h>

#include <array>
#include <memory>
#include <new>
#include <string>

#include "formats/matrix_market.hpp"

namespace lugpu {
namespace {

constexpr unsigned kBuffer = 1 << 17;  // bytes

class GzipStream : public Stream {
 public:
  // `file` must be open as long as this.
  explicit GzipStream(const InputFile& file) : origin_(file) {
    const int fd = dup(file.descriptor());
    if (fd >= 0) lseek(fd, 0, SEEK_SET);  // where zlib begins
    stream_ = fd >= 0 ? gzdopen(fd, "rb") : nullptr;
    if (stream_ == nullptr) {
      if (fd >= 0) close(fd);
      throw std::bad_alloc();
    }
    gzbuffer(stream_, kBuffer);
  }
  GzipStream(const GzipStream&) = delete;
  GzipStream& operator=(const GzipStream&) = delete;
  ~GzipStream() override { gzclose_r(stream_); }

  void rewind() override {
    if (gzrewind(stream_) != 0) fail();
  }
  std::size_t next(std::span<char> to) override {
    const int got = gzread(stream_, to.data(), static_cast<unsigned>(to.size()));
    if (got < 0) fail();
    if (got == 0) require_whole();
    return static_cast<std::size_t>(got);
  }

 private:
  // zlib gives what it can of a file that ends too early, and then this error.
  void require_whole() const {
    int error = Z_OK;
    gzerror(stream_, &error);
    if (error != Z_OK) fail();
  }
  [[noreturn]] void fail() const {
    int error = Z_OK;
    const std::string text = gzerror(stream_, &error);  // "<fd:3>: incorrect data check"
    if (error == Z_BUF_ERROR) {
      throw origin_.error(0,
                          "the file ends in its compressed data; expected all of it (truncated?)");
    }
    throw origin_.error(
        0, "the compressed data are damaged (" +
               text.substr(text.rfind(": ") == std::string::npos ? 0 : text.rfind(": ") + 2) +
               "); expected a file as gzip wrote it");
  }

  const Origin origin_;
  gzFile stream_ = nullptr;
};

// The text in the file.
InputFile decompressed(const InputFile& file) {
  std::array<char, 2> magic;
  if (!is_gzip({magic.data(), file.read(0, magic)})) {
    throw file.error(0, "not compressed by gzip; expected a .mtx.gz file");
  }
  return {file, std::make_unique<GzipStream>(file)};
}

}  // namespace

Matrix read_gzipped_matrix_market(const InputFile& file) {
  return read_matrix_market(decompressed(file));
}

std::variant<Matrix, Sparse> read_gzipped_matrix_market_as_stored(const InputFile& file) {
  return read_matrix_market_as_stored(decompressed(file));
}

bool is_gzip(std::string_view beginning) {
  return beginning.starts_with("\x1F\x8B");
}

}  // namespace lugpu
