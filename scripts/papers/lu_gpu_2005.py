"""LU-GPU, SC 2005: Figures 4 to 14, Tables 1 and 2."""

import dataclasses
import math
import statistics
from dataclasses import dataclass

import figures
import plot
from papers.common import (BASELINE_LOOK, FIRST, FOURTH, NO_LONGER, SECOND, THIRD, TIMED_ONCE,
                           Claim, Command, Figure, Finding, Line, NotMade, Panel, Paper,
                           Unsupported, doubling, gigabytes, judge, judge_counts, listed, look,
                           markdown_table, number, percent, seconds, select, spell_factor,
                           spell_rate, spell_share, times_panel, together, uncertainty)


# --- What to measure -----------------------------------------------------------------------------

@dataclass(frozen=True)
class Plan:
    """Sizes and effort for a kind of device. `image` and `buffer` are orders by storage."""
    image: tuple
    buffer: tuple
    probe_image: tuple
    probe_buffer: tuple
    unit_sizes: tuple
    largest_getc2: int
    large: tuple  # more orders for the bandwidth
    cell: int  # order of a cell of the bubbly flow
    cells: int
    effort: tuple
    probe_runs: int


# Images are slow on a CPU: about 6 ns an access, so that n = 512 takes seconds.
PLANS = {
    "quick": Plan(doubling(64, 256), doubling(64, 512), doubling(64, 256), doubling(64, 512),
                  (128, 256), 512, (), 512, 3,
                  ("--runs", "5", "--min-time", "0", "--timeout", "20"), 5),
    "cpu": Plan(doubling(64, 512), doubling(64, 2048), doubling(64, 512), doubling(64, 1024),
                (128, 256, 512), 2048, (), 2048, 8,
                ("--runs", "3", "--min-time", "0.1", "--timeout", "120"), 5),
    "gpu": Plan((*doubling(128, 2048), 3500, 4096), (*doubling(128, 2048), 3500, 4096),
                doubling(128, 4096), doubling(128, 4096),
                (1024, 2048, 4096), 2048, (8192,), 2048, 8,
                ("--runs", "5", "--min-time", "0.1", "--timeout", "60"), 5),
}


def plan_for(device, quick):
    """The plan of a device, without images that it does not have."""
    plan = PLANS["quick" if quick else "cpu" if device["type"] == "cpu" else "gpu"]
    widest = min(device["image_max_width"], device["image_max_height"]) if device["images"] else 0
    return dataclasses.replace(plan, image=tuple(n for n in plan.image if n <= widest),
                               probe_image=tuple(n for n in plan.probe_image if n <= widest))


def by_storage(image, buffer):
    """(suffix of a file, sizes, storages): one run for both storages where their sizes agree."""
    if image == buffer:
        return [("", image, "image,buffer")]
    return [(f"-{storage}", sizes, storage) for storage, sizes in
            (("image", image), ("buffer", buffer)) if sizes]


def lu_command(stem, sizes, storages, pivots, baseline, plan):
    """LU decomposition in both schedules."""
    return Command(stem, ("bench", "-n", listed(sizes), "--method", "lu", "--pivot", pivots,
                          "--precision", "single", "--schedule", "paper,fused", "--storage",
                          storages, "--baseline", baseline, *plan.effort))


def commands_lu(plan, device):
    """LU with every pivoting in one run, so that they compare; beyond its limit without getc2."""
    commands = []
    for suffix, sizes, storages in by_storage(plan.image, plan.buffer):
        for name, part, baselines in (
                (suffix, [n for n in sizes if n <= plan.largest_getc2], "getrf,getc2"),
                (f"{suffix}-large", [n for n in sizes if n > plan.largest_getc2], "getrf")):
            if part:
                commands.append(lu_command("lu" + name, part, storages, "none,partial,full",
                                           baselines, plan))
    return commands


def commands_probe(plan, device):
    """Variants of the update, Figs. 4 and 12."""
    return [Command("probe" + suffix, ("probe", "-n", listed(sizes), "--precision", "single",
                                       "--storage", storages, "--probes", "passes",
                                       "--runs", str(plan.probe_runs)))
            for suffix, sizes, storages in by_storage(plan.probe_image, plan.probe_buffer)]


def unit_counts(units):
    """1, 2, 4, ... and all compute units."""
    return sorted({*doubling(1, units), units})


def commands_units(plan, device):
    """LU without pivoting on a part of the device, Fig. 9."""
    storage = "image" if plan.image else "buffer"
    return [Command(f"fig09-units-{units}",
                    ("bench", "-n", listed(plan.unit_sizes), "--units", str(units), "--method",
                     "lu", "--pivot", "none", "--precision", "single", "--schedule", "paper,fused",
                     "--storage", storage, "--baseline", "none", *plan.effort), True)
            for units in unit_counts(device["compute_units"])]


def commands_clock(plan, device):
    """No run: a program cannot set the clock."""
    return []


def commands_bandwidth(plan, device):
    """The runs of LU, and larger orders where there is time for them."""
    storages = "image,buffer" if plan.image else "buffer"
    large = lu_command("fig11-large", plan.large, storages, "none", "none", plan)
    return commands_lu(plan, device) + ([large] if plan.large else [])


def commands_bubbles(plan, device):
    """One run for each cell of the bubbly flow, Fig. 13; a cell is a seed."""
    return [Command(f"fig13-cell-{cell}",
                    ("bench", "-n", str(plan.cell), "--matrix", "bubbles", "--pivot", "none",
                     "--precision", "single", "--method", "lu", "--baseline", "getrf",
                     "--seed", str(cell), *plan.effort)) for cell in range(1, plan.cells + 1)]


def commands_counts(plan, device):
    """Both methods in both schedules, for Tables 1 and 2: counts, not times."""
    sizes = [n for n in plan.buffer if n <= 1024]
    return [Command("table1", ("bench", "-n", listed(sizes), "--method", "lu,gauss-jordan",
                               "--pivot", "none", "--precision", "single", "--schedule",
                               "paper,fused", "--storage", "buffer", "--texel", "r", "--baseline",
                               "none", "--runs", "1", "--warmup", "0", "--min-time", "0"))]


# --- Choosing results ----------------------------------------------------------------------------

def rows_of(records, pivot=None):
    """All results of some records that can be drawn; of lugpu's those with a pivoting, if given."""
    return [row for record in records for row in record["results"] if plot.is_drawable(row)
            and (plot.is_baseline(row) or pivot in (None, row["pivot"]))]


def ours(records, pivot=None):
    """The results of lugpu itself."""
    return [row for row in rows_of(records, pivot) if not plot.is_baseline(row)]


def left_out(records, concerned):
    """Lines about the results that are not drawn, of the (routine, pivot) concerned or of all."""
    rows = [row for record in records for row in record["results"] if not plot.is_drawable(row)]
    return [f"{row['schedule'] or 'host'} schedule, " + plot.describe_left_out(row, False, False)
            for row in rows if not concerned or (row["routine"], row["pivot"]) in concerned]


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


# --- Drawing -------------------------------------------------------------------------------------

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


# --- The figures ---------------------------------------------------------------------------------

def probe_times(records, name):
    """{(variant, storage): {n: seconds}} of the probes of one name."""
    times = {}
    for record in records:
        for probe in record.get("probes", []):
            if probe["name"] == name and probe.get("median_s", 0) > 0:
                series = times.setdefault((probe["variant"], probe["storage"]), {})
                series[probe["n"]] = probe["median_s"]
    return times


def probe_uncertainty(records, name, storage, n):
    """The factor within which the ratio of the two variants of a probe is known. Results of older
    programs have no samples."""
    samples = [probe.get("times_s", []) for record in records for probe in record.get("probes", [])
               if probe["name"] == name and (probe["storage"], probe["n"]) == (storage, n)]
    return together(*map(uncertainty, samples))


def probe_ratio(times, above, below, storage):
    """{n: time of one variant over that of another}."""
    first, second = times.get((above, storage), {}), times.get((below, storage), {})
    return {n: first[n] / second[n] for n in sorted(first.keys() & second.keys())}


def probe_panels(times, names, ratios, titles, marks):
    """Times of two variants on each storage, and their ratio."""
    markers = {("image", 0): "o", ("buffer", 0): "s", ("image", 1): "D", ("buffer", 1): "^"}
    lines = [Line(f"{label}, {storage}s", sorted(times[key, storage].items()),
                  look((FIRST, SECOND)[place], storage, markers[storage, place]))
             for storage in ratios for place, (key, label) in enumerate(names.items())]
    quotient = [Line(f"ratio, {storage}s", list(points.items()), look(THIRD, storage, "vP"[place]))
                for place, (storage, points) in enumerate(ratios.items())]
    return [times_panel(lines, titles[0]),
            Panel(titles[1], titles[2], quotient, spell_factor, log=False, marks=marks)]


def compare_variants(records, name, above, below):
    """(times, {storage: {n: ratio}}, storage that is judged, its largest n) of a probe."""
    times = probe_times(records, name)
    ratios = {storage: points for storage in ("image", "buffer")
              if (points := probe_ratio(times, above, below, storage))}
    if not ratios:
        raise NotMade(f"no probe of name {name} holds both variants.")
    storage = next(iter(ratios))
    return times, ratios, storage, max(ratios[storage])


def also(ratios, judged, text):
    """A sentence about the storage that is not judged."""
    others = [(storage, points) for storage, points in ratios.items() if storage != judged]
    return "".join(f" On {storage}s, {text} {number(points[max(points)])} at n = {max(points)}."
                   for storage, points in others)


def index_pairs(records, device):
    """Fig. 4."""
    times, ratios, storage, n = compare_variants(records, "index", "kernel", "launch")
    gain = ratios[storage][n]
    verdict, doubt = judge(Claim(gain, probe_uncertainty(records, "index", storage, n), 1.125))
    measured = (f"At n = {n} on {storage}s the updates take "
                f"{seconds(times['kernel', storage][n])} with pairs computed in the kernel and "
                f"{seconds(times['launch', storage][n])} with pairs given by the launch: "
                f"{number(gain)} times the speed." + doubt + also(ratios, storage, "the factor is"))
    names = {"kernel": "computed in the kernel", "launch": "given by the launch"}
    panels = probe_panels(times, names, ratios,
                          ("Time of all updates", "Gain of given index pairs",
                           "time computed / time given"), {"same speed": 1, "paper: 1.25": 1.25})
    return Finding(verdict, measured, f"{number(gain)} times at n = {n}", panels)


def cache_efficiency(records, device):
    """Fig. 12."""
    times, ratios, storage, n = compare_variants(records, "cache", "fixed", "matrix")
    rate = ratios[storage][n]
    verdict, doubt = judge(Claim(rate, probe_uncertainty(records, "cache", storage, n), 0.75))
    caches = " Fixed reads are no faster: caches are not a limit here." if rate >= 1 else ""
    measured = (f"At n = {n} on {storage}s the updates take "
                f"{seconds(times['matrix', storage][n])}, and "
                f"{seconds(times['fixed', storage][n])} when every read goes to fixed elements: "
                f"{percent(rate)} of the speed with every read in the cache." + doubt + caches
                + also(ratios, storage, "the ratio is"))
    names = {"matrix": "reads the matrix", "fixed": "reads fixed elements"}
    panels = probe_panels(times, names, ratios,
                          ("Time of all updates", "Cache efficiency", "time fixed / time matrix"),
                          {"every read in the cache": 1})
    return Finding(verdict, measured, f"{percent(rate)} at n = {n}", panels)


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


def bubble_cells(records):
    """[(ours, getrf)] of each cell that has both."""
    cells = []
    for record in records:
        own = [row for row in record["results"] if row["implementation"] == "lugpu"
               and row["status"] in ("ok", "failed")]
        rivals = select(record["results"], routine="getrf", status="ok")
        if own and rivals:
            cells.append((own[0], rivals[0]))
    if not cells:
        raise NotMade("no cell has a result of lugpu and one of getrf.")
    return cells


def host_time(row):
    """Factorization and solution on the host, which needs no transfer."""
    return row["phases_s"]["factor"] + row["phases_s"]["solve"]


def bubble_lines(cells):
    """Times by cell, in the order of the seeds."""
    def line(label, marker, colour, storage, value):
        return Line(label, [(own["seed"], value(own, rival)) for own, rival in cells],
                    look(colour, storage, marker) | {"linestyle": "none"})
    return [line("lugpu factorization", "o", FIRST, "image", lambda o, _: o["phases_s"]["factor"]),
            line("lugpu with transfer, solution", "s", FIRST, "buffer",
                 lambda o, _: o["phases_s"]["total"]),
            line("getrf factorization", "D", SECOND, "image", lambda _, r: r["phases_s"]["factor"]),
            line("getrf with solution", "^", SECOND, "buffer", lambda _, r: host_time(r))]


def bubbly_flow(records, device):
    """Fig. 13."""
    cells = bubble_cells(records)
    wrong = [own for own, _ in cells if own["status"] != "ok"]
    if wrong:
        return Finding(NO_LONGER, f"{len(wrong)} of {len(cells)} cells fail their checks in single "
                       f"precision: {wrong[0]['reason']}", "single precision fails")
    totals, rivals = [o["phases_s"]["total"] for o, _ in cells], [host_time(r) for _, r in cells]
    speed = sum(rivals) / sum(totals)
    verdict, doubt = judge(Claim(speed, uncertainty([rival / total for rival, total
                                                     in zip(rivals, totals)]), 1.15))
    factor = statistics.median(o["phases_s"]["factor"] for o, _ in cells)
    hpl = max(o["checks"]["hpl_residual"] for o, _ in cells)
    solve = max(o["checks"]["solve_ratio"] for o, _ in cells)
    first = cells[0][0]
    measured = (f"A cell (n = {first['n']}, {variant(first)}) takes "
                f"{seconds(statistics.median(totals))} with transfer and solution, "
                f"{seconds(factor)} of it the factorization; getrf takes "
                f"{seconds(statistics.median(rivals))}. A step of {len(cells)} cells takes "
                f"{seconds(sum(totals))} against {seconds(sum(rivals))}: {number(speed)} times the "
                f"speed of getrf.{doubt} Single precision suffices: hpl_residual is at most {number(hpl)} "
                f"(passes under 16) and solve_ratio {number(solve)} (passes under 30).")
    lines = bubble_lines(cells)
    steps = [Line(line.label, [(0, sum(y for _, y in line.points))], line.look) for line in lines]
    panels = [Panel("Time of a cell", "time", lines, figures.spell_time, log=False, kind="cells"),
              Panel(f"Time of a step of {len(cells)} cells", "time", steps, figures.spell_time,
                    log=False, kind="bars")]
    return Finding(verdict, measured,
                   f"{number(speed)} times the speed of getrf, accurate", panels)


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


# Tables 1 and 2: sums over the steps, in bytes (single precision) and in multiply-adds.
BYTES = {"gauss-jordan": lambda n: 6 * n * (n + 1) + 4 * n * (n + 1) + 8 * n * n * (n + 1),
         "lu": lambda n: (4 + 6 + 4) * n * (n + 1) + 8 * (n - 1) * n * (2 * n - 1) // 3}
LEADING_BYTES = {"gauss-jordan": ("8 n³", 8), "lu": ("16/3 n³", 16 / 3)}
MULTIPLY_ADDS = {"gauss-jordan": lambda n: n * n * (n + 1) // 2,
                 "lu": lambda n: (n - 1) * n * (2 * n - 1) // 6}
LEADING_MULTIPLY_ADDS = {"gauss-jordan": ("n³/2", 1 / 2), "lu": ("n³/3", 1 / 3)}


def counts(records, schedule):
    """{(routine, n): counters} of a schedule."""
    found = {(row["routine"], row["n"]): row["counters"]
             for row in select(rows_of(records), schedule=schedule)}
    if any(not any(routine == name for name, _ in found) for routine in BYTES):
        raise NotMade(f"the {schedule} schedule has no result of lu or of gauss-jordan.")
    return found


def largest_of(routine, *found):
    """The largest n that a routine has in all of these counts."""
    return max(n for name, n in found[0] if name == routine
               and all((name, n) in other for other in found))


def bytes_table(records, device):
    """Table 1."""
    paper, fused = counts(records, "paper"), counts(records, "fused")
    lines, sentences, right = [], [], []
    for (routine, n), counters in sorted(paper.items()):
        term, leading = LEADING_BYTES[routine][0], LEADING_BYTES[routine][1] * n**3
        cells = [BYTES[routine](n), counters["bytes_model"], counters["bytes_counted"],
                 fused.get((routine, n), {}).get("bytes_counted")]
        lines.append([routine, term, n, f"{leading:.0f}"]
                     + ["" if cell is None else f"{cell} ({cell / leading:.3f})" for cell in cells])
    for routine in BYTES:
        n = largest_of(routine, paper, fused)
        exact, counters = BYTES[routine](n), paper[routine, n]
        counted = counters["bytes_counted"] / exact
        right.append(counters["bytes_model"] == exact and abs(counted - 1) <= 0.05)
        sentences.append(f"For {routine} at n = {n} the paper's sum is {exact} bytes; the launches "
                         f"of the paper's schedule move {number(counted)} of it, the fused one's "
                         f"{number(fused[routine, n]['bytes_counted'] / exact)}.")
    head = ["method", "leading term", "n", "leading term, bytes", "paper's sum", "program's model",
            "counted, paper's schedule", "counted, fused"]
    return Finding(judge_counts(all(right)), " ".join(sentences),
                   "counted bytes are the paper's" if all(right) else "counted bytes differ",
                   table=markdown_table(head, lines) + "\n\nIn brackets: over the leading term.")


def multiply_adds_table(records, device):
    """Table 2."""
    paper = counts(records, "paper")
    lines, sentences, right = [], [], []
    for (routine, n), counters in sorted(paper.items()):
        term, leading = LEADING_MULTIPLY_ADDS[routine][0], LEADING_MULTIPLY_ADDS[routine][1] * n**3
        lines.append([routine, term, n, f"{leading:.0f}"]
                     + [f"{cell} ({cell / leading:.3f})" for cell in
                        (MULTIPLY_ADDS[routine](n), counters["elements_updated"])])
    for routine in MULTIPLY_ADDS:
        n = largest_of(routine, paper)
        exact, done = MULTIPLY_ADDS[routine](n), paper[routine, n]["elements_updated"]
        right.append(abs(done / exact - 1) <= 0.05)
        sentences.append(f"For {routine} at n = {n} the program updates {done} elements, "
                         f"{number(done / exact)} of the paper's sum and "
                         f"{number(done / (LEADING_MULTIPLY_ADDS[routine][1] * n**3))} of "
                         f"{LEADING_MULTIPLY_ADDS[routine][0]}.")
    head = ["method", "leading term", "n", "leading term, multiply-adds", "paper's sum",
            "program's count"]
    return Finding(judge_counts(all(right)), " ".join(sentences),
                   "the counts are the paper's" if all(right) else "the counts differ",
                   table=markdown_table(head, lines) + "\n\nIn brackets: over the leading term.")


# --- The list of figures -------------------------------------------------------------------------

FIGURES = [
    Figure("fig04", "index-pairs", "Figure 4: index pairs given by the hardware",
           "Texture coordinates that the hardware gives make the program 25 % faster than "
           "coordinates computed in the kernel.",
           "pairs given by the launch are at least 1.125 times as fast at the largest n, half of "
           "the paper's gain.", commands_probe, index_pairs,
           "Index pairs computed in the kernel or given by the launch"),
    Figure("table1", "bytes", "Table 1: bytes moved",
           "Gauss-Jordan elimination moves about 8 n³ bytes and LU decomposition about 16/3 n³, in "
           "single precision.",
           "the program's model is the paper's sum to the byte, and the launches of the paper's "
           "schedule move within 5 % of it at the largest n.", commands_counts, bytes_table),
    Figure("table2", "multiply-adds", "Table 2: multiply-adds",
           "Gauss-Jordan elimination takes about n³/2 multiply-adds and LU decomposition about "
           "n³/3.",
           "the elements that the program updates are within 5 % of the paper's sum at the largest "
           "n.",
           commands_counts, multiply_adds_table),
    Figure("fig05", "no-pivoting", "Figure 5: LU without pivoting against getrf",
           "Without pivoting the time is comparable to that of ATLAS' getrf, which pivots.",
           "the time is at most twice that of getrf at the largest n that both have.",
           commands_lu, without_pivoting, "LU without pivoting against getrf",
           (("lu", "none"), ("getrf", "partial"))),
    Figure("fig06", "partial-pivoting", "Figure 6: LU with partial pivoting against getrf",
           "With partial pivoting it is 35 % faster than ATLAS' getrf at n = 3500.",
           "the speed is at least 1.35 times that of getrf at the n nearest to 3500 that both "
           "have.",
           commands_lu, partial_pivoting, "LU with partial pivoting against getrf",
           (("lu", "partial"), ("getrf", "partial"))),
    Figure("fig07", "full-pivoting", "Figure 7: LU with full pivoting against getc2",
           "With full pivoting it is an order of magnitude faster than getc2 of Intel's MKL.",
           "the speed is at least 10 times that of getc2 at the largest n that both have.",
           commands_lu, full_pivoting, "LU with full pivoting against getc2",
           (("lu", "full"), ("getc2", "full"))),
    Figure("fig08", "cost-of-pivoting", "Figure 8: cost of pivoting",
           "Partial pivoting takes at most about 2 times and full pivoting at most about 3 times "
           "the time without pivoting.",
           "the factors are at most 2 and 3 at the largest n that has all three.",
           commands_lu, pivoting_cost, "Cost of pivoting",
           (("lu", "none"), ("lu", "partial"), ("lu", "full"))),
    Figure("fig09", "compute-units", "Figure 9: number of processors",
           "The speed grows almost in proportion to the number of fragment processors (4 to 16).",
           "the speed-up from the fewest to all compute units is at least 75 % of the proportion, "
           "at the largest n.", commands_units, compute_units, "LU on a part of the compute units"),
    Figure("fig10", "clock", "Figure 10: core clock",
           "The speed grows almost in proportion to the core clock (200 to 425 MHz).",
           "the speed-up from the lowest to the highest clock is at least 75 % of the proportion.",
           commands_clock, core_clock),
    Figure("fig11", "bandwidth", "Figure 11: bandwidth",
           "LU without pivoting moves 33 GB/s by the count of Table 1, 94 % of the card's peak of "
           "35.2 GB/s.",
           "the bytes of the paper's model over the time are at least 80 % of the measured copy "
           "bandwidth at the largest n.", commands_bandwidth, bandwidth,
           "Bandwidth of LU without pivoting", (("lu", "none"),)),
    Figure("fig12", "cache-efficiency", "Figure 12: cache efficiency",
           "The algorithm is cache-efficient without knowing the cache: its speed is close to that "
           "of the same kernels when they read fixed texels, which are always in the cache.",
           "the time with fixed elements is at least 75 % of the time with the matrix, at the "
           "largest n.", commands_probe, cache_efficiency, "Cache efficiency of the update"),
    Figure("fig13", "bubbly-flow", "Figure 13: a cell of the bubbly flow",
           "For the diagonally dominant systems of a bubbly flow (n = 2048) LU without pivoting is "
           "15 % faster than ATLAS' getrf, and single precision is accurate enough.",
           "a step of all cells is at least 1.15 times as fast as with getrf, which needs no "
           "transfer, and every result passes its checks. Method, schedule and storage are those "
           "that the program chooses.", commands_bubbles, bubbly_flow, "Bubbly flow"),
    Figure("fig14", "transfer", "Figure 14: transfer and computation",
           "Transfer between CPU and GPU is negligible.",
           "upload and download take at most 5 % of the total at the largest n.",
           commands_lu, transfer, "Transfer and computation of LU without pivoting",
           (("lu", "none"),)),
]
INTRO = (
    "Written by `scripts/reproduce.py`, which measures again what the paper shows. The numbers are "
    "computed from the JSON files beside this page, which name the commands that made them. Unless "
    "said otherwise everything is in single precision, a time is the median of a factorization "
    "with the data on the device, and a verdict is about the algorithm as published: the paper's "
    "schedule on images with one element a texel (on buffers where the device has no images). The "
    "fused schedule and buffers are drawn beside it. The matrix is uniformly random as LINPACK's "
    "with pivoting, and diagonally dominant without. Ratios are of times of one run, but for "
    "Figure 9, whose runs differ in the device. A verdict is unclear if the samples, by their number "
    "and spread (95 % confidence), allow either answer.")


def rivals(record):
    """The baselines in words."""
    blas = record["libraries"]["blas"]
    return (f"getrf of {blas['name']} for {blas['core']}, {blas['threads']} threads; getc2 of "
            "LAPACK")


CITATION = ("N. Galoppo, N. K. Govindaraju, M. Henson and D. Manocha: LU-GPU: Efficient Algorithms "
            "for Solving Dense Linear Systems on Graphics Hardware, SC 2005")
PAPER = Paper(CITATION, "The figures of LU-GPU, measured again", INTRO, FIGURES, plan_for, left_out,
              rivals)
