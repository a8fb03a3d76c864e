#include "formats/formats.hpp"

#include <array>
#include <cctype>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <new>
#include <string_view>
#include <utility>

#include "base/error.hpp"
#include "base/output_file.hpp"
#include "formats/csv.hpp"
#include "formats/gzip.hpp"
#include "formats/harwell_boeing.hpp"
#include "formats/input_file.hpp"
#include "formats/mat.hpp"
#include "formats/matrix_market.hpp"
#include "formats/npy.hpp"
#include "formats/npz.hpp"

namespace lugpu {
namespace {

using Stored = std::variant<Matrix, Sparse>;

struct Format {
  std::string_view extension;  // in lower case; without its dot the format's name
  std::string_view others;     // more extensions, each with a blank behind it
  std::string_view contents;
  Stored (*read)(const InputFile&);          // null: built without `library`
  Matrix (*read_dense)(const InputFile&);    // null: what `read` gives, made dense
  void (*write)(const Matrix&, std::FILE*);  // null: only read
  // Whether a file's contents plainly are of it; null if they do not tell.
  bool (*begins)(std::string_view beginning);
  std::string_view needs = {};  // a library, for reading
  bool has_members = false;     // FILE:NAME names one of its matrices
  // Leaves a matrix in the file; null where that is never possible.
  std::optional<MappedMatrix> (*map)(const InputFile&) = nullptr;
};

// For formats that hold dense matrices alone.
template <Matrix (*read)(const InputFile&)>
Stored always_dense(const InputFile& file) {
  return read(file);
}

Stored read_boeing(const InputFile& file) {
  return read_harwell_boeing(file);
}

using Reader = decltype(Format::read);
#ifdef LUGPU_LIBZIP
constexpr Reader kReadNpz = read_npz;
#else
constexpr Reader kReadNpz = nullptr;
#endif
#ifdef LUGPU_LIBMATIO
constexpr std::string_view kMat =
    "MATLAB, versions 5 and 7, and 7.3 (by libmatio), dense or sparse";
#else
constexpr std::string_view kMat =
    "MATLAB, versions 5 and 7, dense or sparse (NOT 7.3: built without libmatio)";
#endif

constexpr Format kFormats[] = {
    {".mtx", "", "Matrix Market, dense or sparse", read_matrix_market_as_stored, read_matrix_market,
     write_matrix_market, is_matrix_market},
    {".mtx.gz", "", "the same, compressed by gzip", read_gzipped_matrix_market_as_stored,
     read_gzipped_matrix_market, nullptr, is_gzip},
    {".npy",
     "",
     "NumPy array",
     always_dense<read_npy>,
     read_npy,
     write_npy,
     is_npy,
     {},
     false,
     map_npy},
    {".npz", "", "archive of NumPy arrays", kReadNpz, nullptr, nullptr, is_npz, "libzip", true},
    {".csv", "", "rows of numbers with commas, semicolons, tabs or blanks between them",
     always_dense<read_csv>, read_csv, write_csv, is_csv},
    {".tsv", "", "the same; written with tabs", always_dense<read_csv>, read_csv, write_tsv,
     is_csv},
    {".txt", "", "the same; written with blanks", always_dense<read_csv>, read_csv, write_txt,
     is_csv},
    {".mat", "", kMat, read_mat, nullptr, nullptr, is_mat, {}, true},
    {".hb", ".rua .rsa .rza .rra .pua .psa .pra ", "Harwell-Boeing, sparse, assembled and real",
     read_boeing, nullptr, nullptr, nullptr},
    {".rb", "", "Rutherford-Boeing, the same", read_boeing, nullptr, nullptr, nullptr},
};

// Files that others have to open first.
struct Wrapper {
  std::string_view magic;
  std::string_view kind;
  std::string_view remedy;
};

constexpr Wrapper kWrappers[] = {
    {"\x1F\x8B", "compressed by gzip",
     "name it .mtx.gz if it is that, or decompress it first: gunzip < FILE > NEW (or tar xf FILE)"},
    {"BZh91AY&SY", "compressed by bzip2",
     "decompress it first: bunzip2 < FILE > NEW (or tar xf FILE)"},
    {"\xFD\x37zXZ", "compressed by xz", "decompress it first: unxz < FILE > NEW (or tar xf FILE)"},
    {"\x28\xB5\x2F\xFD", "compressed by zstd",
     "decompress it first: unzstd < FILE > NEW (or tar xf FILE)"},
};

// What the contents plainly are and what to do if this format (null if it is unknown) cannot read
// them; empty if there is nothing to say.
std::string hint(const InputFile& file, const Format* given) {
  std::array<char, 4096> bytes;
  const std::string_view beginning(bytes.data(), file.read(0, bytes));
  if (given != nullptr && given->begins != nullptr && given->begins(beginning)) return {};
  for (const auto& [magic, kind, remedy] : kWrappers) {
    if (beginning.starts_with(magic)) {
      return "the file is " + std::string(kind) + "; " + std::string(remedy);
    }
  }
  for (const Format& format : kFormats) {
    if (format.begins == nullptr || !format.begins(beginning)) continue;
    const std::string extension(format.extension);
    return "the contents are those of a " + extension + " file; " +
           (file.path() == kStandardInput ? "give that as the format"
                                          : "rename it to end in " + extension);
  }
  return {};
}

std::string lower(std::string_view text) {
  std::string lower_case(text);
  for (char& c : lower_case) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return lower_case;
}

// Whether a path has the extension: a file with no other name has none.
bool ends_in(const std::string& path, std::string_view extension) {
  const std::string name = lower(std::filesystem::path(path).filename().string());
  return name.size() > extension.size() && name.ends_with(extension);
}

bool has_extension(const std::string& path, const Format& format) {
  if (ends_in(path, format.extension)) return true;
  const std::string extension = lower(std::filesystem::path(path).extension().string());
  return !extension.empty() && format.others.find(extension + ' ') != std::string_view::npos;
}

// The format by the extension; null if it is unknown.
const Format* find_format(const std::string& path) {
  for (const Format& format : kFormats) {
    if (has_extension(path, format)) return &format;
  }
  return nullptr;
}

std::string extensions(bool (*wanted)(const Format&)) {
  std::string list;
  for (const Format& format : kFormats) {
    if (wanted(format)) list += (list.empty() ? "" : ", ") + std::string(format.extension);
  }
  return list;
}

bool is_written(const Format& format) {
  return format.write != nullptr;
}

// `known`: the extensions that would do.
std::string unknown_extension(const std::string& path, const std::string& known) {
  return path + ": unknown extension " + shown(std::filesystem::path(path).extension().string()) +
         "; expected one of " + known;
}

const Format& format_to_write(const std::string& path) {
  const Format* const format = find_format(path);
  if (format != nullptr && is_written(*format)) return *format;
  if (format == nullptr) throw InputError(unknown_extension(path, writable_extensions()));
  throw InputError(path + ": " + std::string(format->extension) +
                   " files are only read; expected one of " + writable_extensions());
}

// A file and how to read it. Its contents may still be of another format.
struct Input {
  Origin origin;
  const Format* format;  // null if it is unknown
};

// FILE, FILE:NAME or, in the format of this name, standard input.
Input input_of(const std::string& path, const std::string& format_name, WantedShape wanted) {
  if (path == kStandardInput) {
    for (const Format& format : kFormats) {
      if ('.' + format_name == format.extension) return {Origin(path, wanted), &format};
    }
    throw InputError("standard input needs a format; expected one of " + readable_extensions());
  }
  const Format* const format = find_format(path);
  const std::size_t colon = path.rfind(':');
  if (format != nullptr || colon == std::string::npos) return {Origin(path, wanted), format};
  const std::string file = path.substr(0, colon);
  const Format* const holder = find_format(file);
  if (holder == nullptr || !holder->has_members) return {Origin(path, wanted), nullptr};
  return {Origin(file, wanted, path.substr(colon + 1)), holder};
}

// Throws InputError with a hint if the contents are not of the format, and if that is unknown.
void check_input(const Input& input, const std::string& path) {
  if (input.format == nullptr) {
    std::string what;
    try {
      what = hint(InputFile(input.origin), nullptr);
    } catch (const Error&) {  // unreadable: the extension is the error to report
    }
    if (what.empty()) throw InputError(unknown_extension(path, readable_extensions()));
    throw InputError(path + ": unknown extension " +
                     shown(std::filesystem::path(path).extension().string()) + "; " + what);
  }
  if (input.format->read == nullptr) {
    const std::string library(input.format->needs);
    throw Unsupported(input.origin.place(0) + "this program was built without " + library +
                      ", which reads " + std::string(input.format->extension) + " files");
  }
}

// What the action makes of the file and its format.
template <typename Action>
auto read_input(const std::string& path, const std::string& format, WantedShape wanted,
                const Action& action) {
  const Input input = input_of(path, format, wanted);
  check_input(input, path);
  const InputFile file(input.origin);
  const std::string what = hint(file, input.format);
  if (!what.empty()) throw file.error(0, what);
  return action(*input.format, file);
}

// Element (i, j), counted from 0.
void require_finite(double value, std::size_t i, std::size_t j, const Origin& origin) {
  if (std::isfinite(value)) return;
  throw origin.error(0, "element (" + std::to_string(i + 1) + ", " + std::to_string(j + 1) +
                            "), counted from 1, is " + std::to_string(value) +
                            "; expected finite numbers");
}

// In the order in which the elements are stored.
void require_finite(const MatrixView& matrix, const Origin& origin) {
  matrix.visit([&](const auto& a) {
    const bool by_columns = a.order == Order::columns;
    const std::size_t lines = by_columns ? a.columns : a.rows;
    const std::size_t length = by_columns ? a.rows : a.columns;
    for (std::size_t line = 0; line < lines; ++line) {
      for (std::size_t k = 0; k < length; ++k) {
        const std::size_t i = by_columns ? k : line, j = by_columns ? line : k;
        require_finite(static_cast<double>(a(i, j)), i, j, origin);
      }
    }
  });
}

void require_finite(const Sparse& a, const Origin& origin) {
  for (std::size_t i = 0; i < a.rows(); ++i) {
    const auto end = static_cast<std::size_t>(a.row_begin()[i + 1]);
    for (auto k = static_cast<std::size_t>(a.row_begin()[i]); k < end; ++k) {
      require_finite(a.values()[k], i, static_cast<std::size_t>(a.columns()[k]), origin);
    }
  }
}

// What `action` returns. Throws Unsupported in place of std::bad_alloc.
template <typename Action>
auto within_memory(const std::string& path, const Action& action) {
  try {
    return action();
  } catch (const std::bad_alloc&) {
    throw Unsupported(Origin(path).place(0) +
                      "not enough memory to read it; expected a smaller matrix");
  }
}

Matrix checked_dense(const Origin& origin, const Sparse& a) {
  check_shape(origin, 0, a.rows(), a.cols());
  check_available(origin, 0, a.rows(), a.cols());
  return dense(a);
}

Matrix made_dense(const Origin& origin, Stored matrix) {
  if (Matrix* const a = std::get_if<Matrix>(&matrix)) return std::move(*a);
  return checked_dense(origin, std::get<Sparse>(matrix));
}

}  // namespace

Matrix read_matrix(const std::string& path, WantedShape wanted, const std::string& format) {
  return within_memory(path, [&] {
    return read_input(path, format, wanted, [&](const Format& row, const InputFile& file) {
      Matrix matrix =
          row.read_dense != nullptr ? row.read_dense(file) : made_dense(file, row.read(file));
      require_finite(matrix, file);
      return matrix;
    });
  });
}

Stored read_dense_or_sparse(const std::string& path, WantedShape wanted,
                            const std::string& format) {
  return within_memory(path, [&] {
    return read_input(path, format, wanted, [&](const Format& row, const InputFile& file) {
      Stored matrix = row.read(file);
      std::visit([&](const auto& a) { require_finite(a, file); }, matrix);
      return matrix;
    });
  });
}

std::optional<MappedMatrix> map_matrix(const std::string& path, WantedShape wanted, double bytes) {
  if (path == kStandardInput || !is_matrix_path(path)) return std::nullopt;
  using Mapped = std::optional<MappedMatrix>;
  return read_input(path, {}, wanted, [&](const Format& row, const InputFile& file) -> Mapped {
    if (!row.map || 2.0 * static_cast<double>(file.size()) < bytes) return std::nullopt;
    Mapped mapped = row.map(file);
    if (!mapped) return std::nullopt;
    const MatrixView a = mapped->view();
    if (8.0 * static_cast<double>(a.rows()) * static_cast<double>(a.cols()) < bytes) {
      return std::nullopt;
    }
    require_finite(a, file);
    return mapped;
  });
}

Matrix made_dense(const std::string& path, const Sparse& a) {
  return within_memory(path, [&] { return checked_dense(Origin(path), a); });
}

std::optional<MatrixStack> read_stack(const std::string& path) {
  std::error_code unknown;
  if (path == kStandardInput || !std::filesystem::is_regular_file(path, unknown)) {
    return std::nullopt;
  }
  const Format* format = input_of(path, {}, {}).format;
  if (format == nullptr || format->read_dense != read_npy) return std::nullopt;
  return within_memory(path, [&]() -> std::optional<MatrixStack> {
    std::string beginning(std::size_t{16}, ' ');
    const InputFile file(path);
    beginning.resize(file.read(0, beginning));
    if (!is_npy(beginning) || npy_dimensions(file) != 3) return std::nullopt;
    return read_npy_stack(file);
  });
}

void check_stack_format(const std::string& path) {
  if (format_to_write(path).write == write_npy) return;
  throw InputError(path + ": a batch of matrices is written to .npy alone.");
}

void write_stack(const std::vector<double>& values, std::size_t count, std::size_t rows,
                 std::size_t columns, const std::string& path) {
  write_file(path, [&](std::FILE* file) { write_npy_stack(values, count, rows, columns, file); });
}

void write_matrix(const Matrix& matrix, const std::string& path) {
  const Format& format = format_to_write(path);
  write_file(path, [&](std::FILE* file) { format.write(matrix, file); });
}

void check_format(const std::string& path) {
  format_to_write(path);
}

bool is_matrix_path(const std::string& path) {
  return path != kStandardInput && input_of(path, {}, {}).format != nullptr;
}

std::string readable_extensions() {
  return extensions([](const Format&) { return true; });
}

std::string writable_extensions() {
  return extensions(is_written);
}

std::vector<FormatFacts> known_formats() {
  std::vector<FormatFacts> facts;
  for (const Format& format : kFormats) {
    facts.push_back({std::string(format.extension), std::string(format.others),
                     std::string(format.contents), is_written(format), format.has_members,
                     std::string(format.needs), format.read != nullptr});
  }
  return facts;
}

}  // namespace lugpu
