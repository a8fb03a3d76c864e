"""Linear Solvers for Stable Fluids: GPU vs CPU, 2010."""

from papers import grids
from papers.pages import Figure, Paper
from papers.stable_fluids_2010.equations import TWICE, diffusion, ordering, projection
from papers.stable_fluids_2010.frames import equal_quality, moving_walls, time_step
from papers.stable_fluids_2010.plan import (EQUAL, SOME_CONVERGENCE, SYSTEMS, few, few_and_solved,
                                            moving, nothing, plan_for, steps)
from papers.stable_fluids_2010.residuals import choice, convergence
from papers.stable_fluids_2010.times import CONSTANT, constant, launches, table

FIGURES = [
    Figure("table1", "2d", "Table 1: solvers in 2D",
           "On the GPU Jacobi and Gauss-Seidel, 10 iterations on 32² to 512² points, are faster than "
           "on one core of the CPU but on 32².",
           "both are faster than plain loops of one thread on the largest grid.",
           few("pressure, 2D"), table(2), "Ten iterations in 2D"),
    Figure("table2", "3d", "Table 2: solvers in 3D",
           "On the GPU Jacobi and Gauss-Seidel, 4 iterations on 32³ to 128³ points, are faster than "
           "on one core of the CPU.",
           "both are faster than plain loops of one thread on the largest grid.",
           few("pressure, 3D"), table(3), "Four iterations in 3D"),
    Figure("constant", "complexity", "Complexity: constant time",
           "The GPU's times hardly depend on the size: \"constant time complexity\", the most "
           "important result. The CPU's grow with the square of the points along an axis on small "
           "grids and with their cube on large ones.",
           f"the GPU's time on the largest grid is at most {CONSTANT} times that on the smallest, in "
           "2D and in 3D.", few("pressure, 2D", "pressure, 3D"), constant,
           "Time over the number of unknowns"),
    Figure("launches", "bandwidth", "Bandwidth: launches timed instead of work",
           "Four sweeps of Jacobi on 128³ points take 0.424 ms on a GeForce 8800 GT.",
           "the printed times need at most the bandwidth of that card's memory, 57.6 GB/s.",
           few("pressure, 3D"), launches, "Bandwidth that the printed times would need",
           computed="from the paper's times, one call of a solver in single precision"),
    Figure("convergence", "residuals", "Convergence: what few iterations leave",
           "10 iterations in 2D and 4 in 3D suffice to ensure some convergence. The paper shows no "
           "residuals.",
           f"the best of the three leaves at most {SOME_CONVERGENCE} of the pressure's residual "
           "on the largest grids, after 10 iterations in 2D and 4 in 3D.", few(*SYSTEMS), convergence,
           "Residuals after the paper's iterations"),
    Figure("choice", "solvers", "Choice: the best solver",
           "Gauss-Seidel is the best choice on the GPU in 2D and 3D. Conjugate gradients converge "
           "faster, but that does not show in a small number of iterations.",
           "no other method is faster on the largest grids, neither for a call of the paper's "
           f"iterations nor to a residual of {SOME_CONVERGENCE}.", few_and_solved, choice,
           "Time to some convergence"),
    Figure("ordering", "colours", "Order: red and black points",
           "Gauss-Seidel in the order of the GPU, red points and then black ones, takes twice as "
           "many iterations to converge as in the order of the CPU.",
           f"it takes at least {TWICE} times as many.", nothing, ordering,
           "Two orders of Gauss-Seidel", computed="with NumPy in double precision"),
    Figure("diffusion", "equations", "Equation 3: diffusion",
           "Diffusion solves a system with a = k dt / h³, and each cell is divided by 1 + k dt / h³.",
           "with the printed coefficients a sine decays within 5 % of the exact solution, and ten "
           "sweeps do not make it grow.", nothing, diffusion,
           "Diffusion with the printed coefficients and with the right ones",
           computed="with NumPy in double precision"),
    Figure("projection", "divergence", "Equation 4: pressure",
           "To make a velocity free of divergence, (sum of neighbours) - 6 p = h (sum of the "
           "differences of both neighbours' velocities) is solved.",
           "at most 5 % of the divergence of a smooth velocity is left in 2D on the finest grid.",
           nothing, projection, "What the projection leaves",
           computed="with NumPy in double precision, on a square that goes round"),
    Figure("step", "time", "Time step: 5 calls of a solver in 2D, 6 in 3D",
           "A step calls a solver 5 times in 2D and 6 times in 3D, and may take 33 ms for 30 frames a "
           "second. On the GPU Jacobi and Gauss-Seidel enable 128³ points in real time.",
           "with both a whole step takes at most 33 ms on the largest grids, in 2D and in 3D.", steps,
           time_step, "Whole time steps with the paper's iterations"),
    Figure("equal", "quality", "Equal quality: every method to one tolerance",
           "Gauss-Seidel is the best choice; a solver with a better convergence rate and no "
           "significant extra effort is needed.",
           f"no other method leaves {EQUAL:g} of the divergence in less time than Gauss-Seidel, on the "
           "largest grids in 2D and in 3D.", steps, equal_quality,
           "Whole time steps to one tolerance"),
    Figure("moving", "walls", "Figures 6 to 8: a fluid with moving walls",
           "On 128² points a fluid with moving walls inside is simulated on the CPU with each of the "
           "solvers. The pictures alone have frame rates.",
           "each of them has at least 30 frames a second with the paper's iterations.", moving,
           moving_walls, "What is left beside moving walls"),
]


def left_out(records, concerned):
    """Lines about missing results; its own table has the simulations that miss the tolerance."""
    return grids.left_out([record | {"results": [
        row for row in record["results"] if "scene" not in row or not row["tolerance"]]}
        for record in records], concerned)


INTRO = (
    "Written by `scripts/reproduce.py --paper stable-fluids-2010`, which measures again what the "
    "paper states. The numbers are computed from the JSON files beside this page, which name the "
    "commands that made them. Everything is in single precision and on buffers. A time is the "
    "median of a call of a solver that is stopped after the paper's number of iterations, with the "
    "data on the device; it includes looking at the residual, in every iteration of conjugate "
    "gradients and twice in a call of the others. The residual that is reached stands beside it: "
    "||b - A x|| over ||b||, computed on the host in double precision. Plain loops are C++ in one "
    "thread. A verdict is unclear if the samples, by their number and spread (95 % confidence), "
    "allow either answer. Algorithms 4 and 5 of the paper have one more fault, which cannot be "
    "measured: a barrier of a work-group (`__syncthreads`) does not order work-groups, so that "
    "sweeps inside one launch race. Whole steps are as in Stam's \"Real-Time Fluid Dynamics for "
    "Games\", which the paper times, on a staggered grid; to one tolerance they are in double "
    "precision where the device has it. Their divergence is relative to that before the pressure was "
    "computed, and the median of the steps.")

CITATION = "G. Amador and A. Gomes: Linear Solvers for Stable Fluids: GPU vs CPU, 2010"
PAPER = Paper(CITATION, "Linear solvers for stable fluids, measured again", INTRO, FIGURES, plan_for,
              left_out, grids.plain_rivals)
