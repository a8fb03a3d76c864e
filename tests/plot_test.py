#!/usr/bin/python3
"""The JSON Schema of results, and scripts/plot.py on results that keep to it."""

import contextlib
import copy
import io
import json
import os
import struct
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import jsonschema
from matplotlib.backends.backend_agg import FigureCanvasAgg

ROOT = Path(__file__).resolve().parent.parent
sys.dont_write_bytecode = True  # plot.py is imported from a folder that holds sources alone
sys.path.insert(0, str(ROOT / "scripts"))
import figures  # noqa: E402
import plot  # noqa: E402
import batch_figures  # noqa: E402
import problem_figures  # noqa: E402
import simulation_figures  # noqa: E402
SCHEMA = json.loads((ROOT / "docs/lugpu.schema.json").read_text(encoding="utf-8"))
SIZES = [64, 128, 256, 512, 1024]
DEVICE = "Example GPU 6800"
GPU = {
    "platform": "Example Platform", "platform_version": "OpenCL 3.0", "name": DEVICE,
    "driver_version": "1.0", "device_version": "OpenCL 3.0", "type": "gpu", "compute_units": 16,
    "clock_mhz": 1200, "global_memory_bytes": 2**33, "max_allocation_bytes": 2**31,
    "local_memory_bytes": 65536, "max_work_group_size": 1024, "double_precision": True,
    "images": True, "image_max_width": 16384, "image_max_height": 16384,
    "image_formats": ["R FLOAT", "RG UNSIGNED_INT32"],
}


def seconds(launch_s, gflops, n):
    """A plain model of a factorization: a cost for each of n steps, and 2/3 n^3 operations."""
    return n * launch_s + 2 / 3 * n**3 / (gflops * 1e9)


def result(**given):
    """A result that is ok; `given` are the fields that matter to a test."""
    median = given.get("median_s", 1e-3)
    n = given.get("n", 64)
    row = {
        "implementation": "lugpu", "routine": "lu", "pivot": "partial", "precision": "single",
        "storage": "image", "texel": "r", "schedule": "fused",
        "device": DEVICE, "n": n, "nrhs": 1, "nb": None,
        "threads": None, "seed": 1, "matrix": "random",
        "times_s": [median * 0.99, median, median * 1.02],
        "device_times_s": [median * 0.9] * 3, "median_s": median, "min_s": median * 0.99,
        "rel_stdev": 0.012, "gflops": 2 / 3 * n**3 / median / 1e9, "flop_formula": "2/3 n^3",
        "phases_s": {"build": 0.4, "upload": 1e-4, "factor": median, "solve": 1e-4,
                     "download": 1e-5, "total": median + 3e-4, "update": median * 0.7},
        "counters": {"kernel_launches": 3 * n, "readbacks": 0},
        "checks": {"factor_ratio": 0.3, "solve_ratio": 1.2, "hpl_residual": 0.01, "growth": 9.5,
                   "rcond": 1e-4, "info": 0},
        "status": "ok", "reason": "", "warnings": [],
    }
    return row | given


def baseline(routine, implementation, threads, pivot, precision, n, median):
    """A result of a rival on the host."""
    return result(implementation=implementation, routine=routine, pivot=pivot, precision=precision,
                  storage="host", texel=None, schedule=None, device=None, n=n, threads=threads,
                  median_s=median,
                  device_times_s=[], counters={})


def rival(routine, implementation, pivot, n, median):
    """A result of a rival on the device."""
    return result(implementation=implementation, routine=routine, pivot=pivot, storage="buffer",
                  texel=None, schedule=None, n=n, median_s=median, variant=None, counters={})


def not_ok(status, reason, **given):
    """A result that shows no speed."""
    unknown = dict.fromkeys(["factor_ratio", "solve_ratio", "hpl_residual", "growth", "rcond"])
    return result(**given) | {
        "status": status, "reason": reason, "gflops": None, "median_s": None, "min_s": None,
        "rel_stdev": None, "times_s": [], "device_times_s": [], "phases_s": {}, "counters": {},
        "checks": unknown | {"info": 1}}


def sweep(device=DEVICE, speed=1.0):
    """Results like those of a whole sweep, three of which are not ok."""
    rows = []
    for precision, slower in (("single", 1.0), ("double", 2.0)):
        for n in SIZES:
            for routine, work in (("lu", 1.0), ("gauss-jordan", 2.9)):
                for pivot, step in (("none", 9e-6), ("partial", 21e-6), ("full", 34e-6)):
                    for storage, rate in (("image", 75.0), ("buffer", 52.0)):
                        time = seconds(step, speed * rate / work / slower, n)
                        rows.append(result(routine=routine, pivot=pivot, precision=precision,
                                           storage=storage, device=device, n=n, median_s=time))
            rows.append(baseline("getrf", "openblas", 2, "partial", precision, n,
                                 seconds(4e-7, 90 / slower, n)))
            rows.append(baseline("getc2", "lapack", None, "full", precision, n,
                                 seconds(1e-6, 0.9 / slower, n)))
    failed = {"routine": "lu", "pivot": "none", "storage": "image", "device": device}
    rows = [row for row in rows if not (row["n"] == 64 and row["precision"] == "single"
                                        and all(row[key] == failed[key] for key in failed))]
    rows.append(not_ok("failed", "factor_ratio 5.1e+06 is not under 30: the first pivot is 1e-10, "
                       "try --pivot partial", **failed))
    rows.append(not_ok("unsupported", "n is larger than the widest image, 16384", routine="lu",
                       precision="double", n=32768, device=device))
    rows.append(not_ok("skipped", "getc2 would take longer than --timeout 60 s", routine="getc2",
                       implementation="lapack", pivot="full", storage="host", texel=None, schedule=None,
                       device=None, n=8192))
    return rows


def record(rows):
    """A complete file around results."""
    names = {row["device"] for row in rows if row["device"]}
    return {
        "schema_version": 1,
        "tool": {"version": "0.1.0", "git_rev": "1a2b3c4d5e6f", "compiler": "GNU 12.2.0",
                 "build_type": "Release", "argv": ["lugpu", "bench", "--json", "sweep.json"]},
        "context": {"time_utc": "2005-11-12T09:30:00Z", "host": "example", "kernel": "Linux 6.1",
                    "cpu": "Example CPU", "cores": 2, "memory_bytes": 2**34, "load_1min": 0.05,
                    "environment": {"OPENBLAS_NUM_THREADS": "2"}},
        "libraries": {"opencl_loader": {"path": "/usr/lib/libOpenCL.so.1"},
                      "blas": {"name": "openblas", "config": "OpenBLAS 0.3.21", "core": "Haswell",
                               "threads": 2, "path": "/usr/lib/libopenblas.so.0"},
                      "lapack": {"path": "/usr/lib/liblapack.so.3"}},
        "devices": [GPU | {"name": name} for name in sorted(names)],
        "results": rows,
    }


def on_grid(routine, grid, setup, median, steps=0, **given):
    """A result of a system on a grid: of an iteration with its residuals, or of a direct method."""
    host = routine.startswith("plain-") or routine in ("cholmod", "gbtrf")
    iteration = [10.0 ** (-6 * step / steps) for step in range(steps + 1)] if steps else []
    return {
        "problem": "poisson2d", "grid": grid, "matrix": None,
        "implementation": routine if routine in ("cholmod", "gbtrf") else
        routine.split("-")[0] if routine.startswith(("plain-", "viennacl-")) else "lugpu",
        "routine": routine, "precision": "double", "storage": "host" if host else "buffer",
        "device": None if host else DEVICE, "compute_units": None if host else 16,
        "n": grid * grid, "nrhs": 1, "tolerance": 1e-6, "most_iterations": 10000, "choice": None,
        "setup_s": setup, "times_s": [median] * 3, "median_s": median, "min_s": median,
        "rel_stdev": 0.0, "iterations": steps or None, "residuals": iteration,
        "checks": {"residual": 1e-6 if steps else 1e-14, "error": 1e-5, "solve_ratio": None},
        "bandwidth": None, "status": "ok", "reason": ""} | given


def on_grid_failed(routine, grid, reason, **given):
    """A result of a system on a grid that did not reach the tolerance."""
    return on_grid(routine, grid, None, None, 50, status="failed", reason=reason, **given)


GRIDS = [32, 64, 128, 256]


def on_grids():
    """Results of all methods and rivals, of which Jacobi fails on the finer grids."""
    rows = []
    for n in GRIDS:
        for kind, place in (("", 1.0), ("plain-", 3.0), ("viennacl-", 2.0)):
            rows.append(on_grid(kind + "cg", n, 1e-5 * place, 1e-7 * n**2 * place, 3 * n))
        rows.append(on_grid("fast-diagonal", n, 1e-8 * n**3, 2e-9 * n**2.5))
        rows.append(on_grid("banded", n, 1e-9 * n**4, 1e-8 * n**2.2))
        rows.append(on_grid("cholmod", n, 1e-7 * n**2.5, 2e-8 * n**2.1))
        rows.append(on_grid("multigrid-cg", n, 1e-3, 2e-7 * n**1.5, 8))
        rows.append(on_grid("jacobi", n, 1e-5, 1e-7 * n**3, 60) if n < 128 else
                    on_grid_failed("jacobi", n, "The residual is not below the tolerance."))
    return rows


def simulated(routine, grid, frames, left=0.5, iterations=None, problem="fluid2d", **given):
    """A result of a simulation with so many iterations, or to a tolerance."""
    plain = routine.startswith("plain-")
    sizes = grid if isinstance(grid, list) else [grid, grid, grid if problem.endswith("3d") else 1]
    scene = {"wave": "rain", "bubbles": "cells"}.get(problem, "smoke")
    return {
        "problem": problem, "implementation": "plain" if plain else "lugpu", "routine": routine,
        "precision": "single" if iterations else "double", "device": None if plain else DEVICE,
        "scene": scene, "grid": sizes, "tolerance": 0.0 if iterations else 1e-3,
        "steps": 8, "time_step": 0.01, "frames_per_s": frames,
        "times_s": [(1 + 1e-3 * place) / frames for place in (-1, 0, 1)],
        "solver_iterations": 5.0 * (iterations or 100), "status": "ok",
        "left": {"of": "residual" if problem in ("wave", "bubbles") else "divergence", "first": left,
                 "median": left, "largest": 2 * left, "last": left, "by_step": [left, 2 * left] * 4}
        } | ({} if plain else {"device_index": 0}) | (
            {"iterations": iterations} if iterations else {}) | given


def simulated_failed(routine, grid, **given):
    """A result of a simulation whose first step did not reach the tolerance."""
    return simulated(routine, grid, 1.0, status="failed",
                     reason="The residual is not below the tolerance after 10000 sweeps", **given)


def simulations():
    """Results of `lugpu bench --problem fluid2d`."""
    rows = []
    for n in (32, 64, 128):
        for kind, place in (("", 1), ("plain-", 3)):
            rows += [simulated(kind + method, n, 1e7 / n**2 / place, iterations=10)
                     for method in ("jacobi", "gauss-seidel", "cg")]
        rows += [simulated("fast-diagonal", n, 1e6 / n**2, 1e-12), simulated("cg", n, 1e5 / n**2),
                 simulated("jacobi", n, 1e3 / n**2) if n < 64 else simulated_failed("jacobi", n)]
    return rows


def batch_row(n, pivot, seconds, routine="lu-batch", **given):
    """A result of `lugpu bench --batch 100`."""
    implementation = {"lu-batch": "lugpu", "getrf": "openblas"}.get(routine, "cublas")
    host = implementation == "openblas"
    return {
        "batch": 100, "implementation": implementation, "routine": routine, "pivot": pivot,
        "precision": "single", "n": n, "nrhs": 1, "matrix": "random", "seed": 1, "status": "ok",
        "reason": "", "device": None if host else DEVICE, "compute_units": None, "threads": 2 if host else None,
        "median_s": seconds, "gflops": 1e-7 * n**3 / seconds if seconds else None,
        "times_s": [seconds] * 3 if seconds else []} | given


def batches():
    """Members of lugpu with partial pivoting take n microseconds."""
    rows = []
    for n in (8, 32, 128):
        rows += [batch_row(n, "partial", 1e-4 * n), batch_row(n, "full", 2e-4 * n),
                 batch_row(n, "partial", 3e-4 * n, "getrf"), batch_row(n, "partial", 5e-4 * n, "getrf-batched")]
    return rows + [batch_row(8, "partial", 8e-3, "matinv-batched"),
                   batch_row(128, "partial", None, "matinv-batched", status="unsupported", reason="Too large.")]


def png_size(path):
    """(width, height) of a PNG file, from its header."""
    head = path.read_bytes()[:24]
    assert head[:8] == b"\x89PNG\r\n\x1a\n", f"{path} is not a PNG file"
    return struct.unpack(">II", head[16:])


class InFolder(unittest.TestCase):
    """A test that writes files into its own folder and runs plot.py there."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def write(self, name, content):
        path = self.folder / name
        text = content if isinstance(content, str) else json.dumps(content)
        path.write_text(text, encoding="utf-8")
        return path

    def plot(self, *arguments):
        """A run without a process of its own, whose start would take most of the time."""
        out, errors = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(errors):
            status = plot.main([str(argument) for argument in arguments])
        return subprocess.CompletedProcess(arguments, status, out.getvalue(), errors.getvalue())

    def plot_as_process(self, *arguments):
        return subprocess.run([sys.executable, ROOT / "scripts/plot.py", *arguments],
                              capture_output=True, text=True, check=False,
                              env=os.environ | {"PYTHONDONTWRITEBYTECODE": "1"})

    def drawn(self, *arguments):
        done = self.plot(*arguments)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done


class SchemaTest(unittest.TestCase):
    def setUp(self):
        self.validator = jsonschema.Draft7Validator(SCHEMA)
        self.record = record([result(), not_ok("failed", "the 3rd pivot is zero")])

    def errors_after(self, change):
        changed = copy.deepcopy(self.record)
        change(changed)
        return [error.message for error in self.validator.iter_errors(changed)]

    def test_schema_is_itself_valid(self):
        jsonschema.Draft7Validator.check_schema(SCHEMA)

    def test_accepts_a_sweep_and_an_empty_file(self):
        self.assertEqual(list(self.validator.iter_errors(record(sweep()))), [])
        self.assertEqual(list(self.validator.iter_errors(record([]))), [])

    def test_every_field_is_described(self):
        def undescribed(node, path):
            for name, field in node.get("properties", {}).items():
                described = "description" in field or "$ref" in field
                yield from [] if described else [f"{path}.{name}"]
                yield from undescribed(field, f"{path}.{name}")
        for name, node in {"file": SCHEMA, **SCHEMA["definitions"]}.items():
            self.assertEqual(list(undescribed(node, name)), [])

    def test_every_object_refuses_missing_and_unknown_fields(self):
        objects = {"file": lambda r: r, "tool": lambda r: r["tool"],
                   "context": lambda r: r["context"], "libraries": lambda r: r["libraries"],
                   "blas": lambda r: r["libraries"]["blas"], "device": lambda r: r["devices"][0],
                   "result": lambda r: r["results"][0],
                   "checks": lambda r: r["results"][0]["checks"]}
        for name, find in objects.items():
            for field in find(self.record):
                with self.subTest(object=name, missing=field):
                    self.assertTrue(self.errors_after(lambda r: find(r).pop(field)))
            with self.subTest(object=name, unknown="surplus"):
                self.assertTrue(self.errors_after(lambda r: find(r).update(surplus=1)))

    def test_refuses_wrong_results(self):
        ok_changes = [
            {"median_s": None}, {"times_s": []}, {"gflops": None}, {"gflops": "fast"}, {"n": -1},
            {"n": 64.5}, {"pivot": ""}, {"precision": ""}, {"status": "fine"},
            {"device": None}, {"storage": "host"}, {"times_s": [-1.0]},
            {"checks": self.record["results"][0]["checks"] | {"solve_ratio": None}},
            {"counters": {"readbacks": -1}}, {"counters": {"cache_misses": 1}},
            {"phases_s": {"update": None}}, {"warnings": [""]},
        ]
        not_ok_changes = [{"gflops": 3.0}, {"reason": ""}]
        for index, changes in ((0, ok_changes), (1, not_ok_changes)):
            for change in changes:
                with self.subTest(change=change):
                    self.assertTrue(self.errors_after(lambda r: r["results"][index].update(change)))

    def test_names_of_tables_are_open(self):
        """A new method, pivoting or precision needs no other schema."""
        for change in ({"pivot": "tournament"}, {"precision": "half"}, {"routine": "qr"},
                       {"implementation": "magma"}, {"matrix": "new"}):
            with self.subTest(change=change):
                self.assertFalse(self.errors_after(lambda r: r["results"][0].update(change)))

    def test_reads_local_times_as_wrong(self):
        self.assertTrue(self.errors_after(
            lambda r: r["context"].update(time_utc="2005-11-12 09:30:00")))


class PlotTest(InFolder):
    def test_draws_each_precision_as_png_and_svg(self):
        done = self.drawn(self.write("sweep.json", record(sweep())))
        self.assertEqual(done.stdout.split(), [str(self.folder / f"sweep-{name}.{ending}")
                                               for name in ("single", "single-ratio", "double",
                                                            "double-ratio")
                                               for ending in ("png", "svg")])
        for precision in ("single", "double"):
            width, height = png_size(self.folder / f"sweep-{precision}.png")
            self.assertGreater(width, 1800)
            self.assertGreater(height, 900)
            svg = (self.folder / f"sweep-{precision}.svg").read_text(encoding="utf-8")
            for text in ("lu, none (image)", "lu, partial (image)", "gauss-jordan, none (buffer)",
                         "gauss-jordan, full (image)", "getrf (openblas, 2 threads)",
                         "getc2 (lapack)", f"{DEVICE}, {precision} precision",
                         "no pivoting", "partial pivoting", "full pivoting",
                         "order n of the matrix", "speed-up over getrf", "speed-up over getc2",
                         ">1024<"):
                self.assertIn(text, svg)

    def test_lists_what_is_left_out(self):
        done = self.drawn(self.write("sweep.json", record(sweep())))
        single = (self.folder / "sweep-single.svg").read_text(encoding="utf-8")
        double = (self.folder / "sweep-double.svg").read_text(encoding="utf-8")
        self.assertIn("left out: lu/none/image single n=64: failed (factor_ratio 5.1e+06", single)
        self.assertIn("left out: getc2/full/host single n=8192: skipped (getc2 would", single)
        self.assertNotIn("left out: lu/none", double)
        self.assertIn("left out: lu/partial/image double n=32768: unsupported (n is", double)
        self.assertEqual(done.stderr.count("left out: "), 3)

    def test_cuts_a_long_list_but_says_so(self):
        rows = [not_ok("failed", "growth " + "9" * 300, n=n) for n in range(2, 22)]
        done = self.drawn(self.write("many.json", record([result(), *rows])))
        svg = (self.folder / "many-single.svg").read_text(encoding="utf-8")
        self.assertIn("left out: 15 more", svg)
        self.assertEqual(done.stderr.count("left out: "), 20)

    def test_names_the_matrix_of_what_is_left_out_where_there_are_several(self):
        row = not_ok("failed", "growth 9.2e+18", matrix="wilkinson", pivot="none")
        done = self.drawn(self.write("kinds.json", record([result(), row])))
        self.assertEqual(done.stderr, "left out: lu/none/image single n=64, wilkinson: "
                                      "failed (growth 9.2e+18)\n")

    def test_lists_a_precision_that_has_no_figure(self):
        row = not_ok("unsupported", "the device has no double precision", precision="double")
        rival = baseline("getrf", "openblas", 2, "partial", "double", 64, 1e-3)
        for name, rows in (("alone", [result(), row]), ("with-rival", [result(), row, rival])):
            self.drawn(self.write(f"{name}.json", record(rows)))
            self.assertIn("left out: lu/partial/image double n=64: unsupported",
                          (self.folder / f"{name}-single.svg").read_text(encoding="utf-8"))
        self.assertIn("host, double precision",
                      (self.folder / "with-rival-double.svg").read_text(encoding="utf-8"))

    def test_draws_rivals_on_the_device(self):
        rows = [result(pivot=pivot, n=n) for pivot in ("none", "partial") for n in SIZES]
        for n in SIZES:
            rows += [rival("cusolver", "cusolver", "partial", n, seconds(2e-6, 5000, n)),
                     rival("cusolver-none", "cusolver", "none", n, seconds(1e-6, 5000, n)),
                     rival("viennacl", "viennacl", "none", n, seconds(1e-5, 500, n)),
                     baseline("getrf", "openblas", 2, "partial", "single", n,
                              seconds(4e-7, 90, n))]
        self.drawn(self.write("rivals.json", record(rows)))
        svg = (self.folder / "rivals-single.svg").read_text(encoding="utf-8")
        for text in ("cusolver (buffer)", "cusolver-none (buffer)", "viennacl (buffer)",
                     "getrf (openblas, 2 threads)", "speed-up over getrf"):
            self.assertIn(text, svg)
        self.assertNotIn("speed-up over the fastest", svg)

    def rivals(self, times, **ours):
        """Results of rivals with these multiples of the time of lugpu's, 1 ms, for all sizes."""
        rows = []
        for n in SIZES:
            rows += [result(**{"routine": "lu-blocked", "storage": "buffer", "pivot": pivot,
                               "schedule": None, "nb": 64, "n": n} | ours)
                     for pivot in ("none", "partial")]
            known = {"cusolver": ("cusolver", "partial"), "cusolver-none": ("cusolver", "none"),
                     "viennacl": ("viennacl", "none")}
            rows += [rival(name, *known[name], n, 1e-3 * times[name]) for name in known
                     if name in times]
            if "getrf" in times:
                rows.append(baseline("getrf", "openblas", 2, "partial", "single", n,
                                     1e-3 * times["getrf"]))
        return rows

    def svg(self, name, rows):
        self.drawn(self.write(f"{name}.json", record(rows)))
        self.assertTrue(png_size(self.folder / f"{name}-single-ratio.png"))
        return (self.folder / f"{name}-single-ratio.svg").read_text(encoding="utf-8")

    def test_draws_the_time_of_rivals_over_that_of_lugpu(self):
        svg = self.svg("ratio", self.rivals({"getrf": 16, "cusolver": 0.5, "cusolver-none": 0.25,
                                             "viennacl": 4}))
        for text in ("lu-blocked, no pivoting", "lu-blocked, partial pivoting", "lugpu is faster",
                     "the rival is faster", "time of the rival / time of lugpu", ">1×<", ">1024<",
                     "getrf (openblas, 2 threads), pivoting partial",
                     "cusolver (buffer), pivoting partial",
                     "cusolver-none (buffer), pivoting none", "viennacl (buffer), pivoting none"):
            self.assertIn(text, svg)
        self.assertNotIn("full pivoting", svg)

    def test_ratios_are_of_the_fastest_result_of_the_blocked_method(self):
        rows = (self.rivals({"getrf": 3}) + self.rivals({}, nb=32, median_s=5e-4)
                + self.rivals({}, routine="lu", nb=None, median_s=1e-5))
        page = plot.page_rows(DEVICE, "single", [row | {"source": "s"} for row in rows])
        found = plot.comparisons(plot.series_of(page), page)
        self.assertEqual(list(found), ["none", "partial"])
        for routine, lines in found.values():
            self.assertEqual(routine, "lu-blocked")
            (entry, xy), = lines
            self.assertEqual(entry["label"], "getrf (openblas, 2 threads)")
            self.assertEqual([n for n, _ in xy], SIZES)
            for _, ratio in xy:
                self.assertAlmostEqual(ratio, 6)

    def test_ratios_need_a_rival_of_the_same_size(self):
        """Without any there is no figure, and a rival's other sizes are not drawn."""
        rows = self.rivals({})
        rows.append(rival("cusolver", "cusolver", "partial", 99, 1e-3))
        rows.append(baseline("getc2", "lapack", None, "full", "single", 64, 1e-3))
        self.drawn(self.write("none.json", record(rows)))
        self.assertFalse(list(self.folder.glob("none-*-ratio.*")))
        svg = self.svg("one", rows + [rival("cusolver", "cusolver", "partial", 64, 1e-3)])
        self.assertIn("cusolver (buffer)", svg)
        self.assertNotIn(">99<", svg)

    def test_full_pivoting_is_held_against_getc2(self):
        svg = self.svg("full", [result(pivot="full"), baseline(
            "getc2", "lapack", None, "full", "single", 64, 0.1), baseline(
                "getrf", "openblas", 2, "partial", "single", 64, 0.1)])
        self.assertIn("lu, full pivoting", svg)
        self.assertIn("getc2 (lapack), pivoting full", svg)
        self.assertNotIn("getrf", svg)

    def test_draws_methods_and_pivotings_that_it_does_not_know(self):
        """After those that it knows, and against getrf."""
        rows = [result(routine=routine, pivot=pivot, n=n) for n in SIZES
                for routine, pivot in (("lu", "rook"), ("new", "tournament"))]
        rows += [baseline("getrf", "openblas", 2, "partial", "single", n, 0.1) for n in SIZES]
        path = self.write("new.json", record(rows))
        self.drawn(path)
        svg = (self.folder / "new-single.svg").read_text(encoding="utf-8")
        places = [svg.index(text) for text in ("rook pivoting", "tournament pivoting")]
        self.assertEqual(places, sorted(places))
        self.assertEqual(svg.count("speed-up over getrf"), 2)
        ratios = (self.folder / "new-single-ratio.svg").read_text(encoding="utf-8")
        self.assertIn("new, tournament pivoting", ratios)

    def test_draws_a_single_size_and_no_baseline(self):
        self.drawn(self.write("one.json", record([result(n=1000)])))
        self.assertFalse(list(self.folder.glob("*ratio*")))
        svg = (self.folder / "one-single.svg").read_text(encoding="utf-8")
        self.assertIn(">1000<", svg)

    def on_cores(self, counts, pivot="partial", threads=(), sizes=SIZES, **ours):
        """Results of lu-blocked that take 16 ms over its cores, and getrf 48 ms over its threads."""
        rows = [result(**{"routine": "lu-blocked", "pivot": pivot, "n": n, "compute_units": count,
                          "median_s": 16e-3 / count} | ours) for n in sizes for count in counts]
        return rows + [baseline("getrf", "openblas", count, "partial", "single", n, 48e-3 / count)
                       | {"compute_units": None} for n in sizes for count in threads]

    def endings(self, name, rows):
        """What the names of the figures of these results end in, after the stem."""
        self.drawn(self.write(f"{name}.json", record(rows)))
        return sorted(path.stem[len(name):] for path in self.folder.glob(f"{name}-*.svg"))

    def core_figure(self, rows, notes=()):
        """The figure of these results over cores."""
        return plot.draw_cores(DEVICE, "single", [row | {"source": "s"} for row in rows], notes)

    def test_draws_cores_exactly_where_lugpu_ran_on_several_numbers_of_them(self):
        both, all_three = ["-single", "-single-ratio"], ["-single", "-single-cores", "-single-ratio"]
        old = [{field: value for field, value in row.items() if field != "compute_units"}
               for row in self.on_cores([16], threads=[16])]
        self.assertEqual(self.endings("several", self.on_cores([1, 4], threads=[1, 4])), all_three)
        self.assertEqual(self.endings("alone", self.on_cores([1, 4])), ["-single", "-single-cores"])
        self.assertEqual(self.endings("one", self.on_cores([4], threads=[1, 4])), both)
        self.assertEqual(self.endings("null", self.on_cores(
            [1], threads=[4], compute_units=None)), both)
        self.assertEqual(self.endings("old", old), both)
        others = self.on_cores([2]) + self.on_cores([4], device="Another GPU")
        self.assertEqual(self.endings("devices", others), ["-another-gpu-single",
                                                           "-example-gpu-6800-single"])
        for ending in ("png", "svg"):
            self.assertTrue((self.folder / f"several-single-cores.{ending}").exists())

    def test_other_figures_are_of_the_largest_number_of_cores(self):
        rows = self.on_cores([1, 2, 8], threads=[1, 2, 8])
        rows += self.on_cores([1, 2, 8], pivot="full")
        rows += [baseline("getc2", "lapack", None, "full", "single", n, 0.1) for n in SIZES]
        rows.append(not_ok("skipped", "too slow", n=4096) | {"compute_units": 2})
        rows.append(not_ok("failed", "growth", n=4096) | {"compute_units": 8})
        path = self.write("largest.json", record(rows))
        self.assertEqual(list(jsonschema.Draft7Validator(SCHEMA).iter_errors(record(rows))), [])
        done = self.drawn(path)
        page, ratio, over_cores = ((self.folder / f"largest-single{ending}.svg").read_text(
            encoding="utf-8") for ending in ("", "-ratio", "-cores"))
        for svg in (page, ratio):
            for text in ("getrf (openblas, 8 threads)", "getc2 (lapack)", "lugpu on 8 cores"):
                self.assertIn(text, svg)
            for text in ("2 threads", "1 thread)"):
                self.assertNotIn(text, svg)
        left_out = ["left out: lu/partial/image single n=4096, 2 cores: skipped (too slow)",
                    "left out: lu/partial/image single n=4096, 8 cores: failed (growth)"]
        self.assertEqual(done.stderr.splitlines(), left_out)
        self.assertNotIn(left_out[0], page)
        self.assertIn(left_out[1], page)
        for line in left_out:
            self.assertIn(line, over_cores)

    def test_rivals_without_as_many_threads_are_all_drawn(self):
        sourced = [row | {"source": "s"} for row in self.on_cores([1, 8], threads=[2, 4])]
        shown = plot.on_most_cores(8, sourced)
        self.assertEqual(plot.core_counts(shown), [2, 4, 8])
        cusolver = rival("cusolver", "cusolver", "partial", 64, 1e-3)
        for units in ({}, {"compute_units": None}, {"compute_units": 132}):
            self.assertIn(cusolver | units, plot.on_most_cores(8, [*sourced, cusolver | units]))

    def test_core_panels_show_speed_and_ratio_on_as_many_cores(self):
        """Rivals on other numbers of cores have no ratio, and those of other sizes are not drawn; the
        fastest of several results counts."""
        rows = self.on_cores([1, 2, 16], threads=[1, 2, 4], sizes=[256, 512])
        rows += self.on_cores([1, 2, 16], sizes=[256, 512], median_s=1.0)
        rows += self.on_cores([1, 2, 16], sizes=[256, 512], routine="lu", median_s=1e-6)
        rows += self.on_cores([], threads=[32], sizes=[1024])
        figure = self.core_figure(rows)
        speed, ratio = figure.axes
        self.assertEqual(speed.get_title(), "lu-blocked, partial pivoting")
        self.assertEqual([list(line.get_xdata()) for line in speed.lines],
                         [[1, 2, 16], [1, 2, 4]] * 2)
        self.assertEqual([line.get_linestyle() for line in speed.lines], ["-", "--"] * 2)
        for ours, theirs in (speed.lines[:2], speed.lines[2:]):
            self.assertEqual(ours.get_color(), theirs.get_color())
            self.assertEqual(theirs.get_markerfacecolor(), "white")
            self.assertAlmostEqual(ours.get_ydata()[1] / theirs.get_ydata()[1], 3)
        self.assertNotEqual(speed.lines[0].get_color(), speed.lines[2].get_color())
        drawn = [line for line in ratio.lines if len(line.get_xdata()) and
                 line.get_marker() != "None"]
        self.assertEqual(len(drawn), 2)
        for line in drawn:
            self.assertEqual(list(line.get_xdata()), [1, 2])
            for value in line.get_ydata():
                self.assertAlmostEqual(value, 3)
        for ax in figure.axes:
            self.assertEqual(list(ax.get_xticks()), [1, 2, 4, 16])
            self.assertEqual([label.get_text() for label in ax.get_xticklabels()],
                             ["1", "2", "4", "16"])
            self.assertEqual(ax.get_xlabel(), "number of cores")
        self.assertEqual([text.get_text() for text in ratio.texts],
                         ["lugpu is faster", "the rival is faster"])
        self.assertEqual([text.get_text() for text in speed.get_legend().get_texts()],
                         ["256", "512", "lu-blocked", "getrf (openblas), pivoting partial"])

    def test_getc2_takes_the_same_time_on_every_number_of_cores(self):
        rows = self.on_cores([1, 4], pivot="full", routine="lu", sizes=[512])
        rows.append(baseline("getc2", "lapack", None, "full", "single", 512, 0.16))
        (lines,), = (plot.over_cores(*both).values() for both in plot.swept(
            [row | {"source": "s"} for row in rows]).values())
        self.assertEqual([cores for cores, _ in lines["rival"]], [1, 4])
        self.assertEqual(len({speed for _, speed in lines["rival"]}), 1)
        for (cores, value), expected in zip(lines["ratio"], (10, 40)):
            self.assertAlmostEqual(value, expected, msg=f"{cores} cores")

    def test_core_panels_are_those_of_pivotings_on_several_numbers_of_cores(self):
        """In the order of all figures, without a panel of ratios where there is no rival."""
        rows = (self.on_cores([1, 2], pivot="full") + self.on_cores([2], pivot="rook")
                + self.on_cores([2], pivot="none") + self.on_cores([1, 2], pivot="none", routine="lu")
                + self.on_cores([1, 2], threads=[1, 2]))
        figure = self.core_figure(rows)
        self.assertEqual([ax.get_title() for ax in figure.axes if ax.get_title()],
                         ["lu, no pivoting", "lu-blocked, partial pivoting",
                          "lu-blocked, full pivoting"])
        self.assertEqual([ax.get_ylabel() for ax in figure.axes],
                         ["GFLOP/s", "time of the rival / time of lugpu"] * 2 + ["GFLOP/s"])
        self.assertEqual(sum(ax.get_legend() is not None for ax in figure.axes), 3)
        self.assertEqual([bool(ax.get_xlabel()) for ax in figure.axes],
                         [False, False, False, True, True])
        self.assertIsNone(self.core_figure(self.on_cores([2])))

    def test_core_ticks_and_headings_have_room(self):
        for counts, sizes in (([1, 2, 4, 8, 16], SIZES), (list(range(1, 17)), [4096]),
                              ([2 ** i for i in range(9)], [4096])):
            figure = self.core_figure(self.on_cores(counts, sizes=sizes), ["left out: " + 90 * "x"])
            FigureCanvasAgg(figure).draw()
            ax, = figure.axes
            self.assertEqual(list(ax.get_xticks()), counts)
            spelled = [label for label in ax.get_xticklabels() if label.get_text()]
            self.assertGreaterEqual(len(spelled), 5)
            boxes = [label.get_window_extent() for label in spelled]
            self.assertFalse(any(a.overlaps(b) for a, b in zip(boxes, boxes[1:])))
            for text in figure.texts:
                self.assertLess(text.get_window_extent().x1, figure.bbox.x1)

    def page(self, rows):
        """The figure of these results."""
        return plot.draw_page(DEVICE, "single", [row | {"source": "s"} for row in rows], [])

    def test_error_bars_are_the_intervals_of_the_medians(self):
        """Of the time itself, and turned over of speed and speed-up; of results that have one."""
        rows = [dict(result(n=n, median_s=1e-3 * n, gflops=2.0), source="r",
                     median_interval_s=[0.8e-3 * n, 1.25e-3 * n]) for n in (64, 128)]
        rows.append(dict(result(n=256, median_s=1e-3), source="r"))
        rivals = [dict(baseline("getrf", "openblas", 2, "partial", "single", n, 4e-3 * n), source="r")
                  for n in (64, 128)]
        entry, = (one for one in plot.series_of(rows + rivals) if one["rows"][0]["routine"] == "lu")
        for quantity, value in (("median_s", None), ("gflops", 2.0), ("speedup", 4.0)):
            found = plot.intervals(entry, quantity, "partial", rows + rivals)
            self.assertEqual([n for n, *_ in found], [64, 128])
            for n, low, high in found:
                expected = (0.8e-3 * n, 1.25e-3 * n) if value is None else (value * 0.8, value * 1.25)
                self.assertAlmostEqual(low, expected[0])
                self.assertAlmostEqual(high, expected[1])

    def test_close_orders_have_panels_of_their_own(self):
        """Of three or more, whose speeds are over the largest there."""
        self.assertEqual(plot.close_orders([1024, 1023, 1025, 2048, 4095, 4096, 4097, 4500]),
                         [[1023, 1024, 1025], [4095, 4096, 4097, 4500]])
        self.assertEqual(plot.close_orders([64, 128, 256]), [])
        rows = [dict(result(n=n, gflops=speed), source="r")
                for n, speed in ((512, 1.0), (1023, 8.0), (1024, 10.0), (1025, 9.0))]
        figure = plot.draw_close(DEVICE, "single", rows)
        line, = figure.axes[0].lines
        self.assertEqual(list(line.get_xdata()), [1023, 1024, 1025])
        self.assertEqual([round(y, 6) for y in line.get_ydata()], [0.8, 1.0, 0.9])
        self.assertIsNone(plot.draw_close(DEVICE, "single", rows[1:]))
        self.assertIsNone(plot.draw_close(DEVICE, "single", rows[:2]))

    def test_leaves_out_panels_without_data(self):
        """Without a baseline there is no speed-up: of any pivoting, or of one."""
        ours = [result(pivot=pivot, n=n) for pivot in ("none", "full") for n in SIZES]
        getrf = [baseline("getrf", "openblas", 2, "partial", "single", n, 1e-3) for n in SIZES]
        getc2 = [baseline("getc2", "lapack", None, "full", "single", 99, 1e-3)]
        for rows, panels in ((ours, 4), (ours + getrf, 5), (ours + getc2, 4)):
            figure = self.page(rows)
            self.assertEqual(len(figure.axes), panels)
            for ax in figure.axes:
                self.assertTrue(any(len(line.get_xdata()) >= len(SIZES) for line in ax.lines))
            shown = [ax for ax in figure.axes if ax.get_xlabel()]
            self.assertEqual(len(shown), 3 if panels == 5 else 2)
            self.assertEqual([ax.get_title() for ax in figure.axes if ax.get_title()],
                             list(plot.QUANTITIES.values())[:3 if panels == 5 else 2])
            self.assertEqual(sum(ax.get_legend() is not None for ax in figure.axes), 2)

    def test_sizes_that_would_hide_one_another_are_spaced_evenly(self):
        edges = [1000, 1008, 1023, 1024, 1025, 1040, 1088, 2000, 2047, 2048, 2049, 2064, 2112, 4000,
                 4095, 4096, 4097, 4112, 4160, 4224]
        figure = self.page([result(n=n) for n in edges])
        for ax in figure.axes:
            places = [ax.transData.transform((n, 1))[0] for n in edges]
            steps = [after - before for before, after in zip(places, places[1:])]
            self.assertGreater(min(steps), 10)
            self.assertAlmostEqual(min(steps), max(steps), places=3)
            self.assertEqual(list(ax.get_xticks()), edges)
            FigureCanvasAgg(figure).draw()
            boxes = [label.get_window_extent() for label in ax.get_xticklabels()]
            self.assertFalse([n for n, a, b in zip(edges, boxes, boxes[1:]) if a.overlaps(b)])
        many = [n + d for n in (1000, 2000, 3000, 4000) for d in range(10)]
        self.assertLessEqual(len(self.page([result(n=n) for n in many]).axes[0].get_xticks()),
                             figures.MOST_SIZE_TICKS)

    def test_other_sizes_are_on_a_logarithmic_axis(self):
        for sizes in (SIZES, [1000], list(range(64, 2049, 64)), [3500, 4096]):
            for ax in self.page([result(n=n) for n in sizes]).axes:
                self.assertEqual(ax.get_xscale(), "log")

    def test_keeps_several_files_apart(self):
        first = self.write("before.json", record(sweep()))
        second = self.write("after.json", record(sweep(speed=1.5)))
        self.drawn(first, second, "-o", self.folder / "new" / "figures")
        svg = (self.folder / "new/figures/before-single.svg").read_text(encoding="utf-8")
        for text in ("lu, partial (image) [before]", "lu, partial (image) [after]",
                     "getrf (openblas, 2 threads) [after]"):
            self.assertIn(text, svg)

    def test_names_the_device_where_there_are_several(self):
        rows = [result(), result(device="Another (R) GPU")]
        self.drawn(self.write("two.json", record(rows)))
        self.assertTrue((self.folder / "two-another-r-gpu-single.svg").exists())
        self.assertTrue((self.folder / "two-example-gpu-6800-single.png").exists())

    def test_tells_apart_what_differs_otherwise(self):
        rows = [result(routine="lu-blocked", nb=nb, matrix=matrix, n=n)
                for nb in (32, 64) for matrix in ("random", "$HOME/$a.mtx") for n in (128, 256)]
        self.drawn(self.write("nb.json", record(rows)))
        svg = (self.folder / "nb-single.svg").read_text(encoding="utf-8")
        for text in ("lu-blocked, partial (image, random, nb 32)",
                     "lu-blocked, partial (image, $HOME/$a.mtx, nb 64)"):
            self.assertIn(text, svg)

    def test_draws_the_same_bytes_again(self):
        path = self.write("sweep.json", record(sweep()))
        for folder in ("a", "b"):
            done = self.plot_as_process(path, "-o", self.folder / folder)
            self.assertEqual(done.returncode, 0, done.stderr)
        for name in ("sweep-single.svg", "sweep-double.png", "sweep-double-ratio.svg",
                     "sweep-single-ratio.png"):
            self.assertEqual((self.folder / "a" / name).read_bytes(),
                             (self.folder / "b" / name).read_bytes())

    def test_refuses_bad_input_in_one_line(self):
        whole = record([result()])
        no_n = copy.deepcopy(whole)
        del no_n["results"][0]["n"]
        units = {value: self.write(f"units-{name}.json", record([result(compute_units=value)]))
                 for name, value in (("text", "4"), ("part", 1.5), ("none", 0))}
        cases = {
            "missing": (self.folder / "missing.json", "cannot be read"),
            "folder": (self.folder, "cannot be read"),
            "not JSON": (self.write("text.json", "n, time\n64, 1\n"), "not a JSON file"),
            "NaN": (self.write("nan.json", '{"schema_version": NaN}'), "not a JSON file"),
            "list": (self.write("list.json", "[]"), "schema_version is null"),
            "version": (self.write("v2.json", whole | {"schema_version": 2}),
                        "schema_version is 2"),
            "no results": (self.write("none.json", {"schema_version": 1}), "no list of results"),
            "no n": (self.write("no_n.json", no_n), "results[0] has no n"),
            "units of text": (units["4"], "results[0] has a compute_units of the wrong type"),
            "part of a unit": (units[1.5], "results[0] has a compute_units of the wrong type"),
            "no units": (units[0], "results[0] has 0 cores or threads"),
            "no ok row": (self.write("bad.json", record([not_ok("error", "out of memory")])),
                          "nothing to draw"),
        }
        for name, (path, sentence) in cases.items():
            with self.subTest(name):
                done = self.plot(path)
                self.assertEqual(done.returncode, 2, done.stderr)
                self.assertEqual(done.stdout, "")
                self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
                self.assertIn(sentence, done.stderr)
                self.assertIn(str(path), done.stderr)
        self.assertEqual(list(self.folder.glob("*.png")), [])

    def test_says_when_it_cannot_write(self):
        path = self.write("sweep.json", record([result()]))
        done = self.plot_as_process(path, "-o", path)
        self.assertEqual(done.returncode, 1)
        self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)

    def test_help(self):
        done = self.plot_as_process("--help")
        self.assertEqual(done.returncode, 0, done.stderr)
        for text in ("FILE.json", "--output", "getc2", "-cores", "Exit status"):
            self.assertIn(text, done.stdout)


class ProblemTest(InFolder):
    """The figures of results of --problem."""

    def figure(self, rows, notes=()):
        return problem_figures.draw_system(DEVICE, "double", [row | {"source": "s"} for row in rows
                                                              if row["status"] == "ok"], notes)

    def series(self, rows):
        return problem_figures.series_of([row | {"source": "s"} for row in rows])

    def test_a_figure_for_each_problem_and_precision(self):
        rows = on_grids()
        rows += [row | {"problem": "implicit2d"} for row in rows]
        rows += [row | {"precision": "single"} for row in rows if row["problem"] == "implicit2d"]
        done = self.drawn(self.write("grids.json", record(rows)))
        self.assertEqual(done.stdout.split(), [
            str(self.folder / f"grids-{name}.{ending}") for name in
            ("poisson2d-double", "implicit2d-single", "implicit2d-double") for ending in ("png", "svg")])
        width, height = png_size(self.folder / "grids-implicit2d-single.png")
        self.assertGreater(width, 1800)
        self.assertGreater(height, 600)
        svg = (self.folder / "grids-poisson2d-double.svg").read_text(encoding="utf-8")
        for text in ("Time to the tolerance", "Residual over time, 256²", "When factoring pays, 256²",
                     "points along each axis", "number of right-hand sides k", "plain-cg", "cholmod",
                     f"{DEVICE}, double precision", "every method to a relative residual of 1e-06",
                     "left out: jacobi/buffer double poisson2d 128: failed (The residual is not"):
            self.assertIn(text, svg)
        self.assertEqual(done.stderr.count("left out: jacobi/buffer"), 6)

    def test_both_kinds_of_results_in_a_file(self):
        """Figures of dense matrices are what they are without the others."""
        dense = record(sweep())
        self.drawn(self.write("same.json", dense), "-o", self.folder / "a")
        both = dense | {"results": on_grids() + dense["results"]}
        self.drawn(self.write("same.json", both), "-o", self.folder / "b")
        names = {path.name for path in (self.folder / "a").iterdir()}
        self.assertEqual({path.name for path in (self.folder / "b").iterdir()} - names,
                         {"same-poisson2d-double.png", "same-poisson2d-double.svg"})
        for name in names:
            self.assertEqual((self.folder / "a" / name).read_bytes(),
                             (self.folder / "b" / name).read_bytes(), name)

    def test_time_is_setup_and_one_solve(self):
        times, _, _ = self.figure(on_grids()).axes
        lines = {line.get_label(): line for line in times.lines}
        self.assertEqual(len(lines), 8)
        solid = [line for line in times.lines if line.get_linestyle() == "-"]
        self.assertEqual(len(solid), 5)  # lugpu's methods; rivals are dashed
        cg = self.series(on_grids())["cg"]
        self.assertEqual([problem_figures.total(row) for row in cg],
                         [1e-5 + 1e-7 * n**2 for n in GRIDS])
        jacobi = solid[-1]
        self.assertEqual(list(jacobi.get_xdata()), GRIDS[:2])
        self.assertEqual(times.get_xscale(), "log")
        self.assertEqual(times.get_yscale(), "log")

    def test_residuals_are_spread_evenly_over_the_time(self):
        """Without the setup, and without the start, which has no logarithm."""
        row = on_grid("cg", 64, 1e-3, 4e-3, 4)
        self.assertEqual([round(1e3 * time, 9) for time, _ in problem_figures.residual_points(row)],
                         [1, 2, 3, 4])
        broken = row | {"residuals": [1.0, None, 0.0, 1e-3]}
        self.assertEqual(len(problem_figures.residual_points(broken)), 1)
        (time, residual), = problem_figures.residual_points(on_grid("banded", 64, 0.5, 0.25))
        self.assertEqual((time, residual), (0.25, 1e-14))
        unknown = on_grid("banded", 64, 0.5, 0.25, checks={"residual": None})
        self.assertEqual(problem_figures.residual_points(unknown), [])
        self.figure([unknown])  # without a residual there is an empty panel, and no error

    def test_the_largest_size_at_which_most_succeeded(self):
        rows = on_grids() + [on_grid(name, 512, 1.0, 1.0, 9) for name in ("cg", "plain-cg")]
        self.assertEqual(problem_figures.shown_size(self.series(
            [row for row in rows if row["status"] == "ok"])), 256)
        few = [on_grid("cg", 64, 1.0, 1.0, 9), on_grid("jacobi", 32, 1.0, 1.0, 9)]
        self.assertEqual(problem_figures.shown_size(self.series(few)), 64)

    def test_where_factoring_pays(self):
        slow, fast = on_grid("cg", 64, 0.0, 2.0, 9), on_grid("multigrid-cg", 64, 3.0, 1.0, 9)
        direct = on_grid("cholmod", 64, 9.0, 0.5)
        self.assertEqual(problem_figures.crossings([slow, fast, direct]), [(12.0, 15.0)])
        self.assertEqual(problem_figures.crossings([slow, direct]), [(6.0, 12.0)])
        self.assertEqual(problem_figures.crossings([slow, direct | {"median_s": 2.5}]), [])
        self.assertEqual(problem_figures.crossings([slow, direct | {"setup_s": 0.1}]), [])
        self.assertEqual(problem_figures.crossings([direct]), [])
        (count, _), = problem_figures.crossings([slow | {"nrhs": 4, "median_s": 8.0}, direct])
        self.assertEqual(count, 6.0)  # a time of several right-hand sides is shared by them
        _, _, sides = self.figure([slow, direct]).axes
        self.assertEqual([text.get_text() for text in sides.texts],
                         ["k = 6", "least: cg,\nfrom k = 6 cholmod"])
        rings = [line for line in sides.lines if line.get_markersize() > 9]
        self.assertEqual([(ring.get_xdata()[0], ring.get_ydata()[0]) for ring in rings], [(6, 12)])

    def test_labels_have_room(self):
        figure = self.figure(on_grids() + [on_grid("a-method-of-a-long-name", 64, 1e-3, 1e-3, 5)],
                             ["left out: " + 150 * "x"])
        FigureCanvasAgg(figure).draw()
        legend, = figure.legends
        texts = [*figure.texts, *legend.get_texts(), legend.get_title()]
        for ax in figure.axes:
            texts += [ax.title, ax.xaxis.label, ax.yaxis.label, *ax.get_xticklabels(),
                      *ax.get_yticklabels()]
        boxes = [(text.get_text(), text.get_window_extent()) for text in texts if text.get_text()]
        for place, (text, box) in enumerate(boxes):
            self.assertTrue(figure.bbox.x0 <= box.x0 and box.x1 <= figure.bbox.x1, text)
            for other, near in boxes[place + 1:]:
                self.assertFalse(box.overlaps(near), f"{text} on {other}")

    def test_methods_and_grids_that_it_does_not_know(self):
        rows = [on_grid("new", 64, 1e-3, 1e-3, 5), on_grid("magma-cg", 64, 1e-3, 1e-3, 5,
                                                           implementation="magma"),
                on_grid("new", 65, 1e-3, 1e-3, 5, n=99)]
        self.figure(rows)
        figure = self.figure(rows[2:])
        self.assertEqual(figure.axes[1].get_title(), "Residual over time, n = 99")
        matrix = [row | {"problem": None, "grid": None, "matrix": "some/file.mtx"} for row in rows]
        self.drawn(self.write("file.json", record(matrix)))
        self.assertTrue((self.folder / "file-some-file-mtx-double.png").exists())

    def test_what_no_logarithmic_axis_holds_is_left_out(self):
        good = on_grid("cg", 64, 1e-3, 1e-3, 5, residuals=[1.0, -1.0, 1e999, 0, 1e-7])
        bad = [on_grid("new", 64, 1e-3, 1e-3, 5) | change for change in
               ({"median_s": 0.0}, {"grid": -3}, {"setup_s": 1e999}, {"nrhs": 0}, {"setup_s": -1})]
        text = json.dumps(record([good, *bad])).replace("Infinity", "1e999")
        done = self.drawn(self.write("axis.json", text))
        self.assertEqual(done.stderr.count("a logarithmic axis has no place for it"), len(bad))

    def test_storages_and_numbers_of_right_hand_sides_are_told_apart(self):
        rows = [on_grid("cg", 64, 1e-3, 1e-3, 5, storage=storage, nrhs=nrhs)
                for storage in ("image", "buffer") for nrhs in (1, 8)]
        self.assertEqual(list(self.series(rows)), [
            f"cg ({storage}, nrhs {nrhs})" for storage in ("image", "buffer") for nrhs in (1, 8)])

    def test_nothing_to_draw_is_one_line(self):
        rows = [on_grid_failed("cg", 64, "It stagnates."), on_grid_failed("jacobi", 64, "Too slow.")]
        done = self.plot(self.write("none.json", record(rows)))
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
        self.assertIn("nothing to draw", done.stderr)

    def test_refuses_bad_results_in_one_line(self):
        faults = {"has no tolerance": lambda row: row.pop("tolerance"),
                  "has a residuals of the wrong type": lambda row: row.update(residuals=3),
                  "has residuals that are not numbers": lambda row: row.update(residuals=["1"]),
                  "has a residual of the wrong type": lambda row: row.update(
                      checks={"residual": "small"}),
                  "has a tolerance that is not positive": lambda row: row.update(tolerance=0),
                  "has a problem of the wrong type": lambda row: row.update(problem=7),
                  "is ok but has no setup_s or no median_s": lambda row: row.update(setup_s=None)}
        for sentence, change in faults.items():
            with self.subTest(sentence):
                rows = [on_grid("cg", 64, 1e-3, 1e-3, 5) for _ in range(2)]
                change(rows[1])
                done = self.plot(self.write("bad.json", record(rows)))
                self.assertEqual((done.returncode, done.stdout), (2, ""))
                self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
                self.assertIn(f"results[1] {sentence}", done.stderr)
        self.assertEqual(list(self.folder.glob("*.png")), [])


class SimulationTest(InFolder):
    """The figures of simulations."""

    def figure(self, rows, notes=()):
        return simulation_figures.draw_simulations(DEVICE, [
            row | {"source": "s"} for row in rows if row["status"] == "ok"], notes)

    def test_frames_over_the_grid(self):
        """Few iterations and the tolerance have a panel each; rivals are dashed."""
        few, tolerance = self.figure(simulations()).axes
        self.assertEqual([ax.get_title() for ax in (few, tolerance)],
                         ["10 iterations, single", "To 0.001, double"])
        lines = [[(line.get_linestyle(), *line.get_xydata()[-1]) for line in ax.lines]
                 for ax in (few, tolerance)]
        speed = 1e7 / 128**2
        self.assertEqual(lines[0], 3 * [("-", 128, speed)] + 3 * [("--", 128, speed / 3)])
        self.assertEqual(lines[1], [("-", 128, 1e6 / 128**2), ("-", 128, 1e5 / 128**2),
                                    ("-", 32, 1e3 / 32**2)])
        self.assertEqual(few.get_ylabel(), "frames a second")

    def test_what_is_left_of_a_single_simulation(self):
        row = simulated("cg", [512, 256, 1], 50.0, 0.25, 5, "wave", steps=16)
        ax, = self.figure([row]).axes
        line, = ax.lines
        self.assertEqual(line.get_xydata().tolist(),
                         [[1 + 2 * k, 0.25 * (1 + k % 2)] for k in range(8)])  # every other step
        self.assertEqual(ax.get_ylabel(), "left of the residual")
        figure = self.figure([row])
        self.assertEqual([text.get_text() for text in figure.legends[0].get_texts()],
                         ["cg, 50 frames/s"])
        self.assertIn("wave, rain on 512 x 256 cells", [text.get_text() for text in figure.texts])

    def test_a_figure_for_each_problem(self):
        rows = simulations() + [simulated("cg", 64, 9.0, problem="wave")]
        self.assertEqual(list(jsonschema.Draft7Validator(SCHEMA).iter_errors(record(rows))), [])
        done = self.drawn(self.write("all.json", record(rows + on_grids())))
        self.assertEqual(done.stdout.split(), [
            str(self.folder / f"all-{name}.{ending}") for name in
            ("poisson2d-double", "fluid2d", "wave") for ending in ("png", "svg")])
        self.assertIn("left out: jacobi double fluid2d 128² to 0.001: failed (The residual is not",
                      done.stderr)
        svg = (self.folder / "all-fluid2d.svg").read_text(encoding="utf-8")
        for text in ("plain-gauss-seidel", "fast-diagonal", "single and double precision",
                     "left out: jacobi double fluid2d 64²"):
            self.assertIn(text, svg)

    def test_refuses_bad_results_in_one_line(self):
        for sentence, change in {"has no grid": lambda row: row.pop("grid"),
                                 "has a grid that is not three": lambda row: row.update(grid=[4]),
                                 "has neither": lambda row: row.update(tolerance=0)}.items():
            row = simulated("cg", 64, 1.0)
            change(row)
            done = self.plot(self.write("bad.json", record([row])))
            self.assertEqual((done.returncode, len(done.stderr.splitlines())), (2, 1), done.stderr)
            self.assertIn(f"results[0] {sentence}", done.stderr)


class BatchTest(InFolder):
    """The figures of batches."""

    def test_time_of_a_member_and_rivals(self):
        drawn = [row | {"source": "s"} for row in batches() if row["status"] == "ok"]
        times, ratios = batch_figures.draw_batches(DEVICE, "single", drawn, ()).axes
        ends = [[(line.get_linestyle(), *line.get_xydata()[-1]) for line in ax.lines] for ax in (times, ratios)]
        self.assertEqual([(style, n, round(y * 1e6, 9)) for style, n, y in ends[0]],
                         [("-", 128, 128), ("-", 128, 256), ("--", 128, 384), ("--", 128, 640), ("--", 8, 80)])
        # Inverses are not compared with factors.
        self.assertEqual([(n, round(y, 9)) for _, n, y in ends[1][:-1]], [(128, 3), (128, 5)])
        self.assertEqual(times.get_xlabel(), "order n of a member")

    def test_a_figure_for_each_precision(self):
        rows = batches() + [batch_row(8, "none", 1e-3, precision="double")]
        done = self.drawn(self.write("all.json", record(rows)))
        self.assertEqual(done.stdout.split(), [str(self.folder / f"all-{name}.{ending}")
                                               for name in ("single", "double") for ending in ("png", "svg")])
        self.assertIn("left out: cuBLAS matinv-batched partial single n = 128: unsupported (Too large.)", done.stderr)

    def test_two_files_of_different_orders_are_one_line(self):
        self.write("large.json", record([batch_row(256, "partial", 1e-2, batch=10)]))
        done = self.plot(self.write("small.json", record(batches())), self.folder / "large.json")
        self.assertEqual(done.returncode, 0, done.stderr)
        svg = (self.folder / "small-single.svg").read_text(encoding="utf-8")
        self.assertIn("batches of 100 and 10 members", svg)
        self.assertNotIn("[large]", svg)

    def test_refuses_bad_results_in_one_line(self):
        for sentence, change in {"has no pivot": lambda row: row.pop("pivot"),
                                 "has 0 members": lambda row: row.update(batch=0),
                                 "is ok but has no": lambda row: row.update(median_s=None)}.items():
            row = batch_row(8, "partial", 1.0)
            change(row)
            done = self.plot(self.write("bad.json", record([row])))
            self.assertEqual((done.returncode, len(done.stderr.splitlines())), (2, 1), done.stderr)
            self.assertIn(f"results[0] {sentence}", done.stderr)


if __name__ == "__main__":
    unittest.main()
