"""Figures 4 and 12: the update in two variants."""

from papers.drawing import FIRST, SECOND, THIRD, Line, Panel, look, spell_factor
from papers.lu_gpu_2005.results import times_panel
from papers.pages import Finding
from papers.running import NotMade
from papers.verdicts import Claim, judge, together, uncertainty
from papers.words import number, percent, seconds


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
