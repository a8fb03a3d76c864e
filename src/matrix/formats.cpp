#include "matrix/formats.hpp"

#include <cctype>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <new>
#include <string_view>

#include "error.hpp"
#include "matrix/csv.hpp"
#include "matrix/input_file.hpp"
#include "matrix/matrix_market.hpp"
#include "matrix/npy.hpp"
#include "output_file.hpp"

namespace lugpu {
namespace {

struct Format {
  std::string_view extension;  // in lower case
  Matrix (*read)(const InputFile&);
  void (*write)(const Matrix&, std::FILE*);
};

constexpr Format kFormats[] = {
    {".mtx", read_matrix_market, write_matrix_market},
    {".npy", read_npy, write_npy},
    {".csv", read_csv, write_csv},
};

const Format& format_of(const std::string& path) {
  const std::string extension = std::filesystem::path(path).extension().string();
  std::string lower = extension;
  for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  for (const Format& format : kFormats) {
    if (lower == format.extension) return format;
  }
  throw InputError(path + ": unknown extension " + shown(extension) + "; expected one of " +
                   format_extensions());
}

void require_finite(const Matrix& a, const std::string& path) {
  for (std::size_t j = 0; j < a.cols(); ++j) {
    for (std::size_t i = 0; i < a.rows(); ++i) {
      if (std::isfinite(a(i, j))) continue;
      throw InputError(path + ": element (" + std::to_string(i + 1) + ", " + std::to_string(j + 1) +
                       "), counted from 1, is " + std::to_string(a(i, j)) +
                       "; expected finite numbers");
    }
  }
}

}  // namespace

Matrix read_matrix(const std::string& path, WantedShape wanted) {
  const Format& format = format_of(path);
  try {
    Matrix matrix = format.read(InputFile(path, wanted));
    require_finite(matrix, path);
    return matrix;
  } catch (const std::bad_alloc&) {
    throw Unsupported(path + ": not enough memory to read it; expected a smaller matrix");
  }
}

void write_matrix(const Matrix& matrix, const std::string& path) {
  const Format& format = format_of(path);
  OutputFile file(path);
  format.write(matrix, file.stream());
  file.commit();
}

void check_format(const std::string& path) {
  format_of(path);
}

std::string format_extensions() {
  std::string list;
  for (const Format& format : kFormats) {
    if (!list.empty()) list += ", ";
    list += format.extension;
  }
  return list;
}

}  // namespace lugpu
