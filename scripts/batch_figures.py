"""The figures of batches: `lugpu bench --batch`.

The time of a member over its order n, and the time of every rival that factors over that of lugpu with
the same pivoting: above 1, lugpu is faster. A colour is a pivoting, a dashed line with open markers is a
rival.
"""

import itertools

from figures import (AXIS_BELOW, COLUMN_GAP, GREY, LEFT, LEGEND_CHARACTER, LEGEND_GAP, LEGEND_HANDLE,
                     LEGEND_LINE, LEGEND_LOOK, MARKERS, NARROWEST, NOTE_LINE, OTHER_COLOUR,
                     RATIO_HEIGHT, RATIO_WIDTH, RIVAL_LOOK, TOP, field_fault, in_order, paler, plain,
                     set_x_axis, set_y_axis, spell_time, write_around)
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter

NUMBER_OR_NULL = (int, float, type(None))
FIELDS = {
    "batch": int, "implementation": str, "routine": str, "pivot": str, "precision": str,
    "device": (str, type(None)), "n": int, "median_s": NUMBER_OR_NULL, "gflops": NUMBER_OR_NULL,
    "status": str, "reason": str,
}
FACTOR = ["getrf", "getc2", "getrf-batched"]  # others make inverses
COLOURS = {"none": "#DDAA33", "partial": "#004488", "full": "#BB5566"}


def is_batch(row):
    """Whether a result is one of a batch."""
    return isinstance(row, dict) and "batch" in row


def row_fault(row):
    """What keeps a result from being read, or an empty text."""
    if fault := field_fault(row, FIELDS):
        return fault
    if row["batch"] < 1:
        return f"has {row['batch']} members"
    if row["status"] == "ok" and (row["median_s"] is None or row["gflops"] is None):
        return "is ok but has no median_s or no gflops"
    return ""


def is_rival(row):
    """Whether a result is not lugpu's."""
    return row["implementation"] != "lugpu"


def member_time(row):
    """Seconds a member."""
    return row["median_s"] / row["batch"]


def name_of(row):
    """Of a rival; lugpu has no other routine."""
    library = {"cublas": "cuBLAS", "openblas": "OpenBLAS"}.get(row["implementation"], row["implementation"])
    return f"{library} {row['routine']}" if is_rival(row) else "lugpu"


def label_of(row, rows):
    """The name of a line."""
    orders = {other["n"] for other in rows if other["source"] != row["source"]}
    overlaps = any(other["n"] in orders for other in rows if other["source"] == row["source"])
    return f"{name_of(row)}, {row['pivot']}" + (f" [{row['source']}]" if overlaps else "")


def describe_left_out(row, several_files):
    """One line about a result that is not drawn."""
    why = row["status"] + (f" ({row['reason']})" if row["reason"] else "")
    source = f" [{row['source']}]" if several_files else ""
    return f"{name_of(row)} {row['pivot']} {row['precision']} n = {row['n']}{source}: {why}"


def series_of(rows):
    """{label: results by n}, lugpu's first."""
    order = in_order([row["pivot"] for row in rows], list(COLOURS))
    found = {}
    for row in sorted(rows, key=lambda row: (is_rival(row), name_of(row), order.index(row["pivot"]), row["n"])):
        found.setdefault(label_of(row, rows), []).append(row)
    return found


def styles_of(rows):
    """{label: how to draw it}."""
    lines = series_of(rows)
    sources = list(dict.fromkeys(row["source"] for row in rows))
    pale = any("[" in label for label in lines)
    return {label: {"color": paler(COLOURS.get(line[0]["pivot"], OTHER_COLOUR),
                                   sources.index(line[0]["source"]) if pale else 0),
                    "marker": marker, "markersize": 5} | (RIVAL_LOOK if is_rival(line[0]) else {})
            for (label, line), marker in zip(lines.items(), itertools.cycle(MARKERS))}


def ratios_of(rows):
    """{a rival's label: [(n, its time over lugpu's)]}, where both have been measured in one file."""
    own = {(row["source"], row["pivot"], row["n"]): row for row in rows if not is_rival(row)}
    found = {}
    for label, line in series_of(rows).items():
        both = [(row["n"], member_time(row) / member_time(own[key])) for row in line
                if row["routine"] in FACTOR and (key := (row["source"], row["pivot"], row["n"])) in own]
        if both:
            found[label] = both
    return found


def draw_times(ax, rows, styles):
    """The time of a member over n. Returns a line for each label."""
    drawn = {label: ax.plot([row["n"] for row in line], list(map(member_time, line)), **styles[label])[0]
             for label, line in series_of(rows).items()}
    set_y_axis(ax, list(map(member_time, rows)), FuncFormatter(spell_time))
    ax.set_title("Time of a member")
    return drawn


def draw_ratios(ax, ratios, styles):
    """Every rival's time over lugpu's."""
    for label, points in ratios.items():
        ax.plot(*zip(*points), **styles[label])
    ax.axhline(1, color=GREY, linewidth=1)
    set_y_axis(ax, [1] + [ratio for points in ratios.values() for _, ratio in points],
               FuncFormatter(lambda y, _: f"{y:g}"))
    ax.set_title("Time of the rival over lugpu's")


def draw_batches(device, precision, rows, notes):
    """The figure of one device and precision: panels side by side, one legend at the right."""
    styles, ratios = styles_of(rows), ratios_of(rows)
    panels = 1 + bool(ratios)
    step = RATIO_WIDTH + COLUMN_GAP
    right = LEFT + panels * step - COLUMN_GAP
    width = max(NARROWEST, right + LEGEND_GAP + LEGEND_HANDLE + LEGEND_CHARACTER * max(map(len, styles)))
    below = AXIS_BELOW + NOTE_LINE * len(notes)
    inside = max(RATIO_HEIGHT, LEGEND_LINE * (len(styles) + 1))
    height = TOP + inside + below
    figure = Figure(figsize=(width, height))
    axes = [figure.add_axes([(LEFT + place * step) / width, below / height, RATIO_WIDTH / width, inside / height])
            for place in range(panels)]
    handles = draw_times(axes[0], rows, styles)
    if ratios:
        draw_ratios(axes[1], ratios, styles)
    for ax in axes:
        set_x_axis(ax, [row["n"] for row in rows], True, "order n of a member")
    figure.legend(handles.values(), map(plain, handles), title="pivoting, rivals dashed", **LEGEND_LOOK,
                  bbox_to_anchor=((right + LEGEND_GAP) / width, (below + inside / 2) / height))
    members = " and ".join(map(str, sorted({row["batch"] for row in rows}, reverse=True)))
    write_around(figure, device, precision, f"LU of batches of {members} members", notes)
    return figure
