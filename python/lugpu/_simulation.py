"""Simulations that go on step by step on a device."""

from __future__ import annotations

import operator
import warnings
from typing import Literal, SupportsIndex

import numpy as np
import numpy.typing as npt

from lugpu import _core
from lugpu._devices import Device, device_text
from lugpu._errors import AccuracyWarning, sentence
from lugpu._solve import require_choice


def simulation_scenes() -> dict[str, list[str]]:
    """The scenes of every simulation, by its name. The first one of each is its default.

    >>> import lugpu
    >>> {name: scenes[0] for name, scenes in lugpu.simulation_scenes().items()}
    {'bubbles': 'rise', 'fluid': 'smoke', 'wave': 'rain'}
    """
    return _core.simulation_scenes()


def _count(name: str, value: SupportsIndex, least: int) -> int:
    most = np.iinfo(np.int32).max
    count = operator.index(value)
    if not least <= count <= most:
        raise ValueError(f"{name} must be from {least} to {most}, not {count}")
    return count


class Simulation:
    """A simulation on a device: waves on water, smoke and other fluids, bubbles.

    physics: "wave", "fluid" or "bubbles".
    grid: cells along x and y, and for fluids in 3D along z. Lengths are in units of the longest side.
    scene: one of simulation_scenes()[physics]; default: the first.
    method: of the linear systems, e.g. "fast-diagonal", "multigrid-cg", "cg", "jacobi"; of the dense
    ones in the scene "cells" of bubbles "lu-blocked", "lu" or "gauss-jordan"; "explicit" for waves
    without any; default: the fastest for the scene.
    tolerance: what may be left of the residual or the divergence, relative to what was there before;
    default: 1e-3 in single and 1e-6 in double precision. iterations: instead of a tolerance, so many
    steps of an iterative method for every system, whatever they leave.
    precision: "single" or "double". time_step: in the scene's units of time; default: the scene's.
    device: as in solve().

    Of fluids: reynolds, speed x length / viscosity (inf: no viscosity; default: the scene's);
    explicit_diffusion, as in Krueger and Westermann 2003; project_twice, as in Stam 2003;
    semi_lagrangian, advection of first order; confinement, the strength of the vorticity confinement.
    Of bubbles: density_ratio of the liquid and the gas (default: 1000); inclusions, in the scene
    "cells" the bubbles of a cell.

    Raises ValueError for what does not fit, lugpu.Error for what the method or the device cannot do
    and for errors of OpenCL.

    >>> import lugpu
    >>> smoke = lugpu.Simulation("fluid", grid=(64, 64), tolerance=1e-3)
    >>> smoke.step(10)
    >>> smoke.method, smoke.field().shape, bool(smoke.left().max() <= 1e-3)
    ('fast-diagonal', (64, 64), True)
    """

    def __init__(
        self,
        physics: str,
        *,
        grid: tuple[int, int] | tuple[int, int, int] = (256, 256),
        scene: str = "",
        method: str = "",
        tolerance: float | None = None,
        iterations: int | None = None,
        precision: Literal["single", "double"] = "single",
        time_step: float | None = None,
        reynolds: float | None = None,
        explicit_diffusion: bool = False,
        project_twice: bool = False,
        semi_lagrangian: bool = False,
        confinement: float = 0.0,
        density_ratio: float | None = None,
        inclusions: int = 16,
        device: int | str | Device | None = None,
    ) -> None:
        require_choice("precision", precision, ("single", "double"))
        if tolerance is not None and iterations is not None:
            raise ValueError("a tolerance and a number of iterations exclude one another")
        if len(grid) not in (2, 3):
            raise ValueError(f"grid must be (nx, ny) or (nx, ny, nz), not {grid!r}")
        nx, ny, nz = (_count("a side of the grid", side, 1) for side in (*grid, 1)[:3])
        options = _core.SimulationOptions(
            size=(nx, ny, nz),
            scene=scene,
            method=method,
            tolerance=tolerance if iterations is None else 0.0,
            iterations=None if iterations is None else _count("iterations", iterations, 1),
            double_precision=precision == "double",
            time_step=time_step,
            reynolds=reynolds,
            explicit_diffusion=bool(explicit_diffusion),
            project_twice=bool(project_twice),
            semi_lagrangian=bool(semi_lagrangian),
            confinement=confinement,
            density_ratio=density_ratio,
            inclusions=_count("inclusions", inclusions, 1),
        )
        self._core = _core.Simulation(physics, options, device_text(device))
        self._warned = False

    def step(self, count: int = 1) -> None:
        """So many time steps. Many in one call are faster than one in each.

        Warns once (AccuracyWarning) of what goes wrong, e.g. a linear system that is not solved to
        the tolerance; trouble keeps it.
        """
        self._core.step(_count("count", count, 0))
        if self.trouble and not self._warned:
            self._warned = True
            warnings.warn(self.trouble, AccuracyWarning, stacklevel=2)

    def push(self, from_x: float, from_y: float, to_x: float, to_y: float) -> None:
        """What the mouse does before the next step: a push from one place to another, in widths and
        heights of the picture from its lower left corner (0 to 1)."""
        self._core.push(from_x, from_y, to_x, to_y)

    @property
    def method(self) -> str:
        """Of the linear systems; the scene's choice if you made none."""
        return self._core.method()

    @property
    def time_step(self) -> float:
        """Of one step, in the scene's units of time."""
        return self._core.time_step()

    @property
    def iterations(self) -> int:
        """Steps of the method in the last time step, all its systems together."""
        return self._core.iterations()

    @property
    def trouble(self) -> str | None:
        """What first went wrong, a sentence; None: nothing."""
        trouble = self._core.trouble()
        return sentence(trouble, None) if trouble else None

    @property
    def left_name(self) -> str:
        """What left() is of: "divergence" or "residual"."""
        return self._core.left_name()

    def left(self) -> npt.NDArray[np.float64]:
        """What was left of the divergence, or of the residual, in every step since the last call: its
        2-norm relative to what it was before the linear system was solved."""
        return self._core.left()

    def is_over(self) -> bool:
        """Whether the scene is steady: nothing has changed since the last call any more."""
        return self._core.is_over()

    def field(self) -> npt.NDArray[np.float64]:
        """What is drawn, of shape (ny, nx), in 3D (nz, ny, nx); row 0 is the lowest, so draw it with
        origin="lower". Of waves the height; of fluids the density of the smoke (0 to 1) or, without
        any, the vorticity; of bubbles the share of liquid, or the density of bubbles."""
        shape, values = self._core.field()
        return values.reshape(shape[1:] if shape[0] == 1 else shape)

    def picture(self) -> npt.NDArray[np.uint8]:
        """The field in colours, of shape (height, width, 3); row 0 is the highest. In 3D a pixel shows
        the mean along z; solid cells are grey, what is not finite magenta."""
        shape, pixels = self._core.picture()
        return pixels.reshape(shape)

    def profile(self) -> npt.NDArray[np.float64]:
        """The velocity along the centre lines of a fluid in 2D, from wall to wall: rows (x, y, u, v),
        first the ny + 2 of the line x = width / 2 upwards, then the nx + 2 of y = height / 2.

        Raises lugpu.Error for other simulations.
        """
        return self._core.profile().reshape(-1, 4)
