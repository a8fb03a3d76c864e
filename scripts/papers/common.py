"""What reproductions of papers share: running commands, judging, drawing, and writing the page.

A paper is a list of figures: the statement of the paper, the rule of the verdict, the commands that
measure it, and a function from their JSON to a Finding.
"""

import json
import math
import os
import shlex
import statistics
import subprocess
import textwrap
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Callable, Optional

import figures
import plot
import matplotlib

HOLDS, NO_LONGER, UNCLEAR = "holds", "no longer holds", "unclear"
WRONG = "does not hold"  # of statements that depend on no machine
NOT_MEASURED, NOT_MADE = "not measured", "not made"
COMMAND_TIMEOUT_S = 3600


class NotMade(Exception):
    """A figure cannot be made: a command failed or its results do not suffice. One sentence."""


class Unsupported(Exception):
    """The device cannot do what a figure needs. One sentence."""


class NotMeasured(Exception):
    """A figure was not requested, and its results do not exist."""


# --- What to measure -----------------------------------------------------------------------------

def doubling(first, last):
    """first, 2 first, ... up to last."""
    return tuple(first << k for k in range((last // first).bit_length()))


@dataclass(frozen=True)
class Command:
    """A run of lugpu, or of a script, whose JSON is DIR/stem.json."""
    stem: str
    arguments: tuple
    may_be_unsupported: bool = False  # exit status 2 means that the device cannot do it
    script: str = ""  # its path from the folder above scripts/; it takes no device


def listed(values):
    """Values as the program's lists take them."""
    return ",".join(map(str, values))


DEVICE_COMMAND = Command("device", ("bench", "-n", "16", "--method", "lu", "--pivot", "none",
                                    "--baseline", "none", "--runs", "1", "--min-time", "0"))


ROOT = Path(os.path.relpath(Path(__file__).resolve().parent.parent.parent))


# --- Running -------------------------------------------------------------------------------------

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
        if command.script:
            argv = [str(ROOT / command.script), *command.arguments, "--json", str(path)]
        start = time.monotonic()
        try:
            done = subprocess.run([*argv, "-q"], capture_output=True, text=True, check=False,
                                  timeout=COMMAND_TIMEOUT_S)
            status, words = done.returncode, last_line(done.stderr)
        except OSError as error:
            raise NotMade(f"{argv[0]} cannot be run ({error.strerror}).") from error
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
            name = record["devices"][0]["name"] if record["devices"] else self.device_name
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
    program = Path(argv[0])
    words = ["/".join(program.parts[-3:]) if program.suffix == ".py" else "lugpu", *argv[1:]]
    if "--json" in words:
        place = words.index("--json") + 1
        words[place] = Path(words[place]).name
    return shlex.join(word for word in words if word != "-q")


# --- Choosing results and words ------------------------------------------------------------------

def select(rows, **fields):
    """Rows with these values."""
    return [row for row in rows if all(row[name] == value for name, value in fields.items())]


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

FIRST, SECOND = plot.COLOURS["lu"], plot.COLOURS["lu-blocked"]
THIRD, FOURTH = plot.COLOURS["gauss-jordan"], figures.OTHER_COLOUR


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
    """Axes. x is of kind "n", "units", "cells", "steps", "reals" or "bars"; marks are horizontal lines
    by label."""
    title: str
    y_label: str
    lines: list
    spell: Callable
    log: bool = True
    marks: dict = field(default_factory=dict)
    kind: str = "n"
    x_label: str = "order n of the matrix"  # of kind "n", "steps" and "reals"


def look(colour, storage, marker):
    """Matplotlib's arguments for a series; a dashed line with open markers is a buffer."""
    return {"color": colour, "linestyle": plot.LINES[storage], "marker": marker, "markersize": 5,
            "markerfacecolor": colour if storage == "image" else "white"}


BASELINE_LOOK = look("black", "host", "x")


def times_panel(lines, title="Time of a factorization"):
    """Seconds on a logarithmic axis."""
    return Panel(title, "median time", lines, figures.spell_time)


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
        drawn[label] = ax.axhline(value, color=figures.GREY, linewidth=1.2, zorder=0.9,
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
        figures.set_x_axis(ax, [n for n, _ in points], True, panel.x_label)
    elif panel.kind == "bars":
        names = [line.label.replace(" ", "\n") for line in panel.lines]
        ax.set_xticks(range(len(names)), names, fontsize=8)
    else:
        whole = panel.kind != "reals"
        ax.xaxis.set_major_locator(matplotlib.ticker.MaxNLocator(*(() if whole else (5,)),
                                                                 integer=whole))
        ax.set_xlabel({"units": "compute units", "cells": "cell"}.get(panel.kind, panel.x_label))


def set_y(ax, panel, values):
    """The y axis: logarithmic, or linear from zero."""
    formatter = matplotlib.ticker.FuncFormatter(panel.spell)
    if panel.log:
        figures.set_y_axis(ax, values, formatter)
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
    legend = figures.LEGEND_HANDLE + max(figures.LEGEND_CHARACTER * max(map(len, labels)),
                                      BOLD_CHARACTER * max(map(len, headings), default=0))
    step = PANEL_WIDTH + figures.COLUMN_GAP
    right = figures.LEFT + len(panels) * step - figures.COLUMN_GAP
    width, height = right + LEGEND_SPACE + legend, figures.TOP + PANEL_HEIGHT + AXIS_BELOW
    figure = matplotlib.figure.Figure(figsize=(width, height))
    axes = [figure.add_axes([(figures.LEFT + place * step) / width, AXIS_BELOW / height,
                             PANEL_WIDTH / width, PANEL_HEIGHT / height])
            for place in range(len(panels))]
    return figure, axes, (right + LEGEND_SPACE / 2) / width


def add_legend(figure, x, panels, drawn):
    """One legend of all panels; with their titles as headings where they share no series."""
    apart = has_headings(panels)
    entries = {}
    for panel, handles in zip(panels, drawn):
        if apart:
            entries[panel.title] = matplotlib.lines.Line2D([], [], linestyle="none")
        entries |= {label: entries.get(label, handle) for label, handle in handles.items()}
    legend = figure.legend(entries.values(), map(figures.plain, entries), loc="center left",
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
                               (subtitle, 0.26, {"color": figures.GREY})):
        figure.text(figures.EDGE / width, 1 - (figures.EDGE + below) / height, figures.plain(text),
                    ha="left", va="top", **words)
    return figure


# --- Findings ------------------------------------------------------------------------------------

@dataclass
class Finding:
    """The outcome: the verdict, one or two sentences, the same in few words, what to draw."""
    verdict: str
    measured: str
    short: str
    panels: list = field(default_factory=list)
    table: str = ""


def markdown_table(head, rows):
    """A table whose columns but the first two are numbers."""
    rule = ["---"] * 2 + ["---:"] * (len(head) - 2)
    return "\n".join("| " + " | ".join(map(str, cells)) + " |" for cells in [head, rule, *rows])


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
    computed: str = ""  # from what, where nothing is judged that was measured

    @property
    def number(self):
        """"Figure 4", "Table 1"."""
        return self.title.split(":")[0]


@dataclass(frozen=True)
class Paper:
    """A paper to reproduce."""
    citation: str
    heading: str  # of the page
    intro: str  # what the page says about its numbers
    figures: list
    plan_for: Callable  # (device, quick) -> plan, which the figures' commands take
    left_out: Callable  # (records, what a figure is concerned with) -> lines about missing results
    rivals: Callable  # (record) -> the baselines in words
    later: tuple = ()  # (number, statement) of what only a simulation can show


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


# --- The page ------------------------------------------------------------------------------------

def paragraph(text):
    """A paragraph in lines of the page's width."""
    return textwrap.fill(text, 100, break_long_words=False, break_on_hyphens=False)


def machine(record, rivals):
    """What the page says about the device, the host and the program."""
    device, context, tool = record["devices"][0], record["context"], record["tool"]
    ceilings = device["ceilings"]
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
             ("Baselines", rivals),
             ("Program", f"lugpu {tool['version']} {tool['git_rev']}, {tool['compiler']}, "
                         f"{tool['build_type']}"), ("Begun", context["time_utc"])]
    return "\n".join(["| | |", "|---|---|", *(f"| {name} | {figures.cut(value, 160)} |"
                                              for name, value in facts)])


def summary(outcomes, later):
    """A row for each figure, and for what is not measured yet."""
    return "\n".join(["| | the paper | here | verdict |", "|---|---|---|---|"] + [
        f"| [{o.figure.number}](#{anchor(o.figure.title)}) | {o.figure.paper} | {o.short} | "
        f"{o.verdict} |" for o in outcomes] + [
            f"| {number} | {statement} | | with the simulations |" for number, statement in later])


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
    where = f"**Computed** {figure.computed}" if figure.computed else f"**{told_of}** on {device}"
    parts += [paragraph(f"{where}: {outcome.measured}"),
              paragraph(f"**Verdict: {outcome.verdict}.** {rule} {figure.rule}")]
    return "\n\n".join(parts)


def page(paper, record, outcomes):
    """The page as Markdown."""
    told = {}
    device = record["devices"][0]["name"]
    parts = [f"# {paper.heading}", paragraph(f"The paper: {paper.citation}."),
             paragraph(paper.intro), machine(record, paper.rivals(record)),
             summary(outcomes, paper.later)]
    return "\n\n".join(parts + [section(o, told, device) for o in outcomes]) + "\n"


# --- Making --------------------------------------------------------------------------------------

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


def make(paper, figure, runner, plan, device):
    """Measure, judge and draw one figure."""
    base = runner.folder / f"{figure.key}-{figure.name}"
    for ending in figures.METADATA:
        base.with_name(f"{base.name}.{ending}").unlink(missing_ok=True)
    records = {}
    try:
        records, failures = gather(runner, figure.commands(plan, device))
        finding = figure.make(list(records.values()), device)
        if finding.panels:
            subtitle = figure.computed or f"{device['name']}, single precision"
            figures.save(draw(figure.drawing, subtitle, finding.panels), base)
    except Unsupported as reason:
        return Outcome(figure, NOT_MEASURED, str(reason), NOT_MEASURED, records=records)
    except (NotMade, KeyError) as reason:
        words = f"no field {reason}." if isinstance(reason, KeyError) else str(reason)
        return Outcome(figure, NOT_MADE, words, NOT_MEASURED, records=records)
    missing = paper.left_out(records.values(), figure.concerned)
    return Outcome(figure, finding.verdict, finding.measured, finding.short, finding, records,
                   short_list(failures + missing))


def reproduce(paper, runner, selected, quick):
    """Make the selected figures of a paper, and the others whose results are there; returns the
    outcomes."""
    record = runner.record(DEVICE_COMMAND)
    device = record["devices"][0]
    runner.device_name = device["name"]
    plan = paper.plan_for(device, quick)
    runner.wanted |= {command.stem for figure in selected
                      for command in figure.commands(plan, device)}
    say(f"{device['name']}: {len(selected)} figures and tables into {runner.folder}")
    outcomes = []
    for figure in paper.figures:
        if figure in selected:
            say(f"[{selected.index(figure) + 1}/{len(selected)}] {figure.title}")
        elif not figure.commands(plan, device):
            continue
        try:
            outcome = make(paper, figure, runner, plan, device)
        except NotMeasured:
            continue
        if figure in selected:
            say(f"    {outcome.verdict}: {outcome.measured}")
        if figure in selected or outcome.verdict != NOT_MADE:
            outcomes.append(outcome)
    (runner.folder / "README.md").write_text(page(paper, record, outcomes), encoding="utf-8")
    return outcomes
