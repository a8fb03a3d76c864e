"""Section 6.2: the simulation of a bubbly flow, cell by cell."""

import figures
import simulation_figures
from papers.drawing import FIRST, SECOND, THIRD, Line, Panel, look
from papers.grids import milliseconds
from papers.lu_gpu_2005.plan import FLOW_METHODS
from papers.pages import Finding
from papers.running import NotMade
from papers.simulated import left_panel, simulations
from papers.verdicts import judge_counts
from papers.words import markdown_table, number, percent, seconds

LOOKS = dict(zip(FLOW_METHODS, (look(SECOND, "image", "s"), look(FIRST, "image", "o"),
                                look(THIRD, "image", "D"))))
ENOUGH = 1e-5  # a residual
MOST_COMPUTED = 0.2  # of the cells: still about 15 %
PHASES = {"select": "choosing the cells", "cells": "their systems", "advect": "the density"}


def step_time(row):
    """Seconds of a time step."""
    return 1 / row["frames_per_s"]


def share_computed(row):
    """The cells that are computed at a step, of all."""
    return row["solver_iterations"] / (row["grid"][0] * row["grid"][1])


def flow(records, device):
    """Both levels with each of the methods."""
    rows = {row["routine"]: row for method in FLOW_METHODS
            for row in simulations(records, "bubbles", method)
            if simulation_figures.is_drawable(row)}
    if "lu" not in rows:
        raise NotMade("the paper's method was not run.")
    row = rows["lu"]
    shape, worst = simulation_figures.shape_of(row), max(r["left"]["largest"] for r in rows.values())
    times = ", ".join(f"{seconds(step_time(other))} with {method}" for method, other in rows.items())
    phases = row["phases_s"]
    measured = (
        f"On {shape} cells {percent(share_computed(row))} of them are computed at a step, the mean of "
        f"{row['steps']} steps. A step takes {times}; with lu the systems take "
        f"{percent(phases['cells'] / sum(phases.values()))} of it. No step leaves more than "
        f"{number(worst)} of the systems' residual. Nothing is transferred but the list of the cells: "
        "their matrices are built on the device. What cannot be reproduced: the paper's integral "
        "equation with surface tension, which it does not print; its configurations and times of a "
        "MATLAB program; and its density field, of which it says nothing. Here the bubbles follow "
        "Russo and Smereka's model, which it cites, 16 of them with 32 points each in a cell, so that "
        "n = 512.")
    lines = [[method, shape, milliseconds(step_time(other)),
              *(milliseconds(other["phases_s"][phase]) for phase in PHASES),
              milliseconds(step_time(other) / other["solver_iterations"]),
              f"{other['left']['median']:.1e}", f"{other['left']['largest']:.1e}"]
             for method, other in rows.items()]
    table = markdown_table(["method", "cells", "a step, ms",
                            *(f"{words}, ms" for words in PHASES.values()), "a system, ms",
                            "residual left, median", "largest"], lines)
    panels = [Panel("Time of a step", "time", [
        Line(method, [(0, step_time(other))], LOOKS[method]) for method, other in rows.items()],
        figures.spell_time, log=False, kind="bars"),
        left_panel("What the systems leave", [(method, other, LOOKS[method])
                                              for method, other in rows.items()])]
    right = worst <= ENOUGH and share_computed(row) <= MOST_COMPUTED
    return Finding(judge_counts(right), measured,
                   f"{percent(share_computed(row))} of the cells a step, {number(worst)} left at most",
                   panels, table)
