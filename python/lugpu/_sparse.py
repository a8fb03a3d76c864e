"""SciPy's sparse matrices and arrays as the library takes them, without importing SciPy."""

from __future__ import annotations

import sys
from typing import Any, NamedTuple, Protocol, TypeGuard

import numpy as np
import numpy.typing as npt

from lugpu._arrays import Array, real_type, require_square


class SparseMatrix(Protocol):
    """One of SciPy's, of any format."""

    @property
    def shape(self) -> tuple[int, ...]: ...
    @property
    def dtype(self) -> np.dtype[Any]: ...
    def tocsr(self) -> Any: ...


class Rows(NamedTuple):
    """Compressed sparse rows: row i has the entries row_begin[i] up to row_begin[i + 1]."""

    row_begin: npt.NDArray[np.int64]
    columns: npt.NDArray[np.int32]
    values: npt.NDArray[np.float64]


def is_sparse(value: object) -> TypeGuard[SparseMatrix]:
    """Whether this is one of SciPy's: it cannot be where nobody has imported them."""
    module = sys.modules.get("scipy.sparse")
    return module is not None and bool(module.issparse(value))


def compressed(matrix: SparseMatrix) -> Rows:
    """The rows of a square sparse matrix: its own indices and values where they are int32 and float64
    already. Columns in disorder and duplicates stay as they are; the library knows them.

    LinAlgError, as NumPy's, if it is not square; TypeError if it is not real.
    """
    require_square(matrix.shape)
    real_type(matrix)
    most = np.iinfo(np.int32).max
    if matrix.shape[0] > most:
        raise ValueError(f"a of shape {matrix.shape} has more than {most} rows")
    rows = matrix.tocsr()
    if rows.indices.dtype != np.int32 and np.any((rows.indices < 0) | (rows.indices > most)):
        raise ValueError(f"a has indices that are not from 0 to {matrix.shape[0] - 1}")
    return Rows(
        _plain(rows.indptr, np.int64), _plain(rows.indices, np.int32), _plain(rows.data, np.float64)
    )


def _plain(array: Array, dtype: npt.DTypeLike) -> Array:
    """The array itself if it is aligned, contiguous and of this type, else a copy that is."""
    return np.require(array, dtype, ["C", "A"])
