"""Figures 5 to 8: speed over LAPACK, and the cost of pivoting."""

import plot
from papers.drawing import Panel, spell_factor
from papers.lu_gpu_2005.results import (as_published, baseline_line, largest, lu_lines, ours,
                                        rival_of, rival_time, rows_of, select, times_panel, variant)
from papers.pages import Finding
from papers.running import NotMade
from papers.verdicts import Claim, judge, together, uncertainty
from papers.words import number, seconds


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
