"""GPU Gems 2, chapter 44: A GPU Framework for Solving Systems of Linear Equations, 2005."""

from dataclasses import dataclass

from papers.drawing import FIRST, THIRD, Line, look
from papers.grids import (ELEMENT, METHOD_LOOKS, PAPER_LOOK, POINTS, WAVE_TOLERANCE, against_copy,
                          against_paper, at_most_the_paper, elements, known_probes, left_out,
                          milliseconds, plain_rivals, probe_command, rate_panel, residual_panel,
                          step_line, step_times, time_lines, times_panel, wave_command,
                          wave_results)
from papers.pages import Figure, Finding, Paper
from papers.running import NotMade
from papers.simulated import Demo, demo_commands, frames
from papers.verdicts import HOLDS, NO_LONGER, UNCLEAR, uncertainty
from papers.words import gigabytes, markdown_table, number, percent, seconds

CARD = "chapter, GeForce 6800 GT"
CARD_BYTES_PER_S = 32e9  # 256 bits at 1 GHz
# Table 44-1. A square with about as many elements stands for an oblong of 2 to 1.
SIZES = {256: "256²", 362: "512 x 256", 512: "512²", 724: "1024 x 512", 1024: "1024²",
         1448: "2048 x 1024"}
REDUCTION_S = dict(zip(SIZES, (0.14e-3, 0.16e-3, 0.17e-3, 0.28e-3, 0.49e-3, 1.11e-3)))
OPERATION_S = dict(zip(SIZES, (0.02e-3, 0.04e-3, 0.08e-3, 0.15e-3, 0.31e-3, 0.89e-3)))
FRAMES_PER_S = dict(zip(SIZES, (335, 185, 102, 52, 27, 12)))
WORDS = {"operation": 3, "reduction": 1}
ENOUGH = 1e-3  # a relative residual
DEMO = Demo("wave", 5, {SIZES[n]: rate for n, rate in FRAMES_PER_S.items()}, CARD)
DEMO_GRIDS = {256: "256", 362: "512x256", 512: "512", 724: "1024x512", 1024: "1024",
              1448: "2048x1024"}  # as the program takes them


# --- What to measure -----------------------------------------------------------------------------

@dataclass(frozen=True)
class Plan:
    """Sizes of vectors and of grids."""
    vectors: tuple
    grids: tuple
    runs: int
    steps: int  # of a simulation


def plan_for(device, quick):
    """All sizes of the table, or the small ones."""
    if quick:
        return Plan((256, 512), (256,), 3, 30)
    return Plan(tuple(SIZES), tuple(SIZES), 7, 100 if device["type"] == "cpu" else 2000)


def commands_vectors(plan, device):
    """Operations on buffers."""
    return [probe_command("vectors", "vectors", plan.vectors, "buffer", plan.runs)]


def commands_wave(plan, device):
    """Conjugate gradients on an implicit step of the wave equation."""
    return [wave_command(plan.grids)]


def commands_demo(plan, device):
    """Rain on water, on the chapter's own grids."""
    return demo_commands("wave", "rain", [DEMO_GRIDS[n] for n in plan.grids], DEMO.iterations,
                         plan.steps)


# --- The figures ---------------------------------------------------------------------------------

def table(probes, paper, words):
    """Both times and bandwidths for every size."""
    lines = [[SIZES[n], elements(n), milliseconds(paper[n]), milliseconds(probes[n]["median_s"]),
              number(paper[n] / probes[n]["median_s"]),
              number(words * ELEMENT * n * n / paper[n] / 1e9),
              number(words * ELEMENT * n * n / probes[n]["median_s"] / 1e9)]
             for n in sorted(probes.keys() & paper.keys())]
    return markdown_table(["chapter's size", "here", "chapter, ms", "here, ms", "speed over it",
                           "chapter, GB/s", "here, GB/s"], lines)


def named(n):
    """The size of the chapter for which n² elements stand."""
    return SIZES[n]


def vectors(records, operation, name, paper, style):
    """One row of the table: a finding without its last sentence."""
    probes = known_probes(records, operation)
    verdict, doubt, sizes = at_most_the_paper(probes, paper)
    n = sizes[-1]
    rate = WORDS[name] * ELEMENT * n * n / probes[n]["median_s"]
    measured = (f"It takes {against_paper(probes, paper, sizes, named)}, at "
                f"{against_copy(rate, records)}.{doubt}")
    panels = [times_panel(f"Vector {name}", time_lines(f"lugpu, {name}", probes, style, paper,
                                                       CARD)),
              rate_panel(f"{WORDS[name]} word{'s' * (WORDS[name] > 1)} an element", {name: probes},
                         WORDS, records)]
    return Finding(verdict, measured, f"{seconds(probes[n]['median_s'])} at {named(n)}", panels,
                   table(probes, paper, WORDS[name]))


def reduction(records, device):
    """The first row."""
    finding = vectors(records, "sum", "reduction", REDUCTION_S, look(THIRD, "image", "D"))
    finding.measured += (f" In the chapter {named(256)} takes "
                         f"{percent(REDUCTION_S[256] / REDUCTION_S[1024])} of the time of "
                         f"{named(1024)} for a sixteenth of the elements: the passes' launches, "
                         "not the work.")
    return finding


def operation(records, device):
    """The second row."""
    finding = vectors(records, "add", "operation", OPERATION_S, look(FIRST, "image", "o"))
    rates = {n: WORDS["operation"] * ELEMENT * n * n / time for n, time in OPERATION_S.items()}
    above = [named(n) for n, rate in rates.items() if rate > CARD_BYTES_PER_S]
    finding.measured += (
        f" With two vectors read and one written, the chapter's times for {', '.join(above)} mean "
        f"up to {gigabytes(max(rates.values()))}, more than the {gigabytes(CARD_BYTES_PER_S)} of "
        "that card's memory: it must have moved fewer bytes, of which the chapter says nothing.")
    return finding


def steps_in_frame(row):
    """Iterations that fit into a frame of the chapter."""
    step = row["median_s"] / row["iterations"]
    return int(1 / FRAMES_PER_S[row["grid"]] / step)


def wave(records, device):
    """What fits into the chapter's frames."""
    rows = {grid: row for grid, row in wave_results(records, "cg").items()
            if grid in FRAMES_PER_S}
    if not rows:
        raise NotMade("no grid of the chapter was solved.")
    verdict, lines = judge_frames(rows)
    grid = max(rows)
    row, fitting = rows[grid], min(steps_in_frame(rows[grid]), len(rows[grid]["residuals"]) - 1)
    measured = (f"At {named(grid)} a frame of the chapter, {seconds(1 / FRAMES_PER_S[grid])}, is "
                f"enough for {steps_in_frame(row)} iterations of "
                f"{seconds(row['median_s'] / row['iterations'])}, and {fitting} leave a relative "
                f"residual of {number(row['residuals'][fitting])}. {row['iterations']} iterations "
                f"to {WAVE_TOLERANCE:g} would allow {number(1 / row['median_s'])} frames a second for "
                "the solver alone. The chapter tells neither its iterations nor its residuals.")
    plain = wave_results(records, "plain-cg")
    frames = sorted((n, 1 / rate) for n, rate in FRAMES_PER_S.items())
    whole = [(n, rows[n]["median_s"]) for n in sorted(rows)]
    panels = [times_panel("A time step", [
        Line(f"lugpu, cg to {WAVE_TOLERANCE:g}", whole, look(*METHOD_LOOKS["cg"][:1], "image", "o")),
        step_line("lugpu, one iteration", rows, look(THIRD, "image", "D")),
        step_line("plain loops, one iteration", plain, look("black", "buffer", "P")),
        Line("chapter, a frame", frames, PAPER_LOOK)], POINTS),
        residual_panel(rows, {f"enough: {ENOUGH:g}": ENOUGH}, named)]
    head = ["chapter's grid", "here", "chapter, frames/s", "iterations in its frame",
            f"iterations to {ENOUGH:g}", f"to {WAVE_TOLERANCE:g}", "an iteration, ms",
            "solver alone, frames/s"]
    return Finding(verdict, measured, f"{steps_in_frame(row)} iterations in a frame at "
                   f"{named(grid)}", panels, markdown_table(head, lines))


def steps_to(row, residual):
    """Iterations after which the residual stays below a value."""
    above = [step for step, value in enumerate(row["residuals"]) if not value <= residual]
    return above[-1] + 1 if above else 0


def judge_frames(rows):
    """(verdict, rows of the table): whether a residual of ENOUGH fits into every frame."""
    verdicts, lines = [], []
    for grid, row in sorted(rows.items()):
        need, fit = steps_to(row, ENOUGH), steps_in_frame(row)
        factor = uncertainty(step_times(row))
        surely, hardly = need <= fit / factor, need > fit * factor
        verdicts.append(HOLDS if surely else NO_LONGER if hardly else UNCLEAR)
        lines.append([SIZES[grid], elements(grid), FRAMES_PER_S[grid], fit, need, row["iterations"],
                      milliseconds(row["median_s"] / row["iterations"]),
                      number(1 / row["median_s"])])
    worst = next(verdict for verdict in (NO_LONGER, UNCLEAR, HOLDS) if verdict in verdicts)
    return worst, lines


# --- The list of figures -------------------------------------------------------------------------

FIGURES = [
    Figure("reduction", "vectors", "Table 44-1, vector reduce: the sum of a vector",
           "Reducing a vector takes 0.14 to 1.11 ms for 256² to 2048 x 1024 elements.",
           "no size takes longer than the chapter's.", commands_vectors, reduction,
           "Reduction of a vector"),
    Figure("operation", "vectors", "Table 44-1, vector operation: the sum of two vectors",
           "An operation on two vectors takes 0.02 to 0.89 ms for 256² to 2048 x 1024 elements.",
           "no size takes longer than the chapter's.", commands_vectors, operation,
           "Operation on two vectors"),
    Figure("wave", "cg", "Table 44-1, wave equation: the solver in a frame",
           "The wave equation, solved implicitly by conjugate gradients, runs at 335, 185, 102, 52, "
           "27 and 12 frames a second on 256² to 2048 x 1024 points.",
           f"conjugate gradients bring the relative residual below {ENOUGH:g} within the time of a "
           "frame on every one of these grids; drawing and the right-hand side are not in it.",
           commands_wave, wave, "The wave equation's system in a frame"),
    Figure("demo", "frames", "Table 44-1, frames: the wave equation demo",
           "The whole demo runs at 335, 185, 102, 52, 27 and 12 frames a second on 256² to 2048 x "
           "1024 points.",
           f"no grid has fewer frames a second with {DEMO.iterations} iterations of conjugate "
           "gradients a step, as in the paper of 2003; the chapter does not tell its own.",
           commands_demo, frames(DEMO), "Water in real time"),
]

INTRO = (
    "Written by `scripts/reproduce.py --paper gems2-44`, which measures again what the chapter's "
    "table states. The numbers are computed from the JSON files beside this page, which name the "
    "commands that made them. Everything is in single precision and on buffers, a time is the median "
    "of an operation with the data on the device. Vectors and grids are squares: 362², 724² and "
    "1448² stand for the table's oblongs, but for the demo's frames: those are of whole time steps, "
    "on the table's own grids, without the drawing. Figure 44-9, a fluid, has no numbers; that of the "
    "paper of 2003 is in `operators-2003`. A verdict is unclear if the samples, by their number and "
    "spread (95 % confidence), allow either answer. The right-hand side of the wave equation is "
    "smooth, so that its residual starts low.")

CITATION = ("J. Krüger and R. Westermann: A GPU Framework for Solving Systems of Linear Equations, "
            "GPU Gems 2, chapter 44, 2005")
PAPER = Paper(CITATION, "GPU Gems 2, chapter 44, measured again", INTRO, FIGURES, plan_for,
              left_out, plain_rivals)
