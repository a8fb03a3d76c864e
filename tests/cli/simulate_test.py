#!/usr/bin/python3
"""`lugpu simulate`."""

import csv
import shutil
import struct
import unittest

from program import CommandLine, main, parse_report

SMALL = ["--grid", "32x24", "--steps", "6"]


class SimulateTest(CommandLine):
    def simulate(self, *arguments, status=0):
        return self.lugpu("simulate", *arguments, status=status)

    def test_text_and_json(self):
        """Every scene: its speed, its phases and what is left, as the record has them."""
        scenes = {"wave": ["rain", "stick", "still", "mode"],
                  "fluid": ["smoke", "obstacle", "moving", "cavity", "vortices"]}
        for physics, names in scenes.items():
            for scene in names:
                with self.subTest(physics=physics, scene=scene):
                    done = self.simulate(physics, "--scene", scene, *SMALL, "--json", "s.json",
                                         "--force")
                    self.assert_narrow(done.stdout)
                    self.assertRegex(done.stdout, rf"(?m)^{physics} +{scene}, 32 x 24, ")
                    self.assertRegex(done.stdout, r"(?m)^speed +[0-9.]+ frames/s, .*, 6 steps$")
                    [result] = parse_report((self.folder / "s.json").read_text(encoding="utf-8"))
                    self.assertEqual((result["problem"], result["scene"]), (physics, scene))
                    self.assertEqual((result["grid"], result["steps"]), ([32, 24, 1], 6))
                    self.assertEqual(len(result["left"]["by_step"]), 6)
                    self.assertLessEqual(result["left"]["largest"], 1e-3)
                    self.assertGreater(result["frames_per_s"], 0)

    def test_methods(self):
        """A number of iterations is done and what they leave is said; a tolerance is kept."""
        for method in ("jacobi", "gauss-seidel", "cg", "multigrid-cg"):
            with self.subTest(method=method):
                done = self.simulate("fluid", *SMALL, "--method", method, "--iterations", "3",
                                     "--json", "-")
                [result] = parse_report(done.stdout)
                self.assertEqual((result["routine"], result["iterations"]), (method, 3))
                self.assertEqual(result["solver_iterations"], 3)
                self.assertGreater(result["left"]["median"], 1e-6)
        done = self.simulate("fluid", *SMALL, "--precision", "double", "--tolerance", "1e-9",
                             "--method", "multigrid-cg", "--json", "-")
        [result] = parse_report(done.stdout)
        self.assertLessEqual(result["left"]["largest"], 1e-9)

    def test_what_goes_wrong(self):
        """A tolerance that is out of reach and waves that grow: 4, with all that was computed."""
        done = self.simulate("fluid", *SMALL, "--tolerance", "1e-12", "--json", "s.json", status=4)
        self.assertIn("of the divergence", done.stderr.lower())
        [result] = parse_report((self.folder / "s.json").read_text(encoding="utf-8"))
        self.assertEqual(result["status"], "failed")
        done = self.simulate("wave", "--grid", "32", "--method", "explicit", "--time-step", "0.03",
                             "--steps", "400", "--frames", "f", "--every", "8", status=4)
        self.assertIn("grow", done.stderr)
        self.assertGreater(len(list((self.folder / "f").iterdir())), 1)

    def test_usage(self):
        """One clear sentence for what does not fit."""
        for arguments, words in ((["wave", "--grid", "0"], "--grid"),
                                 (["wave", "--grid", "8x"], "--grid"),
                                 (["wave", "--grid", "8x8x8x8"], "--grid"),
                                 (["wave", "--grid", "8x8x8"], "surface"),
                                 (["fluid", "--grid", "1x8"], "2 cells"),
                                 (["fluid", "--grid", "1000000x1000000"], "2^31"),
                                 (["fluid", "--scene", "rain"], "smoke"),
                                 (["water"], "physics"),
                                 ([], "physics"),
                                 (["fluid", "--method", "explicit"], "explicit"),
                                 (["fluid", "--scene", "obstacle", "--method", "fast-diagonal"],
                                  "multigrid-cg"),
                                 (["wave", "--reynolds", "10"], "viscosity"),
                                 (["fluid", "--density-ratio", "10"], "bubbles"),
                                 (["fluid", "--inclusions", "4"], "cells"),
                                 (["fluid", "--explicit-diffusion", "--reynolds", "10"], "stable"),
                                 (["fluid", "--iterations", "4", "--tolerance", "1e-3"],
                                  "--iterations"),
                                 (["fluid", "--time-step", "nan"], "--time-step"),
                                 (["wave", "--animate", "a.avi"], ".gif"),
                                 (["wave", "--profile", "p.csv", "--steps", "1"], "centre lines")):
            with self.subTest(arguments=arguments):
                done = self.simulate(*arguments, status=2)
                self.assertIn(words, done.stderr)
                self.assertEqual(done.stdout, "")

    def test_frames(self):
        """PNG files of every K-th step, magnified; those of another run are kept."""
        self.simulate("fluid", *SMALL, "--frames", "f", "--every", "4")
        names = sorted(path.name for path in (self.folder / "f").iterdir())
        self.assertEqual(names, [f"frame-{step:06}.png" for step in (0, 4, 6)])
        first, last = ((self.folder / "f" / names[i]).read_bytes() for i in (0, -1))
        self.assertEqual(first[:8], b"\x89PNG\r\n\x1a\n")
        self.assertEqual(struct.unpack(">II", first[16:24]), (256, 192))
        self.assertNotEqual(first, last)
        done = self.simulate("fluid", *SMALL, "--frames", "f", status=2)
        self.assertIn("another run", done.stderr)
        self.simulate("fluid", *SMALL, "--frames", "f", "--force")

    def test_animation(self):
        """By ffmpeg, or one sentence where it is not there."""
        if not shutil.which("ffmpeg"):
            done = self.simulate("wave", *SMALL, "--animate", "a.gif", status=2)
            self.assertIn("ffmpeg", done.stderr)
            raise unittest.SkipTest("no ffmpeg")
        for ending, signature in (("gif", b"GIF8"), ("mp4", b"ftyp")):
            self.simulate("wave", *SMALL, "--animate", f"a.{ending}", "--every", "2")
            self.assertIn(signature, (self.folder / f"a.{ending}").read_bytes()[:12])

    def test_profile(self):
        """The driven cavity until it is steady, against U. Ghia, K. N. Ghia and C. T. Shin, "High-Re
        Solutions for Incompressible Flow", Journal of Computational Physics 48, 1982."""
        for reynolds, grid, bound, u_upwards, v_right in (
                (100, 40, 0.006, {0.1719: -0.10150, 0.4531: -0.21090, 0.7344: 0.00332, 0.9531: 0.68717},
                 {0.0938: 0.12317, 0.2344: 0.17527, 0.8047: -0.24533, 0.9453: -0.10313}),
                (400, 64, 0.02, {0.1719: -0.24299, 0.4531: -0.17119, 0.7344: 0.16256, 0.9531: 0.55892},
                 {0.0938: 0.22965, 0.2344: 0.30174, 0.8047: -0.38598, 0.9453: -0.22847})):
            self.simulate("fluid", "--scene", "cavity", "--grid", str(grid), "--reynolds", str(reynolds),
                          "--profile", "p.csv", "--force")
            with open(self.folder / "p.csv", encoding="utf-8") as file:
                rows = [{name: float(value) for name, value in row.items()}
                        for row in csv.DictReader(file)]
            upwards = [(row["y"], row["u"]) for row in rows if row["x"] == 0.5]
            right = [(row["x"], row["v"]) for row in rows if row["y"] == 0.5]
            for line, known in ((upwards, u_upwards), (right, v_right)):
                for place, value in known.items():
                    after = next(i for i, (at, _) in enumerate(line) if at >= place)
                    (x0, y0), (x1, y1) = line[after - 1:after + 1]
                    self.assertAlmostEqual(y0 + (y1 - y0) * (place - x0) / (x1 - x0), value,
                                           delta=bound, msg=f"Re = {reynolds} at {place}")


if __name__ == "__main__":
    main()
