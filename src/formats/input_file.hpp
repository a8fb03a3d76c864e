// A matrix file and what its readers share: blocks of its bytes, errors that name the place, lines,
// numbers that must be finite, and the limits that a matrix must keep before it is allocated.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "formats/stream.hpp"

namespace lugpu {

/// What may stand at the very beginning of a text in UTF-8.
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

/// Which shapes the caller can use; another one is refused as soon as the file tells its shape.
struct WantedShape {
  bool square = false;   ///< as many columns as rows: the matrix of a system
  std::size_t rows = 0;  ///< this many rows: its right-hand side; 0: any number
};

/// The path that stands for standard input.
constexpr std::string_view kStandardInput = "-";

/// Where a matrix comes from, as messages name it, and which one is wanted.
class Origin {
 public:
  /// `member`: which one of several matrices in the file; empty if none is named.
  explicit Origin(std::string path, WantedShape wanted = {}, std::string member = {});

  /// Of the file, without the member.
  const std::string& path() const { return path_; }
  const WantedShape& wanted() const { return wanted_; }
  const std::string& member() const { return member_; }

  /// "PATH:LINE: ", or "PATH: " for line 0 (what has no lines). The path is followed by the member,
  /// and is "standard input" for "-".
  std::string place(std::size_t line) const;
  /// The error "PATH:LINE: SENTENCE".
  InputError error(std::size_t line, const std::string& sentence) const;

 private:
  std::string path_;
  WantedShape wanted_;
  std::string member_;
};

/// Bytes with an end, which can be read in any order: those of a regular file, of standard input,
/// or of a stream.
class InputFile : public Origin {
 public:
  /// Opens a regular file, or standard input, of which it makes a temporary copy. Throws InputError
  /// if it cannot be opened, is empty, is not a regular file (a directory has no bytes, a pipe or a
  /// device may have no end), or if standard input goes beyond largest_input().
  explicit InputFile(const Origin& origin);
  explicit InputFile(const std::string& path, WantedShape wanted = {})
      : InputFile(Origin(path, wanted)) {}
  /// What the stream gives, which is read to its end once, for its size and its checksums. Reading
  /// is fast where offsets ascend. Throws what the stream throws, and InputError if it is empty or
  /// goes beyond largest_input().
  InputFile(const Origin& origin, std::unique_ptr<Stream> stream);

  /// In bytes, when the file was opened; what is appended later is not read.
  std::size_t size() const { return size_; }

  /// Fills `to` with the bytes from `offset` on, up to the end of the file; returns how many these
  /// are. Throws InputError if they cannot be read or the file has become shorter.
  std::size_t read(std::size_t offset, std::span<char> to) const;

  /// Of the open file, for libraries that read it themselves; -1 for a stream.
  int descriptor() const { return file_.fd; }

 private:
  // Closes the descriptor in the end.
  struct Descriptor {
    explicit Descriptor(int descriptor) : fd(descriptor) {}
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    ~Descriptor();
    const int fd;
  };
  // A stream and how many of its bytes have been taken.
  struct Position {
    explicit Position(std::unique_ptr<Stream> of) : stream(std::move(of)) {}
    std::unique_ptr<Stream> stream;
    std::size_t offset = 0;
    std::size_t read(std::size_t from, std::span<char> to);
  };

  const Descriptor file_;
  const std::unique_ptr<Position> position_;  // null for a file
  const std::size_t size_;
};

/// How many bytes are read from standard input or a compressed file, which tell no size that can be
/// trusted: twice this machine's memory, more than the text of any matrix that it can hold.
std::size_t largest_input();

/// Bytes of a file as a message shows them: in quotes, what does not print as \xHH, cut when long.
std::string shown(std::string_view bytes);

/// Checks the shape that a file claims, before anything is allocated for it.
/// Throws InputError if there is no element or if the caller wants another shape; Unsupported if a
/// dimension does not fit LAPACK's int.
void check_dimensions(const Origin& origin, std::size_t line, std::size_t rows, std::size_t cols);

/// The same for a dense matrix; also throws Unsupported if it takes more than half of this
/// machine's memory, since solving needs a copy. Once it has passed, rows * cols * 8 does not
/// overflow.
void check_shape(const Origin& origin, std::size_t line, std::size_t rows, std::size_t cols);

/// The same for a file of which only the first `rows` rows are known: refuses one that has too many
/// already.
void check_first_rows(const Origin& origin, std::size_t line, std::size_t rows, std::size_t cols);

/// Throws Unsupported if the dense matrix takes more memory than is available at the moment. Call
/// it last, since any other fault of the file is more useful to report.
void check_available(const Origin& origin, std::size_t line, std::size_t rows, std::size_t cols);

/// Throws Unsupported if reading a sparse matrix takes more than half of this machine's memory or
/// more than is available at the moment: 28 bytes for each entry, as a Triplet and in Sparse, and 8
/// for each row and column.
void check_sparse(const Origin& origin, std::size_t line, std::size_t rows, std::size_t cols,
                  std::size_t entries);

/// Refuses what its entries do not bear out, before memory is taken for it: a system of more than
/// 2^25 elements, or any sparse matrix of more than 2^25 rows or columns, that has fewer entries
/// than these. `entries`: how many the file stores; `mirrored`: each may stand for two.
void check_entries(const Origin& origin, std::size_t line, std::size_t rows, std::size_t cols,
                   std::size_t entries, bool mirrored, bool stays_sparse);

/// The number in `token`. Throws InputError if it is not one (see parse_number) or is not finite.
double finite_number(const Origin& origin, std::size_t line, std::string_view token);

/// The text of a file, of which one block at a time is in memory. A byte order mark is skipped.
class Text {
 public:
  static constexpr std::size_t kBlock = std::size_t{1} << 20;

  /// Reads the first block; throws as more() does.
  explicit Text(const InputFile& file);

  /// What is in memory and has not been dropped; more() and drop() make it invalid.
  std::string_view ahead() const { return {buffer_.data() + begin_, end_ - begin_}; }
  /// How many bytes have not been dropped, in memory or not.
  std::size_t bytes_left() const { return end_ - begin_ + file_.size() - offset_; }
  /// Drops the first `count` bytes of ahead().
  void drop(std::size_t count) { begin_ += count; }
  /// Reads on after ahead(). False if nothing was added, at the end of the file or because a whole
  /// block is ahead already. Throws InputError if the file holds a NUL byte, as no text does (but
  /// UTF-16 and binary data do), and what InputFile::read throws.
  bool more();
  /// Whether the end of the file has been read.
  bool at_end() const { return offset_ == file_.size(); }

 private:
  const InputFile& file_;
  std::vector<char> buffer_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  std::size_t offset_ = 0;     // in the file, of the byte after end_
  std::size_t line_ends_ = 0;  // before it
};

/// The lines of a text, one after the other. A line ends with LF or CR LF; the last one may lack
/// it.
class Lines {
 public:
  explicit Lines(const InputFile& file) : file_(file), text_(file) {}

  /// Goes to the next line; false if there is none. Throws InputError for a line longer than a
  /// block, and what Text::more throws.
  bool next();
  /// The line, without its end; valid until the next one.
  std::string_view line() const { return line_; }
  /// Its number, from 1; after the last line that one's number.
  std::size_t number() const { return number_; }
  /// How many bytes follow the line.
  std::size_t bytes_left() const { return text_.bytes_left() - length_; }

 private:
  const InputFile& file_;
  Text text_;
  std::string_view line_;
  std::size_t length_ = 0;  // with its end
  std::size_t number_ = 0;
};

}  // namespace lugpu
