"""The figures of simulations: `lugpu bench --problem fluid2d` and the like, and `lugpu simulate`.

Frames a second over the cells along an axis, a panel for the few iterations of the papers and one for
every method to its tolerance; where there is one grid only, what is left of the divergence or of the
residual after each time step. A colour is a kind of method, a dashed line with open markers is a rival.
"""

import itertools
import math

from figures import (AXIS_BELOW, LEFT, LEGEND_GAP, LEGEND_HANDLE, LEGEND_LINE, LEGEND_LOOK, MARKERS,
                     NARROWEST, NOTE_CHARACTERS, NOTE_LINE, OTHER_COLOUR, RATIO_HEIGHT, RATIO_WIDTH,
                     RIVAL_LOOK, TOP, cut, field_fault, in_order, paler, plain, set_x_axis, set_y_axis,
                     write_around)
import problem_figures
from problem_figures import (COLUMN_GAP, LEGEND_CHARACTER, MARKER_SIZE, MOST_MARKERS, NUMBER,
                             spell_power)
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, MaxNLocator

FIELDS = {
    "problem": str, "implementation": str, "routine": str, "precision": str,
    "device": (str, type(None)), "scene": str, "grid": list, "tolerance": NUMBER, "steps": int,
    "times_s": list, "frames_per_s": NUMBER, "status": str,
}
COLOURS = problem_figures.COLOURS | {"lu": "#004488", "gauss-jordan": "#BB5566",
                                     "explicit": OTHER_COLOUR}


# --- Reading -------------------------------------------------------------------------------------

def is_simulation(row):
    """Whether a result is one of a simulation."""
    return isinstance(row, dict) and "scene" in row


def row_fault(row):
    """What keeps a result from being read, or an empty text."""
    if fault := field_fault(row, FIELDS):
        return fault
    if not (len(row["grid"]) == 3 and all(isinstance(n, int) and n > 0 for n in row["grid"])):
        return "has a grid that is not three positive numbers"
    if not row["tolerance"] and not isinstance(row.get("iterations"), int):
        return "has neither a tolerance nor iterations"
    return ""


def is_drawable(row):
    """Whether a result is a point on logarithmic axes."""
    return row["status"] == "ok" and 0 < row["frames_per_s"] < math.inf


# --- Choosing and naming -------------------------------------------------------------------------

def dimensions_of(row):
    """2 or 3."""
    return 2 if row["grid"][2] == 1 else 3


def side_of(row):
    """Cells along an axis, the geometric mean where they differ."""
    return round(math.prod(row["grid"]) ** (1 / dimensions_of(row)))


def shape_of(row):
    """The grid in words: 512², 128³, 512 x 256."""
    sizes = row["grid"][:dimensions_of(row)]
    return f"{sizes[0]}{'²³'[len(sizes) - 2]}" if len(set(sizes)) == 1 else " x ".join(map(str, sizes))


def is_rival(row):
    """Whether a result is not lugpu's."""
    return row["implementation"] != "lugpu"


def effort_of(row):
    """How far each linear system is solved, in words."""
    if not row["tolerance"]:
        return f"{row['iterations']} iteration{'s' * (row['iterations'] > 1)}"
    return f"to {row['tolerance']:g}"


def describe_left_out(row, several_files):
    """One line about a result that is not drawn."""
    reason = row.get("reason", "")
    why = row["status"] + (f" ({reason})" if reason else "")
    if row["status"] == "ok":
        why = "ok, but a logarithmic axis has no place for it"
    source = f" [{row['source']}]" if several_files else ""
    return (f"{row['routine']} {row['precision']} {row['problem']} {shape_of(row)} "
            f"{effort_of(row)}{source}: {why}")


def label_of(row, rows):
    """The name of a line: a method, and in brackets what else tells its results apart."""
    same = [other for other in rows if other["routine"] == row["routine"]]
    words = [spell(row) for spell in (effort_of, lambda r: r["precision"], lambda r: r["scene"])
             if len({spell(other) for other in same}) > 1]
    several = len({other["source"] for other in rows}) > 1
    return (row["routine"] + (f" ({', '.join(words)})" if words else "")
            + (f" [{row['source']}]" if several else ""))


def series_of(rows):
    """{label: results by size}, lugpu's first; of two results of one size the faster counts."""
    order = in_order([row["routine"] for row in rows], list(COLOURS))
    found = {}
    for row in sorted(rows, key=lambda row: (is_rival(row), order.index(row["routine"]))):
        at_size = found.setdefault(label_of(row, rows), {})
        kept = at_size.get(side_of(row))
        if kept is None or row["frames_per_s"] > kept["frames_per_s"]:
            at_size[side_of(row)] = row
    return {label: [at_size[size] for size in sorted(at_size)] for label, at_size in found.items()}


def styles_of(rows):
    """{routine and source: how to draw it}, the same in every panel."""
    sources = list(dict.fromkeys(row["source"] for row in rows))
    order = in_order([row["routine"] for row in rows], list(COLOURS))
    styles = {}
    for row in sorted(rows, key=lambda row: (is_rival(row), order.index(row["routine"]))):
        styles.setdefault((row["routine"], row["source"]), row)
    return {key: {"color": paler(COLOURS.get(row["routine"], OTHER_COLOUR),
                                 sources.index(row["source"])),
                  "marker": marker, "markersize": MARKER_SIZE} | (RIVAL_LOOK if is_rival(row) else {})
            for (key, row), marker in zip(styles.items(), itertools.cycle(MARKERS))}


def left_by_step(row):
    """(time step, what is left after it) where a logarithm has a place for it. A record has at most
    some steps, evenly thinned."""
    values = row.get("left", {}).get("by_step", [])
    every = math.ceil(row["steps"] / len(values)) if values else 1
    return [(1 + place * every, value) for place, value in enumerate(values)
            if value and 0 < value < math.inf]


# --- Drawing -------------------------------------------------------------------------------------

def draw_frames(ax, title, rows, styles):
    """Frames a second over the cells along an axis. Returns a line for each label."""
    drawn = {label: ax.plot([side_of(row) for row in line], [row["frames_per_s"] for row in line],
                            **styles[line[0]["routine"], line[0]["source"]])[0]
             for label, line in series_of(rows).items()}
    set_x_axis(ax, [side_of(row) for row in rows], True, "cells along each axis")
    set_y_axis(ax, [row["frames_per_s"] for row in rows], FuncFormatter(spell_power))
    ax.set_ylabel("frames a second")
    ax.set_title(title)
    return drawn


def draw_left(ax, title, rows, styles):
    """What is left after each time step. Returns a line for each label that has some."""
    points = {label: (line[0], left_by_step(line[0])) for label, line in series_of(rows).items()}
    points = {label: both for label, both in points.items() if both[1]}
    drawn = {f"{label}, {row['frames_per_s']:.3g} frames/s": ax.plot(
        *zip(*xy), **styles[row["routine"], row["source"]],
        markevery=max(1, len(xy) // MOST_MARKERS))[0] for label, (row, xy) in points.items()}
    values = [value for _, xy in points.values() for _, value in xy]
    set_y_axis(ax, values, FuncFormatter(spell_power))
    ax.xaxis.set_major_locator(MaxNLocator(5, integer=True))
    ax.set_xlabel("time step")
    ax.set_ylabel(f"left of the {next(iter(points.values()))[0]['left']['of']}")
    ax.set_title(title)
    return drawn


def panels_of(rows):
    """[(how to draw it, title, results)]: few iterations and to a tolerance."""
    one_grid = len({tuple(row["grid"]) for row in rows}) == 1
    draw = draw_left if one_grid and any(map(left_by_step, rows)) else draw_frames
    groups = {"few iterations": [row for row in rows if not row["tolerance"]],
              "to the tolerance": [row for row in rows if row["tolerance"]]}
    found = []
    for name, group in groups.items():
        if draw is draw_left:
            group = [row for row in group if left_by_step(row)]
        efforts = sorted({effort_of(row) for row in group})
        precisions = sorted({row["precision"] for row in group}, reverse=True)
        words = efforts[0] if len(efforts) == 1 else name
        if group:
            found.append((draw, f"{words.capitalize()}, {' and '.join(precisions)}", group))
    return found


def draw_simulations(device, rows, notes):
    """The figure of one problem on one device: its panels side by side, one legend at the right."""
    panels, styles = panels_of(rows), styles_of(rows)
    labels = [label for _, _, group in panels for label in series_of(group)]
    told = len(", 1.23e+04 frames/s") if panels[0][0] is draw_left else 0
    step = RATIO_WIDTH + COLUMN_GAP
    right = LEFT + len(panels) * step - COLUMN_GAP
    width = max(NARROWEST, right + LEGEND_GAP + LEGEND_HANDLE
                + LEGEND_CHARACTER * (max(map(len, labels)) + told))
    below = AXIS_BELOW + NOTE_LINE * len(notes)
    height_of_panel = max(RATIO_HEIGHT, LEGEND_LINE * (len(set(labels)) + 1))
    height = TOP + height_of_panel + below
    figure = Figure(figsize=(width, height))
    handles = {}
    for place, (draw, title, group) in enumerate(panels):
        ax = figure.add_axes([(LEFT + place * step) / width, below / height, RATIO_WIDTH / width,
                              height_of_panel / height])
        handles = draw(ax, title, group, styles) | handles
    title = "methods, rivals dashed" if any(map(is_rival, rows)) else "methods"
    figure.legend(handles.values(), map(plain, handles), title=title, **LEGEND_LOOK,
                  bbox_to_anchor=((right + LEGEND_GAP) / width,
                                  (below + height_of_panel / 2) / height))
    precisions = sorted({row["precision"] for row in rows}, reverse=True)
    scenes = ", ".join(sorted({row["scene"] for row in rows}))
    shapes = f" on {shape_of(rows[0])} cells" if panels[0][0] is draw_left else ""
    write_around(figure, device, " and ".join(precisions),
                 cut(f"{rows[0]['problem']}, {scenes}{shapes}", NOTE_CHARACTERS), notes)
    return figure
