"""Whole time steps: with the paper's few iterations, and of every method to one tolerance."""

import figures
from papers.drawing import FOURTH, Line, Panel, look
from papers.grids import METHOD_LOOKS, PLAIN_MARKERS, milliseconds
from papers.pages import Finding
from papers.running import NotMade
from papers.simulated import (frames_claim, frames_line, frames_panel, left, left_panel, runs_of,
                              simulations)
from papers.stable_fluids_2010.plan import BETTER, EQUAL, STEPS, SYSTEMS_OF_STEP
from papers.stable_fluids_2010.tables import CALLS, FRAME_S, ITERATIONS, METHODS
from papers.verdicts import NO_LONGER, Claim, judge, together, uncertainty
from papers.words import markdown_table, number, percent, seconds
from simulation_figures import is_drawable, shape_of, side_of

CELLS = "cells along each axis"
LOOKS = {method: look(METHOD_LOOKS[method][0], "image", METHOD_LOOKS[method][1])
         for method in METHODS} | {"multigrid-cg": look(FOURTH, "image", "v"),
                                   "fast-diagonal": look("black", "image", "P")}
WHY = {"failed": "not reached", "skipped": "takes too long"}


def step_time(row):
    """Seconds of a time step."""
    return 1 / row["frames_per_s"]


def few(records, dimensions, prefix=""):
    """{method: {grid in words: result}} with the paper's iterations."""
    return {method: runs_of(records, SYSTEMS_OF_STEP[dimensions], prefix + method, True)
            for method in METHODS}


def gain(plain, ours, method, shape):
    """The speed over plain loops, or None where one of the two is missing."""
    if shape not in plain[method] or shape not in ours[method]:
        return None
    return step_time(plain[method][shape]) / step_time(ours[method][shape])


# --- The paper's iterations ----------------------------------------------------------------------

def time_step(records, device):
    """Whole steps of five and six systems, against the time of a frame."""
    claims, sentences, lines, panels, short = [], [], [], [], []
    for dimensions in (2, 3):
        ours, plain = (few(records, dimensions, prefix) for prefix in ("", "plain-"))
        common = [shape for shape in ours["jacobi"] if shape in ours["gauss-seidel"]]
        if not common:
            raise NotMade(f"no step in {dimensions}D was timed.")
        shape = common[-1]
        for method in ("jacobi", "gauss-seidel"):
            row = ours[method][shape]
            claims.append(Claim(1e3 * step_time(row), uncertainty(row["times_s"]), 1e3 * FRAME_S,
                                at_most=True))
        sentences.append(
            f"On {shape} cells a step of {CALLS[dimensions]} systems with {ITERATIONS[dimensions]} "
            f"iterations each takes "
            + ", ".join(f"{seconds(step_time(ours[method][shape]))} with {method}"
                        + over_plain(gain(plain, ours, method, shape))
                        + f" and leaves {number(left(ours[method][shape]))} of the divergence"
                        for method in METHODS if shape in ours[method]) + ".")
        short.append(f"{seconds(step_time(ours['gauss-seidel'][shape]))} with Gauss-Seidel on {shape}")
        lines += step_rows(ours, plain)
        panels.append(Panel(f"A time step, {dimensions}D", "time", [
            Line(prefix + method, [(side_of(row), step_time(row)) for row in rows[method].values()],
                 style(method))
            for prefix, rows, style in (("", ours, LOOKS.get), ("plain-", plain, plain_look))
            for method in METHODS if rows[method]], figures.spell_time, x_label=CELLS,
            marks={f"{seconds(FRAME_S)}: 30 frames/s": FRAME_S}))
    verdict, doubt = judge(*claims)
    table = markdown_table(["grid", "method", "plain C++, ms", "lugpu, ms", "speed-up", "frames/s",
                            "divergence left"], lines)
    return Finding(verdict, " ".join(sentences) + doubt, " and ".join(short), panels, table)


def plain_look(method):
    """The look of plain loops."""
    return look(METHOD_LOOKS[method][0], "buffer", PLAIN_MARKERS[method])


def over_plain(speed):
    """A speed over plain loops in brackets."""
    return f" ({number(speed)} times the speed of plain loops)" if speed else ""


def step_rows(ours, plain):
    """Rows of the table, by grid."""
    shapes = dict.fromkeys(shape for rows in (plain, ours) for method in METHODS
                           for shape in rows[method])
    found = []
    for shape in shapes:
        for method in METHODS:
            both = [rows[method].get(shape) for rows in (plain, ours)]
            speed = gain(plain, ours, method, shape)
            own = both[1]
            found.append([shape, method, *(milliseconds(step_time(row)) if row else ""
                                           for row in both), number(speed) if speed else "",
                          number(own["frames_per_s"]) if own else "",
                          f"{left(own):.2g}" if own else ""])
    return found


# --- One tolerance -------------------------------------------------------------------------------

def equal_quality(records, device):
    """Every method until so much of the divergence is left."""
    claims, sentences, lines, panels, short, beaten = [], [], [], [], [], False
    for dimensions in (2, 3):
        problem = SYSTEMS_OF_STEP[dimensions]
        rows = {method: runs_of(records, problem, method, False) for method in METHODS + BETTER}
        reached = [row for by_grid in rows.values() for row in by_grid.values()]
        if not reached:
            raise NotMade(f"no method reached the tolerance in {dimensions}D.")
        shape = shape_of(max(reached, key=side_of))
        there = {method: by_grid[shape] for method, by_grid in rows.items() if shape in by_grid}
        best = max(there, key=lambda method: there[method]["frames_per_s"])
        own = there.get("gauss-seidel")
        beaten = beaten or not own
        claims += [Claim(step_time(own) / step_time(row), together(uncertainty(own["times_s"]),
                                                                   uncertainty(row["times_s"])),
                         1, at_most=True)
                   for method, row in there.items() if own and method != "gauss-seidel"]
        missing = [method for method in METHODS + BETTER if method not in there]
        sentences.append(
            f"On {shape} cells {best} is the fastest with {number(there[best]['frames_per_s'])} "
            f"frames a second"
            + "".join(f", {method} has {number(row['frames_per_s'])}" for method, row in there.items()
                      if method != best) + "."
            + (f" Not in time or not at all: {', '.join(missing)}." if missing else "")
            + beside_few(few(records, dimensions), best, there[best]))
        short.append(f"{best}: {number(there[best]['frames_per_s'])} frames a second on {shape}")
        lines += quality_rows(records, problem)
        panels.append(frames_panel([frames_line(method, by_grid, LOOKS[method])
                                    for method, by_grid in rows.items()],
                                   f"To {EQUAL} of the divergence, {dimensions}D", CELLS))
    verdict, doubt = judge(*claims) if claims and not beaten else (NO_LONGER, "")
    table = markdown_table(["grid", "method", "iterations a step", "time, ms", "frames/s",
                            "divergence left"], lines)
    return Finding(verdict, " ".join(sentences) + doubt, ", ".join(short), panels, table,
                   reached[0]["precision"])


def beside_few(rows, best, fastest):
    """What the fastest takes of the time of the paper's few iterations."""
    row = rows["gauss-seidel"].get(shape_of(fastest))
    return (f" A step of {best} takes {number(step_time(fastest) / step_time(row))} times as long as "
            f"one with the few iterations of Gauss-Seidel, which leave {number(left(row))}."
            if row else "")


def quality_rows(records, problem):
    """Rows of the table, by grid, with those that did not get there."""
    rows = [row for method in METHODS + BETTER for row in simulations(records, problem, method)
            if row["tolerance"]]
    return [[shape_of(row), row["routine"], *(
        (number(row["solver_iterations"]) if row["solver_iterations"] else "",
         milliseconds(step_time(row)), number(row["frames_per_s"]), f"{left(row):.1e}")
        if is_drawable(row) else ("", WHY.get(row["status"], row["status"]), "", ""))]
            for row in sorted(rows, key=side_of)]


# --- The simulation of the paper's figures -------------------------------------------------------

def moving_walls(records, device):
    """Figures 6 to 8: a scene with moving walls inside, with each of the solvers."""
    rows = {method: list(runs_of(records, "fluid", method, True).values()) for method in METHODS}
    if not all(rows.values()):
        raise NotMade("not every solver was run.")
    rows = {method: found[-1] for method, found in rows.items()}
    verdict, doubt = judge(*(frames_claim(row, 1 / FRAME_S) for row in rows.values()))
    shape = shape_of(rows["jacobi"])
    told = ", ".join(f"{number(row['frames_per_s'])} frames a second with {method}, which leaves "
                     f"{number(left(row))} of the divergence" for method, row in rows.items())
    lines = [[shape, method, row["iterations"], number(row["frames_per_s"]), f"{left(row):.2g}",
              percent(row["phases_s"]["project"] / sum(row["phases_s"].values()))]
             for method, row in rows.items()]
    table = markdown_table(["grid", "method", "iterations", "frames/s", "divergence left, median",
                            "pressure, share of a step"], lines)
    panels = [left_panel(f"What a step leaves, {shape}", [(method, row, LOOKS[method])
                                                          for method, row in rows.items()])]
    return Finding(verdict, f"Smoke that a moving ball stirs, on {shape} cells over {STEPS} steps: "
                   f"{told}, the median of the steps. Drawing is not in these times.{doubt}",
                   f"{number(min(row['frames_per_s'] for row in rows.values()))} frames a second "
                   "and more", panels, table)
