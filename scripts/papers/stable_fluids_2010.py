"""Linear Solvers for Stable Fluids: GPU vs CPU, 2010."""

import functools
from dataclasses import dataclass

import numpy
from papers.drawing import FIRST, SECOND, THIRD, Line, Panel, look, spell_factor, spell_rate
from papers.pages import Figure, Finding, Paper
from papers.running import NotMade
from papers.verdicts import HOLDS, NO_LONGER, WRONG, Claim, judge, together, uncertainty
from papers.words import gigabytes, markdown_table, number, percent, seconds
from papers.grids import (ELEMENT, METHOD_LOOKS, PAPER_LOOK, PLAIN_MARKERS, POINTS, is_timed,
                          left_out, milliseconds, problem_command, results_of, rivals, step_line,
                          step_times, times_panel)

METHODS = ("jacobi", "gauss-seidel", "cg")
WORDS = {"jacobi": 3, "gauss-seidel": 3, "cg": 10}  # a row and iteration, at least
CARD_BYTES_PER_S = 57.6e9  # GeForce 8800 GT
ITERATIONS = {2: 10, 3: 4}
CALLS = {2: 5, 3: 6}  # of a solver in a time step
POWER = {2: "²", 3: "³"}
PROBLEM = {2: "poisson2d", 3: "poisson3d"}
# Tables 1 and 2, seconds by size: of one core of a Q6600, and of a GeForce 8800 GT.
CPU_S = {
    2: {"jacobi": {32: 0, 64: 2e-3, 128: 8e-3, 256: 35e-3, 512: 298e-3},
        "gauss-seidel": {32: 0, 64: 3e-3, 128: 15e-3, 256: 60e-3, 512: 245e-3},
        "cg": {32: 0, 64: 3e-3, 128: 13e-3, 256: 56e-3, 512: 350e-3}},
    3: {"jacobi": {32: 10e-3, 64: 170e-3, 128: 1482e-3},
        "gauss-seidel": {32: 15e-3, 64: 141e-3, 128: 1208e-3},
        "cg": {32: 15e-3, 64: 239e-3, 128: 2017e-3}}}
GPU_S = {
    2: {"jacobi": {32: .290e-3, 64: .291e-3, 128: .293e-3, 256: .296e-3, 512: .307e-3},
        "gauss-seidel": {32: .290e-3, 64: .295e-3, 128: .290e-3, 256: .290e-3, 512: .308e-3},
        "cg": {32: .567e-3, 64: .572e-3, 128: .573e-3, 256: .579e-3, 512: .580e-3}},
    3: {"jacobi": {32: .409e-3, 64: .416e-3, 128: .424e-3},
        "gauss-seidel": {32: .344e-3, 64: .348e-3, 128: .361e-3},
        "cg": {32: .666e-3, 64: .674e-3, 128: .683e-3}}}
SOME_CONVERGENCE = 0.1  # relative residual
CONSTANT = 2  # the factor within which times over sizes count as constant


# --- What to measure -----------------------------------------------------------------------------


@dataclass(frozen=True)
class Plan:
    """Points along each axis, by dimensions."""
    grids: dict


def plan_for(device, quick):
    """The paper's grids, or the small ones."""
    if quick:
        return Plan({2: (32, 64, 128), 3: (32, 64)})
    return Plan({dimensions: tuple(times["jacobi"]) for dimensions, times in CPU_S.items()})


def commands_times(dimensions):
    """Runs to a tolerance that takes some sweeps: the time of an iteration is that of all over their
    number. A case that stops at --iterations is timed only once, with the building of its kernels."""
    def commands(plan, device):
        effort = ("--runs", "3", "--min-time", "0.02", "--timeout", "15")
        return [problem_command(f"times-{dimensions}d", PROBLEM[dimensions],
                                plan.grids[dimensions], METHODS, effort, "--tolerance", "0.99",
                                "--iterations", "20000")]
    return commands


def commands_both(plan, device):
    """The same for two and three dimensions."""
    return commands_times(2)(plan, device) + commands_times(3)(plan, device)


def commands_few(plan, device):
    """The paper's few iterations: of the pressure in two and three dimensions, and of a diffusion."""
    effort = ("--runs", "1", "--warmup", "0", "--min-time", "0", "--timeout", "15")
    return [problem_command(f"few-{problem}", problem, plan.grids[dimensions], METHODS, effort,
                            "--tolerance", "1e-6", "--iterations", str(ITERATIONS[dimensions]))
            for problem, dimensions in (("poisson2d", 2), ("poisson3d", 3), ("wave2d", 2))]


def commands_none(plan, device):
    """Computed from the paper's own numbers."""
    return []


# --- Times ---------------------------------------------------------------------------------------


def shape(grid, dimensions):
    """A grid in words: 512², 128³."""
    return f"{grid}{POWER[dimensions]}"


def timed(records, routine, dimensions):
    """{grid: result} that have a time of an iteration."""
    return {grid: row for grid, row in results_of(records, routine, PROBLEM[dimensions]).items()
            if is_timed(row)}


def call_time(row, dimensions):
    """Seconds of the paper's number of iterations."""
    return ITERATIONS[dimensions] * row["median_s"] / row["iterations"]


def gain(ours, plain):
    """(plain loops' time of an iteration over lugpu's, factor within which it is known)."""
    return (plain["median_s"] / plain["iterations"] / (ours["median_s"] / ours["iterations"]),
            together(uncertainty(step_times(plain)), uncertainty(step_times(ours))))


def times(dimensions):
    """Table 1 or 2."""
    def make(records, device):
        ours = {method: timed(records, method, dimensions) for method in METHODS}
        plain = {method: timed(records, f"plain-{method}", dimensions) for method in METHODS}
        common = set.intersection(*(set(ours[method]) & set(plain[method])
                                    for method in ("jacobi", "gauss-seidel")))
        if not common:
            raise NotMade("no grid was measured on both sides.")
        grid = max(common)
        gains = {method: gain(ours[method][grid], plain[method][grid])
                 for method in METHODS if grid in ours[method] and grid in plain[method]}
        verdict, doubt = judge(*(Claim(*gains[method], 1) for method in ("jacobi",
                                                                         "gauss-seidel")))
        told = ", ".join(f"{method} {seconds(call_time(ours[method][grid], dimensions))} "
                         f"({number(ratio)} times the speed of plain loops)"
                         for method, (ratio, _) in gains.items())
        same = " The device is the CPU itself here." if device["type"] == "cpu" else ""
        measured = (f"At {shape(grid, dimensions)} a call with {ITERATIONS[dimensions]} iterations "
                    f"takes: {told}.{doubt}{same} The paper's text has {CALLS[dimensions]} calls in "
                    "a time step and does not say whether its times are of one or of all.")
        return Finding(verdict, measured,
                       " and ".join(f"{number(gains[method][0])} times" for method in
                                    ("jacobi", "gauss-seidel"))
                       + f" plain loops at {shape(grid, dimensions)}",
                       [time_panel(ours, plain, dimensions), gain_panel(ours, plain, dimensions)],
                       time_table(ours, plain, dimensions))
    return make


def time_panel(ours, plain, dimensions):
    """Times of a call, lugpu's and plain loops', and the paper's on its GPU."""
    count = ITERATIONS[dimensions]
    lines = [step_line(f"lugpu, {method}", ours[method],
                       look(METHOD_LOOKS[method][0], "image", METHOD_LOOKS[method][1]), count)
             for method in METHODS]
    lines += [step_line(f"plain loops, {method}", plain[method],
                        look(METHOD_LOOKS[method][0], "buffer", PLAIN_MARKERS[method]), count)
              for method in METHODS]
    lines += [Line(f"paper's {name}, jacobi", sorted((n, time) for n, time in
                                                     source[dimensions]["jacobi"].items() if time),
                   PAPER_LOOK | {"marker": marker})
              for name, source, marker in (("GPU", GPU_S, "x"), ("CPU", CPU_S, "+"))]
    return times_panel(f"{count} iterations", [line for line in lines if line.points], POINTS)


def gain_panel(ours, plain, dimensions):
    """Speed over one thread of plain loops."""
    lines = [Line(f"lugpu, {method}",
                  [(grid, gain(ours[method][grid], plain[method][grid])[0])
                   for grid in sorted(ours[method].keys() & plain[method].keys())],
                  look(METHOD_LOOKS[method][0], "image", METHOD_LOOKS[method][1]))
             for method in METHODS]
    return Panel("Speed over plain loops", "time of plain loops / time",
                 [line for line in lines if line.points], spell_factor, x_label=POINTS,
                 marks={"same speed": 1})


def time_table(ours, plain, dimensions):
    """Both tables of the paper beside the times here, in ms."""
    lines = [[shape(grid, dimensions), method,
              f"{1e3 * CPU_S[dimensions][method][grid]:g}",
              f"{1e3 * GPU_S[dimensions][method][grid]:.3f}",
              *(milliseconds(call_time(rows[method][grid], dimensions)) if grid in rows[method]
                else "" for rows in (plain, ours))]
             for grid in CPU_S[dimensions]["jacobi"] for method in METHODS
             if grid in ours[method] or grid in plain[method]]
    return markdown_table(["grid", "method", "paper's CPU, ms", "paper's GPU, ms",
                           "plain loops here, ms", "lugpu here, ms"], lines)


def constant(records, device):
    """Whether the time depends on the size."""
    found, sentences, claims, lines = {}, [], [], []
    for dimensions in (2, 3):
        rows = found[dimensions] = timed(records, "jacobi", dimensions)
        if len(rows) < 2:
            raise NotMade("there are not two grids to compare.")
        low, high = min(rows), max(rows)
        growth = call_time(rows[high], dimensions) / call_time(rows[low], dimensions)
        printed = GPU_S[dimensions]["jacobi"][high] / GPU_S[dimensions]["jacobi"][low]
        claims.append(Claim(growth, together(*(uncertainty(step_times(rows[grid]))
                                               for grid in (low, high))), CONSTANT, at_most=True))
        sentences.append(f"From {shape(low, dimensions)} to {shape(high, dimensions)}, "
                         f"{(high // low) ** dimensions} times the work, the time of Jacobi's "
                         f"iterations grows {number(growth)} times (paper: {number(printed)}).")
        for name, points, style in (
                ("lugpu", [(n, call_time(rows[n], dimensions)) for n in sorted(rows)],
                 look((FIRST, THIRD)[dimensions - 2], "image", "oD"[dimensions - 2])),
                ("paper's GPU", list(GPU_S[dimensions]["jacobi"].items()),
                 PAPER_LOOK | {"marker": "x+"[dimensions - 2]})):
            lines.append(Line(f"{name}, {dimensions}D", [
                (n ** dimensions, time / points[0][1]) for n, time in points], style))
    verdict, doubt = judge(*claims)
    panels = [Panel("Growth over the smallest grid", "time / time of 32 points an axis", lines,
                    spell_factor, x_label="unknowns")]
    return Finding(verdict, " ".join(sentences) + doubt, "the time grows with the work"
                   if verdict == NO_LONGER else "see the picture", panels)


def launches(records, device):
    """The bandwidth that the printed times would need."""
    needed, lines = {}, []
    for dimensions, methods in GPU_S.items():
        for method, by_size in methods.items():
            points = [(n ** dimensions, ITERATIONS[dimensions] * WORDS[method] * ELEMENT
                       * n ** dimensions / time / 1e9) for n, time in by_size.items()]
            needed[dimensions, method] = points[-1][1] * 1e9
            lines.append(Line(f"paper, {method} {dimensions}D", points, look(
                METHOD_LOOKS[method][0], "image" if dimensions == 2 else "buffer",
                METHOD_LOOKS[method][1] if dimensions == 2 else PLAIN_MARKERS[method])))
    worst = {key: rate / CARD_BYTES_PER_S for key, rate in needed.items()}
    possible = all(ratio <= 1 for ratio in worst.values())
    rows = timed(records, "jacobi", 3)
    here = ""
    if rows:
        grid = max(rows)
        rate = (WORDS["jacobi"] * ELEMENT * grid ** 3 * ITERATIONS[3]
                / call_time(rows[grid], 3))
        here = (f" lugpu's Jacobi moves {gigabytes(rate)} at {shape(grid, 3)} on {device['name']}, "
                f"{percent(rate / device['ceilings']['copy_bytes_per_s'])} of its measured copy.")
    measured = (f"At 128³ four sweeps of Jacobi move at least three words a point each, "
                f"{number(ITERATIONS[3] * WORDS['jacobi'] * ELEMENT * 128**3 / 1e6)} MB; in "
                f"{seconds(GPU_S[3]['jacobi'][128])} that is {gigabytes(needed[3, 'jacobi'])}, "
                f"{number(worst[3, 'jacobi'])} times the {gigabytes(CARD_BYTES_PER_S)} of that "
                f"card. With {CALLS[3]} calls a step it would be "
                f"{number(CALLS[3] * worst[3, 'jacobi'])} times; conjugate gradients need "
                f"{number(worst[3, 'cg'])} times for one call, at ten words a point. The times are "
                "of launches that were not waited for, or of kernels that did not do the work." + here)
    panels = [Panel("Bandwidth of the printed times", "GB/s", lines, spell_rate,
                    x_label="unknowns",
                    marks={"the card's memory: 57.6": CARD_BYTES_PER_S / 1e9})]
    return Finding(HOLDS if possible else WRONG, measured,
                   f"128³ would need {number(worst[3, 'jacobi'])} times the card's bandwidth", panels)


# --- What few iterations leave --------------------------------------------------------------------


def residual_left(row):
    """The true relative residual after the last iteration."""
    return row["checks"]["residual"]


def convergence(records, device):
    """Residuals and errors after the paper's iterations."""
    systems = {"pressure, 2D": ("poisson2d", 2), "pressure, 3D": ("poisson3d", 3),
               "diffusion, 2D": ("wave2d", 2)}
    found = {(name, method): results_of(records, method, problem)
             for name, (problem, _) in systems.items() for method in METHODS}
    pressure = {method: found["pressure, 2D", method] for method in METHODS}
    if not all(pressure.values()):
        raise NotMade("not every method was measured.")
    grid = max(set.intersection(*map(set, pressure.values())))
    left = {method: residual_left(pressure[method][grid]) for method in METHODS}
    least = min(left.values())
    others = "".join(
        f" In the {name} at {shape(n, systems[name][1])}, {ITERATIONS[systems[name][1]]} leave "
        + ", ".join(f"{number(residual_left(found[name, method][n]))} ({method})"
                    for method in METHODS) + "."
        for name in ("pressure, 3D", "diffusion, 2D")
        if (n := max(set.intersection(*(set(found[name, method]) for method in METHODS)),
                     default=None)))
    measured = (f"At {shape(grid, 2)} {ITERATIONS[2]} iterations from zero leave of the pressure's "
                "residual "
                + ", ".join(f"{number(value)} ({method})" for method, value in left.items())
                + ": " + ("nothing is solved." if least > 0.9 else "little is solved."
                          if least > SOME_CONVERGENCE else "a part is solved.")
                + " A residual above 1 is no fault: it is the error that conjugate gradients make "
                "smaller in every step, and red-black Gauss-Seidel leaves the whole residual on one "
                "colour." + others)
    lines = [[name, method, shape(n, systems[name][1]), ITERATIONS[systems[name][1]],
              f"{residual_left(row):.3g}", f"{row['checks']['error']:.3g}"]
             for (name, method), rows in found.items() for n, row in sorted(rows.items())]
    table = markdown_table(["system", "method", "grid", "iterations", "relative residual",
                            "relative error"], lines)
    panels = [Panel(f"Left after {ITERATIONS[dimensions]}, {name}", "relative residual", [
        Line(method, [(n, residual_left(row)) for n, row in
                      sorted(found[name, method].items())],
             look(METHOD_LOOKS[method][0], "image", METHOD_LOOKS[method][1]))
        for method in METHODS if found[name, method]], lambda y, _: f"{y:g}", x_label=POINTS,
        marks={f"some convergence: {SOME_CONVERGENCE}": SOME_CONVERGENCE})
        for name, (_, dimensions) in systems.items()]
    return Finding(HOLDS if least <= SOME_CONVERGENCE else WRONG, measured,
                   f"{number(least)} of the residual is left at {shape(grid, 2)}", panels, table)


# --- The equations -------------------------------------------------------------------------------

DIFFUSED = 5e-3  # k t at the end
TIME_STEPS = 50
SWEEPS = 10


def neighbours(x):
    """The sum of the four neighbours of every inner point of x; x has the walls around it."""
    return x[:-2, 1:-1] + x[2:, 1:-1] + x[1:-1, :-2] + x[1:-1, 2:]


def start(n):
    """sin(pi x) sin(pi y) on n x n inner points, with walls at zero."""
    wave = numpy.sin(numpy.pi * numpy.arange(n + 2) / (n + 1))
    field = numpy.outer(wave, wave)
    field[[0, -1], :] = field[:, [0, -1]] = 0
    return field


def sweep(x, right, a, diagonal):
    """One of Jacobi's sweeps for diagonal x - a (sum of neighbours) = right."""
    new = numpy.zeros_like(x)
    new[1:-1, 1:-1] = (right[1:-1, 1:-1] + a * neighbours(x)) / diagonal
    return new


@functools.cache
def decay(n, power):
    """[(k t, largest value over that at the start)] of the diffusion with a = k dt / h^power and the
    diagonal 1 + 4 a, each implicit step solved by Jacobi to 1e-10."""
    step = DIFFUSED / TIME_STEPS
    a = step * (n + 1) ** power
    field, points = start(n), [(0.0, 1.0)]
    largest = float(field.max())  # less than 1 where no point is in the middle
    for count in range(1, TIME_STEPS + 1):
        right, change = field, 1.0
        while change > 1e-10:
            new = sweep(field, right, a, 1 + 4 * a)
            change, field = float(abs(new - field).max()), new
        points.append((count * step, float(field.max()) / largest))
    return points


def growth(a, diagonal, n=32):
    """[(sweep, largest value over that at the start)] of Jacobi's sweeps in one step that starts from
    the field itself."""
    field = right = start(n)
    points, largest = [(0, 1.0)], float(field.max())
    for count in range(1, SWEEPS + 1):
        field = sweep(field, right, a, diagonal)
        points.append((count, float(field.max()) / largest))
    return points


def diffusion(records, device):
    """h² against h³, and the diagonal."""
    exact = [(k_t, float(numpy.exp(-2 * numpy.pi ** 2 * k_t))) for k_t, _ in decay(8, 2)]
    curves = {(power, n): decay(n, power) for power, n in ((2, 16), (2, 32), (3, 16), (3, 32))}
    off = {key: points[-1][1] / exact[-1][1] - 1 for key, points in curves.items()}
    printed, right = growth(1, 2), growth(1, 5)
    measured = (f"After k t = {DIFFUSED:g} the exact solution sin πx sin πy has decayed to "
                f"{number(exact[-1][1])}. With k dt / h² the implicit steps give "
                f"{number(curves[2, 32][-1][1])} on 32² points, {percent(abs(off[2, 32]))} off, and "
                f"{number(curves[2, 16][-1][1])} on 16². With the printed k dt / h³ they give "
                f"{number(curves[3, 32][-1][1])} and {number(curves[3, 16][-1][1])}: the fluid's "
                f"viscosity grows with the grid, by 1/h. With the printed diagonal 1 + a (a = 1), "
                f"{SWEEPS} of Jacobi's sweeps make the field {number(printed[-1][1])} times as large "
                f"and go on; with 1 + 4a it stays {number(right[-1][1])}, so that the paper's "
                "programs must have had another one.")
    styles = {(2, 16): (FIRST, "s"), (2, 32): (FIRST, "o"), (3, 16): (SECOND, "v"),
              (3, 32): (SECOND, "^")}
    lines = [Line(f"k dt / h{POWER[power]}, {n}²", points, look(
        styles[power, n][0], "image" if n == 32 else "buffer", styles[power, n][1])
        | {"markevery": (n // 4, 10)}) for (power, n), points in curves.items()]
    lines.append(Line("exact", exact, {"color": "black", "linestyle": ":"}))
    sweeps = [Line("diagonal 1 + 4a", right, look(FIRST, "image", "D")),
              Line("diagonal 1 + a, as printed", printed, look(SECOND, "image", "P"))]
    panels = [Panel("Decay of a diffusion", "largest value", lines, lambda y, _: f"{y:g}",
                    log=False, kind="reals", x_label="k t"),
              Panel("Jacobi's sweeps, a = 1", "largest value", sweeps, lambda y, _: f"{y:g}",
                    kind="steps", x_label="sweep")]
    sound = abs(off[3, 32]) < 0.05 and printed[-1][1] < 1
    return Finding(HOLDS if sound else WRONG, measured,
                   f"{percent(abs(off[3, 32]))} off with h³, {percent(abs(off[2, 32]))} with h²",
                   panels)


# --- The list of figures -------------------------------------------------------------------------

FIGURES = [
    Figure("table1", "2d", "Table 1: solvers in 2D",
           "On the GPU Jacobi and Gauss-Seidel, 10 iterations on 32² to 512² points, are faster than "
           "on one core of the CPU but on 32².",
           "both are faster than plain loops of one thread on the largest grid.",
           commands_times(2), times(2), "Ten iterations in 2D"),
    Figure("table2", "3d", "Table 2: solvers in 3D",
           "On the GPU Jacobi and Gauss-Seidel, 4 iterations on 32³ to 128³ points, are faster than "
           "on one core of the CPU.",
           "both are faster than plain loops of one thread on the largest grid.",
           commands_times(3), times(3), "Four iterations in 3D"),
    Figure("constant", "complexity", "Complexity: constant time",
           "The GPU's times hardly depend on the size: \"constant time complexity\", the most "
           "important result.",
           f"the time on the largest grid is at most {CONSTANT} times that on the smallest, in 2D "
           "and in 3D.", commands_both, constant, "Time over the number of unknowns"),
    Figure("launches", "bandwidth", "Bandwidth: launches timed instead of work",
           "Four sweeps of Jacobi on 128³ points take 0.424 ms on a GeForce 8800 GT.",
           "the printed times need at most the bandwidth of that card's memory, 57.6 GB/s.",
           commands_times(3), launches, "Bandwidth that the printed times would need",
           computed="from the paper's times, one call of a solver in single precision"),
    Figure("convergence", "residuals", "Convergence: what few iterations leave",
           "10 iterations in 2D and 4 in 3D suffice to ensure some convergence. The paper shows no "
           "residuals.",
           f"the best of the three leaves at most {SOME_CONVERGENCE} of the pressure's residual "
           "after 10 iterations on the largest grid in 2D.", commands_few, convergence,
           "Residuals after the paper's iterations"),
    Figure("diffusion", "equations", "Equation 3: diffusion",
           "Diffusion solves a system with a = k dt / h³, and each cell is divided by 1 + k dt / h³.",
           "with the printed coefficients a sine decays within 5 % of the exact solution, and ten "
           "sweeps do not make it grow.", commands_none, diffusion,
           "Diffusion with the printed coefficients and with the right ones",
           computed="with NumPy in double precision"),
]

LATER = (("Figures 6 to 8, frames", "Simulations of a fluid on 128² points with moving walls, with "
                                    "each of the solvers on the CPU."),
         ("Time step", "5 calls of a solver in a step in 2D and 6 in 3D; at most 33 ms for 30 frames "
                       "a second."))

INTRO = (
    "Written by `scripts/reproduce.py --paper stable-fluids-2010`, which measures again what the "
    "paper states. The numbers are computed from the JSON files beside this page, which name the "
    "commands that made them. Everything is in single precision and on buffers. A time is of one call "
    "of a solver: the median time of an iteration, with the data on the device, times the paper's "
    "number of iterations; it is taken from runs of more iterations, which include looking at the "
    "residual now and then. Plain loops are C++ in one thread. A verdict is unclear if the samples, "
    "by their number and spread (95 % confidence), allow either answer. Algorithms 4 and 5 of the "
    "paper have one more fault, which cannot be measured: a barrier of a work-group "
    "(`__syncthreads`) does not order work-groups, so that sweeps inside one launch race.")

CITATION = "G. Amador and A. Gomes: Linear Solvers for Stable Fluids: GPU vs CPU, 2010"
PAPER = Paper(CITATION, "Linear solvers for stable fluids, measured again", INTRO, FIGURES, plan_for,
              left_out, rivals, LATER)
