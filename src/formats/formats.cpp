#include "formats/formats.hpp"

#include <array>
#include <cctype>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <new>
#include <string_view>

#include "base/error.hpp"
#include "base/output_file.hpp"
#include "formats/csv.hpp"
#include "formats/input_file.hpp"
#include "formats/matrix_market.hpp"
#include "formats/npy.hpp"

namespace lugpu {
namespace {

struct Format {
  std::string_view extension;  // in lower case
  Matrix (*read)(const InputFile&);
  std::variant<Matrix, Sparse> (*read_as_stored)(const InputFile&);
  void (*write)(const Matrix&, std::FILE*);
  bool (*begins)(std::string_view beginning);  // whether a file's contents plainly are of it
};

// For formats that hold dense matrices alone.
template <Matrix (*read)(const InputFile&)>
std::variant<Matrix, Sparse> always_dense(const InputFile& file) {
  return read(file);
}

constexpr Format kFormats[] = {
    {".mtx", read_matrix_market, read_matrix_market_as_stored, write_matrix_market,
     is_matrix_market},
    {".npy", read_npy, always_dense<read_npy>, write_npy, is_npy},
    {".csv", read_csv, always_dense<read_csv>, write_csv, is_csv},
};

// Files that others have to open first.
struct Wrapper {
  std::string_view magic;
  std::string_view kind;
  std::string_view remedy;
};

constexpr Wrapper kWrappers[] = {
    {"\x1F\x8B", "compressed by gzip", "decompress it first: gunzip < FILE > NEW (or tar xf FILE)"},
    {"BZh91AY&SY", "compressed by bzip2",
     "decompress it first: bunzip2 < FILE > NEW (or tar xf FILE)"},
    {"\xFD\x37zXZ", "compressed by xz", "decompress it first: unxz < FILE > NEW (or tar xf FILE)"},
    {"\x28\xB5\x2F\xFD", "compressed by zstd",
     "decompress it first: unzstd < FILE > NEW (or tar xf FILE)"},
    {"PK\x03\x04", "a zip archive, such as .npz", "extract the matrix first: unzip FILE"},
};

// What the contents plainly are and what to do if the format with this extension (none if it is
// unknown) cannot read them; empty if there is nothing to say.
std::string hint(const InputFile& file, std::string_view extension) {
  std::array<char, 4096> bytes;
  const std::string_view beginning(bytes.data(), file.read(0, bytes));
  for (const auto& [magic, kind, remedy] : kWrappers) {
    if (beginning.starts_with(magic)) {
      return "the file is " + std::string(kind) + "; " + std::string(remedy);
    }
  }
  for (const Format& format : kFormats) {
    if (!format.begins(beginning)) continue;
    if (format.extension == extension) break;
    return "the contents are those of a " + std::string(format.extension) +
           " file; rename it to end in " + std::string(format.extension);
  }
  return {};
}

std::string extension_of(const std::string& path) {
  return std::filesystem::path(path).extension().string();
}

// The format by the extension; null if it is unknown.
const Format* find_format(const std::string& path) {
  std::string lower = extension_of(path);
  for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  for (const Format& format : kFormats) {
    if (lower == format.extension) return &format;
  }
  return nullptr;
}

std::string unknown_extension(const std::string& path) {
  return path + ": unknown extension " + shown(extension_of(path)) + "; expected one of " +
         format_extensions();
}

const Format& format_of(const std::string& path) {
  const Format* const format = find_format(path);
  if (format == nullptr) throw InputError(unknown_extension(path));
  return *format;
}

// The format to read `path` in. Throws InputError with a hint if its contents are not of it.
const Format& format_to_read(const std::string& path) {
  const Format* const format = find_format(path);
  if (format != nullptr) {
    const std::string what = hint(InputFile(path), format->extension);
    if (!what.empty()) throw InputError(path + ": " + what);
    return *format;
  }
  std::string what;
  try {
    what = hint(InputFile(path), {});
  } catch (const Error&) {  // unreadable: the extension is the error to report
  }
  throw InputError(unknown_extension(path) + (what.empty() ? "" : " (" + what + ")"));
}

// Element (i, j), counted from 0.
void require_finite(double value, std::size_t i, std::size_t j, const std::string& path) {
  if (std::isfinite(value)) return;
  throw InputError(path + ": element (" + std::to_string(i + 1) + ", " + std::to_string(j + 1) +
                   "), counted from 1, is " + std::to_string(value) + "; expected finite numbers");
}

void require_finite(const Matrix& a, const std::string& path) {
  for (std::size_t j = 0; j < a.cols(); ++j) {
    for (std::size_t i = 0; i < a.rows(); ++i) require_finite(a(i, j), i, j, path);
  }
}

void require_finite(const Sparse& a, const std::string& path) {
  for (std::size_t i = 0; i < a.rows(); ++i) {
    const auto end = static_cast<std::size_t>(a.row_begin()[i + 1]);
    for (auto k = static_cast<std::size_t>(a.row_begin()[i]); k < end; ++k) {
      require_finite(a.values()[k], i, static_cast<std::size_t>(a.columns()[k]), path);
    }
  }
}

// What `action` returns. Throws Unsupported in place of std::bad_alloc.
template <typename Action>
auto within_memory(const std::string& path, const Action& action) {
  try {
    return action();
  } catch (const std::bad_alloc&) {
    throw Unsupported(path + ": not enough memory to read it; expected a smaller matrix");
  }
}

}  // namespace

Matrix read_matrix(const std::string& path, WantedShape wanted) {
  return within_memory(path, [&] {
    Matrix matrix = format_to_read(path).read(InputFile(path, wanted));
    require_finite(matrix, path);
    return matrix;
  });
}

std::variant<Matrix, Sparse> read_dense_or_sparse(const std::string& path, WantedShape wanted) {
  return within_memory(path, [&] {
    auto matrix = format_to_read(path).read_as_stored(InputFile(path, wanted));
    std::visit([&](const auto& a) { require_finite(a, path); }, matrix);
    return matrix;
  });
}

Matrix made_dense(const std::string& path, const Sparse& a) {
  return within_memory(path, [&] {
    const InputFile file(path);
    check_shape(file, 0, a.rows(), a.cols());
    check_available(file, 0, a.rows(), a.cols());
    return dense(a);
  });
}

void write_matrix(const Matrix& matrix, const std::string& path) {
  const Format& format = format_of(path);
  write_file(path, [&](std::FILE* file) { format.write(matrix, file); });
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
