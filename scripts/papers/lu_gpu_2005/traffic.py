"""Figures 11 and 14: bytes over the time, and transfer."""

import statistics

from papers.drawing import FIRST, FOURTH, SECOND, THIRD, Line, Panel, look, spell_rate, spell_share
from papers.lu_gpu_2005.results import (as_published, largest, lu_lines, ours, select, times_panel,
                                        variant)
from papers.pages import Finding
from papers.running import NotMade
from papers.verdicts import TIMED_ONCE, Claim, judge, uncertainty
from papers.words import gigabytes, percent, seconds


def bandwidth_panels(rows, copy):
    """Bytes of the model and bytes counted, over the time; the copy as a dashed line."""
    def panel(title, counter):
        return Panel(title, "GB/s", lu_lines(
            rows, lambda row: row["counters"].get(counter, 0) / row["median_s"] / 1e9 or None),
                     spell_rate, marks={"copy, measured": copy / 1e9})
    return [panel("Bytes of the paper's model", "bytes_model"),
            panel("Bytes counted", "bytes_counted")]


def bandwidth(records, device):
    """Fig. 11."""
    rows = ours(records, "none")
    row = largest(as_published(rows))
    copies = {other["source"]: record["devices"][0]["ceilings"]["copy_bytes_per_s"]
              for record in records for other in record["results"]}
    copy = copies[row["source"]]
    rate = row["counters"]["bytes_model"] / row["median_s"]
    counted = row["counters"]["bytes_counted"] / row["median_s"]
    caches = " More than 100 % means that caches serve a part." if rate > copy else ""
    verdict, doubt = judge(Claim(rate / copy, uncertainty(row["times_s"]), 0.8))
    measured = (f"At n = {row['n']} the {variant(row)} moves {gigabytes(rate)} by the paper's "
                f"model and {gigabytes(counted)} by the bytes counted; a copy moves "
                f"{gigabytes(copy)}, so that is {percent(rate / copy)}." + doubt + caches
                + best_bandwidth(rows, row, copies))
    return Finding(verdict, measured,
                   f"{percent(rate / copy)} of the copy bandwidth at n = {row['n']}",
                   bandwidth_panels(rows, statistics.median(copies.values())))


def best_bandwidth(rows, judged, copies):
    """A sentence about the best counted bandwidth of the other forms at their largest n."""
    others = [row for row in rows if variant(row) != variant(judged)]
    if not others:
        return ""
    n = max(row["n"] for row in others)
    rate, name, copy = max((row["counters"]["bytes_counted"] / row["median_s"], variant(row),
                            copies[row["source"]]) for row in others if row["n"] == n)
    return (f" Of the other forms the {name} moves most, {gigabytes(rate)} counted at n = {n}, "
            f"{percent(rate / copy)} of the copy.")


PHASES = {"upload": (SECOND, "v"), "factor": (FIRST, "P"), "solve": (THIRD, "X"),
          "download": (FOURTH, "<")}


def transfer_share(row):
    """Upload and download over the total; None where not measured."""
    phases = row["phases_s"]
    if not phases.get("total"):
        return None
    return (phases["upload"] + phases["download"]) / phases["total"]


def transfer(records, device):
    """Fig. 14."""
    rows = ours(records, "none")
    row = largest(as_published(rows))
    share = transfer_share(row)
    if share is None:
        raise NotMade("the results have no phases.")
    same = sorted(select(rows, schedule=row["schedule"], storage=row["storage"],
                         texel=row["texel"]), key=lambda other: other["n"])
    lines = [Line(phase, [(other["n"], other["phases_s"][phase]) for other in same
                          if other["phases_s"].get(phase)], look(colour, "image", marker))
             for phase, (colour, marker) in PHASES.items()]
    phases = row["phases_s"]
    verdict, doubt = judge(Claim(share, TIMED_ONCE, 0.05, at_most=True))
    measured = (f"At n = {row['n']} the {variant(row)} spends {seconds(phases['upload'])} on "
                f"upload, {seconds(phases['factor'])} on the factorization, "
                f"{seconds(phases['solve'])} on the solution and {seconds(phases['download'])} on "
                f"download: transfer is {percent(share)} of the total." + doubt
                + other_shares(rows, row))
    panels = [times_panel([line for line in lines if line.points], f"Phases, {variant(row)}"),
              Panel("Transfer in the total", "share of the time", lu_lines(rows, transfer_share),
                    spell_share, marks={"negligible: 5 %": 0.05})]
    return Finding(verdict, measured, f"{percent(share)} at n = {row['n']}", panels)


def other_shares(rows, judged):
    """A sentence about the form that spends the largest share on transfer, at its largest n."""
    others = [row for row in rows if variant(row) != variant(judged)]
    if not others:
        return ""
    n = max(row["n"] for row in others)
    share, name = max((transfer_share(row) or 0, variant(row)) for row in others if row["n"] == n)
    return f" Of the other forms the {name} spends most, {percent(share)} at n = {n}."
