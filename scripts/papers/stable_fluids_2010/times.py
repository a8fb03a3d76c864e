"""Tables 1 and 2: the times of a few iterations, how they grow, and the bandwidth they would take."""

import statistics

from papers.drawing import FIRST, THIRD, Line, Panel, look, spell_factor, spell_rate
from papers.grids import (ELEMENT, METHOD_LOOKS, PAPER_LOOK, PLAIN_MARKERS, POINTS, milliseconds,
                          timed_rows, times_panel)
from papers.pages import Finding
from papers.running import NotMade
from papers.stable_fluids_2010.plan import SYSTEMS
from papers.stable_fluids_2010.tables import (CALLS, CARD_BYTES_PER_S, CPU_S, FRAME_S, GPU_S,
                                              ITERATIONS, METHODS, shape)
from papers.verdicts import HOLDS, WRONG, Claim, judge, together, uncertainty
from papers.words import gigabytes, markdown_table, number, percent, seconds

WORDS = {"jacobi": 3, "gauss-seidel": 3, "cg": 10}  # a row and iteration, at least
CONSTANT = 2  # the factor within which times over sizes count as constant
PRESSURE = {2: "pressure, 2D", 3: "pressure, 3D"}


def few_iterations(records, routine, system):
    """{grid: result} of the paper's number of iterations, all of which stopped there."""
    problem, dimensions = SYSTEMS[system]
    return {row["grid"]: row for row in timed_rows(records, routine, problem)
            if row["most_iterations"] == row["iterations"] == ITERATIONS[dimensions]
            and row["checks"]["residual"] is not None}


def call_time(row):
    """Seconds of one call of a solver."""
    return statistics.median(row["times_s"])


def ratio(above, below):
    """(time of one call over that of another, factor within which it is known)."""
    return (call_time(above) / call_time(below),
            together(uncertainty(above["times_s"]), uncertainty(below["times_s"])))


def frame(method, row, dimensions):
    """What the calls of a time step take of a frame."""
    whole = CALLS[dimensions] * call_time(row)
    return (f" The {CALLS[dimensions]} calls of a time step take {seconds(whole)} with {method}, "
            f"{percent(whole / FRAME_S)} of the {seconds(FRAME_S)} of a frame.")


def table(dimensions):
    """Table 1 or 2."""
    def make(records, device):
        ours, plain = ({method: few_iterations(records, prefix + method, PRESSURE[dimensions])
                        for method in METHODS} for prefix in ("", "plain-"))
        common = set.intersection(*(set(ours[method]) & set(plain[method]) for method in METHODS))
        if not common:
            raise NotMade("no grid was measured on both sides.")
        grid = max(common)
        gains = {method: ratio(plain[method][grid], ours[method][grid]) for method in METHODS}
        verdict, doubt = judge(*(Claim(*gains[method], 1) for method in ("jacobi",
                                                                         "gauss-seidel")))
        told = ", ".join(
            f"{method} {seconds(call_time(ours[method][grid]))} ({number(gain)} times the speed of "
            f"plain loops) for a residual of {number(ours[method][grid]['checks']['residual'])}"
            for method, (gain, _) in gains.items())
        same = " The device is the CPU itself here." if device["type"] == "cpu" else ""
        measured = (f"At {shape(grid, dimensions)} a call with {ITERATIONS[dimensions]} iterations "
                    f"takes: {told}.{doubt}{same}"
                    + frame("gauss-seidel", ours["gauss-seidel"][grid], dimensions)
                    + " The paper does not say whether its times are of one call or of all.")
        return Finding(verdict, measured,
                       " and ".join(f"{number(gains[method][0])} times" for method in
                                    ("jacobi", "gauss-seidel"))
                       + f" plain loops at {shape(grid, dimensions)}",
                       [time_panel(ours, plain, dimensions), gain_panel(ours, plain)],
                       time_table(ours, plain, dimensions))
    return make


def time_line(label, rows, colour, storage, marker):
    """Times of a call over the points along each axis."""
    return Line(label, [(grid, call_time(row)) for grid, row in sorted(rows.items())],
                look(colour, storage, marker))


def time_panel(ours, plain, dimensions):
    """Times of a call, lugpu's and plain loops', and the paper's with Jacobi."""
    lines = [time_line(f"lugpu, {method}", ours[method], METHOD_LOOKS[method][0], "image",
                       METHOD_LOOKS[method][1]) for method in METHODS]
    lines += [time_line(f"plain loops, {method}", plain[method], METHOD_LOOKS[method][0], "buffer",
                        PLAIN_MARKERS[method]) for method in METHODS]
    lines += [Line(f"paper's {name}, jacobi", sorted((n, time) for n, time in
                                                     source[dimensions]["jacobi"].items() if time),
                   PAPER_LOOK | {"marker": marker})
              for name, source, marker in (("GPU", GPU_S, "x"), ("CPU", CPU_S, "+"))]
    return times_panel(f"A call of {ITERATIONS[dimensions]} iterations",
                       [line for line in lines if line.points], POINTS)


def gain_panel(ours, plain):
    """Speed over one thread of plain loops."""
    lines = [Line(f"lugpu, {method}",
                  [(grid, ratio(plain[method][grid], ours[method][grid])[0])
                   for grid in sorted(ours[method].keys() & plain[method].keys())],
                  look(METHOD_LOOKS[method][0], "image", METHOD_LOOKS[method][1]))
             for method in METHODS]
    return Panel("Speed over plain loops", "time of plain loops / time",
                 [line for line in lines if line.points], spell_factor, x_label=POINTS,
                 marks={"same speed": 1})


def time_table(ours, plain, dimensions):
    """A table of the paper beside the times here, and what they leave."""
    lines = [[shape(grid, dimensions), method,
              f"{1e3 * CPU_S[dimensions][method][grid]:g}",
              f"{1e3 * GPU_S[dimensions][method][grid]:.3f}",
              *(milliseconds(call_time(rows[method][grid])) if grid in rows[method]
                else "" for rows in (plain, ours)),
              *(f"{ours[method][grid]['checks'][what]:.3g}" if grid in ours[method] else ""
                for what in ("residual", "error"))]
             for grid in CPU_S[dimensions]["jacobi"] for method in METHODS
             if grid in ours[method] or grid in plain[method]]
    return markdown_table(["grid", "method", "paper's CPU, ms", "paper's GPU, ms",
                           "plain loops here, ms", "lugpu here, ms", "residual left",
                           "error left"], lines)


# --- Complexity ----------------------------------------------------------------------------------

def growth_line(label, points, dimensions, style):
    """Times over that of the smallest grid, over the number of unknowns."""
    return Line(f"{label}, {dimensions}D",
                [(n ** dimensions, time / points[0][1]) for n, time in points], style)


def constant(records, device):
    """Whether the time depends on the size."""
    sentences, claims, lines, grown = [], [], [], []
    for dimensions in (2, 3):
        rows, plain = (few_iterations(records, routine, PRESSURE[dimensions])
                       for routine in ("jacobi", "plain-jacobi"))
        if len(rows) < 2:
            raise NotMade("there are not two grids to compare.")
        low, high = min(rows), max(rows)
        growth, factor = ratio(rows[high], rows[low])
        printed = GPU_S[dimensions]["jacobi"]
        claims.append(Claim(growth, factor, CONSTANT, at_most=True))
        grown.append(f"{number(growth)} times from {shape(low, dimensions)} to "
                     f"{shape(high, dimensions)}")
        sentences.append(f"From {shape(low, dimensions)} to {shape(high, dimensions)}, "
                         f"{(high // low) ** dimensions} times the work, the time of Jacobi's "
                         f"iterations grows {number(growth)} times (paper: "
                         f"{number(printed[high] / printed[low])}).{plain_growth(plain, dimensions)}")
        place = dimensions - 2
        lines.append(growth_line("lugpu", [(n, call_time(rows[n])) for n in sorted(rows)],
                                 dimensions, look((FIRST, THIRD)[place], "image", "oD"[place])))
        if plain:
            lines.append(growth_line("plain loops", [(n, call_time(plain[n]))
                                                     for n in sorted(plain)], dimensions,
                                     look((FIRST, THIRD)[place], "buffer", "s^"[place])))
        lines.append(growth_line("paper's GPU", list(printed.items()), dimensions,
                                 PAPER_LOOK | {"marker": "x+"[place]}))
    verdict, doubt = judge(*claims)
    panels = [Panel("Growth with the grid", "time / time of the smallest grid", lines,
                    spell_factor, x_label="unknowns")]
    return Finding(verdict, " ".join(sentences) + doubt, " and ".join(grown), panels)


def plain_growth(plain, dimensions):
    """How the time on the processor grows from the second largest grid, which the paper calls
    quadratic to cubic in the points along an axis."""
    if len(plain) < 2:
        return ""
    low, high = sorted(plain)[-2:]
    printed = CPU_S[dimensions]["jacobi"]
    paper = f"paper: {number(printed[high] / printed[low])}; " if printed[low] else ""
    return (f" Plain loops take {number(ratio(plain[high], plain[low])[0])} times as long on "
            f"{shape(high, dimensions)} as on {shape(low, dimensions)} ({paper}the work: "
            f"{(high // low) ** dimensions}).")


# --- Bandwidth -----------------------------------------------------------------------------------

def moved(method, n, dimensions):
    """Bytes of a call, at least."""
    return ITERATIONS[dimensions] * WORDS[method] * ELEMENT * n ** dimensions


def launches(records, device):
    """The bandwidth that the printed times would need."""
    needed, lines = {}, []
    for dimensions, methods in GPU_S.items():
        for method, by_size in methods.items():
            points = [(n ** dimensions, moved(method, n, dimensions) / time / 1e9)
                      for n, time in by_size.items()]
            needed[dimensions, method] = points[-1][1] * 1e9
            lines.append(Line(f"paper, {method} {dimensions}D", points, look(
                METHOD_LOOKS[method][0], "image" if dimensions == 2 else "buffer",
                METHOD_LOOKS[method][1] if dimensions == 2 else PLAIN_MARKERS[method])))
    worst = {key: rate / CARD_BYTES_PER_S for key, rate in needed.items()}
    possible = all(over <= 1 for over in worst.values())
    rows = few_iterations(records, "jacobi", PRESSURE[3])
    here = ""
    if rows:
        grid = max(rows)
        rate = moved("jacobi", grid, 3) / call_time(rows[grid])
        here = (f" lugpu's Jacobi moves {gigabytes(rate)} at {shape(grid, 3)} on {device['name']}, "
                f"{percent(rate / device['ceilings']['copy_bytes_per_s'])} of its measured copy.")
    measured = (f"At 128³ four sweeps of Jacobi move at least three words a point each, "
                f"{number(moved('jacobi', 128, 3) / 1e6)} MB; in "
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
