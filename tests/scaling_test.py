#!/usr/bin/python3
"""scripts/scaling.py: its tables are those of docs/scaling.md, its fit finds the constants behind times that the
model itself gave, its figures are drawn, and wrong files get one sentence.
"""

import dataclasses
import importlib.util
import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SCRIPT = ROOT / "scripts/scaling.py"
specification = importlib.util.spec_from_file_location("scaling", SCRIPT)
scaling = importlib.util.module_from_spec(specification)
sys.modules["scaling"] = scaling
specification.loader.exec_module(scaling)

MACHINE = scaling.Machine(column=2e-6, rate=1e11, bandwidth=4e9, latency=2e-4, nb=192)


def row(n, devices, precision="single"):
    return {"routine": "lu-blocked", "status": "ok", "device": "made up", "precision": precision, "pivot": "partial",
            "n": n, "nb": MACHINE.nb, "devices_used": devices if devices > 1 else None, "windows": 1,
            "median_s": scaling.in_core(MACHINE, n, devices, scaling.SIZES[precision])}


class ModelTest(unittest.TestCase):
    def test_tables_of_the_document(self):
        document = (ROOT / "docs/scaling.md").read_text(encoding="utf-8")
        for title, make in scaling.TABLES.items():
            with self.subTest(title):
                self.assertIn(make(), document)

    def test_limits(self):
        """A step on one device is a panel and an update; what cannot overlap adds up."""
        machine = dataclasses.replace(MACHINE, column=1e-6)
        self.assertAlmostEqual(scaling.in_core(machine, 192, 1, 4), 192e-6 + 2 * 192**3 / 1e11)
        for columns in (2048, 4096, 8192):
            hidden, apart = scaling.out_of_core(machine, 8192, columns, 4)
            self.assertLess(hidden, apart)
            self.assertGreater(hidden, scaling.in_core(machine, 8192, 1, 4) / 1.05)


class FilesTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def run_script(self, *arguments, status=0):
        done = subprocess.run([sys.executable, SCRIPT, *map(str, arguments)], cwd=self.folder, capture_output=True,
                              encoding="utf-8", timeout=120, check=False)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done.stdout if status == 0 else done.stderr

    def write(self, rows):
        path = self.folder / "measured.json"
        path.write_text(json.dumps({"results": rows}), encoding="utf-8")
        return path

    def test_fit(self):
        times = {devices: {n: (row(n, devices)["median_s"], MACHINE.nb) for n in (1024, 2048, 4096, 8192)}
                 for devices in (1, 2, 4)}
        machine, error = scaling.fitted(times, 4)
        self.assertLess(error, 0.01)
        self.assertAlmostEqual(machine.rate / MACHINE.rate, 1, delta=0.05)
        self.assertAlmostEqual(machine.column / MACHINE.column, 1, delta=0.2)
        out = self.run_script("fit", self.write([row(n, devices) for devices in (1, 2) for n in (1024, 4096)]))
        self.assertIn("made up, single, pivoting partial: a column ", out)
        self.assertEqual(out.count(" ms, model "), 4)

    def test_figures(self):
        """Weak scaling joins sizes of about the same memory per device."""
        rows = [row(n, devices) for devices in (1, 2, 4) for n in (1024, 1448, 2048, 4096)]
        rows.append(row(1024, 1) | {"windows": 4, "median_s": 1.0})
        self.assertEqual(scaling.weak_lines({devices: {r["n"]: r["median_s"] for r in rows
                                                       if (r["devices_used"] or 1) == devices}
                                             for devices in (1, 2, 4)}),
                         [[(1, 1024), (2, 1448), (4, 2048)], [(1, 1448), (2, 2048)], [(1, 2048), (4, 4096)]])
        out = self.run_script("plot", self.write(rows), "-o", "figures")
        self.assertIn("2 files: ", out)
        for ending in ("png", "svg"):
            self.assertGreater((self.folder / f"figures/scaling-made-up-single-partial.{ending}").stat().st_size, 5000)

    def test_wrong_files(self):
        self.assertIn("usage", self.run_script("fit", status=2))
        self.assertIn("usage", self.run_script("tables", "x.json", status=2))
        self.assertEqual(self.run_script("fit", "none.json", status=1), "none.json: No such file or directory.\n")
        bad = self.folder / "bad.json"
        for text in ("", "[]", '{"results": [1]}', '{"results": [{"status": "ok"}]}'):
            bad.write_text(text, encoding="utf-8")
            self.assertEqual(self.run_script("plot", bad, status=1), f"{bad}: this is no file of lugpu bench --json.\n")
        self.assertEqual(self.run_script("fit", self.write([]), status=1),
                         "There are no results of lu-blocked in core in these files.\n")


if __name__ == "__main__":
    unittest.main()
