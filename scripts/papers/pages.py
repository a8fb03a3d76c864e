"""What a reproduction consists of, and the page about it.

A paper is a list of figures: the statement of the paper, the rule of the verdict, the commands that
measure it, and a function from their JSON to a Finding.
"""

from dataclasses import dataclass, field
from typing import Callable, Optional

import figures
from papers.running import shown
from papers.words import gigabytes, number, paragraph


@dataclass
class Finding:
    """The outcome: the verdict, one or two sentences, the same in few words, what to draw."""
    verdict: str
    measured: str
    short: str
    panels: list = field(default_factory=list)
    table: str = ""
    precision: str = "single"  # of what is drawn


@dataclass(frozen=True)
class Figure:
    """A figure or table of the paper."""
    key: str  # "fig04", "table1"
    name: str  # the rest of the name of its files
    title: str
    paper: str  # its statement
    rule: str  # when the verdict is `holds`
    commands: Callable  # (plan, device) -> [Command]
    make: Callable  # (records, device) -> Finding; applies the rule
    drawing: str = ""  # heading of the drawing; empty where nothing is drawn
    concerned: tuple = ()  # (routine, pivot) of the results that it draws; empty for all
    computed: str = ""  # from what, where nothing is judged that was measured

    @property
    def number(self):
        """"Figure 4", "Table 1"."""
        return self.title.split(":")[0]


@dataclass(frozen=True)
class Paper:
    """A paper to reproduce."""
    citation: str
    heading: str  # of the page
    intro: str  # what the page says about its numbers
    figures: list
    plan_for: Callable  # (device, quick) -> plan, which the figures' commands take
    left_out: Callable  # (records, what a figure is concerned with) -> lines about missing results
    rivals: Callable  # (record) -> the baselines in words


@dataclass
class Outcome:
    """The outcome of a figure: its finding or why there is none, and what it was made from."""
    figure: Figure
    verdict: str
    measured: str
    short: str
    finding: Optional[Finding] = None
    records: dict = field(default_factory=dict)  # by stem
    notes: list = field(default_factory=list)  # about what is missing


# --- The page ------------------------------------------------------------------------------------

def machine(record, rivals):
    """What the page says about the device, the host and the program."""
    device, context, tool = record["devices"][0], record["context"], record["tool"]
    ceilings = device["ceilings"]
    rates = ", ".join(f"{number(rate / 1e9)} · 10⁹ a second in {precision} precision"
                      for precision, rate in sorted(ceilings["multiply_adds_per_s"].items(),
                                                    reverse=True))
    clock = f"{device['clock_mhz']} MHz" if device["clock_mhz"] else "clock not stated"
    busy = ": busy, so that times scatter" * (context["load_1min"] > context["cores"] / 2)
    images = (f"up to {device['image_max_width']} x {device['image_max_height']} texels"
              if device["images"] else "none")
    facts = [("Device", f"{device['name']} ({device['type']}), {device['platform']}, driver "
                        f"{device['driver_version']}"),
             ("Compute units", f"{device['compute_units']}, {clock}"), ("Images", images),
             ("Copy bandwidth", f"{gigabytes(ceilings['copy_bytes_per_s'])}, measured"),
             ("Multiply-adds", f"{rates}, measured"),
             ("Host", f"{context['cpu']}, {context['cores']} logical processors, load "
                      f"{context['load_1min']:.2f} at the start{busy}"),
             ("Baselines", rivals),
             ("Program", f"lugpu {tool['version']} {tool['git_rev']}, {tool['compiler']}, "
                         f"{tool['build_type']}"), ("Begun", context["time_utc"])]
    return "\n".join(["| | |", "|---|---|", *(f"| {name} | {figures.cut(value, 160)} |"
                                              for name, value in facts)])


def summary(outcomes):
    """A row for each figure."""
    return "\n".join(["| | the paper | here | verdict |", "|---|---|---|---|"] + [
        f"| [{o.figure.number}](#{anchor(o.figure.title)}) | {o.figure.paper} | {o.short} | "
        f"{o.verdict} |" for o in outcomes])


def anchor(title):
    """The anchor that Markdown makes of a heading."""
    kept = "".join(c for c in title.lower() if c.isalnum() or c in " -")
    return kept.replace(" ", "-")


def commands_run(outcome, told):
    """The commands behind a figure, or the figure where they were named before."""
    new = [record for stem, record in outcome.records.items() if stem not in told]
    old = sorted({told[stem] for stem in outcome.records if stem in told})
    for stem in outcome.records:
        told.setdefault(stem, outcome.figure.number)
    parts = ["Drawn from the results of " + " and ".join(old) + "."] if old else []
    if new:
        lines = [shown(record["tool"]["argv"]) for record in new]
        parts.append("\n".join(["```sh", *lines, "```"]))
    return parts


def section(outcome, told, device):
    """What the page says about one figure."""
    figure = outcome.figure
    parts = [f"## {figure.title}", paragraph(f"**The paper:** {figure.paper}")]
    parts += commands_run(outcome, told)
    if outcome.finding and outcome.finding.panels:
        name = f"{figure.key}-{figure.name}"
        parts.append(f"[![{figure.drawing}]({name}.png)]({name}.svg)")
    if outcome.finding and outcome.finding.table:
        parts.append(outcome.finding.table)
    if outcome.notes:
        parts.append("\n".join(f"- Left out: {note}" for note in outcome.notes))
    told_of, rule = (("Measured", "Rule: holds if") if outcome.finding
                     else (outcome.verdict.capitalize(), "Its rule, not applied:"))
    where = f"**Computed** {figure.computed}" if figure.computed else f"**{told_of}** on {device}"
    parts += [paragraph(f"{where}: {outcome.measured}"),
              paragraph(f"**Verdict: {outcome.verdict}.** {rule} {figure.rule}")]
    return "\n\n".join(parts)


def page(paper, record, outcomes):
    """The page as Markdown."""
    told = {}
    device = record["devices"][0]["name"]
    parts = [f"# {paper.heading}", paragraph(f"The paper: {paper.citation}."),
             paragraph(paper.intro), machine(record, paper.rivals(record)),
             summary(outcomes)]
    return "\n\n".join(parts + [section(o, told, device) for o in outcomes]) + "\n"
