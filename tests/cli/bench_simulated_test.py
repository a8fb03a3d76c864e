#!/usr/bin/python3
"""`lugpu bench --problem fluid2d` and the like: simulations, with few iterations and to a tolerance."""

import json
import statistics

from program import CommandLine, main, parse_report

PLAIN = ["plain-jacobi", "plain-gauss-seidel", "plain-cg"]


class BenchSimulatedTest(CommandLine):
    BENCH = ["bench", "--runs", "2", "--min-time", "0"]

    def rows(self, *arguments, grid=16, status=0):
        done = self.lugpu(*self.BENCH, "--grid", str(grid), *arguments, "--json", "r.json", "--force", status=status)
        return done.stdout, parse_report((self.folder / "r.json").read_text(encoding="utf-8"))

    def test_few_iterations_and_a_tolerance(self):
        """The papers' iterations with the same in plain loops beside, then methods to a tolerance."""
        for problem, cells, few, systems in (("fluid2d", "16^2", 10, 5), ("fluid3d", "16^3", 4, 6)):
            with self.subTest(problem=problem):
                text, rows = self.rows("--problem", problem, "--method", "jacobi,cg,fast-diagonal",
                                       "--precision", "double", "--tolerance", "1e-1")
                self.assert_narrow(text)
                plain = [row for row in rows if row["implementation"] == "plain"]
                short = [row for row in rows if row["tolerance"] == 0 and row not in plain]
                solved = [row for row in rows if row["tolerance"] > 0]
                self.assertEqual([row["routine"] for row in plain], PLAIN)
                self.assertEqual([row["routine"] for row in short], ["cg", "jacobi"])
                self.assertEqual([row["routine"] for row in solved],
                                 ["fast-diagonal", "cg", "jacobi"])
                for row in rows:
                    self.assertEqual((row["problem"], row["status"]), (problem, "ok"))
                    self.assertEqual(row["device"] is None, row in plain)
                    self.assertAlmostEqual(row["frames_per_s"],
                                           1 / statistics.median(row["times_s"]), delta=1e-6)
                    self.assertRegex(text, rf"(?m)^{cells.replace('^', '.')} +{row['routine']} ")
                for row in short:
                    self.assertEqual(row["iterations"], few)
                    self.assertEqual(row["solver_iterations"], systems * few)
                    self.assertGreater(row["left"]["median"], 0.1)
                for row in solved:
                    self.assertLessEqual(row["left"]["largest"], 0.1)
                self.assertIn("Fastest to the tolerance", text)

    def test_same_steps_as_the_rivals(self):
        """What is left is the same, whoever takes the steps."""
        _, rows = self.rows("--problem", "fluid2d", "--method", "jacobi", "--precision", "double",
                            "--iterations", "7", "--baseline", "plain-jacobi")
        plain, short = [row["left"]["by_step"] for row in rows if row["tolerance"] == 0]
        steps = min(len(plain), len(short))
        self.assertGreater(steps, 1)
        for one, other in zip(plain[:steps], short[:steps]):
            self.assertAlmostEqual(one, other, delta=1e-8)

    def test_waves(self):
        """Rain, without rivals; what the tolerance says is left of the residual."""
        text, rows = self.rows("--problem", "wave2d", "--method", "cg,multigrid-cg")
        self.assertEqual({row["implementation"] for row in rows}, {"lugpu"})
        self.assertEqual([(row["routine"], row["precision"]) for row in rows],
                         [("multigrid-cg", "single"), ("cg", "single"),
                          ("multigrid-cg", "double"), ("cg", "double")])
        for row in rows[2:]:
            self.assertEqual(row["left"]["of"], "residual")
            self.assertLessEqual(row["left"]["largest"], 1.01e-6)

    def test_out_of_reach(self):
        """A method that does not reach the tolerance is a failure with its reason; others go on."""
        text, rows = self.rows("--problem", "fluid2d", "--method", "jacobi,fast-diagonal",
                               "--baseline", "none", grid=64, status=4)
        found = {(row["routine"], row["tolerance"]): row["status"] for row in rows}
        self.assertEqual(found, {("jacobi", 0): "ok", ("fast-diagonal", 1e-6): "ok",
                                 ("jacobi", 1e-6): "failed"})
        self.assertIn("sweeps", text)

    def test_resume(self):
        """Rows that are there are not run again."""
        flags = [*self.BENCH, "--grid", "16", "--problem", "fluid2d", "--baseline", "none", "--json", "r.json"]
        self.lugpu(*flags, "--method", "cg")
        before = json.loads((self.folder / "r.json").read_text(encoding="utf-8"))["results"]
        self.lugpu(*flags, "--method", "cg,fast-diagonal", "--resume")
        after = json.loads((self.folder / "r.json").read_text(encoding="utf-8"))["results"]
        self.assertEqual(after[:2], before)
        self.assertEqual([row["routine"] for row in after[2:]], ["fast-diagonal"])

    def test_usage(self):
        for arguments, words in (
                (["--problem", "fluid2d,poisson2d"], "simulations and linear systems"),
                (["--problem", "fluid2d", "--storage", "image"], "--storage"),
                (["--problem", "fluid2d", "--nrhs", "2"], "--nrhs"),
                (["--problem", "fluid2d", "--baseline", "gbtrf"], "gbtrf"),
                (["--problem", "fluid2d", "--grid", "1"], "at least 2"),
                (["--problem", "fluid3d", "--grid", "2000"], "2^30 cells")):
            with self.subTest(arguments=arguments):
                done = self.lugpu(*self.BENCH, *arguments, status=2)
                self.assertIn(words, done.stderr)


if __name__ == "__main__":
    main()
