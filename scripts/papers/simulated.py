"""What the papers' simulations share: running and choosing them, and the frames of a demo."""

from dataclasses import dataclass

import problem_figures
import simulation_figures
from papers.drawing import FIRST, SECOND, Line, Panel, look
from papers.grids import PAPER_LOOK
from papers.pages import Finding
from papers.running import Command, NotMade
from papers.verdicts import Claim, judge, uncertainty
from papers.words import markdown_table, number

DIRECT = "fast-diagonal"
CELLS = "square root of the number of cells"
SHOWN = 200  # time steps in a drawing


# --- Commands ------------------------------------------------------------------------------------

def simulate_command(physics, scene, grid, method, steps, *more):
    """A run of a simulation; grid as the program takes it."""
    return Command(f"{physics}-{scene}-{grid}-{method}",
                   ("simulate", physics, "--scene", scene, "--grid", str(grid), "--method", method,
                    *more, "--steps", str(steps)))


def demo_commands(physics, scene, grids, iterations, steps, *more):
    """A few iterations of conjugate gradients, and a direct method, on every grid."""
    return [simulate_command(physics, scene, grid, method, steps, *effort, *more) for grid in grids
            for method, effort in (("cg", ("--iterations", str(iterations))), (DIRECT, ()))]


# --- Choosing ------------------------------------------------------------------------------------

def simulations(records, problem, routine):
    """The results of a method, whatever became of them."""
    return [row for record in records for row in record["results"]
            if simulation_figures.is_simulation(row)
            and (row["problem"], row["routine"]) == (problem, routine)]


def runs_of(records, problem, routine, few):
    """{grid in words: result} of a method, with few iterations or to a tolerance, the smallest grid
    first."""
    rows = [row for row in simulations(records, problem, routine)
            if simulation_figures.is_drawable(row) and few == (not row["tolerance"])]
    return {simulation_figures.shape_of(row): row
            for row in sorted(rows, key=simulation_figures.side_of)}


# --- Words and lines -----------------------------------------------------------------------------

def left(row):
    """What half of the steps leave at most."""
    return row["left"]["median"]


def frames_claim(row, least):
    """That a simulation has so many frames a second."""
    return Claim(row["frames_per_s"], uncertainty(row["times_s"]), least)


def frames_line(label, rows, style):
    """Frames a second over the cells along an axis, of {grid in words: result}."""
    return Line(label, [(simulation_figures.side_of(row), row["frames_per_s"])
                        for row in rows.values()], style)


def frames_panel(lines, title="Frames a second", x_label=CELLS, **more):
    """Frames a second, both axes logarithmic."""
    return Panel(title, "frames a second", [line for line in lines if line.points],
                 problem_figures.spell_power, x_label=x_label, **more)


def left_panel(title, lines, **more):
    """What is left after each time step, of (label, result, style)."""
    drawn = []
    for label, row, style in lines:
        points = [(step, value) for step, value in simulation_figures.left_by_step(row)
                  if step <= SHOWN]
        drawn.append(Line(label, points, style | {"markevery": max(1, len(points) // 12)}))
    return Panel(title, f"left of the {lines[0][1]['left']['of']}", drawn,
                 problem_figures.spell_power, kind="steps", x_label="time step", **more)


# --- A demo --------------------------------------------------------------------------------------

@dataclass(frozen=True)
class Demo:
    """A simulation of a paper: its frames a second by grid in words, with so many iterations of
    conjugate gradients."""
    problem: str
    iterations: int
    paper: dict
    card: str


def demo_table(demo, few, direct):
    """Both methods on every grid."""
    lines = []
    for shape, row in few.items():
        printed = demo.paper.get(shape)
        lines.append([shape, f"cg, {demo.iterations} iterations", printed or "",
                      number(row["frames_per_s"]),
                      number(row["frames_per_s"] / printed) if printed else "", *left_cells(row)])
        if shape in direct:
            solved = direct[shape]
            lines.append([shape, DIRECT, "", number(solved["frames_per_s"]), "",
                          *left_cells(solved)])
    of = next(iter(few.values()))["left"]["of"]
    return markdown_table(["grid", "method", "published, frames/s", "here, frames/s", "times that",
                           f"{of} left, median", "largest"], lines)


def left_cells(row):
    """The median and the largest of what is left, in a table."""
    return [f"{row['left'][name]:.2g}" for name in ("median", "largest")]


def frames(demo):
    """Makes a figure of the frames of a demo, and of what is left, which no paper shows."""
    def make(records, device):
        few, direct = (runs_of(records, demo.problem, "cg", True),
                       runs_of(records, demo.problem, DIRECT, False))
        common = [shape for shape in few if shape in demo.paper]
        if not common:
            raise NotMade("no grid of the paper was simulated.")
        verdict, doubt = judge(*(frames_claim(few[shape], demo.paper[shape]) for shape in common))
        shape = common[-1]
        row, label = few[shape], f"cg, {demo.iterations} iterations"
        measured = (f"On {shape} cells {demo.iterations} iterations a step allow "
                    f"{number(row['frames_per_s'])} frames a second (published: "
                    f"{demo.paper[shape]}). "
                    f"They leave {number(left(row))} of the {row['left']['of']}, the median of "
                    f"{row['steps']} steps, which is not published.{doubt}")
        lines = [(label, row, look(FIRST, "image", "o"))]
        if shape in direct:
            solved = direct[shape]
            measured += (f" A direct solution by {DIRECT} has {number(solved['frames_per_s'])} "
                         f"frames a second and leaves {number(left(solved))}.")
            lines.append((DIRECT, solved, look(SECOND, "image", "D")))
        measured += " Drawing is not in these times."
        panels = [frames_panel([frames_line(label, few, look(FIRST, "image", "o")),
                                frames_line(DIRECT, direct, look(SECOND, "image", "D")),
                                Line(demo.card, [(simulation_figures.side_of(few[shape]),
                                                  demo.paper[shape]) for shape in common],
                                     PAPER_LOOK)]),
                  left_panel(f"What a step leaves, {shape}", lines)]
        return Finding(verdict, measured, f"{number(row['frames_per_s'])} frames a second on "
                       f"{shape}, {number(left(row))} left", panels, demo_table(demo, few, direct))
    return make
