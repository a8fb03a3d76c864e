#!/usr/bin/python3
"""scripts/reproduce.py on synthetic results: verdicts by their rules, drawings, the page.

With the program as argument: also whether the program knows every option that is used.
"""

import contextlib
import io
import json
import math
import shlex
import statistics
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from matplotlib.backends.backend_agg import FigureCanvasAgg

sys.dont_write_bytecode = True
ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "scripts"), str(ROOT / "tests")]

import figures  # noqa: E402
import plot_test  # noqa: E402
import reproduce  # noqa: E402
from papers import (gems2_44, grids, lu_gpu_2005, making, operators_2003, pages,  # noqa: E402
                    running, simulated as simulations_of_papers, stable_fluids_2010, verdicts,
                    words as wording)
from papers.lu_gpu_2005 import counts, plan as lu_plan  # noqa: E402
from papers.lu_gpu_2005.flow import flow  # noqa: E402
from papers.stable_fluids_2010 import equations, frames, tables, times  # noqa: E402
from plot_test import DEVICE, simulated, simulated_failed  # noqa: E402

PROGRAM = None  # of the last test, from the command line
COPY = 30e9  # bytes/s
CEILINGS = {"copy_bytes_per_s": COPY, "multiply_adds_per_s": {"single": 4e10, "double": 2e10}}
DEVICE_ENTRY = plot_test.GPU | {"name": DEVICE, "ceilings": CEILINGS}


# --- Synthetic results ---------------------------------------------------------------------------

def lu(n, seconds, pivot="none", storage="image", schedule="paper", routine="lu", **given):
    """A result of lugpu with counters and phases that belong to it."""
    moved = counts.BYTES[routine](n)
    row = plot_test.result(n=n, median_s=seconds, pivot=pivot, storage=storage, routine=routine,
                           source="run", **({"times_s": samples(seconds)} | given))
    texel = "rgba" if (schedule, storage) == ("fused", "image") else "r"
    return row | {
        "schedule": schedule, "texel": given.get("texel", texel),
        "counters": {"kernel_launches": 4 * n, "readbacks": 0, "bytes_model": moved,
                     "bytes_counted": moved if schedule == "paper" else moved // 2,
                     "elements_updated": counts.MULTIPLY_ADDS[routine](n)},
        "phases_s": {"upload": seconds / 100, "factor": seconds, "solve": seconds / 50,
                     "download": seconds / 1000, "total": seconds * 1.031}} | given


def samples(seconds, spread=0.001):
    """Five times with this one as their median, and the rest as far from it as the spread says."""
    return [seconds * (1 + spread * step) for step in (-1, -0.5, 0, 0.5, 1)]


def rival(routine, n, seconds, **given):
    """A result of getrf or getc2."""
    row = plot_test.baseline(routine, "openblas", 2, "partial" if routine == "getrf" else "full",
                             "single", n, seconds)
    phases = {"upload": 0.0, "factor": seconds, "solve": seconds / 100, "download": 0.0,
              "total": seconds * 1.01}
    return row | {"schedule": None, "source": "run", "phases_s": phases,
                  "times_s": samples(seconds)} | given


def failed(row, status="failed", reason="solve_ratio 99 is not under 30."):
    """A result without a speed."""
    return row | {"status": status, "reason": reason, "gflops": None, "median_s": None}


def probe(name, variant, n, seconds, storage="image"):
    """A timed probe."""
    return {"name": name, "variant": variant, "n": n, "precision": "single", "storage": storage,
            "median_s": seconds, "times_s": samples(seconds)}


def record(rows=(), probes=(), argv=("lugpu", "bench"), device=None):
    """A file of results."""
    whole = plot_test.record([]) | {"devices": [device or DEVICE_ENTRY], "results": list(rows),
                                    "probes": list(probes)}
    whole["tool"] = whole["tool"] | {"argv": list(argv)}
    return whole


def run_of_simulation(words):
    """The result of lugpu simulate."""
    sizes = [int(n) for n in words["--grid"].split("x")]
    method, physics = words["--method"], words["simulate"]
    row = simulated(method, [*(sizes * 2)[:2], 1], 1e9 / math.prod((sizes * 2)[:2]),
                    {"fast-diagonal": 1e-5, "cg": 1.2}.get(method, 1e-6), problem=physics,
                    iterations=int(words["--iterations"]) if "--iterations" in words else None)
    return row | {"precision": "single", "scene": words["--scene"],
                  "phases_s": {"select": 1e-3, "cells": 1e-2, "advect": 1e-3, "project": 1e-2}} | (
                      {"solver_iterations": 9.0} if physics == "bubbles" else {})


# --- Verdicts ------------------------------------------------------------------------------------

class RuleTest(unittest.TestCase):
    """Each rule from both sides, by the function that states it."""

    def finds(self, function, verdict, *records, device=None):
        finding = function(list(records), device or DEVICE_ENTRY)
        self.assertEqual(finding.verdict, verdict, finding.measured)
        return finding.measured

    def holds(self, function, *records):
        return self.finds(function, "holds", *records)

    def refuted(self, function, *records):
        return self.finds(function, "no longer holds", *records)

    def unclear(self, function, *records):
        return self.finds(function, "unclear", *records)

    def test_the_samples_decide_whether_a_verdict_is_clear(self):
        """The same medians on either side of each limit, with little spread, much, and one sample."""
        moved = counts.BYTES["lu"](1024)
        rules = {
            lu_gpu_2005.without_pivoting: lambda t: [t(lu, 512, 1.0), t(rival, "getrf", 512, 0.55)],
            lu_gpu_2005.partial_pivoting: lambda t: [t(lu, 512, 1.0, "partial"),
                                                   t(rival, "getrf", 512, 1.45)],
            lu_gpu_2005.full_pivoting: lambda t: [t(lu, 512, 1.0, "full"),
                                                t(rival, "getc2", 512, 11.0)],
            lu_gpu_2005.pivoting_cost: lambda t: [t(lu, 512, 1.0), t(lu, 512, 1.1, "partial"),
                                                t(lu, 512, 2.7, "full")],
            lu_gpu_2005.bandwidth: lambda t: [t(lu, 1024, moved / (0.9 * COPY))]}
        for function, rows in rules.items():
            def timed(spread, count):
                def make(of, *what):
                    row = of(*what)
                    return row | {"times_s": samples(row["median_s"], spread)[:count]}
                return record(rows(make))
            with self.subTest(function.__name__):
                self.holds(function, timed(0.01, 5))
                self.assertRegex(self.unclear(function, timed(0.2, 5)),
                                 r"By the number and spread of the samples, the \d\S* may be \d")
                self.assertIn("too few", self.unclear(function, timed(0.01, 1)))
                self.unclear(function, timed(0.05, 2))

    def test_one_clear_claim_refutes_what_the_other_leaves_open(self):
        """Partial pivoting is known too badly, full pivoting surely costs too much."""
        rows = [lu(512, 1.0), lu(512, 1.9, "partial", times_s=[1.5, 1.9, 2.3]), lu(512, 9.0, "full")]
        self.assertNotIn("may be", self.refuted(lu_gpu_2005.pivoting_cost, record(rows)))

    def test_pivoting_that_costs_less_than_nothing_proves_nothing(self):
        """However close together the samples are: the machine did something else meanwhile."""
        for partial, full in ((0.23, 0.35), (1.2, 0.5), (0.5, 2.0)):
            rows = [lu(512, 1.0), lu(512, partial, "partial"), lu(512, full, "full")]
            self.assertIn("less than is possible", self.unclear(lu_gpu_2005.pivoting_cost, record(rows)))
        rows = [lu(512, 1.0), lu(512, 0.9999, "partial"), lu(512, 1.0, "full")]
        self.holds(lu_gpu_2005.pivoting_cost, record(rows))

    def test_uncertainty_by_students_distribution(self):
        self.assertEqual(verdicts.uncertainty([]), math.inf)
        self.assertEqual(verdicts.uncertainty([1.0]), math.inf)
        self.assertEqual(verdicts.uncertainty([3.0] * 5), 1)
        for count, student in ((2, 12.71), (3, 4.30), (11, 2.23), (101, 2.23)):
            times = [math.exp(k % 2) for k in range(count)]
            self.assertAlmostEqual(math.log(verdicts.uncertainty(times)), student
                                   * statistics.stdev([k % 2 for k in range(count)])
                                   / math.sqrt(count))
        self.assertAlmostEqual(verdicts.together(math.exp(3), math.exp(4)), math.exp(5))

    def test_probes_without_samples_are_unclear(self):
        """Results of programs that did not write them; and noisy ones."""
        for times in ([], samples(1.0, 0.4)):
            for function, variants in ((lu_gpu_2005.index_pairs, ("index", "kernel", "launch")),
                                       (lu_gpu_2005.cache_efficiency, ("cache", "matrix", "fixed"))):
                name, *pair = variants
                self.unclear(function, record(probes=[probe(name, variant, 64, 1.0)
                                                      | {"times_s": times} for variant in pair]))

    def test_cells_are_the_samples_of_a_step(self):
        def cells(*speeds):
            return [record([lu(512, 1.0, schedule="fused", storage="buffer", seed=seed),
                            rival("getrf", 512, 1.031 * speed / 1.01, seed=seed)])
                    for seed, speed in enumerate(speeds)]
        self.holds(lu_gpu_2005.bubbly_flow, *cells(1.3, 1.31, 1.29))
        self.unclear(lu_gpu_2005.bubbly_flow, *cells(1.0, 1.3, 1.6))
        self.unclear(lu_gpu_2005.bubbly_flow, *cells(1.3))

    def test_index_pairs_by_the_largest_n(self):
        def probes(gain):
            return record(probes=[probe("index", "kernel", 64, 1e-3),
                                  probe("index", "launch", 64, 1e-3),
                                  probe("index", "kernel", 256, 1e-2 * gain),
                                  probe("index", "launch", 256, 1e-2),
                                  {"name": "copy", "precision": "single", "value": 1e10,
                                   "unit": "bytes/s"}])
        self.assertIn("1.30 times the speed", self.holds(lu_gpu_2005.index_pairs, probes(1.3)))
        self.assertIn("1.10 times the speed", self.refuted(lu_gpu_2005.index_pairs, probes(1.1)))

    def test_cache_efficiency(self):
        def probes(rate, storage):
            return record(probes=[probe("cache", "matrix", 256, 1e-2, storage),
                                  probe("cache", "fixed", 256, 1e-2 * rate, storage)])
        sentence = self.holds(lu_gpu_2005.cache_efficiency, probes(0.8, "image"),
                              probes(0.5, "buffer"))
        self.assertIn("80.0 % of the speed", sentence)
        self.assertIn("On buffers, the ratio is 0.500 at n = 256", sentence)
        self.refuted(lu_gpu_2005.cache_efficiency, probes(0.7, "buffer"))
        self.assertIn("not a limit", self.holds(lu_gpu_2005.cache_efficiency, probes(1.2, "image")))

    def test_probes_without_both_variants_make_nothing(self):
        with self.assertRaises(running.NotMade):
            half = record(probes=[probe("index", "kernel", 64, 1.0)])
            lu_gpu_2005.index_pairs([half], DEVICE_ENTRY)

    def test_no_pivoting_is_comparable_up_to_twice_the_time(self):
        def results(slower):
            return record([lu(256, 9.0), lu(512, slower), rival("getrf", 256, 1.0),
                           rival("getrf", 512, 1.0)])
        self.assertIn("0.526 times", self.holds(lu_gpu_2005.without_pivoting, results(1.9)))
        self.assertIn("0.476 times", self.refuted(lu_gpu_2005.without_pivoting, results(2.1)))

    def test_partial_pivoting_near_3500(self):
        def results(faster):
            return record([lu(n, 1.0, "partial") for n in (1024, 3500, 8192)]
                          + [rival("getrf", 1024, 0.5), rival("getrf", 3500, faster),
                             rival("getrf", 8192, 0.5)])
        self.assertIn("At n = 3500", self.holds(lu_gpu_2005.partial_pivoting, results(1.36)))
        self.refuted(lu_gpu_2005.partial_pivoting, results(1.34))

    def test_full_pivoting_is_ten_times_as_fast(self):
        def results(faster):
            return record([lu(512, 1.0, "full"), rival("getc2", 512, faster),
                           rival("getrf", 512, 0.1)])
        self.holds(lu_gpu_2005.full_pivoting, results(10.5))
        self.refuted(lu_gpu_2005.full_pivoting, results(9.5))

    def test_a_rival_of_another_run_does_not_count(self):
        rows = [lu(512, 1.0, "full"), rival("getc2", 512, 99.0, source="another")]
        with self.assertRaises(running.NotMade):
            lu_gpu_2005.full_pivoting([record(rows)], DEVICE_ENTRY)

    def test_images_and_the_paper_schedule_are_judged(self):
        rows = [rival("getrf", 512, 1.0), lu(512, 5.0), lu(512, 0.1, storage="buffer"),
                lu(512, 0.2, schedule="fused"), lu(512, 0.3, texel="rgba")]
        sentence = self.refuted(lu_gpu_2005.without_pivoting, record(rows))
        self.assertIn("the paper's schedule on images takes 5.00 s", sentence)
        self.assertIn("paper's schedule on buffers, reaches 10.0 times", sentence)
        self.holds(lu_gpu_2005.without_pivoting, record([rows[0], *rows[2:]]))

    def test_a_failed_result_is_not_judged(self):
        rows = [rival("getrf", n, 1.0) for n in (256, 512)] + [lu(256, 0.5), failed(lu(512, 5.0))]
        self.assertIn("At n = 256", self.holds(lu_gpu_2005.without_pivoting, record(rows)))

    def test_cost_of_pivoting(self):
        def results(partial, full):
            return record([lu(512, 1.0), lu(512, partial, "partial"), lu(512, full, "full"),
                           lu(512, 1.0, storage="buffer"), lu(512, 7.0, "partial", "buffer"),
                           lu(512, 8.0, "full", "buffer")])
        self.assertIn("takes 1.90 times and full pivoting 2.90 times",
                      self.holds(lu_gpu_2005.pivoting_cost, results(1.9, 2.9)))
        self.refuted(lu_gpu_2005.pivoting_cost, results(2.1, 2.9))
        self.assertIn("pays 7.00 and 8.00 times",
                      self.refuted(lu_gpu_2005.pivoting_cost, results(1.9, 3.1)))

    def test_compute_units(self):
        def runs(speedup):
            return [record([lu(512, 1.0 / factor), lu(256, 0.1)], argv=("bench", "--units", units))
                    for units, factor in (("1", 1.0), ("2", 1.5), ("4", speedup))]
        self.assertIn("80.0 % of the proportion", self.holds(lu_gpu_2005.compute_units, *runs(3.2)))
        self.refuted(lu_gpu_2005.compute_units, *runs(2.8))
        with self.assertRaises(running.Unsupported):
            lu_gpu_2005.compute_units(runs(1.0)[:1], DEVICE_ENTRY)

    def test_clock_is_never_measured(self):
        for clock, words in ((1200, "states 1200 MHz"), (0, "states no clock rate")):
            with self.assertRaisesRegex(running.Unsupported, words):
                lu_gpu_2005.core_clock([], DEVICE_ENTRY | {"clock_mhz": clock})

    def test_bandwidth_of_the_largest_n(self):
        def results(share):
            moved = counts.BYTES["lu"](1024)
            return record([lu(1024, moved / (share * COPY)), lu(512, 1e-6),
                           lu(1024, moved / COPY, storage="buffer", schedule="fused")])
        sentence = self.holds(lu_gpu_2005.bandwidth, results(0.9))
        self.assertIn("27.0 GB/s by the paper's model", sentence)
        self.assertIn("90.0 %", sentence)
        self.assertIn("fused schedule on buffers moves most, 15.0 GB/s counted", sentence)
        self.refuted(lu_gpu_2005.bandwidth, results(0.7))
        self.assertIn("caches serve a part", self.holds(lu_gpu_2005.bandwidth, results(1.5)))

    def test_bubbly_flow(self):
        def cells(faster, change=lambda row: row):
            return [record([change(lu(2048, 1.0, schedule="fused", storage="buffer", seed=seed)),
                            rival("getrf", 2048, 1.031 * faster / 1.01, seed=seed)])
                    for seed in (1, 2)]
        sentence = self.holds(lu_gpu_2005.bubbly_flow, *cells(1.2))
        self.assertIn("A step of 2 cells takes 2.06 s against 2.47 s: 1.20 times", sentence)
        self.assertIn("solve_ratio 1.20 (passes", sentence)
        self.refuted(lu_gpu_2005.bubbly_flow, *cells(1.1))
        self.assertIn("2 of 2 cells fail", self.refuted(lu_gpu_2005.bubbly_flow, *cells(1.2, failed)))
        with self.assertRaises(running.NotMade):
            lu_gpu_2005.bubbly_flow(cells(1.2, lambda row: failed(row, "error")), DEVICE_ENTRY)

    def test_the_flow_of_bubbles(self):
        def runs(left, computed):
            return record([simulated(method, 32, 10.0, left, problem="bubbles",
                                     solver_iterations=computed * 32**2,
                                     phases_s={"select": 1e-3, "cells": 1e-2, "advect": 1e-3})
                           for method in ("lu-blocked", "lu", "gauss-jordan")])
        sentence = self.holds(flow, runs(4e-6, 0.15))
        self.assertIn("On 32² cells 15.0 % of them are computed", sentence)
        self.assertIn("leaves more than 8.00e-06", sentence)
        self.refuted(flow, runs(6e-6, 0.15))
        self.refuted(flow, runs(4e-6, 0.21))
        with self.assertRaises(running.NotMade):
            flow([record([simulated_failed("lu", 32, problem="bubbles")])], DEVICE_ENTRY)

    def test_transfer(self):
        def results(share):
            row = lu(1024, 1.0)
            row["phases_s"] = {"upload": share / 2, "download": share / 2, "solve": 0.1,
                               "factor": 0.9 - share, "total": 1.0}
            return record([row, lu(128, 1e-3)])
        self.assertIn("2.00 % of the total", self.holds(lu_gpu_2005.transfer, results(0.02)))
        self.refuted(lu_gpu_2005.transfer, results(0.11))
        for share in (0.04, 0.06):  # timed once: a factor of two
            self.unclear(lu_gpu_2005.transfer, results(share))

    def counts(self, **change):
        rows = [lu(n, 1e-3, "none", "buffer", schedule, routine) for n in (64, 256)
                for routine in counts.BYTES for schedule in ("paper", "fused")]
        for row in rows:
            if row["n"] == 256 and row["schedule"] == "paper":
                row["counters"] = {name: int(value * change.get(name, 1))
                                   for name, value in row["counters"].items()}
        return record(rows)

    def test_bytes(self):
        self.assertIn("move 1.00 of it, the fused one's 0.500",
                      self.holds(lu_gpu_2005.bytes_table, self.counts()))
        self.holds(lu_gpu_2005.bytes_table, self.counts(bytes_counted=1.04))
        self.refuted(lu_gpu_2005.bytes_table, self.counts(bytes_counted=1.06))
        self.refuted(lu_gpu_2005.bytes_table, self.counts(bytes_model=1.01))

    def test_multiply_adds(self):
        self.holds(lu_gpu_2005.multiply_adds_table, self.counts())
        self.refuted(lu_gpu_2005.multiply_adds_table, self.counts(elements_updated=1.1))

    # n = 2: one panel of 3 elements and one eliminated, 28 and 16 bytes each; Gauss-Jordan 2 x 3.
    def test_sums_by_hand(self):
        self.assertEqual(counts.BYTES["lu"](2), 28 * 3 + 16)
        self.assertEqual(counts.BYTES["gauss-jordan"](2), 20 * 3 + 16 * 6)
        self.assertEqual(counts.MULTIPLY_ADDS["lu"](2), 1)
        self.assertEqual(counts.MULTIPLY_ADDS["gauss-jordan"](2), 6)
        for table, leading in ((counts.BYTES, counts.LEADING_BYTES),
                               (counts.MULTIPLY_ADDS, counts.LEADING_MULTIPLY_ADDS)):
            for routine, (_, factor) in leading.items():
                self.assertAlmostEqual(table[routine](10**6) / (factor * 10**18), 1, places=4)


class WordsTest(unittest.TestCase):
    def test_numbers(self):
        for value, text in ((0, "0"), (1.2345, "1.23"), (0.012345, "0.0123"), (123.4, "123"),
                            (99.96, "100.0"), (12345.6, "12346"), (1e-7, "1.00e-07")):
            self.assertEqual(wording.number(value), text)
        self.assertEqual(wording.seconds(0.0123), "12.3 ms")
        self.assertEqual(wording.seconds(2.5e-5), "25.0 µs")
        self.assertEqual(wording.gigabytes(4.25e12), "4250 GB/s")

    def test_keys(self):
        for text in ("4", "fig4", "fig04", "FIG04", " 04"):
            self.assertEqual(reproduce.key_of(text), "fig04")
        self.assertEqual(reproduce.key_of("table1"), "table1")

    def test_commands_are_shown_without_folders(self):
        argv = ["/opt/bin/lugpu", "bench", "-n", "64,128", "-d", "Example GPU", "--json",
                "/tmp/some/lu.json", "-q"]
        self.assertEqual(running.shown(argv),
                         "lugpu bench -n 64,128 -d 'Example GPU' --json lu.json")


class PlanTest(unittest.TestCase):
    def commands(self, quick=False, **device):
        device = DEVICE_ENTRY | device
        plan = lu_gpu_2005.plan_for(device, quick)
        return [command for figure in lu_gpu_2005.FIGURES
                for command in figure.commands(plan, device)]

    def sizes(self, commands, *words):
        return {int(n) for command in commands if all(word in " ".join(command.arguments)
                                                      for word in ("-n", *words))
                for n in command.arguments[command.arguments.index("-n") + 1].split(",")}

    def test_sizes(self):
        cpu, gpu = self.commands(type="cpu"), self.commands(type="gpu")
        quick = self.commands(quick=True, type="cpu")
        self.assertEqual(max(self.sizes(cpu, "--storage image")), 512)
        self.assertEqual(max(self.sizes(cpu)), 2048)
        self.assertEqual(max(self.sizes(gpu, "--pivot none,partial,full")), 4096)
        self.assertEqual(max(self.sizes(gpu, "getc2")), 2048)
        self.assertEqual(max(self.sizes(gpu)), 8192)
        self.assertEqual(max(self.sizes(quick)), 512)
        self.assertEqual(self.commands(type="accelerator"), gpu)

    def test_a_device_without_images_gets_no_image_runs(self):
        commands = self.commands(images=False, image_max_width=0, image_max_height=0)
        self.assertFalse([c for c in commands if "image" in " ".join(c.arguments)])

    def test_units_reach_all(self):
        self.assertEqual(lu_plan.unit_counts(1), [1])
        self.assertEqual(lu_plan.unit_counts(2), [1, 2])
        self.assertEqual(lu_plan.unit_counts(12), [1, 2, 4, 8, 12])

    def test_a_file_has_one_command(self):
        for quick in (False, True):
            for paper in reproduce.PAPERS.values():
                commands = making.commands_of(paper, paper.figures, DEVICE_ENTRY, quick)
                stems = [command.stem for command in commands]
                self.assertEqual(len(stems), len(set(stems)), stems)

    def test_the_program_knows_every_option(self):
        if not PROGRAM:
            self.skipTest("no program given")
        for kind in ("bench", "probe", "simulate"):
            known = subprocess.run([PROGRAM, kind, "--help"], capture_output=True, text=True,
                                   check=True).stdout.replace(",", " ").split()
            commands = self.commands() + [
                command for paper in reproduce.PAPERS.values() for figure in paper.figures
                for command in figure.commands(paper.plan_for(DEVICE_ENTRY, False), DEVICE_ENTRY)]
            options = {word.strip() for command in commands if command.arguments[0] == kind
                       for word in command.arguments if word.startswith("-")}
            self.assertEqual({option for option in options
                              if not any(word.split(":")[0] == option for word in known)}, set())


# --- The whole -----------------------------------------------------------------------------------

class World:
    """Stands in for lugpu: writes what a device of a plain cost model would."""

    def __init__(self, name=DEVICE, partition=True, broken=()):
        self.device = DEVICE_ENTRY | {"name": name, "type": "cpu", "compute_units": 4}
        self.partition, self.broken, self.runs = partition, broken, []

    def run(self, argv, **_):
        """In place of subprocess.run."""
        words = dict(zip(argv, argv[1:]))
        path = Path(words["--json"])
        self.runs.append(path.stem)
        if path.stem in self.broken:
            return subprocess.CompletedProcess(argv, 1, "", "lugpu: the device was lost.\n")
        if int(words.get("--units", 4)) < 4 and not self.partition:
            sentence = f"--units {words['--units']}: {DEVICE} cannot be partitioned."
            return subprocess.CompletedProcess(argv, 2, "", f"lugpu: {sentence}\n")
        sizes = [int(n) for n in words.get("-n", "0").split(",") if int(n)]
        rows, probes = [], []
        if argv[1] == "simulate":
            rows = [run_of_simulation(words) | {"device": self.device["name"]}]
        for n in sizes:
            rows += [] if argv[1] == "probe" else self.rows(n, words)
            probes += self.probes(n, words) if argv[1] == "probe" else []
        for row in rows:
            row.pop("source", None)
        path.write_text(json.dumps(record(rows, probes, argv, self.device)), encoding="utf-8")
        return subprocess.CompletedProcess(argv, 0, "", "")

    def rows(self, n, words):
        pivots, seed = words["--pivot"].split(","), int(words.get("--seed", 1))
        speed = int(words.get("--units", 4)) / 4
        rows = [rival(name, n, n**3 * cost, seed=seed) for name, cost in
                (("getrf", 1e-10), ("getc2", 3e-9)) if name in words["--baseline"]]
        for routine in words["--method"].split(","):
            for storage in words.get("--storage", "buffer").split(","):
                for schedule in words.get("--schedule", "fused").split(","):
                    for place, pivot in enumerate(pivots):
                        cost = {"paper": 2e-10, "fused": 1e-10}[schedule] * (1 + place / 2)
                        rows.append(lu(n, n**3 * cost / speed, pivot, storage, schedule, routine,
                                       device=self.device["name"], seed=seed))
        if n == 128 and pivots == ["none", "partial", "full"]:
            rows[-1] = failed(rows[-1], "skipped", "it did not finish within --timeout 20.")
        return rows

    def probes(self, n, words):
        return [probe(name, variant, n, n**3 * cost, storage)
                for storage in words["--storage"].split(",") for name, variant, cost in
                (("index", "kernel", 1.3e-10), ("index", "launch", 1e-10),
                 ("cache", "matrix", 1e-10), ("cache", "fixed", 8e-11))]


class PageCase(unittest.TestCase):
    """A test that lets the program write into its own folder."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.out = Path(folder.name) / "made" / "here"

    def reproduce(self, *arguments, world=None, save=lambda figure, base: []):
        """(exit status, stdout, stderr, stems that ran); writing files of drawings takes long."""
        world = world or World()
        out, err = io.StringIO(), io.StringIO()
        with mock.patch("papers.running.subprocess.run", world.run), \
                mock.patch("papers.making.figures.save", save), \
                contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            status = reproduce.main(["--quick", "--out", str(self.out), *arguments])
        return status, out.getvalue(), err.getvalue(), world.runs

    def page(self):
        return (self.out / "README.md").read_text(encoding="utf-8")

    def section(self, title):
        return self.page().split(f"\n## {title}")[1].split("\n## ")[0]


class PageTest(PageCase):
    def test_page_from_nothing_and_again_from_the_results(self):
        status, out, err, runs = self.reproduce(save=figures.save)
        self.assertEqual((status, err), (0, ""), out)
        self.assertEqual(len(runs), len(set(runs)))
        self.check_page()
        self.check_drawings()
        before = {path: path.read_bytes() for path in self.out.iterdir()}
        status, _, _, runs = self.reproduce("--reuse", save=figures.save)
        self.assertEqual((status, runs), (0, []))
        self.assertEqual({path: path.read_bytes() for path in self.out.iterdir()}, before)

    def check_page(self):
        page = self.page()
        for figure in lu_gpu_2005.FIGURES:
            section = self.section(figure.title)
            flat = " ".join(section.split())
            self.assertIn(f"**The paper:** {figure.paper}", flat)
            measured = figure.key != "fig10"
            rule = "Rule: holds if" if measured else "Its rule, not applied:"
            self.assertIn(f"{rule} {figure.rule}", flat)
            self.assertRegex(flat, rf"\*\*{'Measured' if measured else 'Not measured'}\*\* "
                                   r"on Example GPU 6800: .*\d")
            self.assertIn(f"(#{pages.anchor(figure.title)})", page)
            if figure.commands(lu_plan.PLANS["quick"], DEVICE_ENTRY):
                self.assertRegex(section, "```sh\nlugpu (bench -n|probe -n|simulate) |Drawn from the results")
        for text in ("| Device | Example GPU 6800 (cpu), Example Platform", "Copy bandwidth | 30.0",
                     "2005-11-12T09:30:00Z", "1a2b3c4d5e6f"):
            self.assertIn(text, page)
        self.assertNotIn(str(self.out), page)
        self.assertIn("0.500 times the speed of getrf", self.section("Figure 5: "))
        self.assertIn("**Verdict: holds.**", self.section("Figure 9: "))
        self.assertIn("**Verdict: not measured.**", self.section("Figure 10: "))
        self.assertNotIn("holds", self.section("Figure 10: "))
        self.assertIn("Drawn from the results of Figure 4.", self.section("Figure 12: "))
        self.assertIn("- Left out: fused schedule, lu/full/buffer single n=128: skipped (it did",
                      self.section("Figure 7: "))
        self.assertNotIn("Left out", self.section("Figure 6: "))

    def check_drawings(self):
        drawn = {figure.key: figure for figure in lu_gpu_2005.FIGURES if figure.drawing}
        self.assertEqual(len(list(self.out.glob("*.png"))), len(drawn))
        for key, figure in drawn.items():
            name = f"{key}-{figure.name}"
            width, height = plot_test.png_size(self.out / f"{name}.png")
            self.assertGreater(width, 1400)
            self.assertGreater(height, 600)
            svg = (self.out / f"{name}.svg").read_text(encoding="utf-8")
            self.assertIn(figure.drawing, svg)
            self.assertIn(f"{DEVICE}, single precision", svg)
            self.assertIn(f"({name}.png)]({name}.svg)", self.section(figure.title))
        for name, texts in (("fig05-no-pivoting", ("fused schedule on images (rgba)", "getrf",
                                                   "Speed-up over getrf")),
                            ("fig09-compute-units", ("4 units", "in proportion")),
                            ("fig11-bandwidth", ("copy, measured", "Bytes counted")),
                            ("fig13-bubbly-flow", ("Time of a step of 3 cells",)),
                            ("fig14-transfer", ("upload", "negligible: 5 %"))):
            svg = (self.out / f"{name}.svg").read_text(encoding="utf-8")
            for text in texts:
                self.assertIn(text, svg)

    def test_drawings_are_inside_their_figures(self):
        """Legends and texts, the longest heading too."""
        drawn = []
        self.reproduce(save=lambda figure, base: drawn.append((base.name, figure)))
        self.assertEqual(len(drawn), 11)
        for name, figure in drawn:
            FigureCanvasAgg(figure).draw()
            for text in [*figure.texts, *figure.legends[0].get_texts()]:
                box = text.get_window_extent()
                self.assertTrue(figure.bbox.x0 <= box.x0 and box.x1 <= figure.bbox.x1,
                                f"{name}: {text.get_text()}")
            for ax in figure.axes:
                self.assertTrue(any(line.get_xdata().size for line in ax.lines) or ax.patches, name)

    def test_only_runs_what_it_needs_and_keeps_the_rest(self):
        _, _, _, runs = self.reproduce("--only", "4,fig13")
        self.assertEqual(set(runs), {"device", "probe-image", "probe-buffer", "fig13-cell-1",
                                     "fig13-cell-2", "fig13-cell-3"})
        self.assertNotIn("## Figure 5", self.page())
        status, _, _, runs = self.reproduce("--only", "table2")
        self.assertEqual((status, set(runs)), (0, {"device", "table1"}))
        for title in ("Figure 4: ", "Figure 13: ", "Table 2: "):
            self.section(title)

    def test_a_failure_is_told_and_the_others_go_on(self):
        status, out, err, _ = self.reproduce("--only", "4,13,10",
                                             world=World(broken=("probe-image", "probe-buffer")))
        self.assertEqual(status, 1)
        self.assertIn("failed with status 1: the device was lost.", out)
        self.assertEqual(err, "reproduce.py: could not be made: Figure 4.\n")
        self.assertIn("**Verdict: not made.**", self.section("Figure 4: "))
        self.assertIn("the device was lost.", self.section("Figure 4: "))
        self.assertIn("A step of 3 cells", self.section("Figure 13: "))
        self.assertFalse((self.out / "probe-image.json").exists())

    def test_a_figure_is_made_from_what_there_is(self):
        status, _, _, _ = self.reproduce("--only", "5", world=World(broken=("lu-image",)))
        self.assertEqual(status, 0)
        self.assertIn("paper's schedule on buffers takes", self.section("Figure 5: "))
        self.assertIn("- Left out: `lugpu bench", self.section("Figure 5: "))

    def test_a_device_that_cannot_be_partitioned(self):
        for arguments, count in (((), 2), (("--reuse",), 0)):
            status, _, _, runs = self.reproduce("--only", "9", *arguments,
                                                world=World(partition=False))
            self.assertEqual((status, len(runs)), (0, count))
            self.assertIn("**Verdict: not measured.**", self.section("Figure 9: "))
            self.assertIn("cannot be partitioned.", self.section("Figure 9: "))
        self.assertFalse((self.out / "fig09-compute-units.png").exists())

    def test_another_device_does_not_mix(self):
        self.reproduce("--only", "4,13")
        status, _, _, _ = self.reproduce("--only", "4", world=World(name="Another GPU"))
        self.assertEqual(status, 0)
        self.assertNotIn("## Figure 13", self.page())
        (self.out / "device.json").unlink()
        status, _, err, _ = self.reproduce("--only", "4,13", "--reuse")
        self.assertEqual(status, 1)
        self.assertIn("was measured on Another GPU; give another --out.", self.page())

    def test_without_a_program(self):
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            status = reproduce.main(["--lugpu", "/nowhere/lugpu", "--out", str(self.out)])
        self.assertEqual(status, 1)
        self.assertEqual(len(err.getvalue().splitlines()), 1)
        self.assertIn("/nowhere/lugpu cannot be run", err.getvalue())

    def test_usage(self):
        done = subprocess.run([sys.executable, ROOT / "scripts/reproduce.py", "--only", "99"],
                              capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 2)
        self.assertIn("there is no fig99", done.stderr)


# --- Papers about vectors and grids ---------------------------------------------------------------

def vector_probe(name, n, seconds, storage="buffer", spread=0.001):
    """A timed operation on vectors of n x n elements."""
    return {"name": name, "n": n, "precision": "single", "storage": storage, "median_s": seconds,
            "times_s": samples(seconds, spread)}


COPY_PROBE = {"name": "copy", "precision": "single", "unit": "bytes/s", "value": COPY}


def iterated(routine, grid, steps, step_s, problem="implicit2d", residual=0.5, **given):
    """A result of an iteration whose residual falls to one half in every step."""
    dimensions = 3 if problem.endswith("3d") else 2
    return plot_test.on_grid(routine, grid, 1e-6, steps * step_s, steps, **{
        "problem": problem, "precision": "single", "n": grid ** dimensions, "iterations": steps,
        "residuals": [residual ** step for step in range(steps + 1)],
        "times_s": samples(steps * step_s), "source": "run"} | given)


def stopped(row, residual):
    """A result that stopped at --iterations."""
    return row | {"status": "failed", "reason": "The residual is not below the tolerance.",
                  "setup_s": None, "median_s": None, "tolerance": 1e-16,
                  "most_iterations": row["iterations"],
                  "checks": {"residual": residual, "error": 0.9, "solve_ratio": None}}


class GridRuleTest(unittest.TestCase):
    """Each rule of these papers from both sides."""

    def finds(self, verdict, function, records, device=DEVICE_ENTRY):
        finding = function(records, device)
        self.assertEqual(finding.verdict, verdict, finding.measured)
        return finding

    def vectors(self, factor, spread=0.001):
        """Operations that take the paper's times multiplied."""
        rows = [COPY_PROBE]
        for name, times in (("multiply", operators_2003.PRODUCT_S),
                            ("add", operators_2003.PRODUCT_S),
                            ("grid product", {1024: 4.54e-3, 2048: 20e-3}),
                            ("banded product", {1024: 4.54e-3}),
                            ("sum", operators_2003.REDUCTION_S)):
            rows += [vector_probe(name, n, factor * time, spread=spread)
                     for n, time in times.items()]
        return [record(probes=rows)]

    def test_no_operation_takes_longer_than_in_2003(self):
        for function in (operators_2003.product, operators_2003.reduction,
                         operators_2003.banded_product):
            with self.subTest(function.__name__):
                self.finds("holds", function, self.vectors(0.9))
                self.finds("no longer holds", function, self.vectors(1.1))
                self.finds("unclear", function, self.vectors(0.95, 0.3))
        self.assertIn("At 2048² that is 2.00 times the paper's speed", self.finds(
            "holds", operators_2003.product, self.vectors(0.5)).measured)
        self.assertIn("ours grow 3.38 times", self.finds(
            "holds", operators_2003.reduction, self.vectors(0.5)).measured)

    def test_one_slow_size_is_enough(self):
        probes = [COPY_PROBE, vector_probe("multiply", 512, 1e-3), vector_probe("multiply", 2048, 1e-3)]
        self.finds("no longer holds", operators_2003.product, [record(probes=probes)])
        with self.assertRaises(running.NotMade):
            operators_2003.product([record(probes=probes[:1])], DEVICE_ENTRY)
        with self.assertRaises(running.NotMade):
            operators_2003.product([record(probes=[COPY_PROBE, vector_probe("multiply", 64, 1.0)])],
                                   DEVICE_ENTRY)

    def test_speed_over_the_processor(self):
        def records(products, reductions):
            return [record(probes=[
                vector_probe(name, 1024, time, storage) for name, factor in
                (("multiply", products), ("sum", reductions))
                for storage, time in (("buffer", 1e-3), ("host", factor * 1e-3))])]
        self.finds("holds", operators_2003.against_cpu, records(12.5, 3.2))
        self.finds("no longer holds", operators_2003.against_cpu, records(11.5, 3.2))
        self.finds("no longer holds", operators_2003.against_cpu, records(12.5, 2.8))
        full = record(probes=[vector_probe("columns product", n, n * time, storage) for n in (64, 512)
                              for storage, time in (("buffer", 1e-3), ("host", 5e-3))])
        self.assertIn("order 512 with a vector is 5.00 times as fast", self.finds(
            "no longer holds", operators_2003.against_cpu, records(12.5, 3.2) + [full]).measured)

    def test_products_with_stored_matrices(self):
        def records(full_s, banded_s):
            return [record(probes=[vector_probe("columns product", 2048, full_s),
                                   vector_probe("banded product", 64, banded_s)])]
        finding = self.finds("holds", operators_2003.stored_products, records(0.05, 0.3e-3))
        self.assertIn("five stored diagonals of order 4096 take 600 µs (paper, ten diagonals: 720 µs)",
                      finding.measured)
        self.finds("no longer holds", operators_2003.stored_products, records(0.06, 0.3e-3))
        self.finds("no longer holds", operators_2003.stored_products, records(0.05, 0.4e-3))

    def test_images_against_buffers(self):
        def records(gain):
            return [record(probes=[vector_probe("multiply", 512, 1e-3 / gain, "image"),
                                   vector_probe("multiply", 512, 1e-3),
                                   vector_probe("multiply", 1024, 1e-3)])]
        self.finds("holds", operators_2003.textures, records(2.1))
        self.finds("no longer holds", operators_2003.textures, records(1.9))
        with self.assertRaises(running.Unsupported):
            operators_2003.textures([], DEVICE_ENTRY)

    def test_an_iteration_and_what_five_leave(self):
        def records(step_s, steps=10):
            return [record([iterated("cg", 1024, steps, step_s), iterated("plain-cg", 1024, 10, 1e-3)])]
        finding = self.finds("holds", operators_2003.wave_step, records(15e-3))
        self.assertIn("5 of them leave a relative residual of 0.0312", finding.measured)
        self.assertIn("| 1024² | cg | 10 | 15.0 | 5.0e-01 | 3.1e-02 | 9.8e-04 |", finding.table)
        self.finds("no longer holds", operators_2003.wave_step, records(16e-3))
        with self.assertRaises(running.NotMade):  # too few to show the residual
            operators_2003.wave_step(records(15e-3, 3), DEVICE_ENTRY)

    def test_what_fits_into_a_frame(self):
        def records(step_s):
            return [record([iterated("cg", 512, 16, step_s)])]
        self.assertEqual(gems2_44.steps_to(iterated("cg", 512, 16, 1.0), 1e-3), 10)
        finding = self.finds("holds", gems2_44.wave, records(0.9 / 102 / 10))
        self.assertIn("enough for 11 iterations", finding.measured)
        self.finds("no longer holds", gems2_44.wave, records(1.2 / 102 / 10))

    def test_frames_of_the_demos(self):
        def records(problem, speed, few_left=0.2):
            rates = {512: 43, 1024: {"wave": 13, "fluid": 9}[problem]}
            return [record([simulated("cg", n, speed * rate, few_left, 5, problem) for n, rate in
                            rates.items()] + [simulated("fast-diagonal", 1024, 99.0, 1e-5,
                                                        problem=problem)])]
        for problem, demo in (("wave", operators_2003.WAVE), ("fluid", operators_2003.FLUID)):
            make = simulations_of_papers.frames(demo)
            finding = self.finds("holds", make, records(problem, 1.1))
            self.assertIn("They leave 0.200 of the", finding.measured)
            self.assertIn("fast-diagonal has 99.0 frames a second and leaves 1.00e-05",
                          finding.measured)
            self.assertIn("| 1024² | fast-diagonal |  | 99.0 |  | 1e-05 | 2e-05 |", finding.table)
            self.finds("no longer holds", make, records(problem, 0.9))
        self.finds("does not hold", operators_2003.accuracy, records("fluid", 1.0, 0.11))
        self.finds("holds", operators_2003.accuracy, records("fluid", 1.0, 0.09))
        oblong = record([simulated("cg", [2048, 1024, 1], 13.0, 0.2, 5, "wave")])
        self.finds("holds", simulations_of_papers.frames(gems2_44.DEMO), [oblong])
        with self.assertRaises(running.NotMade):
            simulations_of_papers.frames(operators_2003.WAVE)([oblong], DEVICE_ENTRY)

    def steps(self, few_s, to_tolerance):
        """Time steps in 2D and 3D: of all methods with few iterations, and {method: seconds} to the
        tolerance."""
        rows = []
        for problem, n, few in (("fluid2d", 512, 10), ("fluid3d", 128, 4)):
            for method in tables.METHODS:
                rows += [simulated(method, n, 1 / few_s, 0.9, few, problem),
                         simulated(f"plain-{method}", n, 0.5 / few_s, 0.9, few, problem),
                         simulated(method, n, 1 / to_tolerance[method], problem=problem)
                         if method in to_tolerance else
                         simulated_failed(method, n, problem=problem)]
            rows.append(simulated("fast-diagonal", n, 10.0, 1e-9, problem=problem))
        return [record(rows)]

    def test_whole_time_steps(self):
        finding = self.finds("holds", frames.time_step, self.steps(0.032, {}))
        self.assertIn("On 512² cells a step of 5 systems with 10 iterations each takes 32.0 ms with "
                      "jacobi (2.00 times the speed of plain loops) and leaves 0.900",
                      finding.measured)
        self.assertIn("| 128³ | cg | 64.0 | 32.0 | 2.00 | 31.2 | 0.9 |", finding.table)
        self.finds("no longer holds", frames.time_step, self.steps(0.034, {}))
        self.assertEqual(stable_fluids_2010.left_out(self.steps(0.03, {}), ()), [])
        broken = simulated("cg", 32, 1.0, iterations=10, status="error", reason="Lost.")
        self.assertEqual(stable_fluids_2010.left_out([record([broken])], ()),
                         ["cg single fluid2d 32² 10 iterations: error (Lost.)"])

    def test_the_best_solver_to_one_tolerance(self):
        def finds(verdict, **seconds):
            return self.finds(verdict, frames.equal_quality, self.steps(
                0.05, {name.replace("_", "-"): value for name, value in seconds.items()}))
        finds("holds", gauss_seidel=0.09, cg=0.2)
        finds("no longer holds", gauss_seidel=0.11, cg=0.2)  # fast-diagonal takes 0.1
        finds("no longer holds", gauss_seidel=0.09, cg=0.08)
        finding = finds("no longer holds", cg=0.2)
        self.assertIn("Not in time or not at all: jacobi, gauss-seidel, multigrid-cg. A step of "
                      "fast-diagonal takes 2.00 times as long as one with the few iterations",
                      finding.measured)
        self.assertIn("| 512² | gauss-seidel |  | not reached |  |  |", finding.table)
        self.assertEqual(finding.precision, "double")

    def test_moving_walls(self):
        def runs(slowest):
            return [record([simulated(method, 128, speed, 0.5, 10, "fluid", phases_s={"project": 1.0})
                            for method, speed in zip(tables.METHODS, (slowest, 90.0, 80.0))])]
        self.finds("holds", frames.moving_walls, runs(31.0))
        self.finds("no longer holds", frames.moving_walls, runs(29.0))

    def test_the_chapters_bandwidth(self):
        finding = self.finds("holds", gems2_44.operation, [record(probes=[
            COPY_PROBE, *(vector_probe("add", n, time / 2) for n, time in
                          gems2_44.OPERATION_S.items())])])
        self.assertIn("for 256², 512 x 256, 512², 1024 x 512, 1024² mean up to 41.9 GB/s",
                      finding.measured)
        self.assertIn("| 2048 x 1024 | 1448² | 0.890 | 0.445 | 2.00 |", finding.table)

    def solvers(self, gains, growth=1.0, residual=0.99, calls=(1, 1, 1), solved=(1, 1, 1)):
        """Results of all methods after the paper's iterations, so many times as fast as plain loops,
        and to some convergence, at 32 and 64 points; `calls` and `solved` are relative times."""
        rows = []
        for problem, steps in (("poisson2d", 10), ("poisson3d", 4), ("implicit2d", 10)):
            for grid, step_s in ((32, 1e-4), (64, growth * 1e-4)):
                for place, method in enumerate(tables.METHODS):
                    own_s = calls[place] * step_s
                    plain_s = gains[place] * own_s
                    rows += [
                        stopped(iterated(method, grid, steps, own_s, problem), residual),
                        stopped(iterated(f"plain-{method}", grid, steps, plain_s, problem), residual),
                        iterated(method, grid, 100, solved[place] / 100, problem, tolerance=0.1)]
        return [record(rows)]

    def test_solvers_against_plain_loops(self):
        for dimensions in (2, 3):
            make = times.table(dimensions)
            self.finds("holds", make, self.solvers((1.1, 1.1, 0.5)))
            finding = self.finds("no longer holds", make, self.solvers((1.1, 0.9, 0.5)))
            self.assertIn({2: "with 10 iterations takes: jacobi 1.00 ms (1.10 times the speed of "
                              "plain loops) for a residual of 0.990",
                           3: "with 4 iterations takes: jacobi 400 µs (1.10 times"}[dimensions],
                          finding.measured)
            self.assertIn({2: "take 5.00 ms with gauss-seidel, 15.2 % of the 33.0 ms",
                           3: "take 2.40 ms with"}[dimensions], finding.measured)
        finding = self.finds("no longer holds", times.table(2),
                             self.solvers((0.5, 0.5, 0.5)))
        self.assertIn("| 64² | jacobi | 2 | 0.291 | 0.500 | 1.00 | 0.99 | 0.9 |", finding.table)

    def test_a_call_that_did_not_take_the_papers_iterations_does_not_count(self):
        few = self.solvers((1.1, 1.1, 1.1))
        for row in few[0]["results"]:
            if row["routine"] == "jacobi" and row["grid"] == 64 and row["status"] == "failed":
                row["iterations"] = 3
        self.assertIn("At 32² a call", self.finds("holds", times.table(2),
                                                  few).measured)

    def test_constant_time(self):
        self.finds("holds", stable_fluids_2010.constant, self.solvers((1, 1, 1), 1.9))
        finding = self.finds("no longer holds", stable_fluids_2010.constant,
                             self.solvers((1, 1, 1), 2.1))
        self.assertIn("Plain loops take 2.10 times as long on 64³ as on 32³ (paper: 17.0; the "
                      "work: 8)", finding.measured)

    def test_printed_times_need_more_bandwidth_than_the_card_has(self):
        finding = self.finds("does not hold", stable_fluids_2010.launches, self.solvers((1, 1, 1)))
        self.assertIn("237 GB/s, 4.12 times the 57.6 GB/s", finding.measured)
        slower = {dimensions: {method: {n: 10 * time for n, time in by_size.items()}
                               for method, by_size in methods.items()}
                  for dimensions, methods in tables.GPU_S.items()}
        with mock.patch("papers.stable_fluids_2010.times.GPU_S", slower):
            self.finds("holds", stable_fluids_2010.launches, self.solvers((1, 1, 1)))

    def test_what_few_iterations_leave(self):
        finding = self.finds("does not hold", stable_fluids_2010.convergence,
                             self.solvers((1, 1, 1), residual=0.993))
        self.assertIn("0.993 (jacobi)", finding.measured)
        self.assertIn("nothing is solved", finding.measured)
        self.assertIn("| pressure, 2D | cg | 64² | 10 | 0.993 | 0.9 |", finding.table)
        self.finds("holds", stable_fluids_2010.convergence,
                   self.solvers((1, 1, 1), residual=0.05))
        self.assertEqual(grids.left_out(self.solvers((1, 1, 1)), ()), [])  # they are meant to stop

    def test_the_best_solver(self):
        """Gauss-Seidel must win both races."""
        first = (1, 0.9, 1)
        self.finds("holds", stable_fluids_2010.choice,
                   self.solvers((1, 1, 1), calls=first, solved=first))
        self.finds("no longer holds", stable_fluids_2010.choice,
                   self.solvers((1, 1, 1), calls=(0.8, 0.9, 1), solved=first))
        finding = self.finds("no longer holds", stable_fluids_2010.choice,
                             self.solvers((1, 1, 1), calls=first, solved=(1, 0.9, 0.5)))
        self.assertIn("For a residual of 0.1 at 64² Gauss-Seidel takes 900 ms, jacobi 1.00 s and cg "
                      "500 ms.", finding.measured)
        self.assertIn("Jacobi is faster on 64² and 512²", finding.measured)
        with self.assertRaises(running.NotMade):
            rows = [row for row in self.solvers((1, 1, 1))[0]["results"] if row["status"] != "ok"]
            stable_fluids_2010.choice([record(rows)], DEVICE_ENTRY)

    def test_the_colours_of_gauss_seidel(self):
        """Row by row is the loop over the points, and both orders take as many sweeps."""
        n = 5
        places = [(i, j) for i in range(1, n + 1) for j in range(1, n + 1)]
        for order, key in ((equations.row_by_row, sum), (equations.red_black, lambda p: sum(p) % 2)):
            visited = [(int(a), int(b)) for i, j in order(n) for a, b in zip(i, j)]
            self.assertEqual(sorted(visited), places)
            self.assertEqual([key(p) for p in visited], sorted(key(p) for p in visited))
        self.finds("does not hold", stable_fluids_2010.ordering, [])

    def test_half_of_the_printed_right_hand_side_is_right(self):
        for n in (32, 64):
            self.assertLess(equations.divergence_left(n, 0.5), 4 / n**2 * 10)
            self.assertAlmostEqual(equations.divergence_left(n, 1), 1, delta=0.02)
        self.finds("does not hold", stable_fluids_2010.projection, [])

    def test_the_diffusion_decays_as_it_should_with_the_right_coefficients(self):
        for n in (16, 32):
            (_, first), *_, (k_t, value) = equations.decay(n, 2)
            self.assertEqual(first, 1)
            self.assertAlmostEqual(value, math.exp(-2 * math.pi ** 2 * k_t), delta=1e-3)
        *_, (_, value) = equations.decay(16, 3)
        self.assertLess(value, 0.5)
        for count, value in equations.growth(2, 5):
            self.assertLessEqual(value, 1 + 1e-12)
        values = [value for _, value in equations.growth(2, 2)]
        for before, after in zip(values[1:], values[2:]):
            self.assertGreater(after, 1.9 * before)
        self.finds("does not hold", stable_fluids_2010.diffusion, [])


class GridWorld:
    """Stands in for lugpu and the script for NumPy."""

    def __init__(self):
        self.runs = []

    def run(self, argv, **_):
        """In place of subprocess.run."""
        words = dict(zip(argv, argv[1:]))
        path = Path(words["--json"])
        self.runs.append(path.stem)
        rows, probes, device = [], [COPY_PROBE], [DEVICE_ENTRY]
        if argv[1] == "simulate":
            path.write_text(json.dumps(record([run_of_simulation(words)], [], argv)), encoding="utf-8")
            return subprocess.CompletedProcess(argv, 0, "", "")
        sizes = [int(n) for n in (words.get("--grid") or words["-n"]).split(",")]
        if argv[0].endswith(".py"):
            probes, device = self.probes(sizes, ["host"]), []
        elif argv[1] == "probe":
            probes += self.probes(sizes, words["--storage"].split(","))
        elif words.get("--problem", "").startswith("fluid"):
            rows = [row for n in sizes for row in self.steps(words, n)]
        elif "--problem" in words:
            rows = [self.row(words, routine, n) for n in sizes
                    for routine in (words["--method"] + "," + words["--baseline"]).split(",")]
        for row in rows:
            row.pop("source", None)
        whole = record(rows, probes, argv) | {"devices": device}
        path.write_text(json.dumps(whole), encoding="utf-8")
        return subprocess.CompletedProcess(argv, 0, "", "")

    def probes(self, sizes, storages):
        return [vector_probe(name, n, cost * n * n, storage) for n in sizes for storage in storages
                for name, cost in (("add", 1e-10), ("multiply", 1e-10), ("sum", 5e-11),
                                   ("grid product", 2e-10), ("columns product", 1e-10),
                                   ("banded product", 5e-10))]

    def steps(self, words, n):
        problem, few = words["--problem"], int(words["--iterations"])
        methods, rivals = words["--method"].split(","), words["--baseline"].split(",")
        return ([simulated(name, n, 1e6 / n**2, 0.9, few, problem) for name in rivals + methods]
                + [simulated(name, n, 1e5 / n**2, problem=problem) if name != "jacobi" or n < 64 else
                   simulated_failed(name, n, problem=problem) for name in methods])

    def row(self, words, routine, n):
        row = iterated(routine, n, 20, 1e-9 * n * n, words["--problem"])
        most = int(words.get("--iterations", 100))
        if most > 10:
            return row | {"tolerance": float(words["--tolerance"])}
        return stopped(row | {"iterations": most}, 0.9)


class GridPageTest(PageCase):
    PAPERS = ("operators-2003", "gems2-44", "stable-fluids-2010")

    def test_pages_from_nothing_and_again_from_the_results(self):
        for paper in self.PAPERS:
            with self.subTest(paper):
                self.out = self.out.parent / paper
                status, out, err, runs = self.reproduce("--paper", paper, world=GridWorld(),
                                                        save=figures.save)
                self.assertEqual((status, err), (0, ""), out)
                self.assertEqual(len(runs), len(set(runs)))
                self.check_page(reproduce.PAPERS[paper])
                before = self.page()
                status, _, _, runs = self.reproduce("--paper", paper, "--reuse", world=GridWorld())
                self.assertEqual((status, runs, self.page()), (0, [], before))

    def check_page(self, paper):
        page = self.page()
        for figure in paper.figures:
            flat = " ".join(self.section(figure.title).split())
            self.assertIn(f"**The paper:** {figure.paper}", flat)
            self.assertIn(f"Rule: holds if {figure.rule}", flat)
            self.assertRegex(flat, r"\*\*Verdict: (holds|no longer holds|does not hold|unclear)\.")
            if not figure.drawing:
                continue
            name = f"{figure.key}-{figure.name}"
            self.assertIn(f"({name}.png)]({name}.svg)", self.section(figure.title))
            self.assertGreater(plot_test.png_size(self.out / f"{name}.png")[0], 800)
        self.assertNotIn(str(self.out), page)
        self.assertIn(f"# {paper.heading}", page)

    def test_drawings_are_inside_their_figures(self):
        for paper in self.PAPERS:
            self.out, drawn = self.out.parent / paper, []
            self.reproduce("--paper", paper, world=GridWorld(),
                           save=lambda figure, base: drawn.append((base.name, figure)))
            self.assertEqual(len(drawn), len([figure for figure in reproduce.PAPERS[paper].figures
                                              if figure.drawing]))
            for name, figure in drawn:
                FigureCanvasAgg(figure).draw()
                for text in [*figure.texts, *figure.legends[0].get_texts()]:
                    box = text.get_window_extent()
                    self.assertTrue(figure.bbox.x0 <= box.x0 and box.x1 <= figure.bbox.x1,
                                    f"{paper} {name}: {text.get_text()}")
                for ax in figure.axes:
                    boxes = [tick.get_window_extent() for tick in ax.get_xticklabels()
                             if tick.get_text()]
                    self.assertFalse([a for a, b in zip(boxes, boxes[1:]) if a.overlaps(b)], name)

    def test_only_runs_what_it_needs(self):
        status, _, _, runs = self.reproduce("--paper", "operators-2003", "--only", "cpu,wave",
                                            world=GridWorld())
        self.assertEqual((status, set(runs)), (0, {"device", "vectors", "matrices", "numpy", "wave"}))
        status, _, _, runs = self.reproduce("--paper", "stable-fluids-2010", "--only", "diffusion",
                                            world=GridWorld())
        self.assertEqual((status, set(runs)), (0, {"device"}))

    def test_measured_elsewhere(self):
        """The printed commands, run by hand, give the results that a page needs, and it runs
        nothing: what is missing is not measured."""
        status, out, _, runs = self.reproduce("--paper", "operators-2003", "--print-commands")
        self.assertEqual((status, runs), (0, []))
        first, *commands = [shlex.split(line) for line in out.splitlines()]
        self.assertEqual(first, ["mkdir", "-p", str(self.out)])
        self.out.mkdir(parents=True)
        for argv in commands:
            if "numpy_vectors.py" not in argv[0]:
                GridWorld().run(argv)
        status, _, err, runs = self.reproduce("--paper", "operators-2003", "--page",
                                              world=GridWorld())
        self.assertEqual((status, err, runs), (0, "", []))
        self.assertIn("There is no numpy.json among the results.", self.section("CPU: "))
        self.assertIn("**Verdict: not measured.**", self.section("CPU: "))
        self.assertIn("**Measured** on Example GPU", self.section("Banded matrix: "))
        (self.out / "device.json").unlink()
        status, _, err, _ = self.reproduce("--paper", "operators-2003", "--page")
        self.assertEqual((status, len(err.splitlines())), (1, 1))

    def test_a_device_without_images(self):
        plan = operators_2003.plan_for(DEVICE_ENTRY | {"images": False}, False)
        self.assertEqual(operators_2003.commands_images(plan, DEVICE_ENTRY), [])

    def test_numpy_is_timed(self):
        self.out.mkdir(parents=True)
        path = self.out / "numpy.json"
        done = subprocess.run([ROOT / "scripts/papers/numpy_vectors.py", "-n", "16,32", "--orders", "64", "--json",
                               path, "-q"], capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))
        probes = json.loads(path.read_text(encoding="utf-8"))["probes"]
        self.assertEqual([(probe["n"], probe["name"]) for probe in probes],
                         [(n, name) for n in (16, 32) for name in ("add", "sum", "multiply")]
                         + [(64, "columns product")])
        self.assertTrue(all(0 < probe["median_s"] < 1 for probe in probes))

    def test_keys_of_each_paper(self):
        done = subprocess.run([sys.executable, ROOT / "scripts/reproduce.py", "--paper", "gems2-44",
                               "--only", "4"], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 2)
        self.assertIn("there is no fig04; there are reduction, operation, wave, demo.",
                      done.stderr)


if __name__ == "__main__":
    if len(sys.argv) > 1 and not sys.argv[1].startswith("-") and Path(sys.argv[1]).exists():
        PROGRAM = sys.argv.pop(1)
    unittest.main()
