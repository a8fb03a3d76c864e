"""Drawing what was measured: panels side by side with one legend."""

from dataclasses import dataclass, field
from typing import Callable

import figures
import matplotlib
import plot
from papers.running import NotMade

FIRST, SECOND = plot.COLOURS["lu"], plot.COLOURS["lu-blocked"]
THIRD, FOURTH = plot.COLOURS["gauss-jordan"], figures.OTHER_COLOUR


# Inches, as in plot.py.
PANEL_WIDTH, PANEL_HEIGHT, AXIS_BELOW, LEGEND_SPACE = 3.2, 2.7, 0.75, 0.35
COLUMN_GAP = 1.0
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
        if max(n for n, _ in points) >= 1e6:
            ax.xaxis.set_major_formatter(matplotlib.ticker.EngFormatter(places=0))
    elif panel.kind == "bars":
        names = [line.label.replace(" ", "\n") for line in panel.lines]
        ax.set_xticks(range(len(names)), names, fontsize=8)
    else:
        whole = panel.kind != "reals"
        ax.xaxis.set_major_locator(matplotlib.ticker.MaxNLocator(*(() if whole else (5,)),
                                                                 integer=whole))
        ax.xaxis.set_major_formatter(matplotlib.ticker.FuncFormatter(lambda x, _: f"{x:g}"))
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
    step = PANEL_WIDTH + COLUMN_GAP
    right = figures.LEFT + len(panels) * step - COLUMN_GAP
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
