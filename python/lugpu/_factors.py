"""Factors that stay on the device: SciPy's lu_factor and lu_solve, the inverse, determinants."""

from __future__ import annotations

import math
import warnings
import weakref
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt
from numpy.linalg import LinAlgError

from lugpu import _core
from lugpu._arrays import Array, real_type, require_finite, square, straight
from lugpu._batch import BatchFactors, is_batch, require_batch_of_squares
from lugpu._devices import Device, device_text
from lugpu._errors import AccuracyWarning, LinAlgWarning
from lugpu._solve import require_choice

Factors = _core.FactorsSingle | _core.FactorsDouble
Kept = Factors | BatchFactors


class _Known(NamedTuple):
    """A pair (lu, piv) of lu_factor, and its factors on the device."""

    lu: weakref.ref[Array]
    piv: weakref.ref[Array]
    factors: Kept


_known: dict[int, _Known] = {}  # by id(lu), until lu is gone


def _remember(lu: Array, piv: Array, factors: Kept) -> None:
    """Read-only, the arrays are what is on the device as long as they live."""
    lu.flags.writeable = piv.flags.writeable = False
    known, key = _known, id(lu)  # the module may be gone before lu is

    def forget(_: object) -> None:
        known.pop(key, None)

    known[key] = _Known(weakref.ref(lu, forget), weakref.ref(piv), factors)


def _recall(lu: Array, piv: Array) -> Kept | None:
    """The factors of a pair that lu_factor gave and nobody can have changed."""
    known = _known.get(id(lu))
    if known is None or known.lu() is not lu or known.piv() is not piv:
        return None
    return None if lu.flags.writeable or piv.flags.writeable else known.factors


def _factors_of(matrix: Array, pivot_or_piv: Any, dtype: np.dtype[Any], device: str) -> Factors:
    """Factors A, or uploads the factors of a pair."""
    kind = _core.FactorsSingle if dtype == np.float32 else _core.FactorsDouble
    return kind(straight(matrix, dtype), pivot_or_piv, device)


def _require_regular(factors: Factors) -> None:
    if factors.info() > 0:
        raise LinAlgError(f"A is singular: pivot {factors.info()} is exactly zero.")


def lu_factor(
    a: npt.ArrayLike,
    overwrite_a: bool = False,
    check_finite: bool = True,
    *,
    pivot: Literal["none", "partial"] = "partial",
    device: int | str | Device | None = None,
) -> tuple[Array, npt.NDArray[np.int32]]:
    """(lu, piv) of P A = L U, as scipy.linalg.lu_factor; the factors stay on the device for lu_solve
    as long as lu lives.

    lu: U, and below its diagonal L; piv: row k was interchanged with row piv[k], 0-based. Both are
    read-only; copies of them can be changed, and lu_solve uploads those.
    a: n x n, or (..., n, n), a batch of matrices with n at most 512; lu and piv have its leading
    dimensions then.
    overwrite_a: for SciPy's sake; a is never changed.
    Warns (LinAlgWarning) of an exact zero on U's diagonal.

    >>> import lugpu, numpy as np
    >>> a = np.array([[2.0, 5, 8, 7], [5, 2, 2, 8], [7, 5, 6, 6], [5, 4, 4, 8]])
    >>> lu, piv = lugpu.lu_factor(a)
    >>> print(piv)
    [2 2 3 3]
    >>> x = lugpu.lu_solve((lu, piv), [1.0, 1, 1, 1])
    >>> np.allclose(a @ x, 1)
    True
    """
    require_choice("pivot", pivot, ("none", "partial"))
    matrix = np.asarray(a)
    if is_batch(matrix):
        return _batch_lu_factor(matrix, check_finite, pivot, device_text(device))
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise ValueError("expected square matrix")
    dtype = real_type(matrix)
    if check_finite:
        require_finite(matrix)
    factors = _factors_of(matrix, pivot, dtype, device_text(device))
    if factors.info() > 0:
        warnings.warn(
            f"Diagonal number {factors.info()} is exactly zero. Singular matrix.",
            LinAlgWarning,
            stacklevel=2,
        )
    lu, piv = factors.lu(), factors.piv()
    _remember(lu, piv, factors)
    return lu, piv


def _batch_lu_factor(
    matrices: Array, check_finite: bool, pivot: str, device: str
) -> tuple[Array, npt.NDArray[np.int32]]:
    require_batch_of_squares(matrices.shape)
    if check_finite:
        require_finite(matrices)
    factors = BatchFactors(matrices, real_type(matrices), pivot, device)
    if factors.info.any():
        warnings.warn(
            f"{np.count_nonzero(factors.info)} of {factors.info.size} matrices are singular.",
            LinAlgWarning,
            stacklevel=3,
        )
    lu, piv = factors.lu(matrices.shape), factors.piv(matrices.shape[:-1])
    _remember(lu, piv, factors)
    return lu, piv


def lu_solve(
    lu_and_piv: tuple[npt.ArrayLike, npt.ArrayLike],
    b: npt.ArrayLike,
    trans: Literal[0, 1, 2] = 0,
    overwrite_b: bool = False,
    check_finite: bool = True,
) -> Array:
    """X of A X = B from (lu, piv) of lu_factor, as scipy.linalg.lu_solve. Any other pair, SciPy's too,
    is uploaded to the default device first.

    Of a batch, lu and piv must be what lu_factor gave; b: of shape (n,) or (..., n, k), which
    broadcasts to its leading dimensions; X is NaN where A is singular.
    trans: 0 for A X = B; 1 and 2 for A^T X = B, but not of a batch.
    overwrite_b: for SciPy's sake; b is never changed.
    Raises LinAlgError if U has an exact zero on its diagonal.

    >>> import lugpu
    >>> lugpu.lu_solve(lugpu.lu_factor([[2.0, 1.0], [0.0, 4.0]]), [4.0, 4.0], trans=1)
    array([2. , 0.5])
    """
    if trans not in (0, 1, 2):
        raise ValueError(f"trans must be 0, 1 or 2, not {trans!r}")
    lu, piv = (np.asarray(part) for part in lu_and_piv)
    rhs = np.asarray(b)
    if is_batch(lu):
        return _batch_lu_solve(lu, piv, rhs, trans, check_finite)
    if lu.ndim != 2 or lu.shape[0] != lu.shape[1] or piv.shape != lu.shape[:1]:
        raise ValueError(f"lu of shape {lu.shape} and piv of shape {piv.shape} are not factors")
    if rhs.ndim not in (1, 2) or lu.shape[0] != rhs.shape[0]:
        raise ValueError(f"Shapes of lu {lu.shape} and b {rhs.shape} are incompatible")
    dtype = real_type(lu, rhs)
    if check_finite:
        require_finite(rhs)
    factors = _recall(lu, piv) if dtype == real_type(lu) else None
    if factors is None or isinstance(factors, BatchFactors):
        rows = piv.astype(np.int32, casting="same_kind")
        factors = _factors_of(lu, rows, dtype, device_text(None))
    _require_regular(factors)
    x = np.array(rhs, dtype, order="F", copy=True)
    factors.solve(x, trans != 0)
    return x


def _batch_lu_solve(lu: Array, piv: Array, rhs: Array, trans: int, check_finite: bool) -> Array:
    factors = _recall(lu, piv)
    if not isinstance(factors, BatchFactors):
        raise ValueError("lu and piv of a batch must be the arrays that lu_factor gave")
    if trans != 0:
        raise ValueError("trans must be 0 for a batch")
    rows = rhs.shape[0] if rhs.ndim == 1 else rhs.shape[-2] if rhs.ndim > 1 else -1
    if rows != lu.shape[-1]:
        raise ValueError(f"Shapes of lu {lu.shape} and b {rhs.shape} are incompatible")
    if check_finite:
        require_finite(rhs)
    real_type(rhs)
    return factors.solve(rhs, real_type(lu))


def inv(a: npt.ArrayLike, device: int | str | Device | None = None) -> Array:
    """The inverse of A, as numpy.linalg.inv.

    Raises LinAlgError if A is singular (a pivot is exactly zero). Warns (AccuracyWarning) if A is
    singular to working precision.

    >>> import lugpu
    >>> lugpu.inv([[2.0, 0.0], [1.0, 4.0]])
    array([[ 0.5  ,  0.   ],
           [-0.125,  0.25 ]])
    """
    factors, dtype = _factor(a, device)
    _require_regular(factors)
    inverse = factors.inverse()
    rcond = factors.rcond()
    if rcond is None or not rcond >= np.finfo(dtype).eps / 2:
        known = "" if rcond is None else f" (rcond {rcond:.2g})"
        warnings.warn(
            f"The matrix is singular to working precision{known}: its inverse may be inaccurate.",
            AccuracyWarning,
            stacklevel=2,
        )
    return inverse


class SlogdetResult(NamedTuple):
    """sign * exp(logabsdet) is the determinant."""

    sign: float
    logabsdet: float


def slogdet(a: npt.ArrayLike, device: int | str | Device | None = None) -> SlogdetResult:
    """The sign of det(A) and log |det(A)|, as numpy.linalg.slogdet; (0, -inf) if A is singular.

    >>> import lugpu
    >>> lugpu.slogdet([[0.0, 1.0], [1.0, 0.0]])
    SlogdetResult(sign=-1.0, logabsdet=0.0)
    """
    mantissa, exponent = _factor(a, device)[0].determinant()
    if mantissa == 0:
        return SlogdetResult(0.0, -math.inf)
    return SlogdetResult(
        math.copysign(1.0, mantissa), math.log(abs(mantissa)) + exponent * math.log(2)
    )


def det(a: npt.ArrayLike, device: int | str | Device | None = None) -> float:
    """det(A), as numpy.linalg.det: infinite where that overflows, 0 where it underflows.

    >>> import lugpu
    >>> lugpu.det([[1.0, 2.0], [3.0, 4.0]])
    -2.0
    """
    mantissa, exponent = _factor(a, device)[0].determinant()
    try:
        return math.ldexp(mantissa, exponent)
    except OverflowError:
        return math.copysign(math.inf, mantissa)


def _factor(a: npt.ArrayLike, device: int | str | Device | None) -> tuple[Factors, np.dtype[Any]]:
    """P A = L U of a square matrix on the device, and the type of its elements."""
    matrix = square(a)
    dtype = real_type(matrix)
    return _factors_of(matrix, "partial", dtype, device_text(device)), dtype
