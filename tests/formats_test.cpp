// The file formats: what must be read, what must be refused and with which words, and that
// what is written is read back bit for bit.
#include "formats/formats.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <malloc.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <numeric>
#include <random>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/error.hpp"
#include "base/host_memory.hpp"
#include "base/output_file.hpp"
#include "formats/number_text.hpp"

namespace lugpu {
namespace {

namespace fs = std::filesystem;

const std::string kData = LUGPU_SOURCE_DIR "/tests/data/";

// A row of a matrix that is written out in a test, and the matrix.
using Row = std::vector<double>;
using Table = std::vector<Row>;

void expect_equal(const Matrix& a, const Table& expected) {
  ASSERT_EQ(a.rows(), expected.size());
  ASSERT_EQ(a.cols(), expected.front().size());
  for (std::size_t i = 0; i < a.rows(); ++i) {
    for (std::size_t j = 0; j < a.cols(); ++j) {
      EXPECT_EQ(std::bit_cast<std::uint64_t>(a(i, j)), std::bit_cast<std::uint64_t>(expected[i][j]))
          << "element (" << i << ", " << j << "): " << a(i, j) << " != " << expected[i][j];
    }
  }
}

// The dense matrix in the file. Expects that it is the same, bit for bit, if it may stay sparse.
Matrix read_either_way(const std::string& path) {
  Matrix a = read_matrix(path);
  const std::variant<Matrix, Sparse> stored = read_dense_or_sparse(path);
  const auto* const sparse = std::get_if<Sparse>(&stored);
  const Matrix b = sparse != nullptr ? dense(*sparse) : std::get<Matrix>(stored);
  EXPECT_EQ(a.rows(), b.rows());
  EXPECT_EQ(a.cols(), b.cols());
  const auto same = [](double x, double y) {
    return std::bit_cast<std::uint64_t>(x) == std::bit_cast<std::uint64_t>(y);
  };
  EXPECT_TRUE(
      std::equal(a.values().begin(), a.values().end(), b.values().begin(), b.values().end(), same));
  return a;
}

// Why the file is refused where it may stay sparse; empty if it is not.
std::string refusal_of_sparse(const std::string& path, WantedShape wanted = {}) {
  try {
    read_dense_or_sparse(path, wanted);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

// Expects an InputError "PATH:LINE: ... REASON ..." (line 0: "PATH: ... REASON ..."), one printable
// sentence of at most about 200 characters; the same one where the matrix may stay sparse.
void expect_refused(const std::string& path, std::size_t line, const std::string& reason) {
  const std::string place = line > 0 ? path + ":" + std::to_string(line) + ": " : path + ": ";
  try {
    const Matrix a = read_matrix(path);
    FAIL() << path << " was read as " << a.rows() << " x " << a.cols() << "; expected: " << reason;
  } catch (const Error& error) {
    const std::string sentence = error.what();
    EXPECT_TRUE(error.kind() == ErrorKind::bad_input || error.kind() == ErrorKind::unsupported);
    EXPECT_EQ(sentence.substr(0, place.size()), place) << sentence;
    EXPECT_NE(sentence.find(reason, place.size()), std::string::npos)
        << sentence << "\nlacks: " << reason;
    EXPECT_LE(sentence.size(), place.size() + 170) << sentence;
    EXPECT_TRUE(std::all_of(sentence.begin(), sentence.end(), [](char c) {
      return c >= ' ' && c <= '~';
    })) << sentence;
    EXPECT_EQ(refusal_of_sparse(path), sentence);
  }
}

// A separate directory for each test.
class TemporaryDirectory {
 public:
  TemporaryDirectory() {
    std::string name = (fs::temp_directory_path() / "lugpu-formats-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary directory");
    path_ = name;
  }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  ~TemporaryDirectory() { fs::remove_all(path_); }

  std::string path(const std::string& name) const { return (path_ / name).string(); }
  // Writes a file of these bytes and returns its path.
  std::string file(const std::string& name, const std::string& bytes) const {
    std::ofstream(path(name), std::ios::binary) << bytes;
    return path(name);
  }
  std::size_t file_count() const {
    return static_cast<std::size_t>(
        std::distance(fs::directory_iterator(path_), fs::directory_iterator()));
  }

 private:
  fs::path path_;
};

class Formats : public ::testing::Test {
 protected:
  Matrix read(const std::string& name, const std::string& bytes) {
    return read_either_way(directory.file(name, bytes));
  }
  TemporaryDirectory directory;
};

std::string slurp(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

// --- Numbers ---------------------------------------------------------------------------------

TEST(ParseNumber, ReadsWhatTextFilesHold) {
  EXPECT_EQ(parse_number("1"), 1.0);
  EXPECT_EQ(parse_number("+1.5"), 1.5);
  EXPECT_EQ(parse_number("-.5"), -0.5);
  EXPECT_EQ(parse_number("1."), 1.0);
  EXPECT_EQ(parse_number("1E+2"), 100.0);
  EXPECT_EQ(parse_number("1.25D+02"), 125.0);
  EXPECT_EQ(parse_number("-1.25d-2"), -0.0125);
  EXPECT_EQ(parse_number("0.1"), 0.1);
  EXPECT_EQ(parse_number("2.2250738585072011e-308"), 2.2250738585072011e-308);
}

TEST(ParseNumber, OverflowIsInfiniteAndUnderflowIsZero) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(parse_number("1E310"), kInfinity);
  EXPECT_EQ(parse_number("-1D310"), -kInfinity);
  EXPECT_EQ(parse_number("1e99999999999999999999"), kInfinity);
  EXPECT_EQ(parse_number("1" + std::string(400, '0')), kInfinity);
  EXPECT_EQ(parse_number("1" + std::string(400, '0') + "e-300"), 1e100);
  EXPECT_EQ(parse_number("1e-400"), 0.0);
  EXPECT_EQ(parse_number("1D-400"), 0.0);
  EXPECT_EQ(parse_number("1e-99999999999999999999"), 0.0);
  EXPECT_EQ(parse_number("0." + std::string(400, '0') + "1"), 0.0);
  EXPECT_EQ(parse_number("5e-324"), std::numeric_limits<double>::denorm_min());
  EXPECT_TRUE(std::signbit(*parse_number("-1e-400")));
  EXPECT_TRUE(std::isnan(*parse_number("nan")));
  EXPECT_EQ(parse_number("-Inf"), -kInfinity);
}

TEST(ParseNumber, RefusesEverythingElse) {
  for (const char* token :
       {"",    "+",   "-",   ".",   "e5",  "1e",    "1d",   "1e+", "1.5x", "0x10",
        "1,5", "+-1", "-+1", "++1", "1 2", "1D5D3", "1eD5", "D5",  "one",  "1.2.3"}) {
    EXPECT_EQ(parse_number(token), std::nullopt) << token;
  }
}

TEST(ParseWhole, RefusesFractionsAndOverflow) {
  EXPECT_EQ(parse_whole("+12"), 12);
  EXPECT_EQ(parse_whole("-3"), -3);
  for (const char* token : {"", "+", "1.0", "1e3", "9223372036854775808", "+-1", "a"}) {
    EXPECT_EQ(parse_whole(token), std::nullopt) << token;
  }
}

// --- Files of the collections ----------------------------------------------------------------

struct Collected {
  const char* name;
  std::size_t rows;
  std::size_t cols;
  std::size_t nonzeros;  // of the full matrix
  double weighted_sum;  // sum of a(i, j) (i + 2 j), counted from 1: finds a transposed or lost half
  int symmetry;         // 1 symmetric, -1 skew-symmetric, 0 neither
};

class CollectedFile : public ::testing::TestWithParam<Collected> {};

TEST_P(CollectedFile, IsReadAsTheFullMatrix) {
  const Collected& expected = GetParam();
  const Matrix a = read_either_way(kData + expected.name);
  ASSERT_EQ(a.rows(), expected.rows);
  ASSERT_EQ(a.cols(), expected.cols);
  std::size_t nonzeros = 0;
  double sum = 0.0;
  double magnitude = 1.0;
  for (std::size_t j = 0; j < a.cols(); ++j) {
    for (std::size_t i = 0; i < a.rows(); ++i) {
      const double weighted = a(i, j) * static_cast<double>(i + 1 + 2 * (j + 1));
      nonzeros += a(i, j) != 0.0 ? 1 : 0;
      sum += weighted;
      magnitude += std::abs(weighted);
      if (expected.symmetry != 0) {
        EXPECT_EQ(a(i, j), expected.symmetry * a(j, i)) << i << ", " << j;
      }
    }
  }
  EXPECT_EQ(nonzeros, expected.nonzeros);
  EXPECT_NEAR(sum, expected.weighted_sum, 1e-13 * magnitude);
}

INSTANTIATE_TEST_SUITE_P(
    Good, CollectedFile,
    ::testing::Values(Collected{"good/LFAT5.mtx", 14, 14, 46, 226563569.2215702, 1},
                      Collected{"good/bfwa62.mtx", 62, 62, 450, 469.28304048999814, 0},
                      Collected{"good/cage5.mtx", 37, 37, 233, 2064.6860491360376, 0},
                      Collected{"good/comments_full.mtx", 3, 3, 9, 25.143, 0},
                      Collected{"good/full_symmetric.mtx", 4, 4, 16, 2069.398142337799, 1},
                      Collected{"good/mmtype-02.mtx", 5, 5, 13, 3702.0, 1},
                      Collected{"good/mmtype-05.mtx", 5, 5, 13, 3702.0, 1},
                      Collected{"good/mmtype-11.mtx", 5, 5, 13, 3702.0, 1},
                      Collected{"good/west0067.mtx", 67, 67, 294, 5074.67869719, 0}));

INSTANTIATE_TEST_SUITE_P(
    Singular, CollectedFile,
    ::testing::Values(Collected{"singular/Tina_AskCal.mtx", 11, 11, 29, 476.0, 0},
                      Collected{"singular/gent113.mtx", 113, 113, 655, 113200.0, 0},
                      Collected{"singular/karate.mtx", 34, 34, 156, 8073.0, 1},
                      Collected{"singular/mmtype-03.mtx", 5, 5, 6, -178.0, -1},
                      Collected{"singular/mmtype-06.mtx", 5, 5, 6, -178.0, -1},
                      Collected{"singular/mmtype-12.mtx", 5, 5, 8, -201.0, -1},
                      Collected{"singular/will57.mtx", 57, 57, 281, 25555.0, 0}));

INSTANTIATE_TEST_SUITE_P(
    Either, CollectedFile,
    ::testing::Values(
        Collected{"either/fmm_coordinate_hermitian_real_row.mtx", 3, 3, 5, 690.0, 1},
        Collected{"either/fmm_coordinate_hermitian_real_row_general_dup.mtx", 3, 3, 5, 960.0, 1},
        Collected{"either/fmm_coordinate_hermitian_real_row_general_zero.mtx", 3, 3, 5, 690.0, 1}));

// Well-formed, so the reader takes them; a solver refuses them because they are not square.
INSTANTIATE_TEST_SUITE_P(
    NotSquare, CollectedFile,
    ::testing::Values(Collected{"bad/lagraph_empty.mtx", 3, 4, 0, 0.0, 0},
                      Collected{"bad/lagraph_sources_7.mtx", 64, 1, 64, 8604.0, 0},
                      Collected{"bad/n3c4-b4.mtx", 6, 15, 30, -97.0, 0},
                      Collected{"bad/mmtype-01.mtx", 4, 5, 15, 37.04612771103585, 0},
                      Collected{"bad/mmtype-04.mtx", 4, 5, 3, 69.0, 0},
                      Collected{"bad/mmtype-10.mtx", 4, 5, 15, 47.40310456074487, 0}));

struct Refused {
  const char* name;
  std::size_t line;
  const char* reason;
};

class RefusedFile : public ::testing::TestWithParam<Refused> {};

TEST_P(RefusedFile, IsRefusedWithTheReason) {
  expect_refused(kData + GetParam().name, GetParam().line, GetParam().reason);
}

INSTANTIATE_TEST_SUITE_P(
    Bad, RefusedFile,
    ::testing::Values(
        Refused{"bad/fmm_invalid_bad_format.mtx", 1, "the format is '____'"},
        Refused{"bad/fmm_invalid_bad_value_2.mtx", 1, "the object is 'vector'"},
        Refused{"bad/fmm_invalid_dimensions_out_of_range_2.mtx", 3, "columns is '-3'"},
        Refused{"bad/fmm_invalid_indices_out_of_range_3.mtx", 5, "row index is '0'"},
        Refused{"bad/fmm_invalid_matrix_coord_too_long.mtx", 7, "more entries than the size line"},
        Refused{"bad/fmm_invalid_truncated_line_1.mtx", 2, "12 entries do not fit"},
        Refused{"bad/fmm_invalid_vector_coord_too_long.mtx", 1, "the object is 'vector'"},
        Refused{"bad/fmm_overflow_dim_gt_int64.mtx", 2, "rows is '19223372036854775808'"},
        Refused{"bad/fmm_overflow_value_gt_float64.mtx", 4, "'1E310' is not finite"},
        Refused{"bad/fmm_vector_array.mtx", 1, "the object is 'vector'"},
        Refused{"bad/fmm_vector_coordinate.mtx", 1, "the object is 'vector'"},
        Refused{"bad/lagraph_mangled12.mtx", 5, "the entry is '1 1'"},
        Refused{"bad/lagraph_mangled16.mtx", 5, "more than one field ('.646 .959')"},
        Refused{"bad/lagraph_mangled4.mtx", 1, "the symmetry is 'mangled'"},
        Refused{"bad/lagraph_mangled8.mtx", 4, "the size line is '3'"},
        Refused{"bad/matrixdepot_02.mtx", 4, "more values than the size line says, 1"},
        Refused{"bad/matrixdepot_05.mtx", 1, "no Matrix Market banner"},
        Refused{"bad/matrixdepot_09.mtx", 1, "the symmetry is 'fluffy'"},
        Refused{"bad/matrixdepot_13.mtx", 1, "complex values are not supported"},
        Refused{"bad/mmtype-07.mtx", 1, "complex values are not supported"},
        Refused{"bad/mmtype-08.mtx", 1, "complex values are not supported"},
        Refused{"bad/mmtype-09.mtx", 1, "complex values are not supported"}));

TEST(CollectedFiles, AreAllTested) {
  std::size_t files = 0;
  for (const auto& entry : fs::recursive_directory_iterator(kData)) {
    files += entry.path().extension() == ".mtx" ? 1 : 0;
  }
  EXPECT_EQ(files, 9u + 7u + 3u + 6u + 22u);
}

// --- Matrix Market ---------------------------------------------------------------------------

using MatrixMarket = Formats;

TEST_F(MatrixMarket, ArrayGoesColumnByColumn) {
  expect_equal(read("a.mtx", "%%MatrixMarket matrix array real general\n2 3\n1\n2\n3\n4\n5\n6\n"),
               {{1, 3, 5}, {2, 4, 6}});
}

TEST_F(MatrixMarket, ArraySymmetricHoldsTheLowerTriangle) {
  expect_equal(read("a.mtx", "%%MatrixMarket matrix array real symmetric\n3 3\n1\n2\n3\n4\n5\n6\n"),
               {{1, 2, 3}, {2, 4, 5}, {3, 5, 6}});
}

TEST_F(MatrixMarket, ArraySkewHoldsTheStrictLowerTriangle) {
  expect_equal(read("a.mtx", "%%MatrixMarket matrix array integer skew-symmetric\n3 3\n1\n0\n3\n"),
               {{0, -1, 0}, {1, 0, -3}, {0, 3, 0}});
}

TEST_F(MatrixMarket, ArraySkewOfOrderOneHasNoValues) {
  expect_equal(read("a.mtx", "%%MatrixMarket matrix array real skew-symmetric\n1 1\n"), {{0}});
}

TEST_F(MatrixMarket, RealHermitianIsSymmetric) {
  expect_equal(read("a.mtx", "%%MatrixMarket matrix array real hermitian\n2 2\n1\n2\n3\n"),
               {{1, 2}, {2, 3}});
}

TEST_F(MatrixMarket, CoordinateFillsWithZeros) {
  expect_equal(
      read("a.mtx", "%%MatrixMarket matrix coordinate real general\n2 3 2\n2 1 -4.5\n1 3 7\n"),
      {{0, 0, 7}, {-4.5, 0, 0}});
}

TEST_F(MatrixMarket, CoordinateSymmetricMirrors) {
  expect_equal(read("a.mtx",
                    "%%MatrixMarket matrix coordinate integer symmetric\n3 3 3\n"
                    "3 1 5\n2 2 6\n3 2 7\n"),
               {{0, 0, 5}, {0, 6, 7}, {5, 7, 0}});
}

TEST_F(MatrixMarket, CoordinateSkewMirrorsWithTheSignChanged) {
  expect_equal(read("a.mtx",
                    "%%MatrixMarket matrix coordinate real skew-symmetric\n2 2 2\n"
                    "2 1 5\n1 1 0\n"),
               {{0, -5}, {5, 0}});
}

TEST_F(MatrixMarket, PatternEntriesAreOnes) {
  expect_equal(
      read("a.mtx", "%%MatrixMarket matrix coordinate pattern symmetric\n2 2 2\n1 1\n2 1\n"),
      {{1, 1}, {1, 0}});
}

TEST_F(MatrixMarket, EntriesGivenTwiceAreAdded) {
  expect_equal(read("a.mtx",
                    "%%MatrixMarket matrix coordinate real symmetric\n2 2 4\n"
                    "2 1 1.5\n2 1 2\n1 1 1\n1 1 -3\n"),
               {{-2, 3.5}, {3.5, 0}});
  expect_equal(
      read("b.mtx", "%%MatrixMarket matrix coordinate pattern general\n1 2 3\n1 2\n1 2\n1 2\n"),
      {{0, 3}});
  expect_equal(
      read("c.mtx",
           "%%MatrixMarket matrix coordinate real skew-symmetric\n2 2 2\n2 1 1.5\n2 1 2\n"),
      {{0, -3.5}, {3.5, 0}});
}

TEST_F(MatrixMarket, BannerIsOfAnyCase) {
  expect_equal(read("a.mtx", "%%MATRIXMARKET Matrix ARRAY Real GENERAL\n1 1\n4\n"), {{4}});
}

TEST_F(MatrixMarket, CommentsAndBlankLinesMayStandAnywhereAfterTheBanner) {
  expect_equal(read("a.mtx",
                    "%%MatrixMarket matrix array real general\n\n% one\n  % two\n \t \n2 1\n"
                    "%three\n\n1\n% four\n2\n\n% five\n\n"),
               {{1}, {2}});
}

TEST_F(MatrixMarket, CarriageReturnsTabsAndBlanksDoNotMatter) {
  expect_equal(read("a.mtx",
                    "%%MatrixMarket\tmatrix  coordinate real general \r\n%\r\n\r\n\t2  2\t1\r\n"
                    " 1\t2   3.5\t\r\n"),
               {{0, 3.5}, {0, 0}});
}

TEST_F(MatrixMarket, ByteOrderMarkIsSkipped) {
  expect_equal(read("a.mtx", "\xEF\xBB\xBF%%MatrixMarket matrix array real general\n1 1\n4\n"),
               {{4}});
}

TEST_F(MatrixMarket, LastLineMayLackItsEnd) {
  expect_equal(read("a.mtx", "%%MatrixMarket matrix array real general\n1 2\n4\n5"), {{4, 5}});
}

TEST_F(MatrixMarket, NumbersMayHavePlusSignsAndFortranExponents) {
  expect_equal(read("a.mtx",
                    "%%MatrixMarket matrix array real general\n5 1\n+1.5\n-2.5D+01\n1d2\n+.5E-1\n"
                    "1e-400\n"),
               {{1.5}, {-25}, {100}, {0.05}, {0}});
  expect_equal(
      read("b.mtx", "%%MatrixMarket matrix coordinate integer general\n+1 1 1\n+1 +1 +7\n"), {{7}});
}

TEST_F(MatrixMarket, SmallestDoublesSurvive) {
  expect_equal(read("a.mtx", "%%MatrixMarket matrix array real general\n1 2\n5e-324\n-3e-310\n"),
               {{std::numeric_limits<double>::denorm_min(), -3e-310}});
}

struct BadText {
  const char* name;
  std::string text;
  std::size_t line;
  const char* reason;
};

void PrintTo(const BadText& bad, std::ostream* out) {
  *out << bad.name;
}

std::string name_of(const ::testing::TestParamInfo<BadText>& info) {
  return info.param.name;
}

class BadMatrixMarket : public ::testing::TestWithParam<BadText> {};

TEST_P(BadMatrixMarket, IsRefusedWithTheReason) {
  const TemporaryDirectory directory;
  expect_refused(directory.file("a.mtx", GetParam().text), GetParam().line, GetParam().reason);
}

const std::string kArray = "%%MatrixMarket matrix array real general\n";
const std::string kCoordinate = "%%MatrixMarket matrix coordinate real general\n";
const std::string kSymmetric = "%%MatrixMarket matrix coordinate real symmetric\n";
const std::string kSkew = "%%MatrixMarket matrix coordinate real skew-symmetric\n";

INSTANTIATE_TEST_SUITE_P(
    Banner, BadMatrixMarket,
    ::testing::Values(
        BadText{"Missing", "2 2\n1\n2\n3\n4\n", 1, "no Matrix Market banner ('2 2')"},
        BadText{"AfterAComment", "% x\n" + kArray + "1 1\n1\n", 1, "no Matrix Market banner"},
        BadText{"TooShort", "%%MatrixMarket matrix array real\n1 1\n1\n", 1, "has 4 words"},
        BadText{"TooLong", "%%MatrixMarket matrix array real general x\n1 1\n1\n", 1,
                "has 6 words"},
        BadText{"ArrayPattern", "%%MatrixMarket matrix array pattern general\n1 1\n1\n", 1,
                "an array has no 'pattern'"},
        BadText{"PatternSkew", "%%MatrixMarket matrix coordinate pattern skew-symmetric\n", 1,
                "a pattern cannot be 'skew-symmetric'"},
        BadText{"PatternHermitian", "%%MatrixMarket matrix coordinate pattern hermitian\n", 1,
                "a pattern cannot be 'hermitian'"},
        BadText{"UnknownField", "%%MatrixMarket matrix array float general\n1 1\n1\n", 1,
                "the values are 'float'"},
        BadText{"Complex", "%%MatrixMarket matrix array complex general\n1 1\n1 0\n", 1,
                "complex values are not supported"},
        BadText{"OneLongLine", std::string(100000, '%'), 1, "%%%...')"},
        BadText{"Unprintable", "\x1b[2J\xff\x01\n1 1\n", 1, "'\\x1B[2J\\xFF\\x01'"},
        BadText{"OnlyAByteOrderMark", "\xEF\xBB\xBF", 0, "no Matrix Market banner"},
        BadText{"Utf16", std::string("%\0%\0M\0", 6), 1, "a NUL byte"}),
    name_of);

INSTANTIATE_TEST_SUITE_P(
    Size, BadMatrixMarket,
    ::testing::Values(
        BadText{"Missing", kArray + "% only\n% comments\n", 3, "ends before its size line"},
        BadText{"ThreeForAnArray", kArray + "1 1 1\n1\n", 2, "expected rows and columns"},
        BadText{"TwoForCoordinate", kCoordinate + "1 1\n1 1 1\n", 2,
                "expected rows, columns and number of entries"},
        BadText{"Word", kArray + "two 2\n", 2, "the number of rows is 'two'"},
        BadText{"Fraction", kArray + "2.0 2\n", 2, "the number of rows is '2.0'"},
        BadText{"NegativeRows", kArray + "-1 2\n", 2, "the number of rows is '-1'"},
        BadText{"NegativeEntries", kCoordinate + "1 1 -1\n", 2, "the number of entries is '-1'"},
        BadText{"NoElement", kArray + "0 0\n", 2, "the matrix is 0 x 0"},
        BadText{"NoColumn", kArray + "3 0\n", 2, "the matrix is 3 x 0"},
        BadText{"NoRow", kCoordinate + "0 3 0\n", 2, "the matrix is 0 x 3"},
        BadText{"NotSquare", kSymmetric + "2 3 0\n", 2, "cannot be 2 x 3"},
        BadText{"ProductOverflows", kArray + "9223372036854775807 9223372036854775807\n1\n", 2,
                "expected at most 2147483647 rows and columns"},
        BadText{"TooLargeForInt", kCoordinate + "2147483648 1 1\n1 1 1\n", 2,
                "expected at most 2147483647 rows and columns"},
        BadText{"LargerThanTheFile", kArray + "1000 1000\n1\n2\n", 2, "1000000 values do not fit"},
        BadText{"EntriesOverflow", kCoordinate + "1 1 9223372036854775807\n1 1 1\n", 2,
                "9223372036854775807 entries do not fit"}),
    name_of);

INSTANTIATE_TEST_SUITE_P(
    Values, BadMatrixMarket,
    ::testing::Values(
        BadText{"TooFew", kArray + "2 1\n1.25\n", 3, "the file ends after 1 of 2 values"},
        BadText{"TooMany", kArray + "1 1\n1\n% x\n2\n", 5,
                "more values than the size line says, 1"},
        BadText{"TwoOnALine", kArray + "2 1\n1 2\n", 3, "more than one field ('1 2')"},
        BadText{"Word", kArray + "1 1\nx\x7f\n", 3, "'x\\x7F' is not a number"},
        BadText{"DecimalComma", kArray + "1 1\n1,5\n", 3, "'1,5' is not a number"},
        BadText{"Hexadecimal", kArray + "1 1\n0x1p3\n", 3, "'0x1p3' is not a number"},
        BadText{"TwoSigns", kArray + "1 1\n+-1\n", 3, "'+-1' is not a number"},
        BadText{"Nan", kArray + "2 1\n1\nNaN\n", 4, "'NaN' is not finite"},
        BadText{"Infinity", kArray + "1 1\n-inf\n", 3, "'-inf' is not finite"},
        BadText{"Overflow", kArray + "1 1\n-1D310\n", 3, "'-1D310' is not finite"},
        BadText{"Fraction", "%%MatrixMarket matrix array integer general\n1 1\n1.5\n", 3,
                "'1.5' is not whole"},
        BadText{"SkewWithADiagonal",
                "%%MatrixMarket matrix array real skew-symmetric\n2 2\n0\n1\n0\n", 4,
                "more values than the size line says, 1"}),
    name_of);

INSTANTIATE_TEST_SUITE_P(
    Entries, BadMatrixMarket,
    ::testing::Values(
        BadText{"TooFew", kCoordinate + "2 2 2\n1 1 1.234567\n", 3,
                "the file ends after 1 of 2 entries"},
        BadText{"TooMany", kCoordinate + "2 2 1\n1 1 1\n2 2 2\n", 4,
                "more entries than the size line says, 1 ('2 2 2' follows)"},
        BadText{"NoValue", kCoordinate + "2 2 1\n1    1\n", 3, "expected row, column and value"},
        BadText{"ExtraField", kCoordinate + "2 2 1\n1 1 1 1\n", 3, "the entry is '1 1 1 1'"},
        BadText{"PatternWithValue",
                "%%MatrixMarket matrix coordinate pattern general\n2 2 1\n1 1 1\n", 3,
                "expected row and column"},
        BadText{"ZeroColumn", kCoordinate + "2 2 1\n1 0 1\n", 3, "the column index is '0'"},
        BadText{"RowTooLarge", kCoordinate + "2 2 1\n3 1 1\n", 3,
                "row index is '3'; expected a whole number from 1 to 2"},
        BadText{"NegativeIndex", kCoordinate + "2 2 1\n-1 1 1\n", 3, "the row index is '-1'"},
        BadText{"IndexOverflows", kCoordinate + "2 2 1\n18446744073709551617 1 1\n", 3,
                "the row index is '18446744073709551617'"},
        BadText{"FractionalIndex", kCoordinate + "2 2 1\n1.0 1 1\n", 3, "the row index is '1.0'"},
        BadText{"AboveTheDiagonal", kSymmetric + "2 2 2\n2 1 1\n1 2 1\n", 4,
                "the entry (1, 2) is above the diagonal"},
        BadText{"SkewAboveTheDiagonal", kSkew + "2 2 1\n1 2 1\n", 3,
                "the entry (1, 2) is above the diagonal"},
        BadText{"SkewDiagonal", kSkew + "2 2 1\n2 2 1\n", 3,
                "the diagonal entry (2, 2) is not zero"},
        BadText{"SumOverflows", kCoordinate + "2 2 2\n2 1 1e308\n2 1 1e308\n", 0,
                "element (2, 1), counted from 1, is inf"}),
    name_of);

// --- Matrix Market that stays sparse -----------------------------------------------------------

using SparseMarket = Formats;

TEST_F(SparseMarket, OnlyCoordinateFilesStaySparse) {
  const auto is_sparse = [](const std::string& path) {
    return std::holds_alternative<Sparse>(read_dense_or_sparse(path));
  };
  EXPECT_TRUE(is_sparse(directory.file("a.mtx", kCoordinate + "1 1 1\n1 1 1\n")));
  EXPECT_TRUE(is_sparse(directory.file("full.mtx", kCoordinate + "1 2 2\n1 1 1\n1 2 1\n")));
  EXPECT_FALSE(is_sparse(directory.file("b.mtx", kArray + "1 1\n1\n")));
  for (const char* name : {"c.npy", "c.csv"}) {
    write_matrix(Matrix(2, 2), directory.path(name));
    EXPECT_FALSE(is_sparse(directory.path(name))) << name;
  }
  EXPECT_TRUE(is_sparse(kData + "good/cage5.mtx"));
  EXPECT_TRUE(is_sparse(kData + "singular/karate.mtx"));
  EXPECT_FALSE(is_sparse(kData + "good/comments_full.mtx"));
}

struct Entries {
  const char* name;
  std::string text;
  std::vector<std::int64_t> row_begin;
  std::vector<std::int32_t> columns;
  std::vector<double> values;
};

void PrintTo(const Entries& entries, std::ostream* out) {
  *out << entries.name;
}

class SparseEntries : public ::testing::TestWithParam<Entries> {};

TEST_P(SparseEntries, AreThoseOfTheFile) {
  const TemporaryDirectory directory;
  const auto a = std::get<Sparse>(read_dense_or_sparse(directory.file("a.mtx", GetParam().text)));
  EXPECT_TRUE(std::ranges::equal(a.row_begin(), GetParam().row_begin));
  EXPECT_TRUE(std::ranges::equal(a.columns(), GetParam().columns));
  EXPECT_TRUE(std::ranges::equal(a.values(), GetParam().values));
}

INSTANTIATE_TEST_SUITE_P(
    Coordinate, SparseEntries,
    ::testing::Values(
        Entries{"OneByOne", kCoordinate + "1 1 1\n1 1 7\n", {0, 1}, {0}, {7}},
        Entries{"None", kCoordinate + "2 3 0\n", {0, 0, 0}, {}, {}},
        Entries{
            "EmptyRows", kCoordinate + "4 3 2\n4 3 2\n2 1 5\n", {0, 0, 1, 1, 2}, {0, 2}, {5, 2}},
        Entries{"Disorder",
                kCoordinate + "2 4 4\n2 4 1\n1 3 2\n2 1 3\n1 2 4\n",
                {0, 2, 4},
                {1, 2, 0, 3},
                {4, 2, 3, 1}},
        Entries{"Twice", kCoordinate + "1 2 3\n1 2 1.5\n1 1 2\n1 2 3\n", {0, 2}, {0, 1}, {2, 4.5}},
        Entries{"Zeros", kCoordinate + "2 2 2\n1 1 0\n2 1 3\n", {0, 1, 2}, {0, 0}, {0, 3}},
        Entries{"Symmetric",
                kSymmetric + "3 3 3\n2 2 6\n3 1 5\n3 2 7\n",
                {0, 1, 3, 5},
                {2, 1, 2, 0, 1},
                {5, 6, 7, 5, 7}},
        Entries{"Skew", kSkew + "2 2 2\n2 1 5\n1 1 0\n", {0, 2, 3}, {0, 1, 0}, {0, -5, 5}},
        Entries{"Pattern",
                "%%MatrixMarket matrix coordinate pattern symmetric\n2 2 2\n1 1\n2 1\n",
                {0, 2, 3},
                {0, 1, 0},
                {1, 1, 1}},
        Entries{"Hermitian",
                "%%MatrixMarket matrix coordinate integer hermitian\n2 2 1\n2 1 -4\n",
                {0, 1, 2},
                {1, 0},
                {-4, -4}}),
    [](const auto& entries) { return entries.param.name; });

// Its shape does not count, but for a dense matrix it does.
TEST_F(SparseMarket, ShapeIsNoLimit) {
  const std::string path = directory.file("a.mtx", kCoordinate + "2000000 2000000 1\n2 3 1\n");
  const auto a = std::get<Sparse>(read_dense_or_sparse(path));
  EXPECT_EQ(a.rows(), 2000000u);
  EXPECT_EQ(a.cols(), 2000000u);
  EXPECT_TRUE(std::ranges::equal(a.columns(), std::vector<std::int32_t>{2}));
  try {
    read_matrix(path);
    FAIL() << "it was read";
  } catch (const Unsupported& error) {
    EXPECT_EQ(std::string(error.what()).find(path + ":2: a dense 2000000 x 2000000 matrix needs"),
              0u);
    EXPECT_NE(std::string(error.what()).find("half of this machine's memory"), std::string::npos);
  }
}

TEST_F(SparseMarket, OnlyWantedShapesAreRead) {
  const std::string path = directory.file("a.mtx", kCoordinate + "2 3 1\n1 1 1\n");
  EXPECT_EQ(refusal_of_sparse(path, {.rows = 2}), "");
  EXPECT_EQ(refusal_of_sparse(path, {.square = true}),
            path + ":2: the matrix is 2 x 3; a system needs a square one");
  EXPECT_EQ(refusal_of_sparse(path, {.rows = 3}),
            path + ":2: the right-hand side is 2 x 3; expected 3 rows, as many as A has");
}

// --- NumPy -----------------------------------------------------------------------------------

// A .npy file of this version with this header (no padding) and these bytes of data.
std::string npy(int version, const std::string& header, const std::string& data) {
  std::string bytes = "\x93NUMPY";
  bytes += static_cast<char>(version);
  bytes += '\0';
  const std::size_t width = version == 1 ? 2 : 4;
  for (std::size_t k = 0; k < width; ++k) {
    bytes += static_cast<char>((header.size() + 1) >> (8 * k) & 0xFF);
  }
  return bytes + header + "\n" + data;
}

std::string dict(const std::string& descr, const std::string& order, const std::string& shape) {
  return "{'descr': '" + descr + "', 'fortran_order': " + order + ", 'shape': " + shape + ", }";
}

// The bytes of `value`, least significant first.
template <typename T>
std::string little(T value) {
  std::string bytes(sizeof value, '\0');
  std::copy_n(reinterpret_cast<const char*>(&value), sizeof value, bytes.begin());
  if (std::endian::native == std::endian::big) std::reverse(bytes.begin(), bytes.end());
  return bytes;
}

template <typename T>
std::string big(T value) {
  std::string bytes = little(value);
  std::reverse(bytes.begin(), bytes.end());
  return bytes;
}

using Npy = Formats;

TEST_F(Npy, ReadsEveryVersion) {
  // 1.5 and -2 in 4-byte floats, byte by byte.
  const std::string data("\x00\x00\xC0\x3F\x00\x00\x00\xC0", 8);
  const std::string header = dict("<f4", "False", "(2, 1)");
  expect_equal(read("a.npy", npy(1, header, data)), {{1.5}, {-2}});
  expect_equal(read("b.npy", npy(2, header, data)), {{1.5}, {-2}});
  expect_equal(read("c.npy", npy(3, header, data)), {{1.5}, {-2}});
}

TEST_F(Npy, ReadsWhatNumpySaveWrites) {
  // numpy.save of numpy.array([[1, 2], [3, 4]], dtype='<i2'): version 1.0, padded to 128 bytes.
  std::string bytes("\x93NUMPY\x01\x00\x76\x00", 10);
  bytes += "{'descr': '<i2', 'fortran_order': False, 'shape': (2, 2), }";
  bytes += std::string(127 - bytes.size(), ' ') + "\n";
  bytes += std::string("\x01\x00\x02\x00\x03\x00\x04\x00", 8);
  expect_equal(read("a.npy", bytes), {{1, 2}, {3, 4}});
}

TEST_F(Npy, ReadsCAndFortranOrder) {
  std::string data;
  for (const double value : {1.0, 2.0, 3.0, 4.0, 5.0, 6.0}) data += little(value);
  expect_equal(read("c.npy", npy(1, dict("<f8", "False", "(2, 3)"), data)), {{1, 2, 3}, {4, 5, 6}});
  expect_equal(read("f.npy", npy(1, dict("<f8", "True", "(2, 3)"), data)), {{1, 3, 5}, {2, 4, 6}});
}

TEST_F(Npy, VectorIsAColumn) {
  const std::string data = little(1.0) + little(2.0);
  expect_equal(read("a.npy", npy(1, dict("<f8", "False", "(2,)"), data)), {{1}, {2}});
}

TEST_F(Npy, ReadsEitherByteOrder) {
  expect_equal(read("a.npy", npy(1, dict(">f8", "False", "(1, 2)"), big(0.1) + big(-3e300))),
               {{0.1, -3e300}});
  expect_equal(
      read("b.npy", npy(1, dict(">i4", "False", "(1, 1)"), std::string("\x00\x00\x01\x02", 4))),
      {{258}});
  expect_equal(read("c.npy", npy(1, dict(">f2", "False", "(1, 1)"), std::string("\x3E\x00", 2))),
               {{1.5}});
  if (std::endian::native == std::endian::little) {
    expect_equal(read("d.npy", npy(1, dict("=f8", "False", "(1, 1)"), little(0.1))), {{0.1}});
    expect_equal(read("e.npy", npy(1, dict("f8", "False", "(1, 1)"), little(0.1))), {{0.1}});
  }
}

TEST_F(Npy, ReadsEveryIntegerType) {
  const std::string shape = "(1, 2)";
  const auto integers = [&](const std::string& descr, const std::string& data) {
    return read("a.npy", npy(1, dict(descr, "False", shape), data));
  };
  expect_equal(integers("|i1", "\x7F\x80"), {{127, -128}});
  expect_equal(integers("|u1", "\x7F\x80"), {{127, 128}});
  expect_equal(integers("<i2", little<std::int16_t>(-2) + little<std::int16_t>(3)), {{-2, 3}});
  expect_equal(integers("<u2", little<std::uint16_t>(65535) + little<std::uint16_t>(3)),
               {{65535, 3}});
  expect_equal(integers("<i4", little<std::int32_t>(INT32_MIN) + little<std::int32_t>(3)),
               {{-2147483648.0, 3}});
  expect_equal(integers("<u4", little<std::uint32_t>(UINT32_MAX) + little<std::uint32_t>(3)),
               {{4294967295.0, 3}});
  expect_equal(integers("<i8", little<std::int64_t>(-5) + little<std::int64_t>(1LL << 52)),
               {{-5, 0x1p52}});
  expect_equal(integers("<u8", little<std::uint64_t>(UINT64_MAX) + little<std::uint64_t>(3)),
               {{0x1p64, 3}});
}

TEST_F(Npy, RoundsLargeIntegersToTheNearestDouble) {
  const std::string data =
      little<std::int64_t>((1LL << 53) + 1) + little<std::int64_t>((1LL << 53) + 3);
  expect_equal(read("a.npy", npy(1, dict("<i8", "False", "(1, 2)"), data)), {{0x1p53, 0x1p53 + 4}});
}

TEST_F(Npy, ReadsBooleans) {
  expect_equal(read("a.npy", npy(1, dict("|b1", "False", "(1, 2)"), std::string("\0\1", 2))),
               {{0, 1}});
}

TEST_F(Npy, ReadsHalves) {
  // 1, -2, the smallest denormal 2^-24, the largest 65504, the smallest normal 2^-14, -0.
  std::string data;
  for (const int bits : {0x3C00, 0xC000, 0x0001, 0x7BFF, 0x0400, 0x8000}) {
    data += little(static_cast<std::uint16_t>(bits));
  }
  expect_equal(read("a.npy", npy(1, dict("<f2", "False", "(1, 6)"), data)),
               {{1, -2, 0x1p-24, 65504, 0x1p-14, -0.0}});
}

TEST_F(Npy, HeaderMayBeWrittenInOtherWays) {
  const std::string data = little(7.0);
  for (const char* header :
       {"{\"shape\":(1,1),\"fortran_order\":True,\"descr\":\"<f8\"}",
        "  { 'fortran_order' :False , 'descr' : '<f8','shape':( 1 ,1 ,), } \t  ",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (1L, 1L), }"}) {
    expect_equal(read("a.npy", npy(1, header, data)), {{7}});
  }
}

TEST_F(Npy, ElementsMustBeFinite) {
  const std::string data = little(1.0) + little(std::nan(""));
  expect_refused(directory.file("a.npy", npy(1, dict("<f8", "True", "(2, 1)"), data)), 0,
                 "element (2, 1), counted from 1, is nan");
  for (const int bits : {0x7C00, 0xFC00, 0x7E00}) {  // inf, -inf, nan
    expect_refused(directory.file("b.npy", npy(1, dict("<f2", "True", "(1, 1)"),
                                               little(static_cast<std::uint16_t>(bits)))),
                   0, "expected finite numbers");
  }
}

class BadNpy : public ::testing::TestWithParam<BadText> {};

TEST_P(BadNpy, IsRefusedWithTheReason) {
  const TemporaryDirectory directory;
  expect_refused(directory.file("a.npy", GetParam().text), 0, GetParam().reason);
}

const std::string kOne = little(1.0);

INSTANTIATE_TEST_SUITE_P(
    Types, BadNpy,
    ::testing::Values(
        BadText{"Complex", npy(1, dict("<c16", "False", "(1, 1)"), kOne + kOne), 0,
                "complex values ('<c16') are not supported"},
        BadText{"Object", npy(1, dict("|O", "False", "(1, 1)"), kOne), 0,
                "Python objects ('|O') are not supported"},
        BadText{"Text", npy(1, dict("<U4", "False", "(1, 1)"), kOne + kOne), 0, "type '<U4'"},
        BadText{"LongDouble", npy(1, dict("<f16", "False", "(1, 1)"), kOne + kOne), 0,
                "type '<f16'"},
        BadText{"Empty", npy(1, dict("", "False", "(1, 1)"), kOne), 0, "type ''"},
        BadText{"OnlyAnOrder", npy(1, dict("<", "False", "(1, 1)"), kOne), 0, "type '<'"},
        BadText{
            "Structured",
            npy(1, "{'descr': [('x', '<f8')], 'fortran_order': False, 'shape': (1, 1), }", kOne), 0,
            "structured arrays are not supported"}),
    name_of);

INSTANTIATE_TEST_SUITE_P(
    Shapes, BadNpy,
    ::testing::Values(
        BadText{"Scalar", npy(1, dict("<f8", "False", "()"), kOne), 0, "has 0 dimensions"},
        BadText{"ThreeDimensions", npy(1, dict("<f8", "False", "(1, 1, 1)"), kOne), 0,
                "has 3 dimensions"},
        BadText{"NoRow", npy(1, dict("<f8", "False", "(0, 3)"), ""), 0, "the matrix is 0 x 3"},
        BadText{"NoElement", npy(1, dict("<f8", "False", "(0,)"), ""), 0, "the matrix is 0 x 1"},
        BadText{"NoTuple", npy(1, dict("<f8", "False", "(1)"), kOne), 0, "expected a tuple"},
        BadText{"Negative", npy(1, dict("<f8", "False", "(-1, 1)"), kOne), 0,
                "expected a length that is a whole number"},
        BadText{"Overflow", npy(1, dict("<f8", "False", "(99999999999999999999, 1)"), kOne), 0,
                "expected a length that is a whole number"},
        BadText{"NoComma", npy(1, dict("<f8", "False", "(1 1)"), kOne), 0, "expected ',' or ')'"},
        BadText{"TooLargeForInt", npy(1, dict("<f8", "False", "(4611686018427387904, 4)"), kOne), 0,
                "expected at most 2147483647"},
        BadText{"TooLargeForMemory", npy(1, dict("<f8", "False", "(2000000, 2000000)"), kOne), 0,
                "half of this machine's memory"}),
    name_of);

INSTANTIATE_TEST_SUITE_P(
    Data, BadNpy,
    ::testing::Values(BadText{"Truncated", npy(1, dict("<f8", "False", "(2, 1)"), kOne + "1234567"),
                              0, "15 bytes of data; expected 16 for 2 x 1 of '<f8'"},
                      BadText{"Trailing", npy(1, dict("<f8", "False", "(1, 1)"), kOne + "x"), 0,
                              "9 bytes of data; expected 8"},
                      BadText{"None", npy(1, dict("<f8", "False", "(1, 1)"), ""), 0,
                              "0 bytes of data; expected 8"}),
    name_of);

INSTANTIATE_TEST_SUITE_P(
    Header, BadNpy,
    ::testing::Values(
        BadText{"Text", "[[1, 2], [3, 4]]\n", 0, "not an .npy file (begins with '[[1, 2')"},
        BadText{"Short", "\x93NUM", 0, "not an .npy file"},
        BadText{"OnlyMagic", "\x93NUMPY", 0, "the file ends in its header"},
        BadText{"NoLength", std::string("\x93NUMPY\x01\x00\x05", 9), 0,
                "the file ends in its header"},
        BadText{"CutShort", npy(1, dict("<f8", "False", "(1, 1)"), "").substr(0, 40), 0,
                "the file ends in its header"},
        BadText{"HugeLength", std::string("\x93NUMPY\x02\x00\xFF\xFF\xFF\xFF{}", 14), 0,
                "the file ends in its header"},
        BadText{"Version4", npy(4, dict("<f8", "False", "(1, 1)"), kOne), 0,
                ".npy version 4.0 is not known"},
        BadText{"Version0", npy(0, dict("<f8", "False", "(1, 1)"), kOne), 0,
                ".npy version 0.0 is not known"},
        BadText{"NoDict", npy(1, "hello", kOne), 0, "malformed at 'hello\\x0A'; expected '{'"},
        BadText{"Blank", npy(1, "", kOne), 0, "malformed at ''; expected '{'"},
        BadText{"NoShape", npy(1, "{'descr': '<f8', 'fortran_order': False}", kOne), 0,
                "expected all of the keys"},
        BadText{"UnknownKey", npy(1, "{'order': 'C'}", kOne), 0, "a key other than 'order'"},
        BadText{"KeyTwice", npy(1, "{'descr': '<f8', 'descr': '<f4'}", kOne), 0,
                "a key other than 'descr'"},
        BadText{"NoColon", npy(1, "{'descr' '<f8'}", kOne), 0, "expected ':'"},
        BadText{"NoComma", npy(1, "{'descr': '<f8' 'shape': (1,)}", kOne), 0,
                "expected ',' or '}'"},
        BadText{"NoQuote", npy(1, "{descr: 1}", kOne), 0, "expected a string"},
        BadText{"OpenString", npy(1, "{'descr", kOne), 0, "expected the end of the string"},
        BadText{"OpenDict", npy(1, "{'descr': '<f8',", kOne), 0, "expected a string"},
        BadText{"BadBool", npy(1, "{'fortran_order': 1}", kOne), 0, "expected True or False"},
        BadText{"TextAfterTheDict", npy(1, dict("<f8", "False", "(1, 1)") + " x", kOne), 0,
                "malformed at 'x\\x0A'; expected its end"}),
    name_of);

TEST_F(Npy, WritesVersionOneInFortranOrder) {
  Matrix a(2, 3);
  for (std::size_t k = 0; k < 6; ++k) a.values()[k] = static_cast<double>(k);
  write_matrix(a, directory.path("a.npy"));
  const std::string bytes = slurp(directory.path("a.npy"));
  ASSERT_EQ(bytes.size(), 128u + 48u);
  EXPECT_EQ(bytes.substr(0, 10), std::string("\x93NUMPY\x01\x00\x76\x00", 10));
  const std::string header =
      dict(std::endian::native == std::endian::little ? "<f8" : ">f8", "True", "(2, 3)");
  EXPECT_EQ(bytes.substr(10, header.size()), header);
  EXPECT_EQ(bytes.find_first_not_of(' ', 10 + header.size()), 127u);
  EXPECT_EQ(bytes[127], '\n');
}

// --- CSV -------------------------------------------------------------------------------------

using Csv = Formats;

TEST_F(Csv, ReadsEverySeparator) {
  const Table expected = {{1, 2.5}, {-3, 4e2}};
  expect_equal(read("a.csv", "1,2.5\n-3,4e2\n"), expected);
  expect_equal(read("b.csv", "1;2.5\n-3;4e2\n"), expected);
  expect_equal(read("c.csv", "1\t2.5\n-3\t4e2\n"), expected);
  expect_equal(read("d.csv", "1 2.5\n-3   4e2\n"), expected);
  expect_equal(read("e.csv", " 1 , 2.5 \n\t-3,\t4e2\n"), expected);
  expect_equal(read("f.csv", "  1 2.5\n -3 \t 4e2 \n"), expected);
  expect_equal(read("g.csv", " 1\t 2.5\n-3 \t4e2\n"), expected);
}

TEST_F(Csv, ReadsOneColumnAndOneRow) {
  expect_equal(read("a.csv", "1\n2\n"), {{1}, {2}});
  expect_equal(read("b.csv", "1,2"), {{1, 2}});
  expect_equal(read("c.csv", "5"), {{5}});
}

TEST_F(Csv, SkipsOneLineOfNames) {
  expect_equal(read("a.csv", "x,y\n1,2\n"), {{1, 2}});
  expect_equal(read("b.csv", "\"first, of two\";\"the \"\"second; one\"\"\"\n1;2\n"), {{1, 2}});
  expect_equal(read("c.csv", "# made by hand\n\nvalue\n1\n2\n"), {{1}, {2}});
  expect_equal(read("d.csv", "a b c\n1 2 3\n"), {{1, 2, 3}});
}

TEST_F(Csv, SkipsCommentsAndBlankLines) {
  expect_equal(read("a.csv", "# one\n\n1,2 # two\n  # three\n \t \n3,4\n\n"), {{1, 2}, {3, 4}});
}

TEST_F(Csv, ReadsQuotesCarriageReturnsAndAByteOrderMark) {
  expect_equal(read("a.csv", "\xEF\xBB\xBF\"1.5\",\" 2 \"\r\n3,\"-4\"\r\n"), {{1.5, 2}, {3, -4}});
  expect_equal(read("b.csv", "\"a#1\",\"b\" # names\n1,2\n"), {{1, 2}});
}

TEST_F(Csv, ReadsPlusSignsAndFortranExponents) {
  expect_equal(read("a.csv", "+1.5,1.25D+02\n"), {{1.5, 125}});
}

class BadCsv : public ::testing::TestWithParam<BadText> {};

TEST_P(BadCsv, IsRefusedWithTheReason) {
  const TemporaryDirectory directory;
  expect_refused(directory.file("a.csv", GetParam().text), GetParam().line, GetParam().reason);
}

INSTANTIATE_TEST_SUITE_P(
    Rows, BadCsv,
    ::testing::Values(
        BadText{"TooShort", "1,2\n\n3\n", 3, "the row is 1 long; expected 2 as in line 1"},
        BadText{"TooLong", "1,2\n3,4,5\n", 2, "the row is 3 long; expected 2 as in line 1"},
        BadText{"RowNamesWithoutAName", "a b\n1 0.5 0.25\n", 2, "the row is 3 long; expected 2"},
        BadText{"NoRow", "# nothing\n\n", 2, "no row of numbers"},
        BadText{"OnlyNames", "a,b,c\n", 1, "no row of numbers"}),
    name_of);

INSTANTIATE_TEST_SUITE_P(
    Fields, BadCsv,
    ::testing::Values(BadText{"Empty", "1,2\n3,\n", 2, "field 2 of the row is empty"},
                      BadText{"EmptyInTheMiddle", "1,,2\n", 1, "field 2 of the row is empty"},
                      BadText{"EmptyQuotes", "1,\"\"\n", 1, "field 2 of the row is empty"},
                      BadText{"EmptyAfterATab", "1\t\t2\n", 1, "field 2 of the row is empty"},
                      BadText{"EmptyName", ",x\n0,1\n", 1, "field 1 of the row is empty"},
                      BadText{"SecondLineOfNames", "x,y\na,b\n1,2\n", 2, "'a' is not a number"},
                      BadText{"NamesAndNumbers", "x,1\n1,2\n", 1, "'x' is not a number"},
                      BadText{"Word", "1,2\n3,x\n", 2, "'x' is not a number"},
                      BadText{"DecimalCommas", "1,5;2,5\n3;4\n", 1, "'1,5' is not a number"},
                      BadText{"MixedSeparators", "1,2\n3;4,5\n", 2, "'3;4' is not a number"},
                      BadText{"OpenQuote", "1,2\n\"3,4\n", 2, "the row is 1 long"},
                      BadText{"TextAfterAQuote", "1,2\n3,\"4\"5\n", 2, "'\"4\"5' is not a number"},
                      BadText{"Unit", "1.5mm,2.5mm\n1,2\n", 1, "'1.5mm' is not a number"},
                      BadText{"Nan", "nan,nan\n1,2\n", 1, "'nan' is not finite"},
                      BadText{"Overflow", "1,1e999\n", 1, "'1e999' is not finite"},
                      BadText{"Nul", std::string("1,2\n3,\0\n", 8), 2, "a NUL byte"},
                      BadText{"Unprintable", "1,2\n\x01,\x02\n", 2, "'\\x01' is not a number"}),
    name_of);

TEST_F(Csv, WritesCommasAndSeventeenDigits) {
  Matrix a(2, 2);
  a(0, 0) = 1.0;
  a(0, 1) = 0.1;
  a(1, 0) = -2.5;
  a(1, 1) = 1e300;
  write_matrix(a, directory.path("a.csv"));
  EXPECT_EQ(slurp(directory.path("a.csv")),
            "1,0.10000000000000001\n-2.5,1.0000000000000001e+300\n");
}

// --- Memory ----------------------------------------------------------------------------------

double sum_of(const Matrix& a) {
  return std::accumulate(a.values().begin(), a.values().end(), 0.0);
}

double sum_of(const Sparse& a) {
  return std::accumulate(a.values().begin(), a.values().end(), 0.0);
}

// Whether a matrix is read as a dense one or as it is in the file.
enum class Form { dense, stored };

// Reads `path` with this many bytes of address space left, says on stderr how it went and ends the
// process with the status that the program would have.
[[noreturn]] void read_within(std::size_t bytes, const std::string& path, WantedShape wanted,
                              Form form = Form::dense) {
  std::size_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  const rlim_t most = pages * static_cast<std::size_t>(sysconf(_SC_PAGESIZE)) + bytes;
  const rlimit limit{most, most};
  setrlimit(RLIMIT_AS, &limit);
  try {
    std::variant<Matrix, Sparse> matrix;
    if (form == Form::dense) {
      matrix = read_matrix(path, wanted);
    } else {
      matrix = read_dense_or_sparse(path, wanted);
    }
    std::visit(
        [](const auto& a) {
          std::fprintf(stderr, "%zu x %zu, sum %.17g\n", a.rows(), a.cols(), sum_of(a));
        },
        matrix);
    std::_Exit(0);
  } catch (const Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    std::_Exit(error.kind() == ErrorKind::failure ? 1 : 2);
  }
}

constexpr std::size_t kMegabyte = 1 << 20;
constexpr WantedShape kSquare = {.square = true};

class Memory : public Formats {
 protected:
  void SetUp() override {
    std::size_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    if (pages > std::size_t{1} << 30) GTEST_SKIP() << "a sanitizer has taken the address space";
    mallopt(M_MMAP_THRESHOLD, 1 << 17);  // freed memory is not address space that can be used again
  }
  // Expects that the file is refused for this reason (a regular expression) without much memory.
  void expect_refused_within(std::size_t bytes, const std::string& path, WantedShape wanted,
                             const std::string& reason, Form form = Form::dense) {
    EXPECT_EXIT(read_within(bytes, path, wanted, form), ::testing::ExitedWithCode(2), reason);
  }
  // A .npy file with this header and this many zero bytes, which take no room on the disk.
  std::string zeros(const std::string& shape, std::size_t bytes) {
    std::string path = directory.file("zeros.npy", npy(1, dict("<f8", "False", shape), ""));
    fs::resize_file(path, fs::file_size(path) + bytes);
    return path;
  }
};

using MemoryDeathTest = Memory;

TEST_F(MemoryDeathTest, MatrixMarketIsRefusedFromItsHeader) {
  const auto refused = [&](const std::string& text, WantedShape wanted, const char* reason) {
    expect_refused_within(8 * kMegabyte, directory.file("a.mtx", text), wanted, reason);
  };
  refused(kCoordinate + "10000 10000 1\n1 1 1\n", kSquare,
          "a.mtx:2: a 10000 x 10000 matrix with 1 entry has empty rows and is singular");
  refused(kSymmetric + "10000 10000 2\n1 1 1\n2 1 1\n", kSquare, "with 2 entries has empty rows");
  refused(kCoordinate + "30000 20000 1\n1 1 1\n", kSquare,
          "a.mtx:2: the matrix is 30000 x 20000; a system needs a square one");
  refused(kArray + "10000 10000\n1\n1\n", {}, "100000000 values do not fit");
  refused(kCoordinate + "30000 20000 1\n1 1 1\n", {.rows = 7},
          "the right-hand side is 30000 x 20000; expected 7 rows");
}

TEST_F(MemoryDeathTest, SparseMatrixMarketIsRefusedFromItsHeader) {
  const auto refused = [&](const std::string& text, WantedShape wanted, const char* reason) {
    expect_refused_within(8 * kMegabyte, directory.file("a.mtx", text), wanted, reason,
                          Form::stored);
  };
  const std::string three = "1 1 1\n2 1 1\n3 2 1\n";
  refused(kCoordinate + "2000000000 2000000000 3\n" + three, kSquare,
          "a.mtx:2: a 2000000000 x 2000000000 matrix with 3 entries has empty rows and is "
          "singular; expected at least one entry in each row");
  refused(kSymmetric + "10000 10000 3\n" + three, kSquare, "with 3 entries has empty rows and is");
  const char* const kEmpty = "with 3 entries has empty rows or columns";
  refused(kSymmetric + "2000000000 2000000000 3\n" + three, {}, kEmpty);
  refused(kCoordinate + "2000000000 2 3\n" + three, {}, kEmpty);
  refused(kCoordinate + "3 2000000000 3\n" + three, {.rows = 3}, kEmpty);
  refused(kCoordinate + "1000000 1000000 1000000000\n" + three, kSquare,
          "a.mtx:2: 1000000000 entries do not fit in the 18 bytes that follow");
}

// The second differences of a vector.
std::string tridiagonal(std::size_t order) {
  std::string text = kCoordinate + std::to_string(order) + " " + std::to_string(order) + " " +
                     std::to_string(3 * order - 2) + "\n";
  for (std::size_t j = 1; j <= order; ++j) {
    for (std::size_t i = std::max<std::size_t>(j, 2) - 1; i <= std::min(j + 1, order); ++i) {
      text += std::to_string(i) + " " + std::to_string(j) + (i == j ? " 2\n" : " -1\n");
    }
  }
  return text;
}

// 28 bytes an entry and 8 a row and column, where the dense matrix would take 320 GB.
TEST_F(MemoryDeathTest, EntriesAndABlockOfTheFileAreEnough) {
  constexpr std::size_t kOrder = 200000, kBytes = 28 * (3 * kOrder - 2) + 16 * kOrder;
  const std::string path = directory.file("a.mtx", tridiagonal(kOrder));
  EXPECT_EXIT(read_within(kBytes + 8 * kMegabyte, path, kSquare, Form::stored),
              ::testing::ExitedWithCode(0), "200000 x 200000, sum 2\n");
  expect_refused_within(kBytes - kMegabyte, path, kSquare,
                        "a.mtx:2: reading a sparse 200000 x 200000 matrix with 599998 entries "
                        "needs 0.020 GB; expected at most the memory available",
                        Form::stored);
}

TEST_F(MemoryDeathTest, NpyIsRefusedFromItsHeader) {
  const auto refused = [&](const char* shape, std::size_t bytes, WantedShape wanted,
                           const char* reason) {
    expect_refused_within(8 * kMegabyte, zeros(shape, bytes), wanted, reason);
  };
  constexpr std::size_t kBytes = 3'000'000'000;
  refused("(3, 125000000)", kBytes, kSquare,
          "the matrix is 3 x 125000000; a system needs a square");
  refused("(125000000, 3)", kBytes, {.rows = 3}, "right-hand side is 125000000 x 3; expected 3");
  refused("(10000, 10000)", kBytes, kSquare, "3000000000 bytes of data; expected 800000000");
  refused("(1000, 1000)", kBytes, {}, "3000000000 bytes of data; expected 8000000");
  // Less of a header than it claims, and more of one than any array has.
  const std::string path = directory.file("a.npy", std::string("\x93NUMPY\x02\0\0\0\0\x20{", 13));
  expect_refused_within(8 * kMegabyte, path, {}, "the file ends in its header");
  fs::resize_file(path, kBytes);
  expect_refused_within(8 * kMegabyte, path, {}, "the header has 536870912 bytes");
}

TEST_F(MemoryDeathTest, CsvIsRefusedWhileItIsRead) {
  const auto refused = [&](const std::string& text, WantedShape wanted, const char* reason) {
    expect_refused_within(8 * kMegabyte, directory.file("a.csv", text), wanted, reason);
  };
  std::string row = "0";
  while (row.size() < 20 * kMegabyte) row += ",0";
  refused(row, kSquare, "a.csv:1: the row has 4096 fields or more, and the file has no room for");
  refused(row + "\n0\n", {.rows = 3}, "a.csv:1: the row has 4194304 fields or more");
  refused("1,2\n" + row, {}, "a.csv:2: the row is 10485761 long; expected 2");
  std::string rows;
  while (rows.size() < 20 * kMegabyte) rows += "1,2\n";
  refused(rows, kSquare, "a.csv:3: the matrix is at least 3 x 2; a system needs a square one");
  refused(rows, {.rows = 9}, "a.csv:10: the right-hand side is at least 10 x 2; expected 9 rows");
  refused("1," + std::string(20 * kMegabyte, '1'), {}, "a.csv:1: a field is longer than 1048576");
}

// The machine's total memory does not help if it is not available.
TEST_F(MemoryDeathTest, MatricesLargerThanTheMemoryAvailableAreRefused) {
  std::string diagonal = kCoordinate + "30000 30000 30000\n";
  for (int i = 1; i <= 30000; ++i) {
    diagonal += std::to_string(i) + " " + std::to_string(i) + " 1\n";
  }
  constexpr const char* kReason = "needs 7.2 GB; expected at most (the memory available|half of)";
  expect_refused_within(64 * kMegabyte, directory.file("a.mtx", diagonal), kSquare, kReason);
  expect_refused_within(64 * kMegabyte, zeros("(30000, 30000)", 7'200'000'000), kSquare, kReason);
}

TEST(AvailableMemory, IsWhatTheSystemSays) {
  const TemporaryDirectory directory;
  const std::string path =
      directory.file("a", "MemTotal:  9000 kB\nMemFree: 1 kB\nMemAvailable:   2000 kB\n");
  EXPECT_EQ(available_memory(path), 2048000.0);
  EXPECT_EQ(available_memory(directory.file("b", "MemTotal: 9000 kB\n")), HUGE_VAL);
  EXPECT_EQ(available_memory(directory.path("none")), HUGE_VAL);
}

// Element (i, j) of the matrices below: whole, and all different up to 1000000 columns.
double element(std::size_t i, std::size_t j) {
  return static_cast<double>(1000000 * i + j);
}

// Its number in 100 characters, so that the text takes much more than the matrix.
std::string long_number(double value) {
  char text[128];
  std::snprintf(text, sizeof text, "%0100.9f", value);
  return text;
}

// The rows of an m x n matrix, the fields and rows joined by these.
std::string long_rows(std::size_t m, std::size_t n, const char* between) {
  std::string text;
  for (std::size_t i = 0; i < m; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      text += (j > 0 ? between : "") + long_number(element(i, j));
    }
    text += '\n';
  }
  return text;
}

void expect_elements(const std::string& path, std::size_t m, std::size_t n) {
  const Matrix a = read_matrix(path);
  ASSERT_EQ(a.rows(), m);
  ASSERT_EQ(a.cols(), n);
  std::size_t wrong = 0;
  for (std::size_t j = 0; j < n; ++j) {
    for (std::size_t i = 0; i < m; ++i) wrong += a(i, j) != element(i, j) ? 1 : 0;
  }
  EXPECT_EQ(wrong, 0u);
}

TEST_F(MemoryDeathTest, TheMatrixAndABlockOfTheFileAreEnough) {
  constexpr std::size_t kOrder = 500, kBytes = kOrder * kOrder * sizeof(double);
  const std::string values = long_rows(kOrder, kOrder, "\n");  // 25 MB; symmetry does not matter
  const std::string sum = "500 x 500, sum 62375062375000";
  const auto read = [&](const std::string& name, const std::string& text) {
    EXPECT_EXIT(read_within(kBytes + 8 * kMegabyte, directory.file(name, text), kSquare),
                ::testing::ExitedWithCode(0), sum)
        << name;
  };
  read("a.mtx", kArray + "500 500\n" + values);
  read("a.csv", long_rows(kOrder, kOrder, ","));
  read("b.csv", long_rows(kOrder, kOrder, " \t "));
}

TEST_F(MemoryDeathTest, ABlockOfANpyIsEnough) {
  for (const char* order : {"False", "True"}) {
    const std::string path =
        directory.file("a.npy", npy(1, dict("<f8", order, "(2000, 2000)"), ""));
    fs::resize_file(path, fs::file_size(path) + 32'000'000);
    EXPECT_EXIT(read_within(32'000'000 + 8 * kMegabyte, path, kSquare),
                ::testing::ExitedWithCode(0), "2000 x 2000, sum 0");
  }
}

// Rows shorter and longer than the block that is in memory.
TEST_F(Formats, BlocksOfTextJoinWithoutASeam) {
  using Shape = std::pair<std::size_t, std::size_t>;
  for (const auto& [m, n] : {Shape{120, 240}, Shape{2, 15000}, Shape{15000, 2}, Shape{1, 30000}}) {
    for (const char* between : {",", ";", "\t", " ", " \t  "}) {
      expect_elements(directory.file("a.csv", long_rows(m, n, between)), m, n);
    }
  }
}

// Every byte of the small files stands at the end of a block once.
TEST_F(Formats, ABlockMayEndAnywhere) {
  const std::string mtx = "2 2 2\r\n1 1 5.5\r\n% one\r\n2 1 -7\r\n";
  const std::string csv = "\"a\" , b\r\n1 ,\"2 \"\r\n \t\r\n3, 4 # one\r\n";
  const std::string blanks = "1   2\r\n  3 \t\"4\"\t\r\n";
  const std::string tabs = "1\t2\r\n 3\t\"4\" # two\r\n";
  for (std::size_t before = 0; before <= csv.size(); ++before) {
    const std::size_t length = Text::kBlock - before;
    const std::string comment = std::string(length - 1, '#') + "\n";
    expect_equal(read("a.csv", comment + csv), {{1, 2}, {3, 4}});
    expect_equal(read("b.csv", comment + blanks), {{1, 2}, {3, 4}});
    expect_equal(read("c.csv", comment + tabs), {{1, 2}, {3, 4}});
    const std::string percents = std::string(length - kCoordinate.size() - 1, '%') + "\n";
    expect_equal(read("a.mtx", kCoordinate + percents + mtx), {{5.5, 0}, {-7, 0}});
  }
}

TEST_F(Formats, CommentsAndBlanksOfACsvHaveNoLimit) {
  const std::string blanks(3 * kMegabyte, ' ');
  expect_equal(read("a.csv", "#" + blanks + "\n1 " + blanks + "2\n3 4 # " + blanks),
               {{1, 2}, {3, 4}});
}

TEST_F(Formats, LinesAndNULsBeyondTheFirstBlockAreTold) {
  expect_refused(directory.file("a.mtx", kArray + "1 1\n" + std::string(2 * kMegabyte, '1')), 3,
                 "the line is longer than 1048576 characters");
  std::string text = kArray + "1000000 1\n";
  while (text.size() < 3 * kMegabyte) text += "1.5e10\n";
  const std::size_t count = (text.size() - kArray.size() - 10) / 7;
  expect_refused(directory.file("b.mtx", text), count + 2,
                 "the file ends after 449383 of 1000000 values");
  EXPECT_EQ(count, 449383u);
  expect_refused(directory.file("c.mtx", text + '\0'), count + 3, "a NUL byte");
}

TEST_F(Npy, BlocksJoinWithoutASeam) {
  using Shape = std::pair<std::size_t, std::size_t>;
  for (const auto& [m, n] : {Shape{1100, 1001}, Shape{2, 600000}, Shape{600000, 2}}) {
    std::string rows, columns;
    for (std::size_t k = 0; k < m * n; ++k) {
      rows += little(element(k / n, k % n));
      columns += little(element(k % m, k / m));
    }
    const std::string shape = "(" + std::to_string(m) + ", " + std::to_string(n) + ")";
    expect_elements(directory.file("a.npy", npy(1, dict("<f8", "False", shape), rows)), m, n);
    expect_elements(directory.file("b.npy", npy(1, dict("<f8", "True", shape), columns)), m, n);
  }
}

// --- Contents of another kind ------------------------------------------------------------------

TEST_F(Formats, CompressedFilesAreTold) {
  const std::string gzip("\x1F\x8B\x08\x00\x00", 5);
  for (const char* extension : {".mtx", ".npy", ".csv", ".gz"}) {
    const auto refused = [&](const std::string& bytes, const char* reason) {
      expect_refused(directory.file(std::string("a") + extension, bytes), 0, reason);
    };
    refused(gzip,
            "the file is compressed by gzip; name it .mtx.gz if it is that, or decompress it");
    refused("BZh91AY&SY", "the file is compressed by bzip2; decompress it first: bunzip2");
    refused(std::string("\xFD\x37zXZ\0", 6), "the file is compressed by xz");
    refused("\x28\xB5\x2F\xFD\x04", "the file is compressed by zstd");
    refused("PK\x03\x04\x14", "those of a .npz file; rename it to end in .npz");
  }
  expect_refused(directory.file("a.mtx.bz2", "BZh91AY&SY"), 0, "unknown extension '.bz2'");
}

TEST_F(Formats, ContentsOfAnotherFormatAreTold) {
  const std::string mtx = "\xEF\xBB\xBF%%MATRIXMARKET matrix array real general\n1 1\n1\n";
  const std::string array = npy(1, dict("<f8", "False", "(1, 1)"), kOne);
  const std::string csv = "1.5;+2\r\n3;4\r\n";
  const std::string long_csv = long_rows(1, 300, ",");
  const auto refused = [&](const char* name, const std::string& bytes, const char* reason) {
    expect_refused(directory.file(name, bytes), 0, reason);
  };
  for (const char* name : {"a.npy", "a.csv", "a.txt", "a.dat"}) {
    refused(name, mtx, "those of a .mtx file; rename it to end in .mtx");
  }
  for (const char* name : {"a.mtx", "a.csv", "a.txt", "a.dat"}) refused(name, array, "end in .npy");
  for (const char* name : {"a.mtx", "a.npy", "a.dat"}) {
    refused(name, csv, "end in .csv");
    refused(name, "1,2", "end in .csv");
    refused(name, long_csv, "end in .csv");
  }
  // Not clear enough to tell.
  expect_refused(directory.file("a.mtx", "1\n2\n"), 1, "no Matrix Market banner ('1')");
  expect_refused(directory.file("a.mtx", "1,5x\n"), 1, "no Matrix Market banner ('1,5x')");
  expect_refused(directory.file("a.mtx", ",\n"), 1, "no Matrix Market banner (',')");
}

// --- Wanted shapes -----------------------------------------------------------------------------

TEST_F(Formats, OnlyWantedShapesAreRead) {
  const auto refusal = [&](const std::string& name, WantedShape wanted) -> std::string {
    try {
      read_matrix(directory.path(name), wanted);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  for (const char* name : {"a.mtx", "a.npy", "a.csv"}) {
    write_matrix(Matrix(3, 3), directory.path(name));
    EXPECT_EQ(refusal(name, kSquare), "");
    EXPECT_EQ(refusal(name, {.rows = 3}), "");
    EXPECT_NE(refusal(name, {.rows = 2}).find("3; expected 2 rows, as many as A has"),
              std::string::npos);
    EXPECT_NE(refusal(name, {.rows = 4}).find("the right-hand side is 3 x 3; expected 4 rows"),
              std::string::npos);
    write_matrix(Matrix(2, 3), directory.path(name));
    EXPECT_EQ(refusal(name, {.rows = 2}), "");
    EXPECT_NE(refusal(name, kSquare).find("the matrix is 2 x 3; a system needs a square one"),
              std::string::npos);
    write_matrix(Matrix(3, 2), directory.path(name));
    EXPECT_NE(refusal(name, kSquare).find("3 x 2; a system needs a square one"), std::string::npos);
  }
}

// The factorization tells whether a small matrix is singular.
TEST_F(MatrixMarket, SmallSystemsMayHaveEmptyRows) {
  const std::string path = directory.file("a.mtx", kCoordinate + "1000 1000 1\n1 1 1\n");
  EXPECT_EQ(read_matrix(path, kSquare).rows(), 1000u);
}

// --- All formats -----------------------------------------------------------------------------

// Values that lose bits where digits are lost: limits, zeros of either sign, random bit patterns.
Matrix hard_values() {
  std::vector<double> values = {0.0,
                                -0.0,
                                0.1,
                                1.0 / 3.0,
                                1e23,
                                5e-324,
                                -2.2250738585072009e-308,
                                std::numeric_limits<double>::min(),
                                std::numeric_limits<double>::max(),
                                std::numeric_limits<double>::lowest(),
                                std::nextafter(1.0, 2.0),
                                9007199254740993.0};
  std::mt19937_64 random(20051112);
  while (values.size() < 37 * 53) {
    const auto value = std::bit_cast<double>(random());
    if (std::isfinite(value)) values.push_back(value);
  }
  Matrix a(37, 53);
  a.values() = values;
  return a;
}

class RoundTrip : public ::testing::TestWithParam<const char*> {};

TEST_P(RoundTrip, IsExact) {
  const TemporaryDirectory directory;
  const std::string path = directory.path(std::string("a") + GetParam());
  const Matrix a = hard_values();
  write_matrix(a, path);
  const Matrix b = read_matrix(path);
  ASSERT_EQ(b.rows(), a.rows());
  ASSERT_EQ(b.cols(), a.cols());
  for (std::size_t k = 0; k < a.values().size(); ++k) {
    EXPECT_EQ(std::bit_cast<std::uint64_t>(b.values()[k]),
              std::bit_cast<std::uint64_t>(a.values()[k]));
  }
  EXPECT_EQ(directory.file_count(), 1u);
}

TEST_P(RoundTrip, KeepsRowsAndColumnsApart) {
  const TemporaryDirectory directory;
  const std::string path = directory.path(std::string("a") + GetParam());
  Matrix column(3, 1);
  column.values() = {1, 2, 3};
  write_matrix(column, path);
  expect_equal(read_matrix(path), {{1}, {2}, {3}});
  Matrix row(1, 3);
  row.values() = {1, 2, 3};
  write_matrix(row, path);
  expect_equal(read_matrix(path), {{1, 2, 3}});
}

// A file that cannot be read is refused in every format before its contents are looked at.
TEST_P(RoundTrip, UnreadableFilesAreRefused) {
  const TemporaryDirectory directory;
  const std::string extension = GetParam();
  expect_refused(directory.path("none" + extension), 0, "cannot be read (No such file");
  fs::create_directory(directory.path("directory" + extension));
  expect_refused(directory.path("directory" + extension), 0, "this is a directory");
  expect_refused(directory.file("empty" + extension, ""), 0, "the file is empty");
  fs::create_symlink("/dev/zero", directory.path("zero" + extension));
  expect_refused(directory.path("zero" + extension), 0, "not a regular file");
  ASSERT_EQ(mkfifo(directory.path("pipe" + extension).c_str(), 0600), 0);
  expect_refused(directory.path("pipe" + extension), 0, "not a regular file");
}

TEST_P(RoundTrip, ExtensionIsOfAnyCase) {
  const TemporaryDirectory directory;
  std::string extension = GetParam();
  extension[1] = static_cast<char>(extension[1] - 'a' + 'A');
  write_matrix(Matrix(2, 2), directory.path("a.b" + extension));
  expect_equal(read_matrix(directory.path("a.b" + extension)), {{0, 0}, {0, 0}});
}

INSTANTIATE_TEST_SUITE_P(AllFormats, RoundTrip,
                         ::testing::Values(".mtx", ".npy", ".csv", ".tsv", ".txt"),
                         [](const auto& format) { return std::string(format.param + 1); });

TEST_F(Formats, ExtensionsAreListed) {
  EXPECT_EQ(writable_extensions(), ".mtx, .npy, .csv, .tsv, .txt");
  EXPECT_EQ(readable_extensions(), ".mtx, .mtx.gz, .npy, .npz, .csv, .tsv, .txt, .mat, .hb, .rb");
}

TEST_F(Formats, UnknownExtensionsAreRefused) {
  for (const char* name : {"a.dat", "a", "a.npy.gz", ".mtx", "a.mtx/b", "a.csv:b", "mtx"}) {
    const std::string path = directory.path(name);
    expect_refused(path, 0, "unknown extension");
    expect_refused(path, 0, "expected one of .mtx, .mtx.gz, .npy");
    EXPECT_THROW(check_format(path), InputError) << name;
    EXPECT_THROW(write_matrix(Matrix(1, 1), path), InputError) << name;
  }
  for (const char* name : {"a.mtx.gz", "a.npz", "a.mat", "a.rsa"}) {
    EXPECT_THROW(check_format(directory.path(name)), InputError) << name;  // only read
  }
  EXPECT_NO_THROW(check_format("no/such/file.NPY"));
  EXPECT_EQ(directory.file_count(), 0u);
}

// Expects an Error with status failure that names the path and the reason. Returns where the matrix
// is instead, empty if it is nowhere.
std::string expect_unwritable(const std::string& path, const std::string& reason) {
  try {
    write_matrix(Matrix(100, 100), path);
    ADD_FAILURE() << path << " was written";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::failure);
    EXPECT_EQ(std::string(error.what()).find(path + ": cannot be written ("), 0u) << error.what();
    EXPECT_NE(std::string(error.what()).find(reason), std::string::npos) << error.what();
    if (const auto* kept = dynamic_cast<const KeptElsewhere*>(&error)) return kept->place();
  }
  return "";
}

TEST_F(Formats, UnwritableTargetsAreAnErrorAndTheMatrixIsKept) {
  fs::create_directory(directory.path("directory.npy"));
  for (const auto& [name, reason] : {std::pair("none/a.mtx", "No such file or directory"),
                                     std::pair("directory.npy", "it is a directory")}) {
    EXPECT_THROW(check_writable(directory.path(name)), Error);
    const fs::path place = expect_unwritable(directory.path(name), reason);
    ASSERT_EQ(place.filename(), fs::path(name).filename());
    EXPECT_EQ(read_matrix(place.string()).rows(), 100u);
    fs::remove_all(place.parent_path());
  }
}

TEST_F(Formats, APipeIsWrittenInto) {
  const std::string pipe = directory.path("pipe.csv");
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  check_writable(pipe);  // does not wait for a reader
  const int reader = open(pipe.c_str(), O_RDONLY | O_NONBLOCK);
  write_matrix(Matrix(1, 1), pipe);
  char text[8] = "";
  EXPECT_EQ(::read(reader, text, sizeof text), 2);
  EXPECT_EQ(std::string(text), "0\n");
  close(reader);
  EXPECT_TRUE(fs::is_fifo(pipe));
  EXPECT_EQ(directory.file_count(), 1u);
}

// Keeps files from growing beyond some bytes while it lives, as a full disk would.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) {
    handler_ = std::signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit{bytes, before_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;
  ~FileSizeLimit() {
    setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }

 private:
  rlimit before_ = {};
  void (*handler_)(int) = SIG_DFL;
};

TEST_F(Formats, FailedWriteLeavesTheOldFileAndNothingElse) {
  for (const char* name : {"a.mtx", "a.npy", "a.csv"}) {
    const std::string path = directory.file(name, "old");
    {
      const FileSizeLimit limit(1000);
      EXPECT_EQ(expect_unwritable(path, "File too large"), "");
    }
    EXPECT_EQ(slurp(path), "old");
    fs::remove(path);
    EXPECT_EQ(directory.file_count(), 0u);
  }
}

TEST_F(Formats, WritingReplacesTheFileBehindALink) {
  const std::string target = directory.file("target.csv", "old");
  fs::create_symlink(target, directory.path("link.csv"));
  write_matrix(Matrix(1, 1), directory.path("link.csv"));
  EXPECT_TRUE(fs::is_symlink(directory.path("link.csv")));
  EXPECT_EQ(slurp(target), "0\n");
}

TEST_F(Formats, WrittenFilesHaveTheUsersDefaultPermissions) {
  const mode_t before = umask(027);
  write_matrix(Matrix(1, 1), directory.path("a.csv"));
  umask(before);
  struct stat status = {};
  ASSERT_EQ(stat(directory.path("a.csv").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0640u);
}

}  // namespace
}  // namespace lugpu
