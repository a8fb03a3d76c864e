"""Dense and sparse linear systems, and simulations, on OpenCL devices.

>>> import lugpu, numpy as np
>>> a = np.array([[4.0, 1.0], [2.0, 3.0]])
>>> print(lugpu.solve(a, a @ [1.0, 2.0]).round(12))
[1. 2.]
"""

from lugpu._batch import BatchReport
from lugpu._devices import Device, devices
from lugpu._errors import AccuracyWarning, Error, InputError, LinAlgWarning
from lugpu._factors import SlogdetResult, det, inv, lu_factor, lu_solve, slogdet
from lugpu._program import advise, bench
from lugpu._simulation import Simulation, simulation_scenes
from lugpu._solve import Checks, Equilibration, Refinement, Report, solve

__all__ = [
    "AccuracyWarning",
    "BatchReport",
    "Checks",
    "Device",
    "Equilibration",
    "Error",
    "InputError",
    "LinAlgWarning",
    "Refinement",
    "Report",
    "Simulation",
    "SlogdetResult",
    "advise",
    "bench",
    "det",
    "devices",
    "inv",
    "lu_factor",
    "lu_solve",
    "simulation_scenes",
    "slogdet",
    "solve",
]

# Tracebacks name them as users do.
for _raised in (AccuracyWarning, Error, InputError, LinAlgWarning):
    _raised.__module__ = __name__
