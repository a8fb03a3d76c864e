"""What to measure: the paper's few iterations, and as many as some convergence takes."""

from dataclasses import dataclass

from papers.grids import problem_command
from papers.running import Command, listed
from papers.simulated import simulate_command
from papers.stable_fluids_2010.tables import CPU_S, ITERATIONS, METHODS

SYSTEMS = {"pressure, 2D": ("poisson2d", 2), "pressure, 3D": ("poisson3d", 3),
           "diffusion, 2D": ("implicit2d", 2)}
SOME_CONVERGENCE = 0.1  # relative residual
NEVER = "1e-16"  # a tolerance that single precision does not reach
SYSTEMS_OF_STEP = {2: "fluid2d", 3: "fluid3d"}  # whole time steps, by dimensions
BETTER = ("multigrid-cg", "fast-diagonal")  # methods that the paper does not have
EQUAL = 1e-3  # of the divergence
STEPS = 200  # of the scene with moving walls


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


def steps(plan, device):
    """Whole time steps: the paper's iterations, and every method to one tolerance."""
    plain = ",".join(f"plain-{method}" for method in METHODS)
    return [Command(f"step-{problem}",
                    ("bench", "--problem", problem, "--grid", listed(plan.grids[dimensions]),
                     "--method", ",".join(METHODS + BETTER), "--baseline", plain, "--iterations",
                     str(ITERATIONS[dimensions]), "--tolerance", str(EQUAL), "--runs", "3",
                     "--min-time", "0.02", "--timeout", "4"))
            for dimensions, problem in SYSTEMS_OF_STEP.items()]


def moving(plan, device):
    """The scene with moving walls, with each of the solvers."""
    return [simulate_command("fluid", "moving", 128, method, STEPS, "--iterations",
                             str(ITERATIONS[2])) for method in METHODS]


def nothing(plan, device):
    """For what is computed."""
    return []
