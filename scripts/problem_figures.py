"""The figures of `lugpu bench --problem`: methods and rivals for equations on grids.

Three panels: time to the tolerance over the size of the grid, with setup; relative residual over
the time of a solution, without setup, which would squash the rest on large grids; and the time for
many right-hand sides with setup, which shows where a factorization pays. A colour is a kind of
method, a dashed line with open markers is a rival.
"""

import itertools
import math

from figures import (AXIS_BELOW, GREY, LEFT, LEGEND_GAP, LEGEND_HANDLE, LEGEND_LINE,
                     LEGEND_LOOK, MARKERS, NOTE_CHARACTERS, NOTE_LINE, OTHER_COLOUR,
                     RATIO_HEIGHT, RATIO_WIDTH, RIVAL_LOOK, TOP, cut, field_fault, in_order, paler, plain,
                     set_x_axis, set_y_axis, spell_time, write_around)
import numpy
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

NUMBER, NUMBER_OR_NULL = (int, float), (int, float, type(None))
FIELDS = {
    "problem": (str, type(None)), "grid": (int, type(None)), "matrix": (str, type(None)),
    "implementation": str, "routine": str, "precision": str, "storage": str,
    "device": (str, type(None)), "n": int, "nrhs": int, "tolerance": NUMBER,
    "setup_s": NUMBER_OR_NULL, "median_s": NUMBER_OR_NULL, "residuals": list, "checks": dict,
    "status": str, "reason": str,
}

# Kinds of methods in the order of the legend, each with lugpu's method and its rivals. Neighbours
# differ in lightness, so that they survive grey print, where markers tell the rest apart.
KINDS = {
    "#004488": ["fast-diagonal"],
    "#DDAA33": ["multigrid-cg", "viennacl-amg-cg"],
    "#BB5566": ["cg", "viennacl-cg", "plain-cg"],
    "#66CCEE": ["banded", "gbtrf"],
    "#222222": ["lu-blocked", "cholmod"],
    "#228833": ["gauss-seidel", "plain-gauss-seidel"],
    "#AA88CC": ["jacobi", "plain-jacobi"],
}
COLOURS = {name: colour for colour, names in KINDS.items() for name in names}
MARKER_SIZE = 5
COLUMN_GAP, LEGEND_CHARACTER = 0.95, 0.08  # inches
MOST_MARKERS = 12  # on a line of residuals
RIGHT_SIDES = 10_000  # at most, unless lines cross beyond
FARTHEST_CROSSING = 1e6  # of right-hand sides; nobody has more
CROSSING_GAP = 2.5  # the factor between crossings whose rings and numbers fit side by side
SHOWN_SHARE = 30  # a line of residuals begins at this share of its time, at the latest
BELOW_TOLERANCE = 30  # the factor down to which residuals have a place of their own
CROSSING = {"color": "black", "marker": "o", "markersize": 10, "markerfacecolor": "none",
            "linestyle": "none", "zorder": 4}


# --- Reading -------------------------------------------------------------------------------------

def is_of_problem(row):
    """Whether a result is one of a system on a grid, or of a sparse matrix, and not of a dense one."""
    return isinstance(row, dict) and "problem" in row


def row_fault(row):
    """What keeps a result from being read, or an empty text."""
    if fault := field_fault(row, FIELDS):
        return fault
    if not all(isinstance(value, NUMBER_OR_NULL) for value in row["residuals"]):
        return "has residuals that are not numbers"
    if not isinstance(row["checks"].get("residual"), NUMBER_OR_NULL):
        return "has a residual of the wrong type"
    if not 0 < row["tolerance"] < math.inf:
        return "has a tolerance that is not positive"
    if row["status"] == "ok" and (row["setup_s"] is None or row["median_s"] is None):
        return "is ok but has no setup_s or no median_s"
    return ""


def is_drawable(row):
    """Whether a result is a point on logarithmic axes."""
    return (row["status"] == "ok" and min(size_of(row), row["nrhs"], row["median_s"]) > 0
            and row["setup_s"] >= 0 and math.isfinite(row["setup_s"] + row["median_s"]))


# --- Choosing and naming -------------------------------------------------------------------------

def system_of(row):
    """The name of what was solved."""
    return row["problem"] or row["matrix"] or "system"


def size_of(row):
    """Points along an axis of the grid, or the order of a matrix without one."""
    return row["grid"] or row["n"]


def shape_of(row):
    """The size of a result in words: 64², 64³, n = 1000."""
    powers = {row["grid"] ** 2: "²", row["grid"] ** 3: "³"} if row["grid"] else {}
    return f"{row['grid']}{powers[row['n']]}" if row["n"] in powers else f"n = {row['n']}"


def is_rival(row):
    """Whether a result is not lugpu's."""
    return row["implementation"] != "lugpu"


def total(row):
    """Seconds from the matrix to the solution."""
    return row["setup_s"] + row["median_s"]


def describe_left_out(row, several_files):
    """One line about a result that is not drawn."""
    why = row["status"] + (f" ({row['reason']})" if row["reason"] else "")
    if row["status"] == "ok":
        why = "ok, but a logarithmic axis has no place for it"
    source = f" [{row['source']}]" if several_files else ""
    return (f"{row['routine']}/{row['storage']} {row['precision']} {system_of(row)} "
            f"{size_of(row)}{source}: {why}")


def label_of(row, rows):
    """The name of a line: a method, and in brackets what else tells its results apart."""
    words = []
    for field, spell in (("storage", "{}"), ("nrhs", "nrhs {}"), ("tolerance", "to {:g}")):
        values = {other[field] for other in rows if other["routine"] == row["routine"]}
        if len(values) > 1:
            words.append(spell.format(row[field]))
    several = len({other["source"] for other in rows}) > 1
    return (row["routine"] + (f" ({', '.join(words)})" if words else "")
            + (f" [{row['source']}]" if several else ""))


def series_of(rows):
    """{label: results by size}, lugpu's first; of two results of one size the faster counts."""
    order = in_order([row["routine"] for row in rows], list(COLOURS))
    found = {}
    for row in sorted(rows, key=lambda row: (is_rival(row), order.index(row["routine"]))):
        at_size = found.setdefault(label_of(row, rows), {})
        kept = at_size.get(size_of(row))
        if kept is None or total(row) < total(kept):
            at_size[size_of(row)] = row
    return {label: [at_size[size] for size in sorted(at_size)] for label, at_size in found.items()}


def shown_size(series):
    """The largest size at which most of the methods succeeded, or else the one with the most."""
    sizes = [size_of(row) for rows in series.values() for row in rows]
    most = [size for size in sizes if 2 * sizes.count(size) > len(series)]
    return max(most) if most else max(sizes, key=lambda size: (sizes.count(size), size))


def styles_of(series):
    """How to draw each line. Markers are taken in turn, so that none repeats soon."""
    sources = list(dict.fromkeys(rows[0]["source"] for rows in series.values()))
    styles = {}
    for (label, rows), marker in zip(series.items(), itertools.cycle(MARKERS)):
        row = rows[0]
        colour = COLOURS.get(row["routine"], "black" if is_rival(row) else OTHER_COLOUR)
        colour = paler(colour, sources.index(row["source"]))
        styles[label] = {"color": colour, "marker": marker, "markersize": MARKER_SIZE} | (
            RIVAL_LOOK if is_rival(row) else {})
    return styles


# --- Drawing -------------------------------------------------------------------------------------

def spell_power(value, _):
    """A tick of a logarithmic axis that is a power of ten or near one."""
    return f"{value:g}" if 1e-3 < value < 1e4 else f"{value:.0e}".replace("e-0", "e-").replace(
        "e+0", "e")


def set_log_x(ax, low, high, spell, name):
    """A logarithmic x axis between two ends, with a tick at every power of ten or at some."""
    exponents = range(math.ceil(math.log10(low)), math.floor(math.log10(high)) + 1)
    ax.set_xscale("log")
    ax.set_xlim(low, high)
    ax.xaxis.set_major_locator(FixedLocator(
        [10.0 ** exponent for exponent in exponents[::math.ceil(len(exponents) / 6)]]))
    ax.xaxis.set_minor_locator(NullLocator())
    ax.xaxis.set_major_formatter(FuncFormatter(spell))
    ax.set_xlabel(name)


def draw_times(ax, series, styles):
    """Setup and one solve over the size. Returns a line for each label."""
    drawn = {label: ax.plot([size_of(row) for row in rows], [total(row) for row in rows],
                            **styles[label])[0] for label, rows in series.items()}
    everything = [row for rows in series.values() for row in rows]
    on_grids = all(row["grid"] for row in everything)
    set_x_axis(ax, [size_of(row) for row in everything], True,
               "points along each axis" if on_grids else "order n of the matrix")
    set_y_axis(ax, [total(row) for row in everything], FuncFormatter(spell_time))
    ax.set_ylabel("setup + one solve")
    ax.set_title("Time to the tolerance")
    return drawn


def residual_points(row):
    """(seconds from the start of the solution, relative residual) of a result.

    Residuals are spread evenly over the time of the solution. That is right for methods that look
    at theirs in every step; Jacobi and Gauss-Seidel look now and then, at growing distances, and
    theirs are spread by their count, too, for want of the steps at which they looked: only the
    ends of such a line are measured. A direct method is a point: its time and the true residual.
    The residual of the start has no place on a logarithmic axis.
    """
    residuals = row["residuals"]
    if len(residuals) < 2:
        residuals, times = [row["checks"]["residual"]], [row["median_s"]]
    else:
        step = row["median_s"] / (len(residuals) - 1)
        times = [place * step for place in range(len(residuals))]
    return [(time, value) for time, value in zip(times, residuals)
            if value and 0 < value < math.inf and time > 0]


def draw_residuals(ax, rows, styles):
    """Relative residuals over time, of {label: result}."""
    points = {label: residual_points(row) for label, row in rows.items()}
    points = {label: xy for label, xy in points.items() if xy}
    tolerance = max(row["tolerance"] for row in rows.values())
    values = [value for xy in points.values() for _, value in xy]
    floor, _ = set_y_axis(ax, [tolerance] + [max(value, tolerance / BELOW_TOLERANCE)
                                             for value in values], FuncFormatter(spell_power))
    for label, xy in points.items():
        ax.plot([time for time, _ in xy], [max(value, floor) for _, value in xy], **styles[label],
                markevery=max(1, len(xy) // MOST_MARKERS), clip_on=len(xy) > 1)
    ax.axhline(tolerance, color=GREY, linewidth=1.0, linestyle=":", zorder=0.9)
    first = min((max(xy[0][0], xy[-1][0] / SHOWN_SHARE) for xy in points.values()), default=1e-3)
    last = max((xy[-1][0] for xy in points.values()), default=1.0)
    set_log_x(ax, first / 1.5, last * 2, spell_time, "time of the solution, without setup")
    notes = [(tolerance, "tolerance")]
    if any(value < floor for value in values):
        notes.append((1.7 * floor, "on the axis: below it"))
    for y, words in notes:
        ax.text(0.02, y, words, transform=ax.get_yaxis_transform(), va="bottom", color=GREY,
                fontsize=8)
    ax.set_ylabel("relative residual")


def cost(row, count):
    """Seconds for a number of right-hand sides, one after the other."""
    return row["setup_s"] + count * row["median_s"] / row["nrhs"]


def pays_from(direct, iterative):
    """The number of right-hand sides from which a factorization costs less than every iteration; None
    where it costs less from the start, or never."""
    each = direct["median_s"] / direct["nrhs"]
    count = max(((direct["setup_s"] - row["setup_s"]) / (row["median_s"] / row["nrhs"] - each)
                 for row in iterative if row["median_s"] / row["nrhs"] > each), default=0)
    wins = all(cost(direct, count) <= (1 + 1e-9) * cost(row, count) for row in iterative)
    return count if wins and 1 <= count <= FARTHEST_CROSSING else None


def crossings(rows):
    """[(number of right-hand sides, seconds)] from which the direct methods among these results cost
    less than every iterative one."""
    iterative = [row for row in rows if len(row["residuals"]) > 1]
    counts = [(pays_from(row, iterative), row) for row in rows if row not in iterative]
    return sorted((count, cost(row, count)) for count, row in counts if count)


def draw_right_sides(ax, rows, styles):
    """Setup and k solves over k, of {label: result}, with rings where factoring begins to pay."""
    rings = crossings(list(rows.values()))
    end = max([RIGHT_SIDES] + [10 * count for count, _ in rings])
    counts = numpy.geomspace(1, end, 97)
    for place, (label, row) in enumerate(rows.items()):
        ax.plot(counts, cost(row, counts), **styles[label], markevery=(3 * place % 24, 24))
    lows = [cost(row, 1) for row in rows.values()]
    set_y_axis(ax, lows + [cost(row, end) for row in rows.values()] + [min(lows) / 3],
               FuncFormatter(spell_time))
    set_log_x(ax, 1 / 1.15, end * 1.15, spell_power, "number of right-hand sides k")
    told = 0
    for count, time in rings:
        if count > CROSSING_GAP * told:  # or it would hide the one before
            ax.plot([count], [time], **CROSSING)
            ax.annotate(f"k = {math.ceil(count):,}", (count, time), (4, -13),
                        textcoords="offset points", fontsize=8)
            told = count
    ax.text(0.98, 0.02, cheapest(rows, counts), transform=ax.transAxes, va="bottom", ha="right",
            color=GREY, fontsize=8)
    ax.set_ylabel("setup + k solves")


def cheapest(rows, counts):
    """Which of {label: result} costs least, from one right-hand side to the last count."""
    leaders = [(min(rows, key=lambda label: cost(rows[label], count)), count) for count in counts]
    first = {}
    for label, count in leaders:
        first.setdefault(label, count)
    words = [label if count == counts[0] else f"from k = {count:.0f} {label}"
             for label, count in first.items()]
    return "least: " + ",\n".join(words) + (" for every k" if len(words) == 1 else "")


def draw_system(device, precision, rows, notes):
    """The figure of one system: its panels side by side, one legend at the right."""
    series = series_of(rows)
    styles = styles_of(series)
    size = shown_size(series)
    at_size = {label: row for label, some in series.items() for row in some if size_of(row) == size}
    step = RATIO_WIDTH + COLUMN_GAP
    right = LEFT + 3 * step - COLUMN_GAP
    width = right + LEGEND_GAP + LEGEND_HANDLE + LEGEND_CHARACTER * max(map(len, series))
    below = AXIS_BELOW + NOTE_LINE * len(notes)
    panel = max(RATIO_HEIGHT, LEGEND_LINE * (len(series) + 1))
    height = TOP + panel + below
    figure = Figure(figsize=(width, height))
    axes = [figure.add_axes([(LEFT + place * step) / width, below / height, RATIO_WIDTH / width,
                             panel / height]) for place in range(3)]
    drawn = draw_times(axes[0], series, styles)
    draw_residuals(axes[1], at_size, styles)
    draw_right_sides(axes[2], at_size, styles)
    shape = shape_of(next(iter(at_size.values())))
    axes[1].set_title(f"Residual over time, {shape}")
    axes[2].set_title(f"When factoring pays, {shape}")
    figure.legend(drawn.values(), map(plain, drawn), title="methods, rivals dashed", **LEGEND_LOOK,
                  bbox_to_anchor=((right + LEGEND_GAP) / width, (below + panel / 2) / height))
    write_around(figure, device, precision, f"{system_of(rows[0])}, {sides(rows)}", notes)
    return figure


def sides(rows):
    """The tolerances and the numbers of right-hand sides of results, in words."""
    tolerances = ", ".join(f"{value:g}" for value in sorted({row["tolerance"] for row in rows}))
    counts = sorted({row["nrhs"] for row in rows})
    several = f", {', '.join(map(str, counts))} right-hand sides" if counts != [1] else ""
    return cut(f"every method to a relative residual of {tolerances}{several}", NOTE_CHARACTERS)


def by_system(rows):
    """{system: results}, in the order of the files."""
    found = {}
    for row in rows:
        found.setdefault(system_of(row), []).append(row)
    return found
