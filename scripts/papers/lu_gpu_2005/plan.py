"""What to measure for the paper: sizes and commands."""

import dataclasses
from dataclasses import dataclass

from papers.running import Command, listed
from papers.simulated import simulate_command

FLOW_METHODS = ("lu-blocked", "lu", "gauss-jordan")


def doubling(first, last):
    """first, 2 first, ... up to last."""
    return tuple(first << k for k in range((last // first).bit_length()))


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
    flow: tuple  # cells along an axis and steps of its simulation
    effort: tuple
    probe_runs: int


# Images are slow on a CPU: about 6 ns an access, so that n = 512 takes seconds.
PLANS = {
    "quick": Plan(doubling(64, 256), doubling(64, 512), doubling(64, 256), doubling(64, 512),
                  (128, 256), 512, (), 512, 3, (8, 10),
                  ("--runs", "5", "--min-time", "0", "--timeout", "20"), 5),
    "cpu": Plan(doubling(64, 512), doubling(64, 2048), doubling(64, 512), doubling(64, 1024),
                (128, 256, 512), 2048, (), 2048, 8, (16, 40),
                ("--runs", "3", "--min-time", "0.1", "--timeout", "120"), 5),
    "gpu": Plan((*doubling(128, 2048), 3500, 4096), (*doubling(128, 2048), 3500, 4096),
                doubling(128, 4096), doubling(128, 4096),
                (1024, 2048, 4096), 2048, (8192,), 2048, 8, (32, 100),
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


def commands_flow(plan, device):
    """The simulation of a bubbly flow with each dense method, Section 6.2."""
    cells, steps = plan.flow
    return [simulate_command("bubbles", "cells", cells, method, steps)
            for method in FLOW_METHODS]


def commands_counts(plan, device):
    """Both methods in both schedules, for Tables 1 and 2: counts, not times."""
    sizes = [n for n in plan.buffer if n <= 1024]
    return [Command("table1", ("bench", "-n", listed(sizes), "--method", "lu,gauss-jordan",
                               "--pivot", "none", "--precision", "single", "--schedule",
                               "paper,fused", "--storage", "buffer", "--texel", "r", "--baseline",
                               "none", "--runs", "1", "--warmup", "0", "--min-time", "0"))]
