#!/usr/bin/python3
"""Draw what `lugpu bench --json` measured: up to three figures for every device and precision.

The first has a row of panels for each pivoting, as the LU-GPU paper has a figure for each, and three
columns: time, GFLOP/s and speed-up, all over the order n. A colour is a method or a rival's library on
the device, a dashed line with open markers is a buffer, black is a baseline on the host, paler is a
further file; markers tell the rest apart.

The second, where there are rivals to compare with, shows for every rival its time over that of lugpu's
method for the pivoting: above 1, lugpu is faster.

The third, where lugpu ran on several numbers of cores, shows speed and that ratio over the cores, with
a colour for each n. The first two then show the largest number only.

Results of `lugpu bench --problem` get a figure for every problem, device and precision; see
problem_figures.py. Simulations get one for every problem and device; see simulation_figures.py.
Batches get one for every device and precision; see batch_figures.py.
"""

import argparse
import itertools
import json
import math
import sys
from pathlib import Path

sys.dont_write_bytecode = True  # what is imported lies in a folder that holds sources alone

from figures import (AXIS_BELOW, BASELINE_MARKERS, COLUMN_GAP, GREY, LEFT,  # noqa: E402
                     LEGEND_CHARACTER, LEGEND_GAP, LEGEND_HANDLE, LEGEND_LINE, LEGEND_LOOK,
                     LEVEL_CORES, MARKERS, NARROWEST, NOTE_LINE, OTHER_COLOUR, PALE, PANEL_HEIGHT,
                     PANEL_WIDTH, RATIO_HEIGHT, RATIO_WIDTH, RIVAL_LOOK, ROW_GAP, STYLE, TOP,
                     counted, field_fault, footnote, in_order, name_x_axis, paler, plain, save, set_x_axis,
                     set_x_ticks, set_y_axis, size_ticks, slug, space_evenly, spell_time, write_around,
                     write_legend)
import batch_figures  # noqa: E402
import problem_figures  # noqa: E402
import simulation_figures  # noqa: E402
import matplotlib  # noqa: E402
import numpy  # noqa: E402
from matplotlib.figure import Figure  # noqa: E402  (without pyplot: no display, Agg draws)
from matplotlib.lines import Line2D  # noqa: E402
from matplotlib.ticker import FuncFormatter  # noqa: E402

SCHEMA_VERSION = 1
PIVOTS = ["none", "partial", "rook", "full"]  # in the order of their panels; others come after them
QUANTITIES = {"median_s": "Time of a factorization", "gflops": "Speed, 2/3 n³ over the time",
              "speedup": "Speed-up"}
STORAGES = ["image", "buffer", "host"]
NUMBER_OR_NULL = (int, float, type(None))
FIELDS = {
    "implementation": str, "routine": str, "pivot": str, "precision": str, "storage": str,
    "texel": (str, type(None)), "device": (str, type(None)), "n": int, "nrhs": int,
    "nb": (int, type(None)), "threads": (int, type(None)), "seed": int, "matrix": str,
    "median_s": NUMBER_OR_NULL, "gflops": NUMBER_OR_NULL, "status": str, "reason": str,
}
OPTIONAL_FIELDS = {"compute_units": (int, type(None))}  # older files have none

# Three colours that differ in lightness too, so that they survive colour blindness and grey print.
COLOURS = {"lu": "#004488", "gauss-jordan": "#BB5566", "lu-blocked": "#DDAA33"}
RIVAL_COLOURS = {"cusolver": "#228833", "viennacl": "#AA3377"}
JUDGED = ["lu-blocked", "lu", "gauss-jordan"]  # the first that was measured is compared with rivals,
#                                                or else another method
LINES = {"image": "-", "buffer": "--", "host": "-."}
ORDER_COLOURS, LIGHTEST = "viridis", 0.85  # for orders n; its end is too pale for white paper
ORDER_MARKER = 5
ERROR_BAR = 1.2

EPILOG = """\
Figures are named STEM-PRECISION, or STEM-DEVICE-PRECISION if the files hold
several devices, each as .png and .svg; STEM is the first file's name without
its ending. Those that end in -ratio show the time of every rival over the time
of lugpu: of lu-blocked where it was measured (no and partial pivoting), of lu
against getc2 (full pivoting). A rival that does not pivot is drawn beside those
that do, and the legend says so. Of several results of lugpu at one n, the
fastest counts.

Where groups of orders are close to one another, as around powers of two, a
figure whose name ends in -close shows the speed in each group over the largest
there. Bars are the 95 % intervals of the medians.

Batches have one figure for each precision: the time of a member, and rivals.

Where lugpu ran on several numbers of cores of one device, another figure, whose
name ends in -cores, shows over the cores the speed at each n, and the time of
getrf with as many threads, or of getc2, over the time of lugpu. The other
figures then show the largest number of cores only.

The speed-up is over getc2 (full pivoting) or getrf (every other pivoting); of
several such baselines the fastest of the same file counts.

Results of --problem are drawn apart, as STEM-PROBLEM-PRECISION or
STEM-DEVICE-PROBLEM-PRECISION: the time to the tolerance (setup and one solve)
over the size of the grid; the relative residual over time at the largest size
at which most methods succeeded; and there the time for k right-hand sides,
setup and k solves, with a ring where a factorization begins to cost less than
every iterative method.

Simulations, of `lugpu simulate` or of --problem fluid2d and the like, are drawn
as STEM-PROBLEM or STEM-DEVICE-PROBLEM: frames a second over the cells along an
axis, for few iterations and for a tolerance; where there is one grid only, what
is left of the divergence or the residual after each time step.

Results that are not ok are not drawn. They are listed below the figure, and in
full on stderr.

Exit status: 0 done; 1 cannot write; 2 bad usage or bad input.
Needs python3-matplotlib."""


class BadInput(Exception):
    """A fault of the given files that the user can fix; one sentence."""


def parse_arguments(argv):
    """Command line."""
    parser = argparse.ArgumentParser(
        description="Draw what `lugpu bench --json` and `lugpu simulate --json` measured.",
        epilog=EPILOG, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", metavar="FILE.json", nargs="+", type=Path,
                        help="results; several files are drawn together")
    parser.add_argument("-o", "--output", metavar="DIR", type=Path,
                        help="folder for the figures, made if missing (default: that of the "
                        "first file)")
    return parser.parse_args(argv)


# --- Reading -------------------------------------------------------------------------------------

def refuse_constant(token):
    """NaN and Infinity, which Python reads but JSON does not have."""
    raise ValueError(f"{token} is not JSON")


def load(path, source):
    """The results of one file, checked as far as drawing needs; `source` names it in labels."""
    try:
        record = json.loads(path.read_text(encoding="utf-8"), parse_constant=refuse_constant)
    except OSError as error:
        raise BadInput(f"{path}: cannot be read ({error.strerror}).") from error
    except ValueError as error:
        raise BadInput(f"{path}: not a JSON file ({error}).") from error
    version = record.get("schema_version") if isinstance(record, dict) else None
    if version != SCHEMA_VERSION:
        raise BadInput(f"{path}: schema_version is {json.dumps(version)}, but this script reads "
                       f"{SCHEMA_VERSION}; give it a file that `lugpu bench --json` wrote.")
    results = record.get("results")
    if not isinstance(results, list):
        raise BadInput(f"{path}: has no list of results.")
    for index, row in enumerate(results):
        fault = row_fault(row)
        if fault:
            raise BadInput(f"{path}: results[{index}] {fault}.")
    return [dict(row, source=source) for row in results]


def row_fault(row):
    """What keeps a result from being read, or an empty text."""
    if not isinstance(row, dict):
        return "is not an object"
    if batch_figures.is_batch(row):
        return batch_figures.row_fault(row)
    if simulation_figures.is_simulation(row):
        return simulation_figures.row_fault(row)
    if problem_figures.is_of_problem(row):
        return problem_figures.row_fault(row)
    if fault := field_fault(row, FIELDS | OPTIONAL_FIELDS, OPTIONAL_FIELDS):
        return fault
    cores = core_count(row)
    if cores is not None and cores < 1:
        return f"has {cores} cores or threads"
    if row["status"] == "ok" and (row["median_s"] is None or row["gflops"] is None):
        return "is ok but has no median_s or no gflops"
    return ""


def source_names(paths):
    """A short name for each file: its stem, or its whole path where stems repeat."""
    stems = [path.stem for path in paths]
    return [stem if stems.count(stem) == 1 else str(path) for stem, path in zip(stems, paths)]


# --- Choosing ------------------------------------------------------------------------------------

def is_drawable(row):
    """Whether a result is a point on logarithmic axes."""
    return row["status"] == "ok" and all(
        row[field] > 0 and math.isfinite(row[field]) for field in ("n", "median_s", "gflops"))


def is_baseline(row):
    """Whether a result is a rival's, not lugpu's."""
    return row["implementation"] != "lugpu"


def core_count(row):
    """Cores that a result took: of the device, or threads of the host. None where they are unknown,
    and for a rival without threads, which runs the same on any number, or with the best number."""
    if row.get("threads_tried"):
        return None
    return row.get("compute_units") if row["device"] else row["threads"]


def core_counts(rows):
    """Numbers of cores that results have, in ascending order."""
    return sorted({core_count(row) for row in rows} - {None})


def is_on_several_cores(rows):
    """Whether lugpu ran on several numbers of cores of one device."""
    mine = [row for row in rows if not is_baseline(row)]
    return any(len(core_counts(row for row in mine if row["device"] == device)) > 1
               for device in {row["device"] for row in mine})


def on_cores(cores, rows):
    """The results on a number of cores, and those without any."""
    return [row for row in rows if core_count(row) in (None, cores)]


def on_most_cores(most, rows):
    """Results on the most cores; of rivals that were not measured with so many, all."""
    def kind(row):
        return is_baseline(row), row["device"]
    measured = {kind(row) for row in rows if core_count(row) == most}
    return [row for row in rows if core_count(row) in (None, most) or kind(row) not in measured]


def pages(drawn):
    """(device, precision, rows) for each figure; baselines on the host join every device."""
    found = sorted({(row["device"], row["precision"]) for row in drawn if row["device"]},
                   key=lambda page: (page[0], page[1] != "single", page[1]))
    covered = {precision for _, precision in found}
    found += [(None, precision) for precision in sorted({row["precision"] for row in drawn})
              if precision not in covered]
    return [(device, precision, page_rows(device, precision, drawn)) for device, precision in found]


def page_rows(device, precision, drawn):
    """Rows of a figure: the device's, and the host's from the same files where these have some.

    A file that holds only another device was measured together with that device, perhaps on another
    machine; its baselines serve only where there are no closer ones.
    """
    rows = [row for row in drawn if row["precision"] == precision]
    own = [row for row in rows if row["device"] == device and device]
    host = [row for row in rows if row["device"] is None]
    foreign = {row["source"] for row in rows if row["device"]} - {row["source"] for row in own}
    return own + ([row for row in host if row["source"] not in foreign] or host)


def left_out_of(device, precision, left_out, drawn_pages):
    """Results to list below a figure: its own, and those that no figure could call its own."""
    def belongs(row, page):
        return row["precision"] == page[1] and row["device"] in (page[0], None)
    return [row for row in left_out if belongs(row, (device, precision))
            or not any(belongs(row, page) for page in drawn_pages)]


# --- Naming --------------------------------------------------------------------------------------

def details(row):
    """What appears in brackets: a storage of the device, or for a baseline on the host its library."""
    if row["device"]:
        return [row["storage"]]
    if tried := row.get("threads_tried"):
        return [row["implementation"], f"the best of 1 to {counted(max(tried), 'thread')}"]
    threads = row["threads"]
    return [row["implementation"]] + ([counted(threads, "thread")] if threads else [])


def title(row):
    """The name of a method; a baseline's routine implies its pivoting."""
    return row["routine"] if is_baseline(row) else f"{row['routine']}, {row['pivot']}"


def pivoting(pivot):
    """A pivoting in words."""
    return "no pivoting" if pivot == "none" else f"{pivot} pivoting"


def baseline_of(pivot):
    """The routine that speed-ups are over."""
    return "getc2" if pivot == "full" else "getrf"


def telling_fields(rows):
    """Fields that tell apart results of one name and one n, and so must be in their labels."""
    fields = ("matrix", "texel", "nb", "nrhs", "seed")
    by_n = {}
    for row in rows:
        by_n.setdefault(row["n"], []).append(row)
    return [field for field in fields
            if any(len({row[field] for row in same}) > 1 for same in by_n.values())]


def spell(field, value):
    """A telling field in a label."""
    return str(value) if field in ("matrix", "texel") else f"{field} {value}"


def series_of(rows):
    """Series in drawing order: {"label", "style", "rows"}; style is the label less pivoting."""
    several = len({row["source"] for row in rows}) > 1
    groups = {}
    for row in rows:
        groups.setdefault((title(row), *details(row), row["source"]), []).append(row)
    series = {}
    for group in groups.values():
        told = telling_fields(group)
        for row in group:
            words = details(row) + [spell(f, row[f]) for f in told if row[f] is not None]
            suffix = f" ({', '.join(words)})" + (f" [{row['source']}]" if several else "")
            entry = {"label": title(row) + suffix, "style": row["routine"] + suffix, "rows": []}
            series.setdefault(entry["label"], entry)["rows"].append(row)
    for entry in series.values():
        entry["rows"].sort(key=lambda row: (row["n"], row["median_s"]))
    return sorted(series.values(), key=series_order)


def series_order(entry):
    """lugpu's methods first, image before buffer; then the baselines. Files in the order given."""
    row = entry["rows"][0]
    methods, storage = list(COLOURS), row["storage"]
    method = methods.index(row["routine"]) if row["routine"] in methods else len(methods)
    place = STORAGES.index(storage) if storage in STORAGES else len(STORAGES)
    return (is_baseline(row), method, row["routine"] == "getc2", place)


def describe_left_out(row, several_files, several_matrices, several_cores=False):
    """One line about a result that is not drawn."""
    why = row["status"] + (f" ({row['reason']})" if row["reason"] else "")
    if row["status"] == "ok":
        why = "ok, but a logarithmic axis has no place for it"
    source = f" [{row['source']}]" if several_files else ""
    matrix = f", {row['matrix']}" if several_matrices else ""
    cores = ""
    if several_cores and core_count(row):
        cores = ", " + counted(core_count(row), "core" if row["device"] else "thread")
    return (f"{row['routine']}/{row['pivot']}/{row['storage']} {row['precision']} n={row['n']}"
            f"{matrix}{cores}{source}: {why}")


# --- Drawing -------------------------------------------------------------------------------------

def fastest(row, others):
    """The shortest time of the others at a result's n, of the same file and matrix if possible."""
    near = [other for other in others if other["n"] == row["n"]]
    for field in ("source", "matrix"):
        near = [other for other in near if other[field] == row[field]] or near
    return min((other["median_s"] for other in near), default=None)


def baselines(pivot, rows):
    """The baseline's results."""
    return [row for row in rows if is_baseline(row) and row["routine"] == baseline_of(pivot)]


def reference(row, pivot, rows):
    """The baseline's time at a result's n."""
    return fastest(row, baselines(pivot, rows))


def ratios(rival, ours):
    """(n, time of the rival over time of ours) of a rival's series."""
    compared = [(row, fastest(row, ours)) for row in rival["rows"]]
    return [(row["n"], row["median_s"] / time) for row, time in compared if time is not None]


def judged(rows):
    """(pivot, lugpu's method, its results): for each pivoting, the methods as JUDGED orders them."""
    mine = [row for row in rows if not is_baseline(row)]
    for pivot, routine in itertools.product(in_order([row["pivot"] for row in mine], PIVOTS),
                                            in_order([row["routine"] for row in mine], JUDGED)):
        yield pivot, routine, [row for row in mine
                               if row["pivot"] == pivot and row["routine"] == routine]


def comparisons(all_series, rows):
    """{pivot: (lugpu's method, [(series of a rival, (n, ratio))])} where both were measured.

    Full pivoting is another problem and has rivals of its own.
    """
    found = {}
    for pivot, routine, ours in judged(rows):
        lines = [(entry, ratios(entry, ours)) for entry in all_series
                 if is_baseline(entry["rows"][0])
                 and (entry["rows"][0]["pivot"] == "full") == (pivot == "full")]
        lines = [(entry, xy) for entry, xy in lines if xy]
        if lines and pivot not in found:
            found[pivot] = (routine, lines)
    return found


def swept(rows):
    """{pivot: (results of lugpu's method, those of the rival at the same n)}; the method is the first
    that was measured on several numbers of cores."""
    found = {}
    for pivot, _, ours in judged(rows):
        if len(core_counts(ours)) > 1:
            orders = {row["n"] for row in ours if core_count(row)}
            rivals = [row for row in baselines(pivot, rows) if row["n"] in orders]
            found.setdefault(pivot, ([row for row in ours if core_count(row)], rivals))
    return found


def over_cores(ours, rivals):
    """{n: {"lugpu", "rival", "ratio"}}: points (cores, speed of each) and (cores, time of the rival
    over that of lugpu)."""
    found = {}
    for n in sorted({row["n"] for row in ours}):
        at_n = found[n] = {"lugpu": [], "rival": [], "ratio": []}
        own, others = ([row for row in rows if row["n"] == n] for rows in (ours, rivals))
        for cores in core_counts(own + others):
            mine, theirs = on_cores(cores, own), on_cores(cores, others)
            for name, some in (("lugpu", mine), ("rival", theirs)):
                if some:
                    at_n[name].append((cores, max(row["gflops"] for row in some)))
            if mine and theirs:
                best = min(mine, key=lambda row: row["median_s"])
                at_n["ratio"].append((cores, fastest(best, theirs) / best["median_s"]))
    return found


def points(entry, quantity, pivot, rows):
    """(n, value) of a series in one column of panels."""
    if quantity != "speedup":
        return [(row["n"], row[quantity]) for row in entry["rows"]]
    compared = [(row, reference(row, pivot, rows)) for row in entry["rows"]]
    return [(row["n"], time / row["median_s"]) for row, time in compared if time is not None]


def intervals(entry, quantity, pivot, rows):
    """(n, low, high): 95 % of a series in one column of panels, where it has them. Of a speed-up that
    of its own times."""
    def spread(row, value):
        bounds = row.get("median_interval_s")
        if not bounds or min(bounds) <= 0:
            return None
        if quantity == "median_s":
            return row["n"], *bounds
        return row["n"], *(value * row["median_s"] / bound for bound in reversed(bounds))
    values = dict(points(entry, quantity, pivot, rows))
    found = [spread(row, values[row["n"]]) for row in entry["rows"] if row["n"] in values]
    return [one for one in found if one]


def panel_series(all_series, pivot):
    """Series of one row of panels: methods and rivals of a pivoting, and its baseline."""
    def fits(row):
        return row["pivot"] == pivot or (is_baseline(row) and row["routine"] == baseline_of(pivot))
    return [entry for entry in all_series if fits(entry["rows"][0])]


def pivots_of(all_series):
    """Pivotings to draw: those of lugpu's methods, and any that only a rival has."""
    firsts = [entry["rows"][0] for entry in all_series]
    pivots = {row["pivot"] for row in firsts if not is_baseline(row)}
    shown = {entry["label"] for pivot in pivots for entry in panel_series(all_series, pivot)}
    pivots |= {entry["rows"][0]["pivot"] for entry in all_series if entry["label"] not in shown}
    return in_order(pivots, PIVOTS)


def styles_of(all_series):
    """How to draw each style of a figure. Markers are taken in turn, so that none repeats soon."""
    sources = list(dict.fromkeys(entry["rows"][0]["source"] for entry in all_series))
    size = 5.5 if len({row["n"] for entry in all_series for row in entry["rows"]}) <= 10 else 4
    styles, turns = {}, {True: itertools.count(), False: itertools.count()}
    for entry in all_series:
        row = entry["rows"][0]
        if entry["style"] in styles:
            continue
        markers = BASELINE_MARKERS if is_baseline(row) else MARKERS
        colour = (RIVAL_COLOURS.get(row["implementation"], "black") if is_baseline(row)
                  else COLOURS.get(row["routine"], OTHER_COLOUR))
        colour = paler(colour, sources.index(row["source"]))
        styles[entry["style"]] = {
            "color": colour, "linestyle": LINES.get(row["storage"], ":"), "markersize": size,
            "marker": markers[next(turns[is_baseline(row)]) % len(markers)],
            "markerfacecolor": colour if row["storage"] == "image" else "white",
        }
    return styles


def is_drawn(series, quantity, pivot, rows):
    """Whether a panel has something to show: a speed-up needs more than the baseline itself."""
    return quantity != "speedup" or sum(bool(points(entry, quantity, pivot, rows))
                                        for entry in series) > 1


def draw_panel(ax, series, quantity, pivot, rows, styles):
    """One panel; returns the values that its y axis must hold."""
    values = []
    for entry in series:
        xy = points(entry, quantity, pivot, rows)
        values += [y for _, y in xy]
        ax.plot([x for x, _ in xy], [y for _, y in xy], label=plain(entry["label"]),
                **styles[entry["style"]])
        if spread := intervals(entry, quantity, pivot, rows):
            ax.vlines(*zip(*spread), color=styles[entry["style"]]["color"], linewidth=ERROR_BAR, zorder=1.9)
            values += [bound for _, *bounds in spread for bound in bounds]
    if quantity == "speedup":
        ax.axhline(1.0, color=GREY, linewidth=1.0, zorder=0.9)
        values.append(1.0)
    return values


def y_label(quantity, pivot, series):
    """What the y axis of a panel shows; ticks of time carry their unit."""
    rivals = [entry for entry in series if entry["rows"][0]["routine"] == baseline_of(pivot)]
    fastest = "the fastest " if len(rivals) > 1 else ""
    return {"median_s": "median time", "gflops": "GFLOP/s",
            "speedup": f"speed-up over {fastest}{baseline_of(pivot)}"}[quantity]


def set_cores_axis(ax, counts, labelled):
    """A logarithmic axis with a tick at every number of cores, and its text where there is room."""
    spelled = size_ticks(counts, LEVEL_CORES)
    ax.set_xscale("log", base=2)
    set_x_ticks(ax, counts, counts, lambda x, _: f"{x:.0f}" if x in spelled else "")
    name_x_axis(ax, "number of cores", labelled)


def draw_column(axes, panels, quantity, rows, styles):
    """The panels of one quantity, {pivot: axes}. Time and speed have one scale, so that pivotings
    compare."""
    spell_tick = {"median_s": spell_time, "gflops": lambda y, _: f"{y:g}",
                  "speedup": lambda y, _: f"{y:g}×"}[quantity]
    values = {pivot: draw_panel(ax, panels[pivot], quantity, pivot, rows, styles)
              for pivot, ax in axes.items()}
    shared = [value for some in values.values() for value in some]
    last = list(axes)[-1]
    for pivot, ax in axes.items():
        set_y_axis(ax, values[pivot] if quantity == "speedup" else shared,
                   FuncFormatter(spell_tick))
        ax.set_ylabel(y_label(quantity, pivot, panels[pivot]))
        set_x_axis(ax, [row["n"] for row in rows], labelled=pivot == last)
    next(iter(axes.values())).set_title(QUANTITIES[quantity])


def lay_out(labels, shown, note_lines, size=(PANEL_WIDTH, PANEL_HEIGHT)):
    """(figure, {quantity: {pivot: axes}}, {pivot: place of its legend}): panels of one width where
    they are shown, room for legends of the labels {pivot: [label]} and for notes."""
    longest = max(len(label) for some in labels.values() for label in some)
    legend = LEGEND_HANDLE + LEGEND_CHARACTER * longest
    panel_width, least_height = size
    step = panel_width + COLUMN_GAP
    width = max(LEFT + len(shown) * step - COLUMN_GAP + LEGEND_GAP + legend, NARROWEST)
    heights = {pivot: max(least_height, LEGEND_LINE * (len(some) + 1))
               for pivot, some in labels.items()}
    below = AXIS_BELOW + NOTE_LINE * note_lines
    height = TOP + sum(heights.values()) + (len(heights) - 1) * ROW_GAP + below
    figure = Figure(figsize=(width, height))
    axes, legends, y = {quantity: {} for quantity in shown}, {}, height - TOP
    for pivot, panel_height in heights.items():
        y -= panel_height
        for column, quantity in enumerate(shown):
            x = LEFT + column * step
            if pivot in shown[quantity]:
                axes[quantity][pivot] = figure.add_axes([x / width, y / height, panel_width / width,
                                                         panel_height / height])
                legends[pivot] = ((x + panel_width + LEGEND_GAP) / width,
                                  (y + panel_height / 2) / height)
        y -= ROW_GAP
    return figure, axes, legends


def about(rows, what):
    """The second line of a heading: what was measured, and on which matrices."""
    return f"{what}. Matrix: " + ", ".join(dict.fromkeys(row["matrix"] for row in rows))


def alone(cores=None):
    """What was measured, and on how many cores where a figure shows one of several numbers."""
    return "factorization alone" + (f", lugpu on {cores} cores" if cores else "")


def draw_page(device, precision, rows, notes, cores=None):
    """The figure of one device and precision, without panels that would be empty."""
    all_series = series_of(rows)
    panels = {pivot: panel_series(all_series, pivot) for pivot in pivots_of(all_series)}
    shown = {quantity: [pivot for pivot, series in panels.items()
                        if is_drawn(series, quantity, pivot, rows)] for quantity in QUANTITIES}
    shown = {quantity: pivots for quantity, pivots in shown.items() if pivots}
    labels = {pivot: [entry["label"] for entry in series] for pivot, series in panels.items()}
    figure, axes, legends = lay_out(labels, shown, len(notes))
    styles = styles_of(all_series)
    for quantity in shown:
        draw_column(axes[quantity], panels, quantity, rows, styles)
    for pivot, place in legends.items():
        write_legend(axes["median_s"][pivot], place, pivoting(pivot))
    write_around(figure, device, precision, about(rows, alone(cores).capitalize()), notes)
    return figure


def set_ratio_axis(ax, lines):
    """A y axis for lines of ratios, pale where the rival is faster."""
    values = [1.0] + [y for xy in lines for _, y in xy]
    room = [min(values) / 1.5, max(values) * 1.5]  # for the words in the corners
    low, _ = set_y_axis(ax, values + room, FuncFormatter(lambda y, _: f"{y:g}×"))
    ax.axhspan(low, 1.0, color=PALE, linewidth=0, zorder=0.1)
    ax.axhline(1.0, color="black", linewidth=1.0, zorder=0.9)
    for place, word in ((0.98, "lugpu is faster"), (0.02, "the rival is faster")):
        ax.text(0.02, place, word, transform=ax.transAxes, va="top" if place > 0.5 else "bottom",
                color=GREY, fontsize=8)


def draw_ratios(ax, lines, styles):
    """One panel: the ratio of each rival, dotted if it does not pivot."""
    set_ratio_axis(ax, [xy for _, xy in lines])
    dotted = {"none": {"linestyle": ":"}}
    return [ax.plot(*zip(*xy), **(styles[entry["style"]]
                                  | dotted.get(entry["rows"][0]["pivot"], {})))[0]
            for entry, xy in lines]


def draw_comparison(device, precision, rows, cores=None):
    """The figure of the rivals of one device and precision, or None where there are none."""
    all_series = series_of(rows)
    panels = comparisons(all_series, rows)
    if not panels:
        return None
    styles = styles_of(all_series)
    labels = {entry["label"]: f"{entry['label']}, pivoting {entry['rows'][0]['pivot']}"
              for _, lines in panels.values() for entry, _ in lines}
    step = RATIO_WIDTH + COLUMN_GAP
    legend = LEGEND_HANDLE + LEGEND_CHARACTER * max(map(len, labels.values()))
    right = LEFT + step * len(panels) - COLUMN_GAP
    width, height = right + LEGEND_GAP + legend, TOP + RATIO_HEIGHT + AXIS_BELOW
    figure = Figure(figsize=(width, height))
    handles = {}
    for place, (pivot, (routine, lines)) in enumerate(panels.items()):
        ax = figure.add_axes([(LEFT + place * step) / width, AXIS_BELOW / height,
                              RATIO_WIDTH / width, RATIO_HEIGHT / height])
        drawn = draw_ratios(ax, lines, styles)
        handles |= {labels[entry["label"]]: line for (entry, _), line in zip(lines, drawn)}
        set_x_axis(ax, [n for _, xy in lines for n, _ in xy], labelled=True)
        ax.set_title(f"{routine}, {pivoting(pivot)}")
        ax.set_ylabel("time of the rival / time of lugpu" if place == 0 else "")
    figure.legend(handles.values(), map(plain, handles), title="rivals", **LEGEND_LOOK,
                  bbox_to_anchor=((right + LEGEND_GAP) / width,
                                  (AXIS_BELOW + RATIO_HEIGHT / 2) / height))
    write_around(figure, device, precision,
                 about(rows, f"Time of each rival over the time of lugpu, {alone(cores)}"))
    return figure


def close_orders(sizes):
    """Groups of at least three orders of which each is at most a tenth larger than the one before."""
    groups = [[]]
    for n in sorted(set(sizes)):
        if groups[-1] and n > 1.1 * groups[-1][-1]:
            groups.append([])
        groups[-1].append(n)
    return [group for group in groups if len(group) >= 3]


def draw_close_panel(ax, all_series, group, styles):
    """Speeds of each series at a few close orders, over its own largest there; returns the lines drawn."""
    lines = {}
    for entry in all_series:
        near = dict(entry, rows=[row for row in entry["rows"] if row["n"] in group])
        xy = points(near, "gflops", None, near["rows"])
        if len(xy) < 3:
            continue
        top = max(y for _, y in xy)
        lines[entry["label"]], = ax.plot([x for x, _ in xy], [y / top for _, y in xy],
                                         **styles[entry["style"]])
        if spread := intervals(near, "gflops", None, near["rows"]):
            ax.vlines([n for n, *_ in spread], [low / top for _, low, _ in spread],
                      [high / top for *_, high in spread], color=styles[entry["style"]]["color"],
                      linewidth=ERROR_BAR, zorder=1.9)
    return lines


def draw_close(device, precision, rows, cores=None):
    """The figure of close orders, a panel for each group of them, or None where there is none."""
    groups = close_orders(row["n"] for row in rows)
    if not groups or are_dense([row["n"] for row in rows], groups):
        return None
    all_series = series_of(rows)
    styles, handles = styles_of(all_series), {}
    step = RATIO_WIDTH + COLUMN_GAP
    right = LEFT + step * len(groups) - COLUMN_GAP
    legend = LEGEND_HANDLE + LEGEND_CHARACTER * max(len(entry["label"]) for entry in all_series)
    width, height = right + LEGEND_GAP + legend, TOP + RATIO_HEIGHT + AXIS_BELOW
    figure = Figure(figsize=(width, height))
    for place, group in enumerate(groups):
        ax = figure.add_axes([(LEFT + place * step) / width, AXIS_BELOW / height,
                              RATIO_WIDTH / width, RATIO_HEIGHT / height])
        handles |= draw_close_panel(ax, all_series, group, styles)
        space_evenly(ax, group)
        set_x_ticks(ax, group, group, lambda x, _: f"{x:.0f}")
        name_x_axis(ax, "order n of the matrix, evenly spaced", True)
        ax.set_title(f"n = {group[0]} to {group[-1]}")
        ax.set_ylabel("GFLOP/s over the most in this panel" if place == 0 else "")
    if not handles:
        return None
    figure.legend(handles.values(), map(plain, handles), **LEGEND_LOOK,
                  bbox_to_anchor=((right + LEGEND_GAP) / width,
                                  (AXIS_BELOW + RATIO_HEIGHT / 2) / height))
    write_around(figure, device, precision,
                 about(rows, f"Speed at close orders, each over its own largest, {alone(cores)}"))
    return figure


def are_dense(sizes, groups):
    """Whether all sizes are close to one another, as in a sweep by a small step: the others show them."""
    return len(groups) == 1 and len(groups[0]) == len(set(sizes))


def order_styles(orders):
    """A marker and a colour for each order n, the larger the darker."""
    shades = numpy.linspace(0, LIGHTEST, len(orders))[::-1]
    return {n: {"color": matplotlib.colormaps[ORDER_COLOURS](shade), "marker": marker,
                "markersize": ORDER_MARKER}
            for n, shade, marker in zip(orders, shades, itertools.cycle(MARKERS))}


def draw_speeds(ax, lines, styles):
    """A panel of speeds over cores; lines are as over_cores gives them."""
    for n, at_n in lines.items():
        ax.plot(*zip(*at_n["lugpu"]), label=str(n), **styles[n])
        if at_n["rival"]:
            ax.plot(*zip(*at_n["rival"]), **styles[n], **RIVAL_LOOK)
    speeds = [y for at_n in lines.values() for _, y in at_n["lugpu"] + at_n["rival"]]
    set_y_axis(ax, speeds, FuncFormatter(lambda y, _: f"{y:g}"))
    ax.set_ylabel("GFLOP/s")


def draw_core_ratios(ax, lines, styles):
    """A panel of the rival's time over that of lugpu, over cores."""
    drawn = {n: at_n["ratio"] for n, at_n in lines.items() if at_n["ratio"]}
    set_ratio_axis(ax, drawn.values())
    for n, xy in drawn.items():
        ax.plot(*zip(*xy), **styles[n])
    ax.set_ylabel("time of the rival / time of lugpu")


def line_entries(ours, rivals):
    """Entries of a legend that say whose the solid and the dashed lines are."""
    look = {"color": GREY, "marker": MARKERS[0], "markersize": ORDER_MARKER}
    entries = [Line2D([], [], label=ours[0]["routine"], **look)]
    if rivals:
        libraries = ", ".join(dict.fromkeys(row["implementation"] for row in rivals))
        label = f"{rivals[0]['routine']} ({libraries}), pivoting {rivals[0]['pivot']}"
        entries.append(Line2D([], [], label=plain(label), **look, **RIVAL_LOOK))
    return entries


def draw_cores(device, precision, rows, notes):
    """The figure over cores of one device and precision, or None where lugpu ran on one number."""
    measured = swept(rows)
    if not measured:
        return None
    panels = {pivot: over_cores(*both) for pivot, both in measured.items()}
    shown = {"speed": list(panels), "ratio": [
        pivot for pivot, lines in panels.items() if any(at_n["ratio"] for at_n in lines.values())]}
    shown = {column: pivots for column, pivots in shown.items() if pivots}
    entries = {pivot: line_entries(*both) for pivot, both in measured.items()}
    labels = {pivot: [*map(str, panels[pivot]), *(entry.get_label() for entry in some)]
              for pivot, some in entries.items()}
    figure, axes, legends = lay_out(labels, shown, len(notes), (RATIO_WIDTH, RATIO_HEIGHT))
    styles = order_styles(sorted({n for lines in panels.values() for n in lines}))
    for pivot, ax in axes["speed"].items():
        draw_speeds(ax, panels[pivot], styles)
        ax.set_title(f"{measured[pivot][0][0]['routine']}, {pivoting(pivot)}")
        orders, _ = ax.get_legend_handles_labels()
        write_legend(ax, legends[pivot], "order n", orders + entries[pivot])
    for pivot, ax in axes.get("ratio", {}).items():
        draw_core_ratios(ax, panels[pivot], styles)
    counts = core_counts(row for both in measured.values() for row in itertools.chain(*both))
    for column in axes.values():
        for pivot, ax in column.items():
            set_cores_axis(ax, counts, labelled=pivot == list(column)[-1])
    ratio = ", and time of the rival over that of lugpu on as many" if "ratio" in axes else ""
    write_around(figure, device, precision,
                 about(rows, f"Speed over the number of cores{ratio}, {alone()}"), notes)
    return figure


def figures_of(device, precision, rows, missing, several):
    """[(ending of its name, figure)] of one device and precision; `missing` is left out of them."""
    def notes(results):
        return footnote([describe_left_out(row, *several) for row in results])
    all_cores = draw_cores(device, precision, rows, notes(missing))
    most = None
    if all_cores:
        most = max(core_counts(row for row in rows if not is_baseline(row)))
        rows, missing = on_most_cores(most, rows), on_cores(most, missing)
    found = [("", draw_page(device, precision, rows, notes(missing), most)),
             ("-ratio", draw_comparison(device, precision, rows, most)),
             ("-close", draw_close(device, precision, rows, most)), ("-cores", all_cores)]
    return [(ending, figure) for ending, figure in found if figure]


def dense_figures(paths, rows):
    """Yields (name without ending, figure) for the results of dense matrices."""
    drawn = [row for row in rows if is_drawable(row)]
    left_out = [row for row in rows if not is_drawable(row)]
    figures = pages(drawn)
    several_devices = len({device for device, _, _ in figures if device}) > 1
    several = several_things(paths, rows)
    for device, precision, own in figures:
        missing = left_out_of(device, precision, left_out, figures)
        parts = [paths[0].stem] + [slug(device or "host")] * several_devices + [slug(precision)]
        for ending, figure in figures_of(device, precision, own, missing, several):
            yield "-".join(parts) + ending, figure


def grid_figures(paths, rows):
    """Yields (name without ending, figure) for the results of systems on grids."""
    several_devices = len({row["device"] for row in rows if row["device"]}) > 1
    for system, own in problem_figures.by_system(rows).items():
        drawn = [row for row in own if problem_figures.is_drawable(row)]
        left_out = [row for row in own if not problem_figures.is_drawable(row)]
        figures = pages(drawn)
        for device, precision, results in figures:
            missing = left_out_of(device, precision, left_out, figures)
            notes = footnote([problem_figures.describe_left_out(row, len(paths) > 1)
                              for row in missing])
            parts = ([paths[0].stem] + [slug(device or "host")] * several_devices
                     + [slug(system), slug(precision)])
            yield ("-".join(parts),
                   problem_figures.draw_system(device, precision, results, notes))


def simulation_pages(paths, rows):
    """Yields (name without ending, figure) for simulations; those on the host join every device."""
    devices = sorted({row["device"] for row in rows if row["device"]}) or [None]
    for problem, own in problem_figures.by_system(rows).items():
        for device in devices:
            here = [row for row in own if row["device"] in (device, None)]
            drawn = [row for row in here if simulation_figures.is_drawable(row)]
            if not any(row["device"] == device for row in drawn):
                continue
            notes = footnote([simulation_figures.describe_left_out(row, len(paths) > 1)
                              for row in here if row not in drawn])
            parts = ([paths[0].stem] + [slug(device or "host")] * (len(devices) > 1)
                     + [slug(problem)])
            yield "-".join(parts), simulation_figures.draw_simulations(device, drawn, notes)


def batch_pages(paths, rows, others):
    """Yields (name without ending, figure) for batches; others: whether there are other results."""
    left_out = [row for row in rows if not is_drawable(row)]
    figures = pages([row for row in rows if is_drawable(row)])
    several_devices = len({device for device, _, _ in figures if device}) > 1
    for device, precision, own in figures:
        notes = footnote([batch_figures.describe_left_out(row, len(paths) > 1)
                          for row in left_out_of(device, precision, left_out, figures)])
        parts = ([paths[0].stem] + [slug(device or "host")] * several_devices
                 + ["batches"] * others + [slug(precision)])
        yield "-".join(parts), batch_figures.draw_batches(device, precision, own, notes)


def several_things(paths, rows):
    """Whether there are several files, matrices, and numbers of cores of one device."""
    return (len(paths) > 1, len({row["matrix"] for row in rows}) > 1, is_on_several_cores(rows))


def plot(paths, folder):
    """Draw all figures of the given files into a folder; returns the paths written."""
    sources = source_names(paths)
    rows = [row for path, source in zip(paths, sources) for row in load(path, source)]
    simulated = [row for row in rows if simulation_figures.is_simulation(row)]
    batches = [row for row in rows if batch_figures.is_batch(row)]
    on_grids = [row for row in rows
                if problem_figures.is_of_problem(row) and row not in simulated]
    dense = [row for row in rows
             if not (problem_figures.is_of_problem(row) or batch_figures.is_batch(row))]
    written = []
    for name, figure in itertools.chain(dense_figures(paths, dense),
                                        grid_figures(paths, on_grids),
                                        simulation_pages(paths, simulated),
                                        batch_pages(paths, batches, len(batches) < len(rows))):
        folder.mkdir(parents=True, exist_ok=True)
        written += save(figure, folder / name)
    if not written:
        raise BadInput(f"{', '.join(map(str, paths))}: no result with status ok, so there is "
                       "nothing to draw; `reason` in the file says why.")
    several = several_things(paths, dense)
    for line in ([describe_left_out(row, *several) for row in dense if not is_drawable(row)]
                 + [problem_figures.describe_left_out(row, len(paths) > 1) for row in on_grids
                    if not problem_figures.is_drawable(row)]
                 + [batch_figures.describe_left_out(row, len(paths) > 1) for row in batches
                    if not is_drawable(row)]
                 + [simulation_figures.describe_left_out(row, len(paths) > 1) for row in simulated
                    if not simulation_figures.is_drawable(row)]):
        print("left out:", line, file=sys.stderr)
    return written


def main(argv):
    """Exit status of the program."""
    arguments = parse_arguments(argv)
    matplotlib.rcdefaults()
    matplotlib.rcParams.update(STYLE)
    try:
        for path in plot(arguments.files, arguments.output or arguments.files[0].parent):
            print(path)
    except BadInput as error:
        print(f"plot.py: {error}", file=sys.stderr)
        return 2
    except OSError as error:
        print(f"plot.py: {error.filename or 'a figure'}: cannot be written ({error.strerror}).",
              file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
