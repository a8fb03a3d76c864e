"""What to measure: the paper's few iterations, and as many as some convergence takes."""

from dataclasses import dataclass

from papers.grids import problem_command
from papers.stable_fluids_2010.tables import CPU_S, ITERATIONS, METHODS

SYSTEMS = {"pressure, 2D": ("poisson2d", 2), "pressure, 3D": ("poisson3d", 3),
           "diffusion, 2D": ("implicit2d", 2)}
SOME_CONVERGENCE = 0.1  # relative residual
NEVER = "1e-16"  # a tolerance that single precision does not reach


@dataclass(frozen=True)
class Plan:
    """Points along each axis, by dimensions: for the paper's iterations, and to solve."""
    grids: dict
    solved: dict


def plan_for(device, quick):
    """The paper's grids, or the small ones."""
    if quick:
        return Plan({2: (32, 64, 128), 3: (32, 64)}, {2: (32, 64), 3: (32,)})
    return Plan({dimensions: tuple(times["jacobi"]) for dimensions, times in CPU_S.items()},
                {2: (32, 64, 128), 3: (32, 64)})


def few(*names):
    """The paper's number of iterations, which is too few for any tolerance."""
    def commands(plan, device):
        effort = ("--runs", "9", "--min-time", "0.02", "--timeout", "15")
        return [problem_command(f"few-{problem}", problem, plan.grids[dimensions], METHODS, effort,
                                "--tolerance", NEVER, "--iterations", str(ITERATIONS[dimensions]))
                for problem, dimensions in map(SYSTEMS.get, names)]
    return commands


def few_and_solved(plan, device):
    """The pressure's, and as many iterations as some convergence takes."""
    effort = ("--runs", "3", "--min-time", "0.02", "--timeout", "30")
    return few("pressure, 2D", "pressure, 3D")(plan, device) + [
        problem_command(f"solved-{problem}", problem, plan.solved[dimensions], METHODS, effort,
                        "--tolerance", str(SOME_CONVERGENCE), "--iterations", "100000",
                        rivals=False)
        for problem, dimensions in (("poisson2d", 2), ("poisson3d", 3))]


def nothing(plan, device):
    """For what is computed."""
    return []
