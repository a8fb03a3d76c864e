"""Uses the module as a typed program does: for mypy --strict."""

from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse  # type: ignore[import-untyped]

import lugpu


def main() -> None:
    a: npt.NDArray[np.float64] = np.eye(3)
    x: npt.NDArray[np.float64] = lugpu.solve(a, [1.0, 2.0, 3.0], pivot="full", device=0)
    y, report = lugpu.solve(a, x, precision="mixed", full_output=True)
    solve_ratio: float | None = report.checks.solve_ratio
    x, report = lugpu.solve(scipy.sparse.eye(3), x, method="cg", tolerance=1e-6, iterations=10, full_output=True)
    residuals: npt.NDArray[np.float64] = report.residuals
    why: str | None = report.why
    lu, piv = lugpu.lu_factor(a)
    rows: npt.NDArray[np.int32] = piv
    z = lugpu.lu_solve((lu, rows), y, trans=1)
    inverse: npt.NDArray[np.float64] = lugpu.inv(a)
    sign, logabsdet = lugpu.slogdet(a)
    determinant: float = lugpu.det(a) + sign + logabsdet
    names: list[str] = [device.name for device in lugpu.devices()]
    advice: dict[str, Any] = lugpu.advise(a, digits=3)
    records: list[dict[str, Any]] = lugpu.bench([16, 32], method=["lu"], baseline="none", min_time=0)
    smoke = lugpu.Simulation("fluid", grid=(16, 16), scene=lugpu.simulation_scenes()["fluid"][0], iterations=3)
    smoke.step()
    field: npt.NDArray[np.float64] = smoke.field()
    picture: npt.NDArray[np.uint8] = smoke.picture()
    trouble: str | None = smoke.trouble
    try:
        lugpu.solve(a, x, precision="half")  # type: ignore[call-overload]
    except (lugpu.Error, ValueError) as error:
        print(error.remedy if isinstance(error, lugpu.Error) else error)
    print(solve_ratio, residuals, why, z, inverse, determinant, names, advice, records)
    print(field, picture, trouble)


if __name__ == "__main__":
    main()
