// The formats that other programs write: tests/data/written holds one matrix in each of them. Cut
// and damaged files must be refused, with one sentence, and never crash.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/error.hpp"
#include "formats/formats.hpp"

namespace lugpu {
namespace {

namespace fs = std::filesystem;

const fs::path kWritten = LUGPU_SOURCE_DIR "/tests/data/written";

Matrix made_from(std::size_t rows, const std::vector<double>& columns) {
  Matrix a(rows, columns.size() / rows);
  a.values() = columns;
  return a;
}

const Matrix& truth() {
  static const Matrix a = made_from(3, {1.5, 0, 4, -2, 3.25, 0, 0, 1e-30, 0.1});
  return a;
}

bool same(const Matrix& a, const Matrix& b) {
  return a.rows() == b.rows() &&
         std::equal(a.values().begin(), a.values().end(), b.values().begin(), b.values().end(),
                    [](double x, double y) {
                      return std::bit_cast<std::uint64_t>(x) == std::bit_cast<std::uint64_t>(y);
                    });
}

Matrix made_dense(const std::variant<Matrix, Sparse>& a) {
  const auto* const sparse = std::get_if<Sparse>(&a);
  return sparse != nullptr ? dense(*sparse) : std::get<Matrix>(a);
}

// Whether this program has the library that reads a file.
bool is_available(const std::string& path) {
  for (const FormatFacts& format : known_formats()) {
    const bool lacks_hdf5 = format.contents.find("NOT 7.3") != std::string::npos;
    if (path.starts_with("v73") && lacks_hdf5) return false;
    if (path.find(format.extension) != std::string::npos && !format.available) return false;
  }
  return true;
}

std::string slurp(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

class OtherFormats : public ::testing::Test {
 protected:
  OtherFormats() { fs::create_directory(folder_); }
  ~OtherFormats() override { fs::remove_all(folder_); }

  std::string file(const std::string& name, const std::string& bytes) const {
    std::ofstream(folder_ / name, std::ios::binary) << bytes;
    return folder_ / name;
  }
  // Expects one printable sentence "PATH:LINE: ... REASON ...".
  void refused(const std::string& name, const std::string& bytes, std::size_t line,
               const std::string& reason) const {
    const std::string path = file(name, bytes);
    const std::string place = path + (line > 0 ? ":" + std::to_string(line) + ": " : ": ");
    const std::string sentence = refusal(path);
    EXPECT_EQ(sentence.substr(0, place.size()), place) << sentence;
    EXPECT_NE(sentence.find(reason), std::string::npos) << sentence << "\nlacks: " << reason;
  }
  static std::string refusal(const std::string& path) {
    try {
      read_dense_or_sparse(path);
    } catch (const Error& error) {
      const std::string sentence = error.what();
      EXPECT_LE(sentence.size(), path.size() + 172) << sentence;
      EXPECT_TRUE(std::all_of(sentence.begin(), sentence.end(), [](char c) {
        return c >= ' ' && c <= '~';
      })) << sentence;
      return sentence;
    }
    return "";
  }

 private:
  const fs::path folder_ =
      fs::temp_directory_path() / ("lugpu-other-formats-" + std::to_string(getpid()));
};

// --- Files of other programs -------------------------------------------------------------------

struct Written {
  const char* name;
  bool sparse;
};

class WrittenFile : public OtherFormats, public ::testing::WithParamInterface<Written> {
 protected:
  void SetUp() override {
    if (!is_available(GetParam().name)) GTEST_SKIP() << "built without its library";
  }
};

TEST_P(WrittenFile, GivesTheSameNumbers) {
  const std::string path = kWritten / GetParam().name;
  const std::variant<Matrix, Sparse> stored = read_dense_or_sparse(path);
  EXPECT_EQ(std::holds_alternative<Sparse>(stored), GetParam().sparse);
  EXPECT_TRUE(same(made_dense(stored), truth()));
  EXPECT_TRUE(same(read_matrix(path, {.square = true}), truth()));
  EXPECT_THROW(read_matrix(path, {.rows = 2}), InputError);
}

INSTANTIATE_TEST_SUITE_P(OfAllFormats, WrittenFile,
                         ::testing::Values(Written{"coordinate.mtx.gz", true},
                                           Written{"stored.npz", false},
                                           Written{"stored.npz:D", false},
                                           Written{"deflated.npz:D", false},
                                           Written{"rows.txt", false}, Written{"rows.tsv", false},
                                           Written{"v5.mat:D", false}, Written{"v5.mat:S", true},
                                           Written{"v7.mat:D", false}, Written{"v7.mat:S", true},
                                           Written{"v73.mat:D", false}, Written{"v73.mat:S", true},
                                           Written{"matrix.rua", true}));

// A file and the matrix in it that is read.
struct Damaged {
  const char* file;
  const char* member;
  std::size_t last_number = 0;  // bytes at its end that another number may end in: it is text
};

class DamagedFile : public OtherFormats, public ::testing::WithParamInterface<Damaged> {
 protected:
  void SetUp() override {
    if (!is_available(GetParam().file)) GTEST_SKIP() << "built without its library";
  }
};

// What is cut off must be missed, but for line ends and what fills up the last block.
TEST_P(DamagedFile, IsRefusedWhereverItIsCut) {
  const std::string whole = slurp(kWritten / GetParam().file);
  const std::size_t step = std::max<std::size_t>(1, whole.size() / 200);
  for (std::size_t size = 0; size < whole.size(); size += step) {
    const std::string path = file(GetParam().file, whole.substr(0, size)) + GetParam().member;
    if (!refusal(path).empty() || size + GetParam().last_number > whole.size()) continue;
    EXPECT_TRUE(same(read_matrix(path), truth())) << size << " of " << whole.size() << " bytes";
  }
}

TEST_P(DamagedFile, NeverCrashes) {
  const std::string whole = slurp(kWritten / GetParam().file);
  std::mt19937 random(20260101);
  for (int trial = 0; trial < 60; ++trial) {
    std::string bytes = whole;
    for (int k = 0; k <= trial % 3; ++k) {
      bytes[random() % bytes.size()] = static_cast<char>(random() % 256);
    }
    refusal(file(GetParam().file, bytes) + GetParam().member);
  }
}

INSTANTIATE_TEST_SUITE_P(OfAllFormats, DamagedFile,
                         ::testing::Values(Damaged{"coordinate.mtx.gz", ""},
                                           Damaged{"stored.npz", ""}, Damaged{"deflated.npz", ":D"},
                                           Damaged{"v5.mat", ":D"}, Damaged{"v5.mat", ":S"},
                                           Damaged{"v7.mat", ":D"}, Damaged{"v7.mat", ":S"},
                                           Damaged{"v73.mat", ":D"}, Damaged{"v73.mat", ":S"},
                                           Damaged{"matrix.rua", "", 24}));

TEST_F(OtherFormats, MatricesAreNamed) {
  for (const auto& [name, reason] :
       {std::pair("deflated.npz", "more than one array in the file: 'D', 'F'; name one"),
        std::pair("deflated.npz:G", "no such array; expected one of 'D', 'F'"),
        std::pair("v5.mat", "more than one matrix in the file: 'D', 'S'; name one"),
        std::pair("v5.mat:text", "no such matrix; expected one of 'D', 'S'"),
        std::pair("v73.mat:", "more than one matrix")}) {
    if (!is_available(name)) continue;
    EXPECT_NE(refusal(kWritten / name).find(reason), std::string::npos) << name;
  }
}

// Level 5 says that dimensions are 32-bit integers, but a file may have others.
TEST_F(OtherFormats, DimensionsThatAreNotNumbersAreRefused) {
  const auto words = [](std::initializer_list<std::uint32_t> values) {
    return std::string(reinterpret_cast<const char*>(values.begin()), 4 * values.size());
  };
  constexpr std::uint32_t kDouble = 6, kUint32 = 6, kSingle = 7, kMatrix = 14,
                          kOneByteInside = 1 << 16 | 1;
  constexpr std::uint32_t kNan = 0x7fc00000, kOne = 0x3f800000;
  std::string header = "MATLAB";
  header.resize(124, ' ');
  header += std::string("\0\1IM", 4);
  for (const auto& [length, reason] :
       {std::pair(kOne, ""), std::pair(kNan, "a dimension is not possible"),
        std::pair(kOne | 1u << 31, "a dimension is not possible")}) {
    const std::string variable = words(
        {kUint32, 8, kDouble, 0, kSingle, 8, length, kOne, kOneByteInside, 'A', 9, 8, 0, kOne});
    const std::string bytes =
        header + words({kMatrix, static_cast<std::uint32_t>(variable.size())}) + variable;
    if (*reason != 0) {
      refused("a.mat", bytes, 0, reason);
    } else {
      EXPECT_EQ(read_matrix(file("a.mat", bytes)).rows(), 1u);
    }
  }
}

// --- Harwell-Boeing ------------------------------------------------------------------------------

// The header of a file with these counts and formats, and no right-hand side.
std::string boeing(const std::string& type_and_counts, const std::string& formats,
                   const std::string& data) {
  return "Title\n 1 1 1 1 0\n" + type_and_counts + "\n" + formats + "\n" + data;
}

class HarwellBoeing : public OtherFormats {
 protected:
  Matrix read(const std::string& bytes) const { return read_matrix(file("a.hb", bytes)); }
};

TEST_F(HarwellBoeing, EveryKindIsRead) {
  const std::string pointers = " 1 3 4\n", indices = " 1 2 2\n", formats = "(3I2) (3I2) (3F4.1)";
  const std::string start = pointers + indices;
  EXPECT_TRUE(same(read(boeing("RUA 2 2 3 0", formats, start + " 1.5-2.0 4.0\n")),
                   made_from(2, {1.5, -2, 0, 4})));
  EXPECT_TRUE(same(read(boeing("rsa 2 2 3 0", formats, start + " 1.5-2.0 4.0\n")),
                   made_from(2, {1.5, -2, -2, 4})));
  EXPECT_TRUE(same(read(boeing("RZA 2 2 3 0", formats, start + " 0.0-2.0 0.0\n")),
                   made_from(2, {0, -2, 2, 0})));
  EXPECT_TRUE(same(read(boeing("PUA 2 2 3 0", "(3I2) (3I2)", start)), made_from(2, {1, 1, 0, 1})));
  EXPECT_TRUE(same(read(boeing("psa 2 2 3", "(3I2) (3I2)", start)), made_from(2, {1, 1, 1, 1})));
  EXPECT_TRUE(same(read(boeing("IUA 2 2 3 0", "(3I2) (3I2) (3I4)", start + "   1  -2   4\n")),
                   made_from(2, {1, -2, 0, 4})));
  EXPECT_TRUE(same(read(boeing("RRA 3 2 3 0", formats, start + " 1.5-2.0 4.0\n")),
                   made_from(3, {1.5, -2, 0, 0, 4, 0})));
}

// As Fortran reads them: places without a point, scale factors, exponents without a letter.
TEST_F(HarwellBoeing, NumbersAreFortrans) {
  const auto value = [&](const std::string& format, const std::string& field) {
    return read(boeing("RUA 1 1 1 0", "(2I2) (I2) (" + format + ")", " 1 2\n 1\n" + field + "\n"))(
        0, 0);
  };
  EXPECT_EQ(value("F8.3", "   12345"), 12.345);
  EXPECT_EQ(value("F8.3", "   12.50"), 12.5);
  EXPECT_EQ(value("1PF8.3", "    12.5"), 1.25);
  EXPECT_EQ(value("1P,4E12.5", " 1.25000E+01"), 12.5);
  EXPECT_EQ(value("4D12.5", " 1.25000D+01"), 12.5);
  EXPECT_EQ(value("E12.5", " 1.25000+101"), 1.25e101);
  EXPECT_EQ(value("1p4e12.5e3", "  1.250-101 "), 1.25e-101);
  EXPECT_EQ(value("G20.17", " 0.10000000000000001"), 0.1);
}

TEST_F(HarwellBoeing, NumbersMayTouch) {
  EXPECT_TRUE(same(read(boeing("RUA 2 2 2 0", "(3I1) (2I1) (2F4.1)", "123\n12\n-1.5-2.5\n")),
                   made_from(2, {-1.5, 0, 0, -2.5})));
}

TEST_F(HarwellBoeing, RightHandSidesAreIgnored) {
  EXPECT_TRUE(same(read("Title\n 4 1 1 1 1\nRUA 1 1 1 0\n(2I2) (I2) (F4.1) (F4.1)\nF 1 0\n"
                        " 1 2\n 1\n 2.5\n 9.5\n"),
                   made_from(1, {2.5})));
}

TEST_F(HarwellBoeing, FaultsAreToldWithTheirLine) {
  const std::string formats = "(3I2) (3I2) (3F4.1)", start = " 1 3 4\n 1 2 2\n";
  const std::string values = " 1.5-2.0 4.0\n";
  const auto faulty = [&](const std::string& counts, const std::string& data, std::size_t line,
                          const std::string& reason) {
    refused("a.rua", boeing(counts, formats, data), line, reason);
  };
  faulty("CUA 2 2 3 0", start + values, 3, "complex values ('CUA') are not supported");
  faulty("RUE 2 2 3 0", start + values, 3, "only assembled matrices");
  faulty("RXA 2 2 3 0", start + values, 3, "expected U, R, S, H or Z second");
  faulty("RUA 2 x 3 0", start + values, 3, "the number of columns is 'x'");
  faulty("RUA 2 2 999999999999 0", start + values, 3, "do not fit in the");
  faulty("RUA 0 0 0 0", start + values, 3, "at least one row");
  faulty("RSA 3 2 3 0", start + values, 3, "a symmetric matrix cannot be 3 x 2");
  faulty("RUA 2 2 3 0", " 1 3 2\n 1 2 2\n" + values, 5, "the pointer '2' goes back");
  faulty("RUA 2 2 3 0", " 1 2 3\n 1 2 2\n" + values, 5, "the last pointer is 3; expected 4");
  faulty("RUA 2 2 3 0", " 1 3 4\n 1 3 2\n" + values, 6, "the row index is '3'");
  faulty("RSA 2 2 3 0", " 1 3 4\n 1 2 1\n" + values, 6, "(1, 2) is above the diagonal");
  faulty("RZA 2 2 3 0", start + values, 7, "diagonal of a skew-symmetric matrix is '1.5'");
  faulty("RUA 2 2 3 0", start + " 1.5 abc 4.0\n", 7, "'abc' is not a number");
  faulty("RUA 2 2 3 0", start + " 1.5 NaN 4.0\n", 7, "is not finite");
  faulty("RUA 2 2 3 0", start + " 1.5-2.0\n", 7, "fewer numbers than its format says");
  faulty("RUA 2 2 3 0", start, 6, "the file ends after 0 of 3 values");
  faulty("RUA 2 2 3 0", start + values + "5\n", 8, "more lines than the matrix has");
  faulty("RUA 2 2 3 0", start + " 1.5-2.0 4.0 5.5 6.5\n", 7, "the line goes on with '5.5 6.5'");
  for (const char* format : {"(3X2)", "(3F)", "(0F4.1)", "3F4.1", "(99999999999F4.1)", "(F0.1)"}) {
    refused("a.rua", boeing("RUA 2 2 3 0", std::string("(3I2) (3I2) ") + format, start + values), 4,
            "the format of the values is");
  }
  refused("a.rua", boeing("RUA 2147483647 2147483647 3 0", formats, start + values), 3,
          "do not fit");
}

// --- Compressed files --------------------------------------------------------------------------

TEST_F(OtherFormats, LinesOfCompressedTextAreTold) {
  std::string bytes = slurp(kWritten / "coordinate.mtx.gz");
  refused("a.mtx.gz", "1,2\n3,4\n", 0, "those of a .csv file");
  refused("a.mtx.gz", "no gzip", 0, "not compressed by gzip");
  bytes[bytes.size() - 6] = static_cast<char>(bytes[bytes.size() - 6] + 1);  // of the checksum
  refused("a.mtx.gz", bytes, 0, "the compressed data are damaged (incorrect data check)");
}

}  // namespace
}  // namespace lugpu
