// Harwell-Boeing files (.hb, .rua, .rsa, .pua, ...) and their successor, Rutherford-Boeing (.rb).
// Sources of the formats: I. S. Duff, R. G. Grimes, J. G. Lewis, "Users' Guide for the
// Harwell-Boeing Sparse Matrix Collection (Release I)", RAL-92-086, 1992; "The Rutherford-Boeing
// Sparse Matrix Collection", RAL-TR-97-031, 1997.
#pragma once

#include "formats/input_file.hpp"
#include "matrix/sparse.hpp"

namespace lugpu {

/// The matrix in a Harwell-Boeing or Rutherford-Boeing file: assembled; real, integer or pattern,
/// where every entry is 1; unsymmetric, rectangular, symmetric, hermitian (which for real values is
/// symmetric) or skew-symmetric. Entries given twice are added. Numbers are read as Fortran reads
/// them in the formats that the file names, such as (16I5) or (1P,4E20.12): fields of fixed width
/// unless blanks part them all, with decimal places and a scale factor where the number has no
/// point or exponent of its own. Right-hand sides that follow the matrix are ignored. Throws
/// InputError with file and line for anything else, above all: complex values, elemental matrices,
/// pointers that do not ascend, indices out of range, an entry above the diagonal of a symmetric
/// matrix, a value that is not finite, and counts that the file has no room for or that its entries
/// do not bear out (check_entries). Refused too if its entries take too much memory (check_sparse).
Sparse read_harwell_boeing(const InputFile& file);

}  // namespace lugpu
