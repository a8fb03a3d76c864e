#!/usr/bin/python3
"""Measure and draw the experiments of the LU-GPU paper again, and write a page about them.

N. Galoppo, N. K. Govindaraju, M. Henson, D. Manocha: LU-GPU: Efficient Algorithms for Solving Dense
Linear Systems on Graphics Hardware, SC 2005. Every figure is a row of FIGURES: the statement of the
paper, the rule of the verdict, the commands that measure it, and a function from their
JSON to a Finding.
"""

import argparse
import dataclasses
import json
import math
import os
import shlex
import statistics
import subprocess
import sys
import textwrap
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Callable, Optional

sys.dont_write_bytecode = True  # plot.py is imported from a folder that holds sources alone
sys.path.insert(0, str(Path(__file__).resolve().parent))

import plot  # noqa: E402
from plot import matplotlib  # noqa: E402

HOLDS, NO_LONGER, UNCLEAR = "holds", "no longer holds", "unclear"
NOT_MEASURED, NOT_MADE = "not measured", "not made"
COMMAND_TIMEOUT_S = 3600
PAPER = ("N. Galoppo, N. K. Govindaraju, M. Henson and D. Manocha: LU-GPU: Efficient Algorithms "
         "for Solving Dense Linear Systems on Graphics Hardware, SC 2005")

EPILOG = """\
Writes DIR/README.md, DIR/figNN-*.png and .svg, and the results they come from,
DIR/*.json. Figures are named 4 to 14, tables table1 and table2. With --only the
page keeps the other figures whose results lie in DIR.

Exit status: 0 done; 1 a figure could not be made; 2 bad usage.
Needs python3-matplotlib."""


class NotMade(Exception):
    """A figure cannot be made: a command failed or its results do not suffice. One sentence."""


class Unsupported(Exception):
    """The device cannot do what a figure needs. One sentence."""


class NotMeasured(Exception):
    """A figure was not requested, and its results do not exist."""


# --- What to measure -----------------------------------------------------------------------------

@dataclass(frozen=True)
class Plan:
    """Sizes and effort for a kind of device. `image` and `buffer` are orders by storage."""
    image: tuple
    buffer: tuple
    probe_image: tuple
    probe_buffer: tuple
    unit_sizes: tuple
    largest_getc2: int
    large: tuple  # more orders for the bandwidth
    cell: int  # order of a cell of the bubbly flow
    cells: int
    effort: tuple
    probe_runs: int


def doubling(first, last):
    """first, 2 first, ... up to last."""
    return tuple(first << k for k in range((last // first).bit_length()))


# Images are slow on a CPU: about 6 ns an access, so that n = 512 takes seconds.
PLANS = {
    "quick": Plan(doubling(64, 256), doubling(64, 512), doubling(64, 256), doubling(64, 512),
                  (128, 256), 512, (), 512, 3,
                  ("--runs", "5", "--min-time", "0", "--timeout", "20"), 5),
    "cpu": Plan(doubling(64, 512), doubling(64, 2048), doubling(64, 512), doubling(64, 1024),
                (128, 256, 512), 2048, (), 2048, 8,
                ("--runs", "3", "--min-time", "0.1", "--timeout", "120"), 5),
    "gpu": Plan((*doubling(128, 2048), 3500, 4096), (*doubling(128, 2048), 3500, 4096),
                doubling(128, 4096), doubling(128, 4096),
                (1024, 2048, 4096), 2048, (8192,), 2048, 8,
                ("--runs", "5", "--min-time", "0.1", "--timeout", "60"), 5),
}


def plan_for(device, quick):
    """The plan of a device, without images that it does not have."""
    plan = PLANS["quick" if quick else "cpu" if device["type"] == "cpu" else "gpu"]
    widest = min(device["image_max_width"], device["image_max_height"]) if device["images"] else 0
    return dataclasses.replace(plan, image=tuple(n for n in plan.image if n <= widest),
                               probe_image=tuple(n for n in plan.probe_image if n <= widest))


@dataclass(frozen=True)
class Command:
    """A run of lugpu whose JSON is DIR/stem.json."""
    stem: str
    arguments: tuple
    may_be_unsupported: bool = False  # exit status 2 means that the device cannot do it


def listed(values):
    """Values as the program's lists take them."""
    return ",".join(map(str, values))


def by_storage(image, buffer):
    """(suffix of a file, sizes, storages): one run for both storages where their sizes agree."""
    if image == buffer:
        return [("", image, "image,buffer")]
    return [(f"-{storage}", sizes, storage) for storage, sizes in
            (("image", image), ("buffer", buffer)) if sizes]


def lu_command(stem, sizes, storages, pivots, baseline, plan):
    """LU decomposition in both schedules."""
    return Command(stem, ("bench", "-n", listed(sizes), "--method", "lu", "--pivot", pivots,
                          "--precision", "single", "--schedule", "paper,fused", "--storage",
                          storages, "--baseline", baseline, *plan.effort))


def commands_lu(plan, device):
    """LU with every pivoting in one run, so that they compare; beyond its limit without getc2."""
    commands = []
    for suffix, sizes, storages in by_storage(plan.image, plan.buffer):
        for name, part, baselines in (
                (suffix, [n for n in sizes if n <= plan.largest_getc2], "getrf,getc2"),
                (f"{suffix}-large", [n for n in sizes if n > plan.largest_getc2], "getrf")):
            if part:
                commands.append(lu_command("lu" + name, part, storages, "none,partial,full",
                                           baselines, plan))
    return commands


def commands_probe(plan, device):
    """Variants of the update, Figs. 4 and 12."""
    return [Command("probe" + suffix, ("probe", "-n", listed(sizes), "--precision", "single",
                                       "--storage", storages, "--probes", "passes",
                                       "--runs", str(plan.probe_runs)))
            for suffix, sizes, storages in by_storage(plan.probe_image, plan.probe_buffer)]


def unit_counts(units):
    """1, 2, 4, ... and all compute units."""
    return sorted({*doubling(1, units), units})


def commands_units(plan, device):
    """LU without pivoting on a part of the device, Fig. 9."""
    storage = "image" if plan.image else "buffer"
    return [Command(f"fig09-units-{units}",
                    ("bench", "-n", listed(plan.unit_sizes), "--units", str(units), "--method",
                     "lu", "--pivot", "none", "--precision", "single", "--schedule", "paper,fused",
                     "--storage", storage, "--baseline", "none", *plan.effort), True)
            for units in unit_counts(device["compute_units"])]


def commands_clock(plan, device):
    """No run: a program cannot set the clock."""
    return []


def commands_bandwidth(plan, device):
    """The runs of LU, and larger orders where there is time for them."""
    storages = "image,buffer" if plan.image else "buffer"
    large = lu_command("fig11-large", plan.large, storages, "none", "none", plan)
    return commands_lu(plan, device) + ([large] if plan.large else [])


def commands_bubbles(plan, device):
    """One run for each cell of the bubbly flow, Fig. 13; a cell is a seed."""
    return [Command(f"fig13-cell-{cell}",
                    ("bench", "-n", str(plan.cell), "--matrix", "bubbles", "--pivot", "none",
                     "--precision", "single", "--method", "lu", "--baseline", "getrf",
                     "--seed", str(cell), *plan.effort)) for cell in range(1, plan.cells + 1)]


def commands_counts(plan, device):
    """Both methods in both schedules, for Tables 1 and 2: counts, not times."""
    sizes = [n for n in plan.buffer if n <= 1024]
    return [Command("table1", ("bench", "-n", listed(sizes), "--method", "lu,gauss-jordan",
                               "--pivot", "none", "--precision", "single", "--schedule",
                               "paper,fused", "--storage", "buffer", "--texel", "r", "--baseline",
                               "none", "--runs", "1", "--warmup", "0", "--min-time", "0"))]


# --- Running -------------------------------------------------------------------------------------

DEVICE_COMMAND = Command("device", ("bench", "-n", "16", "--method", "lu", "--pivot", "none",
                                    "--baseline", "none", "--runs", "1", "--min-time", "0"))


def say(text):
    """A line of progress."""
    print(text, flush=True)


def last_line(text):
    """The last line a program printed, without its name."""
    lines = text.strip().splitlines() or ["it said nothing"]
    return lines[-1].removeprefix("lugpu: ")


class Runner:
    """Runs commands, each once, or takes existing results."""

    def __init__(self, lugpu, device, folder, reuse):
        self.lugpu, self.folder, self.reuse = lugpu, folder, reuse
        self.device_arguments = ("-d", device) if device else ()
        self.device_name = None  # of the page, once it is known
        self.wanted = {DEVICE_COMMAND.stem}  # stems that may be run
        self.outcomes = {}  # by stem: a record, or the exception that its command ended with

    def path(self, command):
        """The path of a command's results."""
        return self.folder / f"{command.stem}.json"

    def record(self, command):
        """The JSON of a command; runs it unless its results are there and may be used again."""
        if command.stem not in self.outcomes:
            wanted = command.stem in self.wanted
            try:
                if not wanted and not self.path(command).exists():
                    raise NotMeasured
                if wanted and not (self.reuse and self.path(command).exists()):
                    self.run(command)
                self.outcomes[command.stem] = self.read(command)
            except (NotMade, NotMeasured, Unsupported) as outcome:
                self.outcomes[command.stem] = outcome if wanted else NotMeasured()
        outcome = self.outcomes[command.stem]
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    def run(self, command):
        """Run a command; its results are in place afterwards, or nothing is."""
        path = self.path(command)
        path.unlink(missing_ok=True)
        argv = [self.lugpu, *command.arguments, *self.device_arguments, "--json", str(path)]
        start = time.monotonic()
        try:
            done = subprocess.run([*argv, "-q"], capture_output=True, text=True, check=False,
                                  timeout=COMMAND_TIMEOUT_S)
            status, words = done.returncode, last_line(done.stderr)
        except OSError as error:
            raise NotMade(f"{self.lugpu} cannot be run ({error.strerror}).") from error
        except subprocess.TimeoutExpired:
            status, words = None, f"it did not finish within {COMMAND_TIMEOUT_S} s"
        except BaseException:
            path.unlink(missing_ok=True)  # partial results must not be reused
            raise
        say(f"    $ {shown(argv)}    ({time.monotonic() - start:.1f} s)")
        if status == 2 and command.may_be_unsupported:
            refusal = {"argv": argv, "status": 2, "reason": words}
            path.write_text(json.dumps(refusal, indent=1) + "\n", encoding="utf-8")
        elif status not in (0, 4):  # 4: a check failed, and its row says so
            say(f"      failed with status {status}: {words}")
            if status != 1 or not holds_results(path):
                path.unlink(missing_ok=True)
                raise NotMade(f"`{shown(argv)}` failed with status {status}: {words}")

    def read(self, command):
        """A record of this device, its rows checked; each knows its file."""
        path = self.path(command)
        try:
            record = json.loads(path.read_text(encoding="utf-8"))
            if isinstance(record, dict) and record.get("status") == 2:
                raise Unsupported(record["reason"])
            record["results"] = plot.load(path, command.stem)
            name = record["devices"][0]["name"]
        except (OSError, ValueError) as error:
            raise NotMade(f"{path.name} cannot be read: {error}.") from error
        except plot.BadInput as error:
            raise NotMade(str(error)) from error
        if name != (self.device_name or name):
            raise NotMade(f"{path.name} was measured on {name}; give another --out.")
        return record


def holds_results(path):
    """Whether a run that failed has left something to draw."""
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    return bool(record.get("probes")) or any(row["status"] == "ok" for row in record["results"])


def shown(argv):
    """A command as a reader would type it: the program's name, and files without their folder."""
    words = ["lugpu", *argv[1:]]
    if "--json" in words:
        place = words.index("--json") + 1
        words[place] = Path(words[place]).name
    return shlex.join(word for word in words if word != "-q")


# --- Choosing results ----------------------------------------------------------------------------

def rows_of(records, pivot=None):
    """All results of some records that can be drawn; of lugpu's those with a pivoting, if given."""
    return [row for record in records for row in record["results"] if plot.is_drawable(row)
            and (plot.is_baseline(row) or pivot in (None, row["pivot"]))]


def ours(records, pivot=None):
    """The results of lugpu itself."""
    return [row for row in rows_of(records, pivot) if not plot.is_baseline(row)]


def left_out(records, concerned):
    """Lines about the results that are not drawn, of the (routine, pivot) concerned or of all."""
    rows = [row for record in records for row in record["results"] if not plot.is_drawable(row)]
    return [f"{row['schedule'] or 'host'} schedule, " + plot.describe_left_out(row, False, False)
            for row in rows if not concerned or (row["routine"], row["pivot"]) in concerned]


def select(rows, **fields):
    """Rows with these values."""
    return [row for row in rows if all(row[name] == value for name, value in fields.items())]


def as_published(rows):
    """Rows in the paper's own form: its schedule on images, or on buffers without images."""
    rows = select(rows, implementation="lugpu", routine="lu", schedule="paper", texel="r")
    return select(rows, storage="image") or select(rows, storage="buffer")


def variant(row):
    """How lugpu computed a result, in words."""
    schedule = {"paper": "paper's"}.get(row["schedule"], row["schedule"])
    return f"{schedule} schedule on {row['storage']}s" + " (rgba)" * (row["texel"] == "rgba")


def rival_of(row, rows, routine):
    """The baseline's result at a result's n in the same run, or None."""
    return min(select(rows, routine=routine, n=row["n"], source=row["source"]),
               key=lambda other: other["median_s"], default=None)


def rival_time(row, rows, routine):
    """The baseline's time at a result's n in the same run, or None."""
    rival = rival_of(row, rows, routine)
    return rival and rival["median_s"]


def largest(rows):
    """The row of the largest n; the fastest of several."""
    if not rows:
        raise NotMade("there is no result of the paper's schedule that passed its checks.")
    return min(rows, key=lambda row: (-row["n"], row["median_s"]))


# --- Words ---------------------------------------------------------------------------------------

def number(value):
    """Three significant digits, without an exponent where that is readable."""
    if value and not 1e-3 <= abs(value) < 1e6:
        return f"{value:.2e}"
    return f"{value:.{max(0, 2 - math.floor(math.log10(abs(value))))}f}" if value else "0"


def seconds(value):
    """A time with its unit."""
    for unit, scale in (("s", 1), ("ms", 1e3)):
        if value * scale >= 1:
            return f"{number(value * scale)} {unit}"
    return f"{number(value * 1e6)} µs"


def percent(value):
    """A share."""
    return f"{number(100 * value)} %"


def gigabytes(value):
    """A bandwidth."""
    return f"{number(value / 1e9)} GB/s"


# --- Judging -------------------------------------------------------------------------------------

# Student's distribution, two-sided 95 %, for 1, 2, ... degrees of freedom; the last for more.
STUDENT = (12.71, 4.30, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31, 2.26, 2.23)
TIMED_ONCE = 2  # the factor within which a time with only one sample is known


def uncertainty(samples):
    """The factor within which these samples know what they measure, with 95 % confidence."""
    if len(samples) < 2:
        return math.inf
    student = STUDENT[min(len(samples) - 1, len(STUDENT)) - 1]
    deviation = statistics.stdev(map(math.log, samples))
    return math.exp(min(student * deviation / math.sqrt(len(samples)), 700))


def together(*factors):
    """The factor within which the quotient of values is known, each of which is within one."""
    return math.exp(min(math.hypot(*map(math.log, factors)), 700))


@dataclass(frozen=True)
class Claim:
    """That a value, known within a factor, is at least (or at most) this large. A value under `least`
    is impossible: its samples had something in common that their spread does not show."""
    value: float
    factor: float
    limit: float
    at_most: bool = False
    least: float = 0

    def verdict(self):
        """Unclear if the value may lie on either side of the limit, or is impossible."""
        low, high = self.value / self.factor, self.value * self.factor
        if high < self.least:
            return UNCLEAR
        if self.at_most:
            return HOLDS if high <= self.limit else NO_LONGER if low > self.limit else UNCLEAR
        return HOLDS if low >= self.limit else NO_LONGER if high < self.limit else UNCLEAR

    def doubt(self):
        """A sentence, if unclear."""
        if self.verdict() != UNCLEAR:
            return ""
        if self.value * self.factor < self.least:
            return (f" {number(self.value)} is less than is possible, so something else must "
                    "have slowed one of the two.")
        if self.factor >= 1e3:
            return f" For {number(self.value)} the samples are too few or too far apart to judge."
        return (f" By the number and spread of the samples, the {number(self.value)} may be "
                f"{number(self.value / self.factor)} to {number(self.value * self.factor)}.")


def judge(*claims):
    """(the verdict of a rule that makes these claims, sentences about doubts)."""
    verdicts = [claim.verdict() for claim in claims]
    worst = next(verdict for verdict in (NO_LONGER, UNCLEAR, HOLDS) if verdict in verdicts)
    doubts = [claim.doubt() for claim in claims] if worst == UNCLEAR else []
    return worst, "".join(doubts)


def judge_counts(right):
    """The verdict of a rule about counts, which are exact."""
    return HOLDS if right else NO_LONGER


# --- Drawing -------------------------------------------------------------------------------------

SCHEDULE_COLOURS = {"paper": plot.COLOURS["lu"], "fused": plot.COLOURS["lu-blocked"]}
VARIANT_MARKERS = {("paper", "image"): "o", ("paper", "buffer"): "s",
                   ("fused", "image"): "D", ("fused", "buffer"): "^"}
FIRST, SECOND = plot.COLOURS["lu"], plot.COLOURS["lu-blocked"]
THIRD, FOURTH = plot.COLOURS["gauss-jordan"], plot.OTHER_COLOUR
# Inches, as in plot.py.
PANEL_WIDTH, PANEL_HEIGHT, AXIS_BELOW, LEGEND_SPACE = 3.2, 2.7, 0.75, 0.35
BOLD_CHARACTER = 0.083  # of the headings in a legend


@dataclass
class Line:
    """A series: points (x, y), a label and how to draw it."""
    label: str
    points: list
    look: dict


@dataclass
class Panel:
    """Axes. x is of kind "n", "units", "cells" or "bars"; marks are horizontal lines by label."""
    title: str
    y_label: str
    lines: list
    spell: Callable
    log: bool = True
    marks: dict = field(default_factory=dict)
    kind: str = "n"


def look(colour, storage, marker):
    """Matplotlib's arguments for a series; a dashed line with open markers is a buffer."""
    return {"color": colour, "linestyle": plot.LINES[storage], "marker": marker, "markersize": 5,
            "markerfacecolor": colour if storage == "image" else "white"}


def variant_look(schedule, storage):
    """The look of a schedule on a storage."""
    return look(SCHEDULE_COLOURS[schedule], storage, VARIANT_MARKERS[schedule, storage])


BASELINE_LOOK = look("black", "host", "x")


def lu_lines(rows, value):
    """A line for each schedule and storage: value(row) over n, where it is not None."""
    groups = {}
    for row in sorted(rows, key=lambda row: (row["schedule"] != "paper", row["storage"] != "image",
                                             row["n"])):
        if row["implementation"] == "lugpu" and (y := value(row)) is not None:
            groups.setdefault((variant(row), row["schedule"], row["storage"]), []).append(
                (row["n"], y))
    return [Line(label, points, variant_look(schedule, storage))
            for (label, schedule, storage), points in groups.items()]


def baseline_line(rows, routine):
    """The baseline's time over n, the best of the runs."""
    times = {}
    for row in select(rows, routine=routine):
        times[row["n"]] = min(row["median_s"], times.get(row["n"], math.inf))
    return [Line(routine, sorted(times.items()), BASELINE_LOOK)] if times else []


def times_panel(lines, title="Time of a factorization"):
    """Seconds on a logarithmic axis."""
    return Panel(title, "median time", lines, plot.spell_time)


def spell_factor(value, _):
    """A tick of a ratio."""
    return f"{value:g}×"


def spell_share(value, _):
    """A tick of a share."""
    return f"{100 * value:g} %"


def spell_rate(value, _):
    """A tick of a bandwidth in GB/s."""
    return f"{value:g}"


def draw_lines(ax, panel):
    """Series and marks of a panel; returns what the legend shows."""
    drawn = {}
    for line in panel.lines:
        drawn[line.label], = ax.plot(*zip(*line.points), **line.look)
    for place, (label, value) in enumerate(panel.marks.items()):
        drawn[label] = ax.axhline(value, color=plot.GREY, linewidth=1.2, zorder=0.9,
                                  linestyle=((0, (6, 2)), ":")[place % 2])
    return drawn


def draw_bars(ax, panel):
    """A bar for each series, named below it and so not in the legend."""
    for place, line in enumerate(panel.lines):
        filled = line.look["markerfacecolor"] != "white"
        ax.bar(place, line.points[0][1], width=0.6, edgecolor=line.look["color"],
               color=line.look["color"] if filled else "white", hatch="" if filled else "///")
    ax.grid(False, axis="x")
    return {}


def set_x(ax, panel, points):
    """The x axis by its kind."""
    if panel.kind == "n":
        plot.set_x_axis(ax, [n for n, _ in points], True)
    elif panel.kind == "bars":
        names = [line.label.replace(" ", "\n") for line in panel.lines]
        ax.set_xticks(range(len(names)), names, fontsize=8)
    else:
        ax.xaxis.set_major_locator(matplotlib.ticker.MaxNLocator(integer=True))
        ax.set_xlabel({"units": "compute units", "cells": "cell"}[panel.kind])


def set_y(ax, panel, values):
    """The y axis: logarithmic, or linear from zero."""
    formatter = matplotlib.ticker.FuncFormatter(panel.spell)
    if panel.log:
        plot.set_y_axis(ax, values, formatter)
    else:
        ax.set_ylim(0, 1.12 * max(values))
        ax.yaxis.set_major_formatter(formatter)
    ax.set_ylabel(panel.y_label)


def draw_panel(ax, panel):
    """One panel; returns what the legend shows."""
    drawn = (draw_bars if panel.kind == "bars" else draw_lines)(ax, panel)
    points = [point for line in panel.lines for point in line.points]
    set_x(ax, panel, points)
    set_y(ax, panel, [y for _, y in points] + list(panel.marks.values()))
    ax.set_title(panel.title)
    return drawn


def has_headings(panels):
    """Whether the legend names the panels: where they share no series."""
    series = [{line.label for line in panel.lines} for panel in panels if panel.kind != "bars"]
    return len(series) > 1 and not set.intersection(*series)


def lay_out(panels):
    """(figure, axes, left of the legend as a share of the width): panels of one size in a row."""
    labels = [label for panel in panels if panel.kind != "bars"
              for label in [line.label for line in panel.lines] + list(panel.marks)]
    headings = [panel.title for panel in panels] if has_headings(panels) else []
    legend = plot.LEGEND_HANDLE + max(plot.LEGEND_CHARACTER * max(map(len, labels)),
                                      BOLD_CHARACTER * max(map(len, headings), default=0))
    step = PANEL_WIDTH + plot.COLUMN_GAP
    right = plot.LEFT + len(panels) * step - plot.COLUMN_GAP
    width, height = right + LEGEND_SPACE + legend, plot.TOP + PANEL_HEIGHT + AXIS_BELOW
    figure = plot.Figure(figsize=(width, height))
    axes = [figure.add_axes([(plot.LEFT + place * step) / width, AXIS_BELOW / height,
                             PANEL_WIDTH / width, PANEL_HEIGHT / height])
            for place in range(len(panels))]
    return figure, axes, (right + LEGEND_SPACE / 2) / width


def add_legend(figure, x, panels, drawn):
    """One legend of all panels; with their titles as headings where they share no series."""
    apart = has_headings(panels)
    entries = {}
    for panel, handles in zip(panels, drawn):
        if apart:
            entries[panel.title] = plot.matplotlib.lines.Line2D([], [], linestyle="none")
        entries |= {label: entries.get(label, handle) for label, handle in handles.items()}
    legend = figure.legend(entries.values(), map(plot.plain, entries), loc="center left",
                           frameon=False, bbox_to_anchor=(x, 0.5), handlelength=3.2)
    for text in legend.get_texts()[:len(entries) if apart else 0]:
        if text.get_text() in [panel.title for panel in panels]:
            text.set_fontweight("bold")


def draw(title, subtitle, panels):
    """A figure: panels side by side, one legend at the right."""
    panels = [panel for panel in panels if any(line.points for line in panel.lines)]
    if not panels:
        raise NotMade("there is nothing to draw: no result passed its checks.")
    figure, axes, legend_x = lay_out(panels)
    width, height = figure.get_size_inches()
    add_legend(figure, legend_x, panels, [draw_panel(ax, panel) for ax, panel in zip(axes, panels)])
    for text, below, words in ((title, 0, {"fontsize": 12, "fontweight": "bold"}),
                               (subtitle, 0.26, {"color": plot.GREY})):
        figure.text(plot.EDGE / width, 1 - (plot.EDGE + below) / height, plot.plain(text),
                    ha="left", va="top", **words)
    return figure


# --- The figures ---------------------------------------------------------------------------------

@dataclass
class Finding:
    """The outcome: the verdict, one or two sentences, the same in few words, what to draw."""
    verdict: str
    measured: str
    short: str
    panels: list = field(default_factory=list)
    table: str = ""


def probe_times(records, name):
    """{(variant, storage): {n: seconds}} of the probes of one name."""
    times = {}
    for record in records:
        for probe in record.get("probes", []):
            if probe["name"] == name and probe["median_s"] > 0:
                series = times.setdefault((probe["variant"], probe["storage"]), {})
                series[probe["n"]] = probe["median_s"]
    return times


def probe_uncertainty(records, name, storage, n):
    """The factor within which the ratio of the two variants of a probe is known. Results of older
    programs have no samples."""
    samples = [probe.get("times_s", []) for record in records for probe in record.get("probes", [])
               if probe["name"] == name and (probe["storage"], probe["n"]) == (storage, n)]
    return together(*map(uncertainty, samples))


def probe_ratio(times, above, below, storage):
    """{n: time of one variant over that of another}."""
    first, second = times.get((above, storage), {}), times.get((below, storage), {})
    return {n: first[n] / second[n] for n in sorted(first.keys() & second.keys())}


def probe_panels(times, names, ratios, titles, marks):
    """Times of two variants on each storage, and their ratio."""
    markers = {("image", 0): "o", ("buffer", 0): "s", ("image", 1): "D", ("buffer", 1): "^"}
    lines = [Line(f"{label}, {storage}s", sorted(times[key, storage].items()),
                  look((FIRST, SECOND)[place], storage, markers[storage, place]))
             for storage in ratios for place, (key, label) in enumerate(names.items())]
    quotient = [Line(f"ratio, {storage}s", list(points.items()), look(THIRD, storage, "vP"[place]))
                for place, (storage, points) in enumerate(ratios.items())]
    return [times_panel(lines, titles[0]),
            Panel(titles[1], titles[2], quotient, spell_factor, log=False, marks=marks)]


def compare_variants(records, name, above, below):
    """(times, {storage: {n: ratio}}, storage that is judged, its largest n) of a probe."""
    times = probe_times(records, name)
    ratios = {storage: points for storage in ("image", "buffer")
              if (points := probe_ratio(times, above, below, storage))}
    if not ratios:
        raise NotMade(f"no probe of name {name} holds both variants.")
    storage = next(iter(ratios))
    return times, ratios, storage, max(ratios[storage])


def also(ratios, judged, text):
    """A sentence about the storage that is not judged."""
    others = [(storage, points) for storage, points in ratios.items() if storage != judged]
    return "".join(f" On {storage}s, {text} {number(points[max(points)])} at n = {max(points)}."
                   for storage, points in others)


def index_pairs(records, device):
    """Fig. 4."""
    times, ratios, storage, n = compare_variants(records, "index", "kernel", "launch")
    gain = ratios[storage][n]
    verdict, doubt = judge(Claim(gain, probe_uncertainty(records, "index", storage, n), 1.125))
    measured = (f"At n = {n} on {storage}s the updates take "
                f"{seconds(times['kernel', storage][n])} with pairs computed in the kernel and "
                f"{seconds(times['launch', storage][n])} with pairs given by the launch: "
                f"{number(gain)} times the speed." + doubt + also(ratios, storage, "the factor is"))
    names = {"kernel": "computed in the kernel", "launch": "given by the launch"}
    panels = probe_panels(times, names, ratios,
                          ("Time of all updates", "Gain of given index pairs",
                           "time computed / time given"), {"same speed": 1, "paper: 1.25": 1.25})
    return Finding(verdict, measured, f"{number(gain)} times at n = {n}", panels)


def cache_efficiency(records, device):
    """Fig. 12."""
    times, ratios, storage, n = compare_variants(records, "cache", "fixed", "matrix")
    rate = ratios[storage][n]
    verdict, doubt = judge(Claim(rate, probe_uncertainty(records, "cache", storage, n), 0.75))
    caches = " Fixed reads are no faster: caches are not a limit here." if rate >= 1 else ""
    measured = (f"At n = {n} on {storage}s the updates take "
                f"{seconds(times['matrix', storage][n])}, and "
                f"{seconds(times['fixed', storage][n])} when every read goes to fixed elements: "
                f"{percent(rate)} of the speed with every read in the cache." + doubt + caches
                + also(ratios, storage, "the ratio is"))
    names = {"matrix": "reads the matrix", "fixed": "reads fixed elements"}
    panels = probe_panels(times, names, ratios,
                          ("Time of all updates", "Cache efficiency", "time fixed / time matrix"),
                          {"every read in the cache": 1})
    return Finding(verdict, measured, f"{percent(rate)} at n = {n}", panels)


def speed_panels(rows, routine, marks):
    """Time over n, and the speed-up over the baseline of the same run."""
    def speedup(row):
        rival = rival_time(row, rows, routine)
        return rival and rival / row["median_s"]
    return [times_panel(lu_lines(rows, lambda row: row["median_s"]) + baseline_line(rows, routine)),
            Panel(f"Speed-up over {routine}", f"time of {routine} / time", lu_lines(rows, speedup),
                  spell_factor, marks={"same speed": 1} | marks)]


def against(rows, routine, near, least, marks):
    """Figs. 5 to 7: the speed over a baseline at the n nearest to `near`, or at the largest."""
    compared = {row["n"]: row for row in as_published(rows) if rival_time(row, rows, routine)}
    if not compared:
        raise NotMade(f"no result of the paper's schedule has a {routine} beside it.")
    n = min(compared, key=lambda n: (abs(n - near) if near else -n, -n))
    row = compared[n]
    rival = rival_of(row, rows, routine)
    speed = rival["median_s"] / row["median_s"]
    verdict, doubt = judge(Claim(speed, together(uncertainty(rival["times_s"]),
                                                 uncertainty(row["times_s"])), least))
    measured = (f"At n = {n} the {variant(row)} takes {seconds(row['median_s'])} and {routine} "
                f"{seconds(rival['median_s'])}: {number(speed)} times the speed of {routine}."
                + doubt + best_other(rows, row, routine))
    return Finding(verdict, measured,
                   f"{number(speed)} times the speed of {routine} at n = {n}",
                   speed_panels(rows, routine, marks))


def best_other(rows, judged, routine):
    """A sentence about the fastest other form of ours, at its largest n."""
    others = [(rival_time(row, rows, routine), row) for row in rows
              if not plot.is_baseline(row) and variant(row) != variant(judged)]
    others = [(row["n"], rival / row["median_s"], variant(row)) for rival, row in others if rival]
    if not others:
        return ""
    n, speed, name = max(others)
    return f" The fastest other form at n = {n}, {name}, reaches {number(speed)} times."


def without_pivoting(records, device):
    """Fig. 5."""
    return against(rows_of(records, "none"), "getrf", None, 0.5, {"comparable: half of it": 0.5})


def partial_pivoting(records, device):
    """Fig. 6."""
    return against(rows_of(records, "partial"), "getrf", 3500, 1.35, {"paper: 1.35": 1.35})


def full_pivoting(records, device):
    """Fig. 7."""
    return against(rows_of(records, "full"), "getc2", None, 10, {"paper: 10": 10})


def overheads(rows, pivot):
    """{(variant, n): (time of a pivoting over none in the same run, factor within which it is
    known)}."""
    def key(row):
        return variant(row), row["n"], row["source"]
    free = {key(row): row for row in select(rows, pivot="none")}
    return {key(row)[:2]: (row["median_s"] / free[key(row)]["median_s"],
                           together(uncertainty(row["times_s"]),
                                    uncertainty(free[key(row)]["times_s"])))
            for row in select(rows, pivot=pivot) if key(row) in free}


def cheapest_pivoting(costs, judged):
    """A sentence about the form, other than the judged one, that pays least for full pivoting."""
    others = [(n, -full, name) for (name, n), (full, _) in costs["full"].items()
              if name != judged and (name, n) in costs["partial"]]
    if not others:
        return ""
    n, _, name = max(others)
    partial, full = costs["partial"][name, n][0], costs["full"][name, n][0]
    return (f" The cheapest other form at n = {n}, {name}, pays {number(partial)} and "
            f"{number(full)} times.")


def pivoting_cost(records, device):
    """Fig. 8."""
    rows = ours(records)
    costs = {pivot: overheads(rows, pivot) for pivot in ("partial", "full")}
    form = variant(largest(as_published(rows)))
    common = [n for name, n in costs["partial"] if name == form and (form, n) in costs["full"]]
    if not common:
        raise NotMade("no order has results with no, partial and full pivoting.")
    n = max(common)
    partial, full = costs["partial"][form, n][0], costs["full"][form, n][0]
    verdict, doubt = judge(Claim(*costs["partial"][form, n], 2, at_most=True, least=1),
                           Claim(*costs["full"][form, n], 3, at_most=True, least=1))
    measured = (f"At n = {n} with the {form}, partial pivoting takes {number(partial)} times and "
                f"full pivoting {number(full)} times the time without pivoting." + doubt
                + cheapest_pivoting(costs, form))
    panels = [Panel(f"{pivot.capitalize()} over no pivoting", "ratio of times",
                    lu_lines(select(rows, pivot=pivot),
                             lambda row, cost=costs[pivot]: cost.get((variant(row), row["n"]),
                                                                     (None,))[0]),
                    spell_factor, marks={f"paper: {pivot} at most {bound}": bound})
              for pivot, bound in (("partial", 2), ("full", 3))]
    return Finding(verdict, measured,
                   f"{number(partial)} and {number(full)} times at n = {n}", panels)


def units_of(record):
    """How many compute units a run used."""
    argv = record["tool"]["argv"]
    return int(argv[argv.index("--units") + 1])


def unit_panels(by_units, n):
    """Time over n for each number of units, and the speed-up at one n."""
    times = []
    for place, (units, rows) in enumerate(sorted(by_units.items())):
        points = sorted((row["n"], row["median_s"]) for row in as_published(rows))
        times.append(Line(f"{units} unit" + "s" * (units > 1), points,
                          look(plot.paler(FIRST, (len(by_units) - 1 - place) / 3), "image",
                               plot.MARKERS[place % len(plot.MARKERS)])))
    ideal = Line("in proportion", [(units, units / min(by_units)) for units in sorted(by_units)],
                 {"color": plot.GREY, "linestyle": ":"})
    return [times_panel([line for line in times if line.points]),
            Panel(f"Speed-up at n = {n}", "time of fewest units / time",
                  [*unit_speedups(by_units, n), ideal], spell_factor, log=False, kind="units")]


def unit_speedups(by_units, n):
    """A line for each schedule and storage: speed-up over the fewest units, at one n."""
    series = {}
    for units, rows in sorted(by_units.items()):
        for row in select(rows, n=n, routine="lu"):
            series.setdefault((variant(row), row["schedule"], row["storage"]), []).append(
                (units, row["median_s"]))
    fewest = min(by_units)
    return [Line(name, [(units, points[0][1] / time_s) for units, time_s in points],
                 variant_look(schedule, storage))
            for (name, schedule, storage), points in series.items() if points[0][0] == fewest]


def compute_units(records, device):
    """Fig. 9."""
    by_units = {units_of(record): rows_of([record]) for record in records}
    if len(by_units) < 2:
        raise Unsupported(f"{device['name']} has one compute unit: nothing to compare.")
    few, all_units = min(by_units), max(by_units)
    fewest = {row["n"]: row for row in as_published(by_units[few])}
    most = {row["n"]: row for row in as_published(by_units[all_units])}
    if not fewest.keys() & most.keys():
        raise NotMade("no order has results with the fewest and with all compute units.")
    n = max(fewest.keys() & most.keys())
    speedup = fewest[n]["median_s"] / most[n]["median_s"]
    ideal = all_units / few
    verdict, doubt = judge(Claim(speedup, together(uncertainty(fewest[n]["times_s"]),
                                                   uncertainty(most[n]["times_s"])), 0.75 * ideal))
    measured = (f"At n = {n} the {variant(most[n])} takes {seconds(fewest[n]['median_s'])} on "
                f"{few} compute unit{'s' * (few > 1)} and {seconds(most[n]['median_s'])} on "
                f"{all_units}: {number(speedup)} times the speed, {percent(speedup / ideal)} of "
                "the proportion." + doubt)
    return Finding(verdict, measured,
                   f"{number(speedup)} times with {all_units} units for {few}",
                   unit_panels(by_units, n))


def core_clock(records, device):
    """Fig. 10."""
    clock = f"{device['clock_mhz']} MHz" if device["clock_mhz"] else "no clock rate"
    raise Unsupported("A program cannot set the clock of an OpenCL device; "
                      f"{device['name']} states {clock}.")


def bandwidth_panels(rows, copy):
    """Bytes of the model and bytes counted, over the time; the copy as a dashed line."""
    def panel(title, counter):
        return Panel(title, "GB/s", lu_lines(
            rows, lambda row: row["counters"].get(counter, 0) / row["median_s"] / 1e9 or None),
                     spell_rate, marks={"copy, measured": copy / 1e9})
    return [panel("Bytes of the paper's model", "bytes_model"),
            panel("Bytes counted", "bytes_counted")]


def bandwidth(records, device):
    """Fig. 11."""
    rows = ours(records, "none")
    row = largest(as_published(rows))
    copies = {other["source"]: record["devices"][0]["ceilings"]["copy_bytes_per_s"]
              for record in records for other in record["results"]}
    copy = copies[row["source"]]
    rate = row["counters"]["bytes_model"] / row["median_s"]
    counted = row["counters"]["bytes_counted"] / row["median_s"]
    caches = " More than 100 % means that caches serve a part." if rate > copy else ""
    verdict, doubt = judge(Claim(rate / copy, uncertainty(row["times_s"]), 0.8))
    measured = (f"At n = {row['n']} the {variant(row)} moves {gigabytes(rate)} by the paper's "
                f"model and {gigabytes(counted)} by the bytes counted; a copy moves "
                f"{gigabytes(copy)}, so that is {percent(rate / copy)}." + doubt + caches
                + best_bandwidth(rows, row, copies))
    return Finding(verdict, measured,
                   f"{percent(rate / copy)} of the copy bandwidth at n = {row['n']}",
                   bandwidth_panels(rows, statistics.median(copies.values())))


def best_bandwidth(rows, judged, copies):
    """A sentence about the best counted bandwidth of the other forms at their largest n."""
    others = [row for row in rows if variant(row) != variant(judged)]
    if not others:
        return ""
    n = max(row["n"] for row in others)
    rate, name, copy = max((row["counters"]["bytes_counted"] / row["median_s"], variant(row),
                            copies[row["source"]]) for row in others if row["n"] == n)
    return (f" Of the other forms the {name} moves most, {gigabytes(rate)} counted at n = {n}, "
            f"{percent(rate / copy)} of the copy.")


def bubble_cells(records):
    """[(ours, getrf)] of each cell that has both."""
    cells = []
    for record in records:
        own = [row for row in record["results"] if row["implementation"] == "lugpu"
               and row["status"] in ("ok", "failed")]
        rivals = select(record["results"], routine="getrf", status="ok")
        if own and rivals:
            cells.append((own[0], rivals[0]))
    if not cells:
        raise NotMade("no cell has a result of lugpu and one of getrf.")
    return cells


def host_time(row):
    """Factorization and solution on the host, which needs no transfer."""
    return row["phases_s"]["factor"] + row["phases_s"]["solve"]


def bubble_lines(cells):
    """Times by cell, in the order of the seeds."""
    def line(label, marker, colour, storage, value):
        return Line(label, [(own["seed"], value(own, rival)) for own, rival in cells],
                    look(colour, storage, marker) | {"linestyle": "none"})
    return [line("lugpu factorization", "o", FIRST, "image", lambda o, _: o["phases_s"]["factor"]),
            line("lugpu with transfer, solution", "s", FIRST, "buffer",
                 lambda o, _: o["phases_s"]["total"]),
            line("getrf factorization", "D", SECOND, "image", lambda _, r: r["phases_s"]["factor"]),
            line("getrf with solution", "^", SECOND, "buffer", lambda _, r: host_time(r))]


def bubbly_flow(records, device):
    """Fig. 13."""
    cells = bubble_cells(records)
    wrong = [own for own, _ in cells if own["status"] != "ok"]
    if wrong:
        return Finding(NO_LONGER, f"{len(wrong)} of {len(cells)} cells fail their checks in single "
                       f"precision: {wrong[0]['reason']}", "single precision fails")
    totals, rivals = [o["phases_s"]["total"] for o, _ in cells], [host_time(r) for _, r in cells]
    speed = sum(rivals) / sum(totals)
    verdict, doubt = judge(Claim(speed, uncertainty([rival / total for rival, total
                                                     in zip(rivals, totals)]), 1.15))
    factor = statistics.median(o["phases_s"]["factor"] for o, _ in cells)
    hpl = max(o["checks"]["hpl_residual"] for o, _ in cells)
    solve = max(o["checks"]["solve_ratio"] for o, _ in cells)
    first = cells[0][0]
    measured = (f"A cell (n = {first['n']}, {variant(first)}) takes "
                f"{seconds(statistics.median(totals))} with transfer and solution, "
                f"{seconds(factor)} of it the factorization; getrf takes "
                f"{seconds(statistics.median(rivals))}. A step of {len(cells)} cells takes "
                f"{seconds(sum(totals))} against {seconds(sum(rivals))}: {number(speed)} times the "
                f"speed of getrf.{doubt} Single precision suffices: hpl_residual is at most {number(hpl)} "
                f"(passes under 16) and solve_ratio {number(solve)} (passes under 30).")
    lines = bubble_lines(cells)
    steps = [Line(line.label, [(0, sum(y for _, y in line.points))], line.look) for line in lines]
    panels = [Panel("Time of a cell", "time", lines, plot.spell_time, log=False, kind="cells"),
              Panel(f"Time of a step of {len(cells)} cells", "time", steps, plot.spell_time,
                    log=False, kind="bars")]
    return Finding(verdict, measured,
                   f"{number(speed)} times the speed of getrf, accurate", panels)


PHASES = {"upload": (SECOND, "v"), "factor": (FIRST, "P"), "solve": (THIRD, "X"),
          "download": (FOURTH, "<")}


def transfer_share(row):
    """Upload and download over the total; None where not measured."""
    phases = row["phases_s"]
    if not phases.get("total"):
        return None
    return (phases["upload"] + phases["download"]) / phases["total"]


def transfer(records, device):
    """Fig. 14."""
    rows = ours(records, "none")
    row = largest(as_published(rows))
    share = transfer_share(row)
    if share is None:
        raise NotMade("the results have no phases.")
    same = sorted(select(rows, schedule=row["schedule"], storage=row["storage"],
                         texel=row["texel"]), key=lambda other: other["n"])
    lines = [Line(phase, [(other["n"], other["phases_s"][phase]) for other in same
                          if other["phases_s"].get(phase)], look(colour, "image", marker))
             for phase, (colour, marker) in PHASES.items()]
    phases = row["phases_s"]
    verdict, doubt = judge(Claim(share, TIMED_ONCE, 0.05, at_most=True))
    measured = (f"At n = {row['n']} the {variant(row)} spends {seconds(phases['upload'])} on "
                f"upload, {seconds(phases['factor'])} on the factorization, "
                f"{seconds(phases['solve'])} on the solution and {seconds(phases['download'])} on "
                f"download: transfer is {percent(share)} of the total." + doubt
                + other_shares(rows, row))
    panels = [times_panel([line for line in lines if line.points], f"Phases, {variant(row)}"),
              Panel("Transfer in the total", "share of the time", lu_lines(rows, transfer_share),
                    spell_share, marks={"negligible: 5 %": 0.05})]
    return Finding(verdict, measured, f"{percent(share)} at n = {row['n']}", panels)


def other_shares(rows, judged):
    """A sentence about the form that spends the largest share on transfer, at its largest n."""
    others = [row for row in rows if variant(row) != variant(judged)]
    if not others:
        return ""
    n = max(row["n"] for row in others)
    share, name = max((transfer_share(row) or 0, variant(row)) for row in others if row["n"] == n)
    return f" Of the other forms the {name} spends most, {percent(share)} at n = {n}."


# Tables 1 and 2: sums over the steps, in bytes (single precision) and in multiply-adds.
BYTES = {"gauss-jordan": lambda n: 6 * n * (n + 1) + 4 * n * (n + 1) + 8 * n * n * (n + 1),
         "lu": lambda n: (4 + 6 + 4) * n * (n + 1) + 8 * (n - 1) * n * (2 * n - 1) // 3}
LEADING_BYTES = {"gauss-jordan": ("8 n³", 8), "lu": ("16/3 n³", 16 / 3)}
MULTIPLY_ADDS = {"gauss-jordan": lambda n: n * n * (n + 1) // 2,
                 "lu": lambda n: (n - 1) * n * (2 * n - 1) // 6}
LEADING_MULTIPLY_ADDS = {"gauss-jordan": ("n³/2", 1 / 2), "lu": ("n³/3", 1 / 3)}


def markdown_table(head, rows):
    """A table whose columns but the first two are numbers."""
    rule = ["---"] * 2 + ["---:"] * (len(head) - 2)
    return "\n".join("| " + " | ".join(map(str, cells)) + " |" for cells in [head, rule, *rows])


def counts(records, schedule):
    """{(routine, n): counters} of a schedule."""
    found = {(row["routine"], row["n"]): row["counters"]
             for row in select(rows_of(records), schedule=schedule)}
    if any(not any(routine == name for name, _ in found) for routine in BYTES):
        raise NotMade(f"the {schedule} schedule has no result of lu or of gauss-jordan.")
    return found


def largest_of(routine, *found):
    """The largest n that a routine has in all of these counts."""
    return max(n for name, n in found[0] if name == routine
               and all((name, n) in other for other in found))


def bytes_table(records, device):
    """Table 1."""
    paper, fused = counts(records, "paper"), counts(records, "fused")
    lines, sentences, right = [], [], []
    for (routine, n), counters in sorted(paper.items()):
        term, leading = LEADING_BYTES[routine][0], LEADING_BYTES[routine][1] * n**3
        cells = [BYTES[routine](n), counters["bytes_model"], counters["bytes_counted"],
                 fused.get((routine, n), {}).get("bytes_counted")]
        lines.append([routine, term, n, f"{leading:.0f}"]
                     + ["" if cell is None else f"{cell} ({cell / leading:.3f})" for cell in cells])
    for routine in BYTES:
        n = largest_of(routine, paper, fused)
        exact, counters = BYTES[routine](n), paper[routine, n]
        counted = counters["bytes_counted"] / exact
        right.append(counters["bytes_model"] == exact and abs(counted - 1) <= 0.05)
        sentences.append(f"For {routine} at n = {n} the paper's sum is {exact} bytes; the launches "
                         f"of the paper's schedule move {number(counted)} of it, the fused one's "
                         f"{number(fused[routine, n]['bytes_counted'] / exact)}.")
    head = ["method", "leading term", "n", "leading term, bytes", "paper's sum", "program's model",
            "counted, paper's schedule", "counted, fused"]
    return Finding(judge_counts(all(right)), " ".join(sentences),
                   "counted bytes are the paper's" if all(right) else "counted bytes differ",
                   table=markdown_table(head, lines) + "\n\nIn brackets: over the leading term.")


def multiply_adds_table(records, device):
    """Table 2."""
    paper = counts(records, "paper")
    lines, sentences, right = [], [], []
    for (routine, n), counters in sorted(paper.items()):
        term, leading = LEADING_MULTIPLY_ADDS[routine][0], LEADING_MULTIPLY_ADDS[routine][1] * n**3
        lines.append([routine, term, n, f"{leading:.0f}"]
                     + [f"{cell} ({cell / leading:.3f})" for cell in
                        (MULTIPLY_ADDS[routine](n), counters["elements_updated"])])
    for routine in MULTIPLY_ADDS:
        n = largest_of(routine, paper)
        exact, done = MULTIPLY_ADDS[routine](n), paper[routine, n]["elements_updated"]
        right.append(abs(done / exact - 1) <= 0.05)
        sentences.append(f"For {routine} at n = {n} the program updates {done} elements, "
                         f"{number(done / exact)} of the paper's sum and "
                         f"{number(done / (LEADING_MULTIPLY_ADDS[routine][1] * n**3))} of "
                         f"{LEADING_MULTIPLY_ADDS[routine][0]}.")
    head = ["method", "leading term", "n", "leading term, multiply-adds", "paper's sum",
            "program's count"]
    return Finding(judge_counts(all(right)), " ".join(sentences),
                   "the counts are the paper's" if all(right) else "the counts differ",
                   table=markdown_table(head, lines) + "\n\nIn brackets: over the leading term.")


# --- The list of figures -------------------------------------------------------------------------

@dataclass(frozen=True)
class Figure:
    """A figure or table of the paper."""
    key: str  # "fig04", "table1"
    name: str  # the rest of the name of its files
    title: str
    paper: str  # its statement
    rule: str  # when the verdict is `holds`
    commands: Callable  # (plan, device) -> [Command]
    make: Callable  # (records, device) -> Finding; applies the rule
    drawing: str = ""  # heading of the drawing; empty where nothing is drawn
    concerned: tuple = ()  # (routine, pivot) of the results that it draws; empty for all

    @property
    def number(self):
        """"Figure 4", "Table 1"."""
        return self.title.split(":")[0]


FIGURES = [
    Figure("fig04", "index-pairs", "Figure 4: index pairs given by the hardware",
           "Texture coordinates that the hardware gives make the program 25 % faster than "
           "coordinates computed in the kernel.",
           "pairs given by the launch are at least 1.125 times as fast at the largest n, half of "
           "the paper's gain.", commands_probe, index_pairs,
           "Index pairs computed in the kernel or given by the launch"),
    Figure("table1", "bytes", "Table 1: bytes moved",
           "Gauss-Jordan elimination moves about 8 n³ bytes and LU decomposition about 16/3 n³, in "
           "single precision.",
           "the program's model is the paper's sum to the byte, and the launches of the paper's "
           "schedule move within 5 % of it at the largest n.", commands_counts, bytes_table),
    Figure("table2", "multiply-adds", "Table 2: multiply-adds",
           "Gauss-Jordan elimination takes about n³/2 multiply-adds and LU decomposition about "
           "n³/3.",
           "the elements that the program updates are within 5 % of the paper's sum at the largest "
           "n.",
           commands_counts, multiply_adds_table),
    Figure("fig05", "no-pivoting", "Figure 5: LU without pivoting against getrf",
           "Without pivoting the time is comparable to that of ATLAS' getrf, which pivots.",
           "the time is at most twice that of getrf at the largest n that both have.",
           commands_lu, without_pivoting, "LU without pivoting against getrf",
           (("lu", "none"), ("getrf", "partial"))),
    Figure("fig06", "partial-pivoting", "Figure 6: LU with partial pivoting against getrf",
           "With partial pivoting it is 35 % faster than ATLAS' getrf at n = 3500.",
           "the speed is at least 1.35 times that of getrf at the n nearest to 3500 that both "
           "have.",
           commands_lu, partial_pivoting, "LU with partial pivoting against getrf",
           (("lu", "partial"), ("getrf", "partial"))),
    Figure("fig07", "full-pivoting", "Figure 7: LU with full pivoting against getc2",
           "With full pivoting it is an order of magnitude faster than getc2 of Intel's MKL.",
           "the speed is at least 10 times that of getc2 at the largest n that both have.",
           commands_lu, full_pivoting, "LU with full pivoting against getc2",
           (("lu", "full"), ("getc2", "full"))),
    Figure("fig08", "cost-of-pivoting", "Figure 8: cost of pivoting",
           "Partial pivoting takes at most about 2 times and full pivoting at most about 3 times "
           "the time without pivoting.",
           "the factors are at most 2 and 3 at the largest n that has all three.",
           commands_lu, pivoting_cost, "Cost of pivoting",
           (("lu", "none"), ("lu", "partial"), ("lu", "full"))),
    Figure("fig09", "compute-units", "Figure 9: number of processors",
           "The speed grows almost in proportion to the number of fragment processors (4 to 16).",
           "the speed-up from the fewest to all compute units is at least 75 % of the proportion, "
           "at the largest n.", commands_units, compute_units, "LU on a part of the compute units"),
    Figure("fig10", "clock", "Figure 10: core clock",
           "The speed grows almost in proportion to the core clock (200 to 425 MHz).",
           "the speed-up from the lowest to the highest clock is at least 75 % of the proportion.",
           commands_clock, core_clock),
    Figure("fig11", "bandwidth", "Figure 11: bandwidth",
           "LU without pivoting moves 33 GB/s by the count of Table 1, 94 % of the card's peak of "
           "35.2 GB/s.",
           "the bytes of the paper's model over the time are at least 80 % of the measured copy "
           "bandwidth at the largest n.", commands_bandwidth, bandwidth,
           "Bandwidth of LU without pivoting", (("lu", "none"),)),
    Figure("fig12", "cache-efficiency", "Figure 12: cache efficiency",
           "The algorithm is cache-efficient without knowing the cache: its speed is close to that "
           "of the same kernels when they read fixed texels, which are always in the cache.",
           "the time with fixed elements is at least 75 % of the time with the matrix, at the "
           "largest n.", commands_probe, cache_efficiency, "Cache efficiency of the update"),
    Figure("fig13", "bubbly-flow", "Figure 13: a cell of the bubbly flow",
           "For the diagonally dominant systems of a bubbly flow (n = 2048) LU without pivoting is "
           "15 % faster than ATLAS' getrf, and single precision is accurate enough.",
           "a step of all cells is at least 1.15 times as fast as with getrf, which needs no "
           "transfer, and every result passes its checks. Method, schedule and storage are those "
           "that the program chooses.", commands_bubbles, bubbly_flow, "Bubbly flow"),
    Figure("fig14", "transfer", "Figure 14: transfer and computation",
           "Transfer between CPU and GPU is negligible.",
           "upload and download take at most 5 % of the total at the largest n.",
           commands_lu, transfer, "Transfer and computation of LU without pivoting",
           (("lu", "none"),)),
]


def key_of(text):
    """A figure's key as a user may write it: 4, fig4, fig04, table1."""
    word = text.strip().lower()
    digits = word.removeprefix("fig")
    return f"fig{int(digits):02}" if digits.isdigit() else word


# --- The page ------------------------------------------------------------------------------------

@dataclass
class Outcome:
    """The outcome of a figure: its finding or why there is none, and what it was made from."""
    figure: Figure
    verdict: str
    measured: str
    short: str
    finding: Optional[Finding] = None
    records: dict = field(default_factory=dict)  # by stem
    notes: list = field(default_factory=list)  # about what is missing


def paragraph(text):
    """A paragraph in lines of the page's width."""
    return textwrap.fill(text, 100, break_long_words=False, break_on_hyphens=False)


def machine(record):
    """What the page says about the device, the host and the program."""
    device, context, tool = record["devices"][0], record["context"], record["tool"]
    ceilings, blas = device["ceilings"], record["libraries"]["blas"]
    rates = ", ".join(f"{number(rate / 1e9)} · 10⁹ a second in {precision} precision"
                      for precision, rate in sorted(ceilings["multiply_adds_per_s"].items(),
                                                    reverse=True))
    clock = f"{device['clock_mhz']} MHz" if device["clock_mhz"] else "clock not stated"
    busy = ": busy, so that times scatter" * (context["load_1min"] > context["cores"] / 2)
    images = (f"up to {device['image_max_width']} x {device['image_max_height']} texels"
              if device["images"] else "none")
    facts = [("Device", f"{device['name']} ({device['type']}), {device['platform']}, driver "
                        f"{device['driver_version']}"),
             ("Compute units", f"{device['compute_units']}, {clock}"), ("Images", images),
             ("Copy bandwidth", f"{gigabytes(ceilings['copy_bytes_per_s'])}, measured"),
             ("Multiply-adds", f"{rates}, measured"),
             ("Host", f"{context['cpu']}, {context['cores']} logical processors, load "
                      f"{context['load_1min']:.2f} at the start{busy}"),
             ("Baselines", f"getrf of {blas['name']} for {blas['core']}, {blas['threads']} "
                           "threads; getc2 of LAPACK"),
             ("Program", f"lugpu {tool['version']} {tool['git_rev']}, {tool['compiler']}, "
                         f"{tool['build_type']}"), ("Begun", context["time_utc"])]
    return "\n".join(["| | |", "|---|---|", *(f"| {name} | {plot.cut(value, 160)} |"
                                              for name, value in facts)])


def summary(outcomes):
    """A row for each figure."""
    return "\n".join(["| | the paper | here | verdict |", "|---|---|---|---|"] + [
        f"| [{o.figure.number}](#{anchor(o.figure.title)}) | {o.figure.paper} | {o.short} | "
        f"{o.verdict} |" for o in outcomes])


def anchor(title):
    """The anchor that Markdown makes of a heading."""
    kept = "".join(c for c in title.lower() if c.isalnum() or c in " -")
    return kept.replace(" ", "-")


def commands_run(outcome, told):
    """The commands behind a figure, or the figure where they were named before."""
    new = [record for stem, record in outcome.records.items() if stem not in told]
    old = sorted({told[stem] for stem in outcome.records if stem in told})
    for stem in outcome.records:
        told.setdefault(stem, outcome.figure.number)
    parts = ["Drawn from the results of " + " and ".join(old) + "."] if old else []
    if new:
        lines = [shown(record["tool"]["argv"]) for record in new]
        parts.append("\n".join(["```sh", *lines, "```"]))
    return parts


def section(outcome, told, device):
    """What the page says about one figure."""
    figure = outcome.figure
    parts = [f"## {figure.title}", paragraph(f"**The paper:** {figure.paper}")]
    parts += commands_run(outcome, told)
    if outcome.finding and outcome.finding.panels:
        name = f"{figure.key}-{figure.name}"
        parts.append(f"[![{figure.drawing}]({name}.png)]({name}.svg)")
    if outcome.finding and outcome.finding.table:
        parts.append(outcome.finding.table)
    if outcome.notes:
        parts.append("\n".join(f"- Left out: {note}" for note in outcome.notes))
    told_of, rule = (("Measured", "Rule: holds if") if outcome.finding
                     else (outcome.verdict.capitalize(), "Its rule, not applied:"))
    parts += [paragraph(f"**{told_of}** on {device}: {outcome.measured}"),
              paragraph(f"**Verdict: {outcome.verdict}.** {rule} {figure.rule}")]
    return "\n\n".join(parts)


INTRO = (
    "Written by `scripts/reproduce.py`, which measures again what the paper shows. The numbers are "
    "computed from the JSON files beside this page, which name the commands that made them. Unless "
    "said otherwise everything is in single precision, a time is the median of a factorization "
    "with the data on the device, and a verdict is about the algorithm as published: the paper's "
    "schedule on images with one element a texel (on buffers where the device has no images). The "
    "fused schedule and buffers are drawn beside it. The matrix is uniformly random as LINPACK's "
    "with pivoting, and diagonally dominant without. Ratios are of times of one run, but for "
    "Figure 9, whose runs differ in the device. A verdict is unclear if the samples, by their number "
    "and spread (95 % confidence), allow either answer.")


def page(record, outcomes):
    """The page as Markdown."""
    told = {}
    device = record["devices"][0]["name"]
    parts = ["# The figures of LU-GPU, measured again", paragraph(f"The paper: {PAPER}."),
             paragraph(INTRO), machine(record), summary(outcomes)]
    return "\n\n".join(parts + [section(o, told, device) for o in outcomes]) + "\n"


# --- The program ---------------------------------------------------------------------------------

NOTES = 12  # lines about missing results of a figure


def gather(runner, commands):
    """(records by stem, notes about commands that failed); at least one record if there are any."""
    records, failures = {}, []
    for command in commands:
        try:
            records[command.stem] = runner.record(command)
        except NotMade as failure:
            failures.append(str(failure))
    if commands and not records:
        raise NotMade(failures[0])
    return records, failures


def short_list(notes):
    """The notes, or the first of them and how many more there are."""
    if len(notes) <= NOTES:
        return notes
    return notes[:NOTES - 1] + [f"{len(notes) - NOTES + 1} more."]


def make(figure, runner, plan, device):
    """Measure, judge and draw one figure."""
    base = runner.folder / f"{figure.key}-{figure.name}"
    for ending in plot.METADATA:
        base.with_name(f"{base.name}.{ending}").unlink(missing_ok=True)
    records = {}
    try:
        records, failures = gather(runner, figure.commands(plan, device))
        finding = figure.make(list(records.values()), device)
        if finding.panels:
            plot.save(draw(figure.drawing, f"{device['name']}, single precision", finding.panels),
                      base)
    except Unsupported as reason:
        return Outcome(figure, NOT_MEASURED, str(reason), NOT_MEASURED, records=records)
    except (NotMade, KeyError) as reason:
        words = f"no field {reason}." if isinstance(reason, KeyError) else str(reason)
        return Outcome(figure, NOT_MADE, words, NOT_MEASURED, records=records)
    notes = short_list(failures + left_out(records.values(), figure.concerned))
    return Outcome(figure, finding.verdict, finding.measured, finding.short, finding, records,
                   notes)


def reproduce(runner, selected, quick):
    """Make the selected figures, and the others whose results are there; returns the outcomes."""
    record = runner.record(DEVICE_COMMAND)
    device = record["devices"][0]
    runner.device_name = device["name"]
    plan = plan_for(device, quick)
    runner.wanted |= {command.stem for figure in selected
                      for command in figure.commands(plan, device)}
    say(f"{device['name']}: {len(selected)} figures and tables into {runner.folder}")
    outcomes = []
    for figure in FIGURES:
        if figure in selected:
            say(f"[{selected.index(figure) + 1}/{len(selected)}] {figure.title}")
        elif not figure.commands(plan, device):
            continue
        try:
            outcome = make(figure, runner, plan, device)
        except NotMeasured:
            continue
        if figure in selected:
            say(f"    {outcome.verdict}: {outcome.measured}")
        if figure in selected or outcome.verdict != NOT_MADE:
            outcomes.append(outcome)
    (runner.folder / "README.md").write_text(page(record, outcomes), encoding="utf-8")
    return outcomes


def parse_arguments(argv):
    """Command line."""
    root = Path(os.path.relpath(Path(__file__).resolve().parent.parent))  # results name the program
    parser = argparse.ArgumentParser(
        description="Measure and draw the experiments of the LU-GPU paper again, and write a page.",
        epilog=EPILOG, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lugpu", metavar="PROGRAM", default=str(root / "build/lugpu"),
                        help="the program (default: build/lugpu)")
    parser.add_argument("--device", "-d", metavar="D", help="as lugpu's --device")
    parser.add_argument("--quick", action="store_true", help="small sizes: minutes on a CPU")
    parser.add_argument("--out", metavar="DIR", type=Path, default=root / "results/reproduction",
                        help="folder for the page (default: results/reproduction)")
    parser.add_argument("--only", metavar="FIG,...", help="measure only these figures")
    parser.add_argument("--reuse", action="store_true",
                        help="do not repeat runs that have results in DIR")
    arguments = parser.parse_args(argv)
    keys = [key_of(text) for text in (arguments.only or "").split(",") if text.strip()]
    unknown = sorted(set(keys) - {figure.key for figure in FIGURES})
    if unknown:
        parser.error(f"--only: there is no {unknown[0]}; there are 4 to 14, table1 and table2.")
    arguments.selected = [figure for figure in FIGURES if not keys or figure.key in keys]
    return arguments


def main(argv):
    """Exit status of the program."""
    arguments = parse_arguments(argv)
    matplotlib.rcdefaults()
    matplotlib.rcParams.update(plot.STYLE)
    try:
        arguments.out.mkdir(parents=True, exist_ok=True)
        runner = Runner(arguments.lugpu, arguments.device, arguments.out, arguments.reuse)
        outcomes = reproduce(runner, arguments.selected, arguments.quick)
    except NotMade as reason:
        print(f"reproduce.py: {reason}", file=sys.stderr)
        return 1
    except OSError as error:
        print(f"reproduce.py: {error.filename}: cannot be written ({error.strerror}).",
              file=sys.stderr)
        return 1
    failed = [outcome.figure.number for outcome in outcomes if outcome.verdict == NOT_MADE]
    if failed:
        print(f"reproduce.py: could not be made: {', '.join(failed)}.", file=sys.stderr)
    say(f"wrote {arguments.out / 'README.md'}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
