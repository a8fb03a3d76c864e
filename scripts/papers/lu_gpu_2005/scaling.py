"""Figures 9 and 10: compute units and clock."""

import figures
from papers.drawing import FIRST, Line, Panel, look, spell_factor
from papers.lu_gpu_2005.results import (as_published, rows_of, select, times_panel, variant,
                                        variant_look)
from papers.pages import Finding
from papers.running import NotMade, Unsupported
from papers.verdicts import Claim, judge, together, uncertainty
from papers.words import number, percent, seconds


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
                          look(figures.paler(FIRST, (len(by_units) - 1 - place) / 3), "image",
                               figures.MARKERS[place % len(figures.MARKERS)])))
    ideal = Line("in proportion", [(units, units / min(by_units)) for units in sorted(by_units)],
                 {"color": figures.GREY, "linestyle": ":"})
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
