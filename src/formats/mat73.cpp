#include "formats/mat73.hpp"

#ifdef LUGPU_LIBMATIO

#include <matio.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/host_memory.hpp"
#include "base/processes.hpp"
#include "base/temporary_file.hpp"
#include "formats/members.hpp"

namespace lugpu {
namespace {

struct CloseMat {
  void operator()(mat_t* mat) const { Mat_Close(mat); }
};
struct FreeVariable {
  void operator()(matvar_t* variable) const { Mat_VarFree(variable); }
};
using MatFile = std::unique_ptr<mat_t, CloseMat>;
using Variable = std::unique_ptr<matvar_t, FreeVariable>;

// What the process with libmatio leaves in the temporary file: rows * cols doubles, column after
// column, or, if sparse, entries as triplets.
struct Extract {
  bool sparse;
  std::size_t rows, cols, entries;
};

class TemporaryFile {
 public:
  TemporaryFile() : fd_(open_temporary_file()) {}
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile() { close(fd_); }

  void write(std::span<const std::byte> bytes) const {
    while (!bytes.empty()) {
      const ssize_t done = ::write(fd_, bytes.data(), bytes.size());
      if (done < 0 && errno == EINTR) continue;
      if (done < 0) fail();
      bytes = bytes.subspan(static_cast<std::size_t>(done));
    }
  }
  void read(std::span<std::byte> to) const {
    for (off_t offset = 0; !to.empty();) {
      const ssize_t done = pread(fd_, to.data(), to.size(), offset);
      if (done < 0 && errno == EINTR) continue;
      if (done <= 0) fail();
      offset += done;
      to = to.subspan(static_cast<std::size_t>(done));
    }
  }

 private:
  [[noreturn]] static void fail() {
    throw Error(ErrorKind::failure,
                std::string("A temporary file cannot be written or read: ") + std::strerror(errno));
  }
  const int fd_;
};

// Of a class of numbers: how many of them become doubles.
template <typename T>
void convert(const void* from, std::size_t count, double* to) {
  const T* const values = static_cast<const T*>(from);
  std::transform(values, values + count, to, [](T value) { return static_cast<double>(value); });
}

struct NumberClass {
  matio_classes code;
  int size;
  void (*convert)(const void* from, std::size_t count, double* to);
};

constexpr NumberClass kNumberClasses[] = {
    {MAT_C_DOUBLE, 8, convert<double>},      {MAT_C_SINGLE, 4, convert<float>},
    {MAT_C_INT8, 1, convert<std::int8_t>},   {MAT_C_UINT8, 1, convert<std::uint8_t>},
    {MAT_C_INT16, 2, convert<std::int16_t>}, {MAT_C_UINT16, 2, convert<std::uint16_t>},
    {MAT_C_INT32, 4, convert<std::int32_t>}, {MAT_C_UINT32, 4, convert<std::uint32_t>},
    {MAT_C_INT64, 8, convert<std::int64_t>}, {MAT_C_UINT64, 8, convert<std::uint64_t>},
};

const NumberClass* number_class(matio_classes code) {
  const auto* const found =
      std::find_if(std::begin(kNumberClasses), std::end(kNumberClasses),
                   [code](const NumberClass& one) { return one.code == code; });
  return found == std::end(kNumberClasses) ? nullptr : found;
}

// Works in a process of its own.
class MatReader {
 public:
  MatReader(const InputFile& file, const TemporaryFile& extract) : file_(file), extract_(extract) {}

  Extract read() {
    limit_process();
    Mat_LogInitFunc("", [](int, char*) {});  // its errors are told in our words
    const std::string path = "/proc/self/fd/" + std::to_string(file_.descriptor());
    mat_.reset(Mat_Open(path.c_str(), MAT_ACC_RDONLY));
    if (!mat_) fail("libmatio cannot open it");
    const std::string name = chosen_member(file_, names(), "matrix");
    variable_.reset(Mat_VarReadInfo(mat_.get(), name.c_str()));
    if (!variable_) fail("libmatio cannot read it");
    check_kind();
    if (Mat_VarReadDataAll(mat_.get(), variable_.get()) != 0 || variable_->data == nullptr) {
      fail("libmatio cannot read its data");
    }
    return variable_->class_type == MAT_C_SPARSE ? write_sparse() : write_dense();
  }

 private:
  void limit_process() const;
  std::vector<std::string> names() const;
  void check_kind() const;
  Extract write_dense() const;
  Extract write_sparse() const;
  std::size_t rows() const { return variable_->dims[0]; }
  std::size_t cols() const { return variable_->dims[1]; }
  [[noreturn]] void fail(const std::string& what) const {
    throw file_.error(0, what + "; expected a whole .mat file (truncated or damaged?)");
  }

  const InputFile& file_;
  const TemporaryFile& extract_;
  MatFile mat_;
  Variable variable_;
};

// A damaged file may ask for any memory and lead in circles. Seconds: 10 and one for each megabyte.
void MatReader::limit_process() const {
  const auto memory = static_cast<rlim_t>(address_space() + std::min(host_memory_left(), 1e18));
  const rlimit space = {memory, memory};
  setrlimit(RLIMIT_AS, &space);
  const rlim_t seconds = 10 + file_.size() / 1'000'000;
  const rlimit time = {seconds, seconds};
  setrlimit(RLIMIT_CPU, &time);
}

// Of the variables that are matrices of numbers.
std::vector<std::string> MatReader::names() const {
  std::vector<std::string> found;
  bool classless = false;
  while (const Variable variable{Mat_VarReadNextInfo(mat_.get())}) {
    const matio_classes code = variable->class_type;
    classless = classless || code == MAT_C_EMPTY;
    if (variable->name == nullptr || (code != MAT_C_SPARSE && !number_class(code))) continue;
    found.emplace_back(variable->name);
  }
  if (found.empty() && classless) {
    throw file_.error(
        0,
        "its variables have no attribute MATLAB_class that libmatio can read; expected "
        "a null-terminated string, as MATLAB and Octave write it");
  }
  return found;
}

void MatReader::check_kind() const {
  if (variable_->isComplex != 0) {
    throw file_.error(0, "complex values are not supported; expected a real matrix");
  }
  if (variable_->rank != 2) {
    throw file_.error(
        0, "the array has " + std::to_string(variable_->rank) + " dimensions; expected 2");
  }
  check_dimensions(file_, 0, rows(), cols());
  if (variable_->class_type != MAT_C_SPARSE) {
    check_shape(file_, 0, rows(), cols());
    check_available(file_, 0, rows(), cols());
  }
}

Extract MatReader::write_dense() const {
  const NumberClass* const numbers = number_class(variable_->class_type);
  if (numbers == nullptr || variable_->data_size != numbers->size ||
      variable_->nbytes != rows() * cols() * static_cast<std::size_t>(numbers->size)) {
    fail("the matrix has another size than its data");
  }
  std::vector<double> column(rows());
  for (std::size_t j = 0; j < cols(); ++j) {
    const auto* const from = static_cast<const char*>(variable_->data) +
                             j * rows() * static_cast<std::size_t>(numbers->size);
    numbers->convert(from, rows(), column.data());
    extract_.write(std::as_bytes(std::span(column)));
  }
  return {false, rows(), cols(), rows() * cols()};
}

// libmatio gives compressed columns: column j has the entries from jc[j] up to jc[j + 1].
Extract MatReader::write_sparse() const {
  const auto* const a = static_cast<const mat_sparse_t*>(variable_->data);
  const matio_types type = variable_->data_type;
  const auto convert_to = type == MAT_T_DOUBLE   ? convert<double>
                          : type == MAT_T_SINGLE ? convert<float>
                          : type == MAT_T_UINT8  ? convert<std::uint8_t>
                                                 : nullptr;
  if (convert_to == nullptr) fail("its values are of an unknown type");
  if (a->njc != cols() + 1 || a->jc == nullptr || a->jc[0] != 0) fail("its columns are incomplete");
  const std::size_t entries = a->jc[cols()];
  if (entries > a->nir || entries > a->ndata || (entries > 0 && (!a->ir || !a->data))) {
    fail("its entries are incomplete");
  }
  check_entries(file_, 0, rows(), cols(), entries, false, true);
  check_sparse(file_, 0, rows(), cols(), entries);
  const auto* const bytes = static_cast<const char*>(a->data);
  const std::size_t size = type == MAT_T_DOUBLE ? 8 : type == MAT_T_SINGLE ? 4 : 1;
  std::vector<Triplet> column;
  for (std::size_t j = 0; j < cols(); ++j) {
    if (a->jc[j + 1] < a->jc[j] || a->jc[j + 1] > entries) fail("its columns are in disorder");
    column.clear();
    for (std::size_t k = a->jc[j]; k < a->jc[j + 1]; ++k) {
      if (a->ir[k] >= rows()) fail("a row index is out of range");
      Triplet entry{static_cast<std::int32_t>(a->ir[k]), static_cast<std::int32_t>(j), 0.0};
      convert_to(bytes + k * size, 1, &entry.value);
      column.push_back(entry);
    }
    extract_.write(std::as_bytes(std::span(column)));
  }
  return {true, rows(), cols(), entries};
}

// A line between the processes.
std::string to_line(const Extract& extract) {
  return std::to_string(extract.sparse ? 1 : 0) + " " + std::to_string(extract.rows) + " " +
         std::to_string(extract.cols) + " " + std::to_string(extract.entries);
}

Extract from_line(const std::string& line) {
  Extract extract = {};
  int sparse = 0;
  std::sscanf(line.c_str(), "%d %zu %zu %zu", &sparse, &extract.rows, &extract.cols,
              &extract.entries);
  extract.sparse = sparse != 0;
  return extract;
}

Extract extract_in_a_process(const InputFile& file, const TemporaryFile& temporary) {
  Processes process(1, [&](const std::string&, const Processes::Send& send) {
    send(to_line(MatReader(file, temporary).read()));
  });
  std::string line;
  Processes::End end;
  process.run(
      {""}, 1, [&](std::size_t, const std::string& received) { line = received; },
      [&](std::size_t, const Processes::End& ended) { end = ended; });
  if (end.kind == Processes::End::Kind::threw) throw InputError(end.how);
  if (end.kind != Processes::End::Kind::returned || line.empty()) {
    throw file.error(0, "libmatio failed on it (" + end.how +
                            "); expected a whole .mat file (truncated or damaged?)");
  }
  return from_line(line);
}

}  // namespace

std::variant<Matrix, Sparse> read_mat73(const InputFile& file) {
  const TemporaryFile temporary;
  const Extract extract = extract_in_a_process(file, temporary);
  if (extract.sparse) {
    std::vector<Triplet> triplets(extract.entries);
    temporary.read(std::as_writable_bytes(std::span(triplets)));
    return Sparse(extract.rows, extract.cols, std::move(triplets));
  }
  Matrix a(extract.rows, extract.cols);
  temporary.read(std::as_writable_bytes(std::span(a.values())));
  return a;
}

}  // namespace lugpu

#else

namespace lugpu {

std::variant<Matrix, Sparse> read_mat73(const InputFile& file) {
  throw Unsupported(file.place(0) +
                    "a .mat file of version 7.3, and this program was built without libmatio; "
                    "expected version 7 (save -v7)");
}

}  // namespace lugpu

#endif
