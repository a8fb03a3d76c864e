"""Arrays as the library takes them: float32 or float64, rows or columns one after another."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
from numpy.linalg import LinAlgError

from lugpu import _core

Array = npt.NDArray[Any]


class _Typed(Protocol):
    @property
    def dtype(self) -> np.dtype[Any]: ...


def real_type(*arrays: _Typed) -> np.dtype[Any]:
    """float32 if all of them are; float64 for other reals and integers, as NumPy's linalg has it.

    >>> real_type(np.zeros(2, np.float32), np.zeros(2, np.int8))
    dtype('float64')
    """
    for array in arrays:
        if array.dtype.kind == "c":
            raise TypeError(f"arrays of {array.dtype} are not supported: lugpu solves real systems")
        if array.dtype.kind not in "biu" and array.dtype.newbyteorder("=") not in (
            np.dtype(np.float32),
            np.dtype(np.float64),
        ):
            raise TypeError(f"arrays of {array.dtype} are not supported: use float32 or float64")
    single = all(array.dtype.newbyteorder("=") == np.float32 for array in arrays)
    return np.dtype(np.float32 if single else np.float64)


def straight(array: Array, dtype: np.dtype[Any]) -> Array:
    """The array itself if it can go in as it is, else a copy by columns."""
    array = np.asarray(array, dtype)
    return array if _core.is_view(array) else np.array(array, order="F", copy=True)


def square(value: npt.ArrayLike) -> Array:
    """The array, n x n; else LinAlgError as NumPy's."""
    array = np.asarray(value)
    require_square(array.shape)
    return array


def require_square(shape: tuple[int, ...]) -> None:
    """LinAlgError as NumPy's unless this is the shape of a square matrix."""
    if len(shape) != 2:
        raise LinAlgError(f"{len(shape)}-dimensional array given. Array must be two-dimensional")
    if shape[0] != shape[1]:
        raise LinAlgError("Array must be square")


def require_finite(array: Array) -> None:
    """ValueError as SciPy's for NaNs and infinities."""
    if array.dtype.kind != "f":
        return
    with np.errstate(all="ignore"):
        sum_is_finite = np.isfinite(np.sum(array))
    # A sum may overflow.
    if not sum_is_finite and not np.isfinite(array).all():
        raise ValueError("array must not contain infs or NaNs")
