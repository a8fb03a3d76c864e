"""Many small systems at once: arrays with leading dimensions, as NumPy's linalg has them."""

from __future__ import annotations

import dataclasses
import warnings
from typing import Any

import numpy as np
import numpy.typing as npt
from numpy.linalg import LinAlgError

from lugpu import _core
from lugpu._arrays import Array
from lugpu._errors import AccuracyWarning

_SOLVE_RATIO_LIMIT = 30


@dataclasses.dataclass(frozen=True)
class BatchReport:
    """How a batch was solved and how good X is; arrays have the leading dimensions of X.

    status: of each member "ok", "unchecked" (with check=False), "failed" or "singular".
    info: k > 0: the member's k-th pivot is exactly zero, and its X is NaN.
    solve_ratio: ||B - A X||_1 / (||A||_1 ||X||_1 eps), LAPACK's dget02; passes under 30; None with
    check=False.
    phases_s: seconds of upload, factor, solve and check.
    """

    pivot: str
    status: npt.NDArray[np.str_] = dataclasses.field(compare=False)
    info: npt.NDArray[np.int32] = dataclasses.field(compare=False)
    solve_ratio: npt.NDArray[np.float64] | None = dataclasses.field(compare=False)
    phases_s: dict[str, float]


def is_batch(*arrays: Array) -> bool:
    return any(array.ndim > 2 for array in arrays)


def require_batch_of_squares(shape: tuple[int, ...]) -> None:
    """LinAlgError as NumPy's."""
    if len(shape) < 2:
        raise LinAlgError(
            f"{len(shape)}-dimensional array given. Array must be at least two-dimensional"
        )
    if shape[-2] != shape[-1]:
        raise LinAlgError("Last 2 dimensions of the array must be square")


def stacked(array: Array, lead: tuple[int, ...], dtype: np.dtype[Any]) -> Array:
    """The matrices of an array, repeated for the leading dimensions: count x rows x columns."""
    count = int(np.prod(lead, dtype=np.intp))
    wide = np.broadcast_to(np.asarray(array, dtype), lead + array.shape[-2:])
    return np.ascontiguousarray(wide.reshape((count, *array.shape[-2:])))


def _member(where: Array, lead: tuple[int, ...]) -> str:
    """The first member for which a condition is true, e.g. "member (1, 2)"."""
    place = np.unravel_index(int(np.argmax(where)), lead)
    return f"member {tuple(int(i) for i in place)}"


def solve_batch(
    matrices: Array,
    sides: Array,
    device: str,
    *,
    pivot: str,
    dtype: np.dtype[Any],
    check: bool,
    full_output: bool,
) -> Array | tuple[Array, BatchReport]:
    """X of every member; sides of one dimension are a vector for each, as in NumPy 2."""
    require_batch_of_squares(matrices.shape)
    vector = sides.ndim == 1
    right = sides[:, np.newaxis] if vector else sides
    if right.ndim < 2 or right.shape[-2] != matrices.shape[-1]:
        raise ValueError(f"a of shape {matrices.shape} and b of shape {sides.shape} do not fit together")
    lead = np.broadcast_shapes(matrices.shape[:-2], right.shape[:-2])
    x, info, ratio, status, phases = _core.solve_batch(
        stacked(matrices, lead, dtype), stacked(right, lead, dtype), device, pivot, check
    )
    kinds = np.array(status, dtype=np.str_).reshape(lead)
    singular, failed = kinds == "singular", kinds == "failed"
    if singular.any() and not full_output:
        raise LinAlgError(
            f"{singular.sum()} of {singular.size} matrices are singular; the first is "
            f"{_member(singular, lead)}. The others are solved with full_output=True."
        )
    if failed.any():
        warnings.warn(
            f"{failed.sum()} of {failed.size} systems fail the check of their residual, "
            f"solve_ratio under {_SOLVE_RATIO_LIMIT}; the first is {_member(failed, lead)}.",
            AccuracyWarning,
            stacklevel=3,
        )
    answer = x.reshape(lead + right.shape[-2:])
    if vector:
        answer = answer[..., 0]
    if not full_output:
        return answer
    ratios = ratio.reshape(lead) if check else None
    return answer, BatchReport(pivot, kinds, info.reshape(lead), ratios, phases)


class BatchFactors:
    """P A = L U of every member on the device."""

    def __init__(self, matrices: Array, dtype: np.dtype[Any], pivot: str, device: str) -> None:
        kind = _core.BatchFactorsSingle if dtype == np.float32 else _core.BatchFactorsDouble
        self.lead = matrices.shape[:-2]
        self._factors = kind(stacked(matrices, self.lead, dtype), pivot, device)
        self.info = self._factors.info()

    def lu(self, shape: tuple[int, ...]) -> Array:
        return self._factors.lu().reshape(shape)

    def piv(self, shape: tuple[int, ...]) -> npt.NDArray[np.int32]:
        return self._factors.piv().reshape(shape)

    def solve(self, sides: Array, dtype: np.dtype[Any]) -> Array:
        """X for B of leading dimensions that broadcast to those of the factors."""
        vector = sides.ndim == 1
        right = sides[:, np.newaxis] if vector else sides
        x = np.array(stacked(right, self.lead, dtype), copy=True)
        self._factors.solve(x)
        answer = x.reshape(self.lead + right.shape[-2:])
        return answer[..., 0] if vector else answer
