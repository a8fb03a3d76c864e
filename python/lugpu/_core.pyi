from typing import Any

import numpy as np
import numpy.typing as npt

def devices() -> list[dict[str, Any]]: ...
def is_view(array: npt.NDArray[Any]) -> bool: ...

class Options:
    def __init__(
        self,
        *,
        method: str,
        pivot: str,
        precision: str | None,
        refine: bool,
        equilibrate: bool,
        check: bool,
        tolerance: float,
        iterations: int,
    ) -> None: ...

def solve(
    a: npt.NDArray[Any], b: npt.NDArray[Any], device: str, options: Options
) -> tuple[npt.NDArray[Any] | None, dict[str, Any]]: ...
def solve_sparse(
    row_begin: npt.NDArray[np.int64],
    columns: npt.NDArray[np.int32],
    values: npt.NDArray[np.float64],
    b: npt.NDArray[Any],
    start: npt.NDArray[Any] | None,
    device: str,
    options: Options,
) -> tuple[npt.NDArray[Any] | None, dict[str, Any]]: ...

class _Factors:
    def info(self) -> int: ...
    def piv(self) -> npt.NDArray[np.int32]: ...
    def lu(self) -> npt.NDArray[Any]: ...
    def solve(self, b: npt.NDArray[Any], transpose: bool) -> None: ...
    def inverse(self) -> npt.NDArray[Any]: ...
    def determinant(self) -> tuple[float, int]: ...
    def rcond(self) -> float | None: ...

class FactorsSingle(_Factors):
    def __init__(
        self, a: npt.NDArray[Any], pivot_or_piv: str | npt.NDArray[np.int32], device: str
    ) -> None: ...

class FactorsDouble(_Factors):
    def __init__(
        self, a: npt.NDArray[Any], pivot_or_piv: str | npt.NDArray[np.int32], device: str
    ) -> None: ...

def pivot_names() -> list[str]: ...
