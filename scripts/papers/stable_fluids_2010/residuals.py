"""What the paper does not show: the residuals that a few iterations leave, and what solving takes."""

from papers.drawing import Line, Panel, look
from papers.grids import METHOD_LOOKS, POINTS, is_timed, milliseconds, timed_rows, times_panel
from papers.pages import Finding
from papers.running import NotMade
from papers.stable_fluids_2010.plan import SOME_CONVERGENCE, SYSTEMS
from papers.stable_fluids_2010.tables import GPU_S, ITERATIONS, METHODS, shape
from papers.stable_fluids_2010.times import PRESSURE, call_time, few_iterations, ratio
from papers.verdicts import HOLDS, WRONG, Claim, judge
from papers.words import markdown_table, number, seconds


def residual_left(row):
    """The true relative residual after the last iteration."""
    return row["checks"]["residual"]


def by_method(found, system, grid):
    """Residuals in words."""
    return ", ".join(f"{number(residual_left(found[system, method][grid]))} ({method})"
                     for method in METHODS)


def largest_common(*rows):
    """The largest grid that all of these have, or None."""
    return max(set.intersection(*map(set, rows)), default=None)


def method_look(method):
    """The look of lugpu's method."""
    return look(METHOD_LOOKS[method][0], "image", METHOD_LOOKS[method][1])


def convergence(records, device):
    """Residuals and errors after the paper's iterations."""
    found = {(system, method): few_iterations(records, method, system)
             for system in SYSTEMS for method in METHODS}
    grids = {system: largest_common(*(found[system, method] for method in METHODS))
             for system in SYSTEMS}
    if not (grids[PRESSURE[2]] and grids[PRESSURE[3]]):
        raise NotMade("not every method was measured.")
    least = {dimensions: min(residual_left(found[system, method][grids[system]])
                             for method in METHODS) for dimensions, system in PRESSURE.items()}
    told = [f"At {shape(grids[system], dimensions)} {ITERATIONS[dimensions]} iterations from zero "
            f"leave of the {system.split(',')[0]}'s residual "
            f"{by_method(found, system, grids[system])}."
            for system, (_, dimensions) in SYSTEMS.items() if grids[system]]
    most = max(least.values())
    measured = (" ".join(told) + " Of the pressure "
                + ("nothing" if most > 0.9 else "little" if most > SOME_CONVERGENCE else "a part")
                + " is solved. A residual above 1 is no fault: it is the error that conjugate "
                "gradients make smaller in every step, and red-black Gauss-Seidel leaves the whole "
                "residual on one colour.")
    lines = [[system, method, shape(n, SYSTEMS[system][1]), row["iterations"],
              f"{residual_left(row):.3g}", f"{row['checks']['error']:.3g}"]
             for (system, method), rows in found.items() for n, row in sorted(rows.items())
             if n == grids[system]]
    table = markdown_table(["system", "method", "grid", "iterations", "relative residual",
                            "relative error"], lines)
    panels = [Panel(f"Left after {ITERATIONS[dimensions]}, {system}", "relative residual", [
        Line(method, [(n, residual_left(row)) for n, row in sorted(found[system, method].items())],
             method_look(method)) for method in METHODS if found[system, method]],
        lambda y, _: f"{y:g}", x_label=POINTS,
        marks={f"some convergence: {SOME_CONVERGENCE}": SOME_CONVERGENCE})
        for system, (_, dimensions) in SYSTEMS.items()]
    left = " and ".join(f"{number(least[dimensions])} at {shape(grids[system], dimensions)}"
                        for dimensions, system in PRESSURE.items())
    return Finding(HOLDS if most <= SOME_CONVERGENCE else WRONG, measured,
                   f"of the residual is left at least {left}", panels, table)


def solved(records, routine, dimensions):
    """{grid: result} with some convergence."""
    return {row["grid"]: row
            for row in timed_rows(records, routine, SYSTEMS[PRESSURE[dimensions]][0])
            if is_timed(row) and row["tolerance"] == SOME_CONVERGENCE}


def others(at_grid):
    """The times of the other methods in words."""
    return " and ".join(f"{method} {seconds(call_time(at_grid[method]))}"
                        for method in ("jacobi", "cg"))


def choice(records, device):
    """Whether Gauss-Seidel is the fastest: a call of the paper's, and to some convergence."""
    claims, sentences, lines, panels = [], [], [], []
    for dimensions in (2, 3):
        for what, rows in (
                (f"a call of {ITERATIONS[dimensions]}",
                 {method: few_iterations(records, method, PRESSURE[dimensions])
                  for method in METHODS}),
                (f"a residual of {SOME_CONVERGENCE}",
                 {method: solved(records, method, dimensions) for method in METHODS})):
            grid = largest_common(*rows.values())
            if not grid:
                raise NotMade(f"no grid has {what} with every method.")
            at_grid = {method: rows[method][grid] for method in METHODS}
            claims += [Claim(*ratio(at_grid["gauss-seidel"], at_grid[method]), 1, at_most=True)
                       for method in ("jacobi", "cg")]
            sentences.append(f"For {what} at {shape(grid, dimensions)} Gauss-Seidel takes "
                             f"{seconds(call_time(at_grid['gauss-seidel']))}, {others(at_grid)}.")
            lines += [[f"{dimensions}D, {what}", method, shape(n, dimensions), row["iterations"],
                       milliseconds(call_time(row)), f"{residual_left(row):.3g}"]
                      for method in METHODS for n, row in sorted(rows[method].items()) if n == grid]
        panels.append(times_panel(f"To a residual of {SOME_CONVERGENCE}, {dimensions}D", [
            Line(method, [(n, call_time(row)) for n, row in
                          sorted(solved(records, method, dimensions).items())],
                 method_look(method)) for method in METHODS], POINTS))
    verdict, doubt = judge(*claims)
    against = [shape(n, dimensions) for dimensions, methods in GPU_S.items()
               for n, time in methods["jacobi"].items() if time < methods["gauss-seidel"][n]]
    measured = (" ".join(sentences) + doubt + " In the paper's own tables Jacobi is faster on "
                + " and ".join(against) + ".")
    n = largest_common(*(solved(records, method, 2) for method in METHODS))
    gain, _ = ratio(solved(records, "gauss-seidel", 2)[n], solved(records, "cg", 2)[n])
    table = markdown_table(["for", "method", "grid", "iterations", "time, ms", "residual left"],
                           lines)
    return Finding(verdict, measured, f"cg solves {shape(n, 2)} {number(gain)} times as fast",
                   panels, table)
