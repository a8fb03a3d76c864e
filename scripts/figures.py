"""What the figures of all results share: their look, their measures, their axes and their files."""

import itertools
import logging
import math
import re

logging.getLogger("matplotlib").setLevel(logging.ERROR)  # no chatter about font caches

import numpy  # noqa: E402
from matplotlib.colors import to_rgb  # noqa: E402
from matplotlib.ticker import EngFormatter, FixedLocator, FuncFormatter, NullLocator  # noqa: E402

OTHER_COLOUR = "#66AABB"
MARKERS = "osD^vPX<>p"
BASELINE_MARKERS = "x+*12"
RIVAL_LOOK = {"linestyle": "--", "markerfacecolor": "white"}
GREY, PALE = "#555555", "#F0F0F0"

# Measures of a figure in inches; and how many lines below it of how many characters.
PANEL_WIDTH, PANEL_HEIGHT, COLUMN_GAP, ROW_GAP = 2.75, 2.15, 0.8, 0.3
LEFT, TOP, AXIS_BELOW, EDGE, LEGEND_GAP = 0.95, 0.95, 0.65, 0.12, 0.15
LEGEND_LINE, LEGEND_HANDLE, LEGEND_CHARACTER, NOTE_LINE = 0.2, 0.65, 0.07, 0.16
NOTE_ROWS, NOTE_CHARACTERS = 6, 180
NARROWEST = 9  # a figure of one column has room for the heading and the notes, too
RATIO_WIDTH, RATIO_HEIGHT = 3.3, 2.9
CROWDED = 0.005  # of a logarithmic axis: sizes closer than that hide one another
MOST_SIZE_TICKS = 24  # upright below a panel
LEVEL_SIZES, LEVEL_CORES = 6.5, 11  # numbers that fit side by side below a panel

# The look is fixed here and not in a user's matplotlibrc, and files hold no date and no random
# ids, so that drawing the same results again changes nothing.
STYLE = {
    "font.family": "DejaVu Sans", "font.size": 9, "axes.titlesize": 10, "legend.fontsize": 9,
    "axes.spines.top": False, "axes.spines.right": False, "axes.edgecolor": GREY,
    "axes.grid": True, "grid.color": "#DDDDDD", "grid.linewidth": 0.6, "axes.axisbelow": True,
    "lines.linewidth": 1.5, "svg.hashsalt": "lugpu", "svg.fonttype": "none",
}
LEGEND_LOOK = {
    "loc": "center left", "borderaxespad": 0, "borderpad": 0, "frameon": False, "handlelength": 3.2,
    "alignment": "left", "title_fontproperties": {"weight": "bold"},
}
METADATA = {"png": {"Software": None}, "svg": {"Date": None, "Creator": "lugpu scripts/plot.py"}}


def field_fault(row, fields, optional=()):
    """What is wrong with the fields of a result, {name: types}; or an empty text."""
    for field, types in fields.items():
        if field not in row:
            if field in optional:
                continue
            return f"has no {field}"
        if not isinstance(row[field], types) or isinstance(row[field], bool):
            return f"has a {field} of the wrong type"
    return ""


def counted(number, thing):
    """A number of things in words."""
    return f"{number} {thing}{'s' * (number > 1)}"


def in_order(names, known):
    """Names without repetitions: known ones in their order, then the others."""
    return [name for name in known if name in names] + sorted(set(names) - set(known))


def cut(text, length):
    """A text on one line, cut to the available length."""
    line = " ".join(text.split())
    return line if len(line) <= length else line[:length - 3].rstrip() + "..."


def footnote(lines):
    """The lines about what is left out, cut to the room below a figure."""
    shown = lines if len(lines) <= NOTE_ROWS else lines[:NOTE_ROWS - 1]
    notes = [cut("left out: " + line, NOTE_CHARACTERS) for line in shown]
    if len(lines) > len(shown):
        notes.append(f"left out: {len(lines) - len(shown)} more")
    return notes


def plain(text):
    """Text without mathematics: matplotlib would typeset what is between two dollars."""
    return text.replace("$", r"\$")


def paler(colour, step):
    """A colour mixed with white: the further the file, the paler."""
    share = 0.55 ** step
    return tuple(1 - share * (1 - part) for part in to_rgb(colour))


def log_ticks(low, high):
    """1-2-5 over a short range, powers of ten over a long one."""
    steps = (1, 2, 5) if high / low < 1000 else (1,)
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    return [tick for decade in decades for step in steps
            if low <= (tick := step * 10.0 ** decade) <= high]


def size_ticks(sizes, most=LEVEL_SIZES):
    """Measured sizes to label, powers of two first, none closer than their text is wide."""
    gap = max(math.log(max(sizes) / min(sizes)) / most, 0.05)
    ticks = []
    for size in sorted(set(sizes), key=lambda n: (n & (n - 1) != 0, -n)):
        if all(abs(math.log(tick / size)) >= gap for tick in ticks):
            ticks.append(size)
    return ticks


def are_crowded(sizes):
    """Whether some sizes would overlap on a logarithmic axis."""
    nearest = min((after / before for before, after in itertools.pairwise(sizes)), default=math.inf)
    return nearest < (sizes[-1] / sizes[0]) ** CROWDED


def space_evenly(ax, sizes):
    """An axis with evenly spaced sizes."""
    knots = [sizes[0] / 1.15, *sizes, sizes[-1] * 1.15]
    places = [-0.6, *range(len(sizes)), len(sizes) - 0.4]
    ax.set_xscale("function", functions=(lambda x: numpy.interp(x, knots, places),
                                         lambda place: numpy.interp(place, places, knots)))
    ax.tick_params(axis="x", labelrotation=90, labelsize=7)


def set_x_axis(ax, sizes, labelled, name="order n of the matrix"):
    """An axis of sizes, as plain numbers: logarithmic, unless some would hide others."""
    sizes = sorted(set(sizes))
    crowded = are_crowded(sizes)
    if crowded:
        space_evenly(ax, sizes)
        ticks = sizes[::math.ceil(len(sizes) / MOST_SIZE_TICKS)]
    else:
        ax.set_xscale("log", base=2)
        ticks = size_ticks(sizes)
    set_x_ticks(ax, sizes, ticks, lambda x, _: f"{x:.0f}")
    name_x_axis(ax, name + ", evenly spaced" * crowded, labelled)


def set_x_ticks(ax, values, ticks, spell):
    """Room for the values, and ticks."""
    ax.set_xlim(values[0] / 1.15, values[-1] * 1.15)
    ax.xaxis.set_major_locator(FixedLocator(ticks))
    ax.xaxis.set_minor_locator(NullLocator())
    ax.xaxis.set_major_formatter(FuncFormatter(spell))


def name_x_axis(ax, name, labelled):
    """The name of an axis and the text of its ticks, unless those of a panel below serve."""
    ax.tick_params(axis="x", labelbottom=labelled)
    ax.set_xlabel(name if labelled else "")


def set_y_axis(ax, values, formatter):
    """A logarithmic axis that holds the values and room around them, with one tick at least.

    Returns its ends.
    """
    low, high = min(values) / 1.6, max(values) * 1.6
    ax.set_yscale("log")
    ax.set_ylim(low, high)
    ax.yaxis.set_major_locator(FixedLocator(log_ticks(low, high)))
    ax.yaxis.set_minor_locator(NullLocator())
    ax.yaxis.set_major_formatter(formatter)
    return low, high


def spell_time(seconds, _):
    """A tick of time with its unit; longer than a second stays in seconds."""
    return f"{seconds:g} s" if seconds >= 1 else EngFormatter(unit="s")(seconds)


def write_around(figure, device, precision, subtitle, notes=()):
    """The heading of a figure, and what is left out below it."""
    width, height = figure.get_size_inches()
    lines = [(cut(f"{device or 'host'}, {precision} precision", 95), height - EDGE, "top",
              {"fontsize": 13, "fontweight": "bold"}),
             (cut(subtitle, NOTE_CHARACTERS), height - EDGE - 0.26, "top",
              {"color": GREY}),
             ("\n".join(notes), EDGE, "bottom", {"fontsize": 8, "color": GREY})]
    for text, y, align, look in lines:
        figure.text(EDGE / width, y / height, plain(text), ha="left", va=align, **look)


def write_legend(ax, place, title, handles=None):
    """A legend beside the last panel of a row, of one panel's lines or of the given ones."""
    ax.legend(handles=handles, title=title, bbox_to_anchor=place,
              bbox_transform=ax.figure.transFigure, **LEGEND_LOOK)


def slug(text):
    """A device's name as a part of a file name."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")[:60]


def save(figure, base):
    """Write a figure as PNG and SVG; returns their paths."""
    paths = [base.with_name(f"{base.name}.{ending}") for ending in METADATA]
    for path in paths:
        figure.savefig(path, dpi=150, metadata=METADATA[path.suffix[1:]])
    return paths
