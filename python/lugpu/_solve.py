"""A X = B in one call."""

from __future__ import annotations

import dataclasses
import warnings
from typing import Any, Literal, overload

import numpy as np
import numpy.typing as npt
from numpy.linalg import LinAlgError

from lugpu import _core
from lugpu._arrays import Array, real_type, square, straight
from lugpu._batch import BatchReport, is_batch, solve_batch
from lugpu._devices import Device, device_text
from lugpu._errors import AccuracyWarning, argument, sentence
from lugpu._sparse import SparseMatrix, compressed, is_sparse

Pivot = str  #: one of _core.pivot_names(): "none", "partial", "scaled", "rook", "full" ...
Precision = Literal["single", "double", "mixed"]

_PIVOTS = tuple(_core.pivot_names())
_PRECISIONS = (None, "single", "double", "mixed")


@dataclasses.dataclass(frozen=True)
class Checks:
    """What an X was checked against; None where a value does not apply.

    factor_ratio: ||P A Q - L U||_1 / (n ||A||_1 eps), LAPACK's dget01; passes under 30.
    solve_ratio: ||B - A X||_1 / (||A||_1 ||X||_1 eps), LAPACK's dget02; passes under 30.
    hpl_residual: HPL's scaled residual; passes under 16.
    growth: max |U| / max |A|.
    rcond: an estimate of 1 / (||A||_1 ||inv(A)||_1); rcond_at_most: what is known where it is None.
    residual: ||b - A x||_2 / ||b||_2, the largest over right-hand sides; of sparse A only.
    berr, ferr: backward errors and bounds on forward errors, one for each right-hand side.
    info: LAPACK's; k > 0: the k-th pivot is exactly zero.
    digits: decimal digits of the largest element of every column of X that are certainly correct.
    """

    factor_ratio: float | None
    solve_ratio: float | None
    hpl_residual: float | None
    growth: float | None
    rcond: float | None
    rcond_at_most: float | None
    residual: float | None
    berr: list[float]
    ferr: list[float]
    info: int
    digits: int | None


@dataclasses.dataclass(frozen=True)
class Refinement:
    """How a refinement went: corrections of X, and whether they reached their aim.
    fallback: why A was factored in double precision after all, or empty. factors: those that X is
    from, "single", "double", "half-products" (single, with products from operands in half
    precision) or "local-pivots" (single, each pivot the largest of the next 128 rows alone).
    given_up: what mixed precision tried before those, pairs of factors and reason."""

    steps: int
    converged: bool
    fallback: str
    factors: str
    given_up: list[tuple[str, str]]


@dataclasses.dataclass(frozen=True)
class Equilibration:
    """How A was scaled: the factors of its rows and columns, empty where there are none; smallest
    over largest of the factors that would make all maxima 1; max |a_ij|."""

    r: list[float]
    c: list[float]
    rowcnd: float
    colcnd: float
    amax: float


@dataclasses.dataclass(frozen=True)
class Report:
    """How a system was solved and how good X is.

    method, pivot, precision: what ran; precision is that of the factors.
    why: of sparse A, why "auto" chose the method, a clause; None if the user chose, and of dense A.
    status: "ok", "unchecked" (with check=False) or "failed"; reason: why it failed.
    warnings: sentences that were given as AccuracyWarning too.
    iterations: how many an iterative method made; of several right-hand sides, the most that one took.
    residuals: ||b - A x||_2 / ||b||_2 as the method saw them on its way; empty for direct methods.
    phases_s: seconds of upload, factor, solve and download; of sparse A also of setup.
    """

    method: str
    why: str | None
    pivot: Pivot
    precision: Literal["single", "double"]
    status: Literal["ok", "unchecked", "failed", "singular"]
    reason: str | None
    warnings: list[str]
    checks: Checks
    refinement: Refinement | None
    equilibration: Equilibration | None
    iterations: int
    residuals: npt.NDArray[np.float64] = dataclasses.field(compare=False)
    phases_s: dict[str, float]


def _sentence(warning: tuple[str, tuple[str, str] | None]) -> str:
    return sentence(warning[0], argument(warning[1]))


def _report(facts: dict[str, Any]) -> Report:
    """The report from the values of the extension."""
    reason, refinement, scaling = facts["reason"], facts["refinement"], facts["equilibration"]
    return Report(
        **facts
        | {
            "why": facts["why"] or None,
            "reason": _sentence(reason) if reason else None,
            "warnings": [_sentence(warning) for warning in facts["warnings"]],
            "checks": Checks(**facts["checks"]),
            "refinement": Refinement(**refinement) if refinement else None,
            "equilibration": Equilibration(**scaling) if scaling else None,
        }
    )


def require_choice(name: str, value: str | None, choices: tuple[str | None, ...]) -> None:
    """ValueError for a value that an argument does not take."""
    if value not in choices:
        raise ValueError(f"{name} must be one of {', '.join(map(repr, choices))}, not {value!r}")


@overload
def solve(
    a: npt.ArrayLike | SparseMatrix,
    b: npt.ArrayLike,
    pivot: Pivot = ...,
    precision: Precision | None = ...,
    method: str = ...,
    refine: bool = ...,
    equilibrate: bool = ...,
    device: int | str | Device | None = ...,
    check: bool = ...,
    full_output: Literal[False] = ...,
    tolerance: float = ...,
    iterations: int = ...,
) -> Array: ...
@overload
def solve(
    a: npt.ArrayLike | SparseMatrix,
    b: npt.ArrayLike,
    pivot: Pivot = ...,
    precision: Precision | None = ...,
    method: str = ...,
    refine: bool = ...,
    equilibrate: bool = ...,
    device: int | str | Device | None = ...,
    check: bool = ...,
    *,
    full_output: Literal[True],
    tolerance: float = ...,
    iterations: int = ...,
) -> tuple[Array, Any]: ...
def solve(
    a: npt.ArrayLike | SparseMatrix,
    b: npt.ArrayLike,
    pivot: Pivot = "partial",
    precision: Precision | None = None,
    method: str = "auto",
    refine: bool = False,
    equilibrate: bool = False,
    device: int | str | Device | None = None,
    check: bool = True,
    full_output: bool = False,
    tolerance: float = 1e-10,
    iterations: int = 100_000,
    x0: npt.ArrayLike | None = None,
) -> Array | tuple[Array, Report] | tuple[Array, BatchReport]:
    """X of A X = B, as numpy.linalg.solve.

    a: n x n, an array or a sparse matrix or array of SciPy; b: of shape (n,) or (n, k), and so is X.
    Arrays with leading dimensions are batches, which broadcast: a of shape (..., n, n), n at most
    512, and b of shape (n,) or (..., n, k). Their pivot is "none", "partial" or "full", their method
    "auto", and with full_output there is a BatchReport, which names singular members.
    float32 stays float32; everything else real is float64, and so is float32 with precision
    "double" or "mixed". With a sparse A, X is float64.
    pivot: "none", "partial", "scaled", "rook" or "full".
    precision: of the factors, "single" or "double"; default: that of the arrays, or single where
    the device has no double precision. "mixed": factors in single, X as accurate as with double.
    method: "auto" (the fastest), "lu-blocked", "lu" or "gauss-jordan"; of a sparse A also "banded",
    "cg", "gauss-seidel" or "jacobi", which do not make it dense. With "auto" Report.why tells the
    choice.
    refine: improve X in the precision of its factors, as LAPACK's gerfs.
    equilibrate: scale the rows and columns of A where that helps.
    device: an index of lugpu.devices(), part of a device's name, or a Device; "0,1" or "all" for several
    that share a dense system; default: the environment variable LUGPU_DEVICE, or the first GPU, or the
    first device.
    check: compute residuals, condition and error bounds; without them nothing is known about X.
    full_output: return (X, Report), or of a batch (X, BatchReport).
    tolerance: what ||b - A x||_2 / ||b||_2 "cg", "gauss-seidel" and "jacobi" must reach; iterations:
    within how many steps; x0: where they start, of the shape of b; default: zeros.

    Raises numpy.linalg.LinAlgError for shapes and if A is singular (a pivot is exactly zero),
    ValueError if b does not fit, TypeError for complex numbers, lugpu.Error for errors of OpenCL.
    An X that fails a check or misses the tolerance comes with an AccuracyWarning.

    >>> import lugpu
    >>> x = lugpu.solve([[3.0, 1.0], [1.0, 2.0]], [9.0, 8.0])
    >>> print(x.round(12))
    [2. 3.]
    >>> x, report = lugpu.solve([[3, 1], [1, 2]], [9, 8], pivot="full", full_output=True)
    >>> report.status, report.method, report.precision, report.checks.solve_ratio < 30
    ('ok', 'lu', 'double', True)
    >>> lugpu.solve([[1, 2], [2, 4]], [1, 1])
    Traceback (most recent call last):
    ...
    numpy.linalg.LinAlgError: A is singular: pivot 2 is exactly zero.
    """
    require_choice("pivot", pivot, _PIVOTS)
    require_choice("precision", precision, _PRECISIONS)
    options = _core.Options(
        method=method,
        pivot=pivot,
        precision=precision,
        refine=bool(refine),
        equilibrate=bool(equilibrate),
        check=bool(check),
        tolerance=tolerance,
        iterations=iterations,
    )
    rhs = _right_hand_side(b)
    if is_sparse(a):
        x, facts = _solve_sparse(a, rhs, x0, device_text(device), options)
    elif x0 is not None:
        raise ValueError("x0 is for sparse matrices")
    elif is_batch(matrix := np.asarray(a), rhs):
        if method != "auto" or precision == "mixed" or refine or equilibrate:
            raise ValueError("a batch is solved by method 'auto', neither refined nor equilibrated")
        dtype = real_type(matrix, rhs)
        if precision is not None:
            dtype = np.dtype(np.float64 if precision == "double" else np.float32)
        return solve_batch(
            matrix,
            rhs,
            device_text(device),
            pivot=pivot,
            dtype=dtype,
            check=bool(check),
            full_output=full_output,
        )
    else:
        x, facts = _solve_dense(a, rhs, precision, device_text(device), options)
    report = _report(facts)
    if x is None:
        raise LinAlgError(report.reason)
    for text in ([report.reason] if report.reason else []) + report.warnings:
        warnings.warn(text, AccuracyWarning, stacklevel=2)
    return (x, report) if full_output else x


def _right_hand_side(b: npt.ArrayLike) -> Array:
    if is_sparse(b):
        raise TypeError("b is sparse; it must be an array, as b.toarray() is")
    return np.asarray(b)


def _require_fit(shape: tuple[int, ...], rhs: Array) -> None:
    if rhs.ndim not in (1, 2) or rhs.shape[0] != shape[0]:
        raise ValueError(f"a of shape {shape} and b of shape {rhs.shape} do not fit together")


_Answer = tuple[Array | None, dict[str, Any]]


def _solve_dense(
    a: Any, rhs: Array, precision: Precision | None, device: str, options: _core.Options
) -> _Answer:
    matrix = square(a)
    _require_fit(matrix.shape, rhs)
    dtype = real_type(matrix, rhs)
    if precision in ("double", "mixed"):
        dtype = np.dtype(np.float64)
    return _core.solve(straight(matrix, dtype), straight(rhs, dtype), device, options)


def _solve_sparse(
    a: Any, rhs: Array, x0: npt.ArrayLike | None, device: str, options: _core.Options
) -> _Answer:
    rows = compressed(a)
    _require_fit(a.shape, rhs)
    start = None if x0 is None else np.asarray(x0)
    if start is not None and start.shape != rhs.shape:
        raise ValueError(f"x0 of shape {start.shape} and b of shape {rhs.shape} do not fit together")
    real_type(*[array for array in (rhs, start) if array is not None])
    double = np.dtype(np.float64)
    first = None if start is None else straight(start, double)
    return _core.solve_sparse(*rows, straight(rhs, double), first, device, options)
