#include "formats/mat.hpp"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "formats/mat73.hpp"
#include "formats/members.hpp"
#include "formats/raw_number.hpp"

namespace lugpu {
namespace {

constexpr std::size_t kHeader = 128;  // bytes
constexpr std::size_t kBlockBytes = std::size_t{1} << 20;

// Types of elements that are not numbers.
constexpr std::uint32_t kMatrixElement = 14, kCompressedElement = 15;
// Classes of variables: what is between them holds numbers.
constexpr std::uint32_t kSparseClass = 5, kFirstNumbers = 6, kLastNumbers = 15;
constexpr std::uint32_t kComplexFlag = 0x0800;

template <typename T>
double load_double(const char* bytes, bool swap) {
  return static_cast<double>(load<T>(bytes, swap));
}

struct NumberType {
  std::uint32_t code;
  std::size_t size;
  double (*load)(const char* bytes, bool swap);
};

constexpr NumberType kNumberTypes[] = {
    {1, 1, load_double<std::int8_t>},   {2, 1, load_double<std::uint8_t>},
    {3, 2, load_double<std::int16_t>},  {4, 2, load_double<std::uint16_t>},
    {5, 4, load_double<std::int32_t>},  {6, 4, load_double<std::uint32_t>},
    {7, 4, load_double<float>},         {9, 8, load_double<double>},
    {12, 8, load_double<std::int64_t>}, {13, 8, load_double<std::uint64_t>},
};

[[noreturn]] void fail(const Origin& origin, const std::string& what) {
  throw origin.error(0, what + "; expected a whole .mat file (truncated or damaged?)");
}

// A compressed variable: bytes of a file in the format of zlib.
class ZlibStream : public Stream {
 public:
  // `file` must be open as long as this.
  ZlibStream(const InputFile& file, std::size_t begin, std::size_t end)
      : file_(file), begin_(begin), end_(end), offset_(begin), block_(std::size_t{1} << 16) {
    if (inflateInit(&state_) != Z_OK) throw std::bad_alloc();
  }
  ZlibStream(const ZlibStream&) = delete;
  ZlibStream& operator=(const ZlibStream&) = delete;
  ~ZlibStream() override { inflateEnd(&state_); }

  void rewind() override {
    inflateReset(&state_);
    state_.avail_in = 0;
    offset_ = begin_;
    ended_ = false;
  }
  std::size_t next(std::span<char> to) override {
    state_.next_out = reinterpret_cast<Bytef*>(to.data());
    state_.avail_out = static_cast<uInt>(std::min(to.size(), kBlockBytes));
    const std::size_t room = state_.avail_out;
    while (!ended_ && state_.avail_out == room) {
      if (state_.avail_in == 0) refill();
      const int status = inflate(&state_, Z_NO_FLUSH);
      ended_ = status == Z_STREAM_END;
      if (status != Z_OK && !ended_) fail(file_, "its compressed data are damaged");
    }
    if (ended_ && (state_.avail_in > 0 || offset_ != end_)) {
      fail(file_, "its compressed data end too early");
    }
    return room - state_.avail_out;
  }

 private:
  void refill() {
    const std::size_t count = std::min(block_.size(), end_ - offset_);
    if (count == 0) fail(file_, "the file ends in its compressed data");
    file_.read(offset_, std::span(block_).first(count));
    offset_ += count;
    state_.next_in = reinterpret_cast<Bytef*>(block_.data());
    state_.avail_in = static_cast<uInt>(count);
  }

  const InputFile& file_;
  const std::size_t begin_, end_;
  std::size_t offset_;
  std::vector<char> block_;
  z_stream state_ = {};
  bool ended_ = false;
};

// A piece of a file: a type, and the bytes of its data.
struct Element {
  std::uint32_t type = 0;
  std::size_t begin = 0, bytes = 0, next = 0;
};

// The element at `begin`, which must end before `end`. Small ones have their data in the tag.
Element element_at(const InputFile& file, std::size_t begin, std::size_t end, bool swap) {
  std::array<char, 8> tag;
  if (end - begin < tag.size()) fail(file, "the file ends in a variable");
  file.read(begin, tag);
  Element element;
  element.type = load<std::uint32_t>(tag.data(), swap);
  element.bytes = load<std::uint32_t>(tag.data() + 4, swap);
  element.begin = begin + tag.size();
  if (element.type >> 16 != 0) {
    element.bytes = element.type >> 16;
    element.type &= 0xFFFF;
    element.begin = begin + 4;
    if (element.bytes > 4)
      fail(file, "a small element has " + std::to_string(element.bytes) + " bytes of data");
    element.next = begin + tag.size();
    return element;
  }
  const bool padded = element.type != kCompressedElement;
  const std::size_t room = end - element.begin;
  const std::size_t taken = padded ? (element.bytes + 7) / 8 * 8 : element.bytes;
  if (taken > room) {
    fail(file, "an element of " + std::to_string(element.bytes) + " bytes has room for " +
                   std::to_string(room));
  }
  element.next = element.begin + taken;
  return element;
}

// The variables of a file, one after the other.
class Variable {
 public:
  // The variable in `outer`, at `begin`, decompressed if need be.
  Variable(const InputFile& file, const Element& outer, bool swap) : swap_(swap) {
    Element matrix = outer;
    file_ = &file;
    if (outer.type == kCompressedElement) {
      decompressed_ = std::make_unique<InputFile>(
          file, std::make_unique<ZlibStream>(file, outer.begin, outer.begin + outer.bytes));
      file_ = decompressed_.get();
      matrix = element_at(*file_, 0, file_->size(), swap);
      if (matrix.next != file_->size()) fail(*file_, "a variable has another size than it says");
    }
    if (matrix.type != kMatrixElement) return;
    begin_ = matrix.begin;
    end_ = matrix.next;
    if (begin_ < end_) read_head();
  }

  bool is_matrix() const {
    return class_ == kSparseClass || (class_ >= kFirstNumbers && class_ <= kLastNumbers);
  }
  const std::string& name() const { return name_; }
  std::variant<Matrix, Sparse> read();

 private:
  void read_head();
  Element next_element() {
    const Element element = element_at(*file_, begin_, end_, swap_);
    begin_ = element.next;
    return element;
  }
  void require_end() const {
    if (begin_ != end_) fail(*file_, "a variable goes on after its data");
  }
  Matrix read_dense();
  Sparse read_sparse();
  // Calls use(k, value) for the first `count` numbers of the element.
  template <typename Use>
  void read_numbers(const Element& element, std::size_t count, const Use& use) const;
  const NumberType& type_of(const Element& element) const;

  const bool swap_;
  const InputFile* file_ = nullptr;
  std::unique_ptr<InputFile> decompressed_;
  std::size_t begin_ = 0, end_ = 0;  // of what has not been read
  std::uint32_t class_ = 0;
  bool complex_ = false;
  std::vector<std::int32_t> shape_;
  std::string name_;
};

const NumberType& Variable::type_of(const Element& element) const {
  for (const NumberType& type : kNumberTypes) {
    if (type.code == element.type) return type;
  }
  fail(*file_, "numbers of the unknown type " + std::to_string(element.type));
}

template <typename Use>
void Variable::read_numbers(const Element& element, std::size_t count, const Use& use) const {
  const NumberType& type = type_of(element);
  std::vector<char> block(std::min(kBlockBytes, std::max<std::size_t>(count, 1) * type.size));
  const std::size_t most = block.size() / type.size;
  for (std::size_t k = 0; k < count; k += most) {
    const std::size_t n = std::min(most, count - k);
    file_->read(element.begin + k * type.size, std::span(block).first(n * type.size));
    for (std::size_t i = 0; i < n; ++i) use(k + i, type.load(&block[i * type.size], swap_));
  }
}

// Flags, dimensions and name, which come first.
void Variable::read_head() {
  const Element flags = next_element();
  std::array<char, 4> word = {};
  if (flags.bytes != 8) fail(*file_, "the flags of a variable are malformed");
  file_->read(flags.begin, word);
  const auto bits = load<std::uint32_t>(word.data(), swap_);
  class_ = bits & 0xFF;
  complex_ = (bits & kComplexFlag) != 0;
  if (!is_matrix()) return;
  const Element shape = next_element();
  constexpr std::size_t kMostDimensions = 64;
  if (shape.bytes % 4 != 0 || shape.bytes < 8 || shape.bytes > 4 * kMostDimensions ||
      type_of(shape).size != 4) {
    fail(*file_, "the dimensions of a variable are malformed");
  }
  read_numbers(shape, shape.bytes / 4, [&](std::size_t, double length) {
    const bool possible = length >= 0 && length <= 2147483647;  // no NaN is
    if (!possible) fail(*file_, "a dimension is not possible");
    shape_.push_back(static_cast<std::int32_t>(length));
  });
  const Element name = next_element();
  constexpr std::size_t kLongestName = 4096;
  if (name.bytes > kLongestName) fail(*file_, "the name of a variable is too long");
  name_.resize(name.bytes);
  file_->read(name.begin, name_);
}

std::variant<Matrix, Sparse> Variable::read() {
  if (complex_) {
    throw file_->error(0, "complex values are not supported; expected a real matrix");
  }
  if (shape_.size() != 2) {
    throw file_->error(
        0, "the array has " + std::to_string(shape_.size()) + " dimensions; expected 2");
  }
  if (class_ == kSparseClass) return read_sparse();
  return read_dense();
}

Matrix Variable::read_dense() {
  const auto rows = static_cast<std::size_t>(shape_[0]);
  const auto cols = static_cast<std::size_t>(shape_[1]);
  check_shape(*file_, 0, rows, cols);
  const Element data = next_element();
  const std::size_t expected = rows * cols * type_of(data).size;
  if (data.bytes != expected) {
    fail(*file_, std::to_string(data.bytes) + " bytes of data for " + std::to_string(rows) + " x " +
                     std::to_string(cols) + " numbers");
  }
  require_end();
  check_available(*file_, 0, rows, cols);
  Matrix a(rows, cols);
  read_numbers(data, rows * cols, [&](std::size_t k, double value) { a.values()[k] = value; });
  return a;
}

// Compressed columns: column j has the entries from pointers[j] up to pointers[j + 1].
Sparse Variable::read_sparse() {
  const auto rows = static_cast<std::size_t>(shape_[0]);
  const auto cols = static_cast<std::size_t>(shape_[1]);
  check_dimensions(*file_, 0, rows, cols);
  const Element indices = next_element(), starts = next_element(), values = next_element();
  require_end();
  if (type_of(indices).size != 4 || type_of(starts).size != 4 || starts.bytes != 4 * (cols + 1)) {
    fail(*file_, "the columns of a sparse matrix are incomplete");
  }
  std::vector<std::size_t> pointers(cols + 1);
  read_numbers(starts, cols + 1, [&](std::size_t j, double start) {
    if (j == 0 ? start != 0 : start < static_cast<double>(pointers[j - 1])) {
      fail(*file_, "the columns of a sparse matrix do not ascend");
    }
    pointers[j] = static_cast<std::size_t>(start);
  });
  const std::size_t entries = pointers[cols];
  if (entries > indices.bytes / 4 || entries > values.bytes / type_of(values).size) {
    fail(*file_, "the entries of a sparse matrix are incomplete");
  }
  check_entries(*file_, 0, rows, cols, entries, false, true);
  check_sparse(*file_, 0, rows, cols, entries);
  std::vector<Triplet> triplets(entries);
  std::size_t j = 0;
  read_numbers(indices, entries, [&](std::size_t k, double row) {
    while (pointers[j + 1] <= k) ++j;
    if (row < 0 || row >= static_cast<double>(rows)) fail(*file_, "a row index is out of range");
    triplets[k] = {static_cast<std::int32_t>(row), static_cast<std::int32_t>(j), 0.0};
  });
  read_numbers(values, entries, [&](std::size_t k, double value) { triplets[k].value = value; });
  return {rows, cols, std::move(triplets)};
}

std::variant<Matrix, Sparse> read_mat5(const InputFile& file, bool swap) {
  std::vector<std::string> names;
  std::vector<Element> elements;
  for (std::size_t begin = kHeader; begin < file.size();) {
    const Element element = element_at(file, begin, file.size(), swap);
    begin = element.next;
    const Variable variable(file, element, swap);
    if (!variable.is_matrix()) continue;
    names.push_back(variable.name());
    elements.push_back(element);
  }
  const std::string name = chosen_member(file, names, "matrix");
  const auto k = std::find(names.begin(), names.end(), name) - names.begin();
  return Variable(file, elements[static_cast<std::size_t>(k)], swap).read();
}

}  // namespace

std::variant<Matrix, Sparse> read_mat(const InputFile& file) {
  std::array<char, kHeader> head;
  const std::string_view text(head.data(), file.read(0, head));
  if (!is_mat(text)) {
    throw file.error(0, "not a .mat file of version 5 or later; expected the mark 'MATLAB'");
  }
  const bool little = text.ends_with("IM"), whole = text.size() == kHeader;
  if (!whole || (!little && !text.ends_with("MI"))) fail(file, "its header is malformed");
  const bool swap = little != (std::endian::native == std::endian::little);
  const auto version = load<std::uint16_t>(&head[kHeader - 4], swap);
  if (version == 0x0200) return read_mat73(file);
  if (version != 0x0100) {
    throw file.error(0, "a .mat file of the unknown version " + std::to_string(version >> 8) +
                            "; expected 5, 7 or 7.3");
  }
  return read_mat5(file, swap);
}

bool is_mat(std::string_view beginning) {
  return beginning.starts_with("MATLAB ");
}

}  // namespace lugpu
