"""Choosing results of LU decompositions, and lines of them."""

import math

import figures
import plot
import simulation_figures
from papers.drawing import Line, Panel, look
from papers.running import NotMade


def select(rows, **fields):
    """Rows with these values."""
    return [row for row in rows if all(row[name] == value for name, value in fields.items())]


def rows_of(records, pivot=None):
    """All results of some records that can be drawn; of lugpu's those with a pivoting, if given."""
    return [row for record in records for row in record["results"] if plot.is_drawable(row)
            and (plot.is_baseline(row) or pivot in (None, row["pivot"]))]


def ours(records, pivot=None):
    """The results of lugpu itself."""
    return [row for row in rows_of(records, pivot) if not plot.is_baseline(row)]


def left_out(records, concerned):
    """Lines about the results that are not drawn, of the (routine, pivot) concerned or of all."""
    everything = [row for record in records for row in record["results"]]
    simulated = [row for row in everything if simulation_figures.is_simulation(row)]
    rows = [row for row in everything if row not in simulated and not plot.is_drawable(row)]
    return ([f"{row['schedule'] or 'host'} schedule, " + plot.describe_left_out(row, False, False)
             for row in rows if not concerned or (row["routine"], row["pivot"]) in concerned]
            + [simulation_figures.describe_left_out(row, False) for row in simulated
               if not simulation_figures.is_drawable(row)])


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


# --- Lines ---------------------------------------------------------------------------------------

BASELINE_LOOK = look("black", "host", "x")


def times_panel(lines, title="Time of a factorization"):
    """Seconds on a logarithmic axis."""
    return Panel(title, "median time", lines, figures.spell_time)


SCHEDULE_COLOURS = {"paper": plot.COLOURS["lu"], "fused": plot.COLOURS["lu-blocked"]}
VARIANT_MARKERS = {("paper", "image"): "o", ("paper", "buffer"): "s",
                   ("fused", "image"): "D", ("fused", "buffer"): "^"}


def variant_look(schedule, storage):
    """The look of a schedule on a storage."""
    return look(SCHEDULE_COLOURS[schedule], storage, VARIANT_MARKERS[schedule, storage])


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
