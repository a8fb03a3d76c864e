"""What the papers on vectors and grids share: choosing probes and results, lines and sentences."""

import math

import figures
import problem_figures
import simulation_figures
from papers.drawing import FIRST, SECOND, THIRD, Line, Panel, look, spell_rate
from papers.running import Command, NotMade, listed
from papers.verdicts import Claim, judge, together, uncertainty
from papers.words import gigabytes, number, percent, seconds

PAPER_LOOK = {"color": figures.GREY, "linestyle": ":", "marker": "x", "markersize": 6}
METHOD_LOOKS = {"jacobi": (THIRD, "s"), "gauss-seidel": (SECOND, "D"), "cg": (FIRST, "o")}
PLAIN_MARKERS = {"jacobi": "v", "gauss-seidel": "^", "cg": "P"}
ELEMENT = 4  # bytes, in single precision
SIDES = "square root of the number of elements"
POINTS = "points along each axis"
WAVE_TOLERANCE = 1e-4


# --- Commands ------------------------------------------------------------------------------------

def probe_command(stem, groups, sizes, storage, runs):
    """Groups of operators: on vectors of n x n elements, with matrices, on grids of n x n points."""
    return Command(stem, ("probe", "--probes", groups, "-n", listed(sizes), "--precision",
                          "single", "--storage", storage, "--runs", str(runs)))


def problem_command(stem, problem, grids, methods, effort, *more, rivals=True):
    """Methods of lugpu on a problem, and the same with plain loops of one thread."""
    plain = ",".join(f"plain-{method}" for method in methods) if rivals else "none"
    return Command(stem, ("bench", "--problem", problem, "--grid", listed(grids), "--method",
                          ",".join(methods), "--baseline", plain, "--precision", "single",
                          "--storage", "buffer", *effort, *more))


def wave_command(grids):
    """Conjugate gradients on an implicit step of the wave equation, until they have converged."""
    effort = ("--runs", "5", "--min-time", "0.1", "--timeout", "30")
    return problem_command("wave", "implicit2d", grids, ["cg"], effort, "--tolerance",
                           str(WAVE_TOLERANCE))


# --- Choosing ------------------------------------------------------------------------------------

def probes_of(records, name, storage="buffer"):
    """{n: probe} of one operation, in 2D, that was timed."""
    found = {}
    for record in records:
        for probe in record.get("probes", []):
            if ((probe["name"], probe.get("storage")) == (name, storage)
                    and len(probe.get("grid", [])) != 3 and probe.get("median_s", 0) > 0):
                found.setdefault(probe["n"], probe)
    return found


def known_probes(records, name, storage="buffer"):
    """The same; there must be some."""
    found = probes_of(records, name, storage)
    if not found:
        raise NotMade(f"no probe of {name} on {storage}s was timed.")
    return found


def copy_rate(records):
    """Bytes a second of a copy, as the run of the probes measured it."""
    rates = [probe["value"] for record in records for probe in record.get("probes", [])
             if probe["name"] == "copy"]
    if not rates:
        raise NotMade("no copy was timed.")
    return rates[0]


def against_copy(rate, records):
    """A bandwidth in words, and what it is of that of a copy."""
    share = rate / copy_rate(records)
    caches = ", so that caches serve a part" if share > 1 else ""
    return f"{gigabytes(rate)}, {percent(share)} of the measured copy{caches}"


def timed_rows(records, routine, problem):
    """The results of a method that have times, also of those that stopped at their last
    iteration."""
    return [row for record in records for row in record["results"]
            if (row["routine"], row.get("problem")) == (routine, problem) and row["times_s"]]


def wave_results(records, routine):
    """{grid: result} of a method that solved the step of the wave equation."""
    return {row["grid"]: row for row in timed_rows(records, routine, "implicit2d") if is_timed(row)}


def step_times(row):
    """Seconds of an iteration in each sample of a result."""
    return [value / row["iterations"] for value in row["times_s"]]


def is_timed(row):
    """Whether a result has reached its tolerance, in some iterations."""
    return row["status"] == "ok" and bool(row["iterations"])


def left_out(records, concerned):
    """Lines about results that have no times. Those that stopped at --iterations are meant to. And
    about simulations that went wrong."""
    rows = [row for record in records for row in record["results"] if "problem" in row]
    simulated = [row for row in rows if simulation_figures.is_simulation(row)]
    return ([problem_figures.describe_left_out(row, False) for row in rows
             if not row["times_s"] and row not in simulated]
            + [simulation_figures.describe_left_out(row, False) for row in simulated
               if not simulation_figures.is_drawable(row)])


# --- Words and lines -----------------------------------------------------------------------------

def plain_rivals(record):
    """The baselines in words."""
    return f"plain C++ loops, one thread of {record['context']['cpu']}"


def elements(n):
    """A size in words: 512²."""
    return f"{n}²"


def milliseconds(value):
    """A time as a table of the papers has it."""
    return number(1e3 * value)


def time_lines(name, probes, style, paper, card):
    """The measured times of an operation and those of the paper, {n: seconds}."""
    return [Line(name, [(n, probe["median_s"]) for n, probe in sorted(probes.items())], style),
            Line(card, sorted(paper.items()), PAPER_LOOK)]


def times_panel(title, lines, x_label=SIDES):
    """Seconds over a size, both logarithmic."""
    return Panel(title, "median time", lines, figures.spell_time, x_label=x_label)


def rate_panel(title, probes, words, records, x_label=SIDES):
    """GB/s of operations, {name: {n: probe}}, which move so many words an element."""
    lines = [Line(name, [(n, words[name] * ELEMENT * n * n / probe["median_s"] / 1e9)
                         for n, probe in sorted(found.items())], look(colour, "image", marker))
             for (name, found), colour, marker in zip(probes.items(), (FIRST, THIRD, SECOND), "oDs")]
    return Panel(title, "GB/s", lines, spell_rate, x_label=x_label,
                 marks={"copy, measured": copy_rate(records) / 1e9})


def at_most_the_paper(probes, paper):
    """(verdict, doubts, sizes that both have) of the rule that no size takes longer than printed."""
    common = sorted(probes.keys() & paper.keys())
    if not common:
        raise NotMade("none of the paper's sizes was measured.")
    verdict, doubt = judge(*(Claim(probes[n]["median_s"], uncertainty(probes[n]["times_s"]),
                                   paper[n], at_most=True) for n in common))
    return verdict, doubt, common


def against_paper(probes, paper, sizes, named=elements):
    """Sentences with both times, and the quotient at the largest size."""
    listed_times = ", ".join(f"{seconds(probes[n]['median_s'])} for {named(n)} "
                             f"(paper: {seconds(paper[n])})" for n in sizes)
    n = sizes[-1]
    return (f"{listed_times}. At {named(n)} that is "
            f"{number(paper[n] / probes[n]['median_s'])} times the paper's speed")


def quotient(above, below):
    """(time of one over that of another, factor within which it is known); of probes."""
    return (above["median_s"] / below["median_s"],
            together(uncertainty(above["times_s"]), uncertainty(below["times_s"])))


def step_line(label, rows, style):
    """The time of an iteration over the points along each axis."""
    return Line(label, [(grid, row["median_s"] / row["iterations"])
                        for grid, row in sorted(rows.items())], style)


def residual_line(label, row, style):
    """The relative residual over the iterations, where it was looked at in each."""
    points = [(step, value) for step, value in enumerate(row["residuals"])
              if value and math.isfinite(value)]
    return Line(label, points, style | {"markevery": max(1, len(points) // 12)})


def residual_panel(rows, marks, named=elements):
    """Relative residuals over iterations, for each grid, the largest first."""
    lines = [residual_line(f"residual, {named(grid)}", rows[grid], look(
        figures.paler(FIRST, 2 * place / len(rows)), "image", figures.MARKERS[place + 1]))
        for place, grid in enumerate(sorted(rows, reverse=True))]
    return Panel("What the iterations leave", "relative residual", lines,
                 problem_figures.spell_power, kind="steps", x_label="iterations", marks=marks)
