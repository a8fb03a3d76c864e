#!/usr/bin/python3
"""`lugpu solve`: error bounds, refinement, scaling, determinant and inverse."""

import itertools
import re

import numpy as np

from program import (BLOCKED, FORMATS, METHODS, STORAGES, TEXELS, UNOPTIMIZED, CommandLine,
                     dominant_matrix, main, random_matrix, read_matrix, small, table_rows)


class AccuracyTest(CommandLine):
    """How good X is, and what makes it better."""

    def solve(self, *arguments, status=0, env=None):
        row, = self.results("solve", *arguments, status=status, env=env)
        return row

    def test_bounds_hold(self):
        """berr and ferr for every right-hand side; the true error of the default one."""
        a = random_matrix(40, 40)
        self.write("a.csv", a)
        self.write("b.csv", a @ random_matrix(40, 3))
        for method in [BLOCKED, "lu"]:
            with self.subTest(method=method):
                checks = self.solve("a.csv", "b.csv", "--method", method)["checks"]
                self.assertEqual((len(checks["berr"]), len(checks["ferr"])), (3, 3))
                self.assertLess(max(checks["berr"]), 1e-13)
                self.assertLess(max(checks["ferr"]), 1e-8)
                done = self.lugpu("solve", "a.csv", "--method", method)
                self.assert_narrow(done.stdout)
                text = " ".join(done.stdout.split())
                bound = float(re.search(r"forward error at most (\S+)", text).group(1))
                self.assertLessEqual(float(re.search(r"1\| is (\S+)", text).group(1)), bound)
        inverse_norm = np.linalg.norm(np.linalg.inv(a), 1)
        exact = 1 / (np.linalg.norm(a, 1) * inverse_norm)
        self.assertLess(abs(np.log10(checks["rcond"] / exact)), 1)

    def test_bounds_that_are_not_known(self):
        """Factors that cannot tell say so, and no number is printed in their place."""
        self.generate("hilbert", 12, "hilbert.npy")
        done = self.lugpu("solve", "hilbert.npy", "--precision", "mixed")
        text = " ".join(done.stdout.split())
        self.assertIn("reciprocal condition not known, at most ", text)
        self.assertIn("forward error not known", text)
        self.assertIn("digits none guaranteed", text)
        checks = self.solve("hilbert.npy", "--precision", "mixed")["checks"]
        self.assertEqual((checks["rcond"], checks["ferr"], checks["digits"]), (None, [None], None))
        self.assertLess(checks["rcond_at_most"], 1e-7)
        self.generate("wilkinson", 60, "wilkinson.npy")
        checks = self.solve("wilkinson.npy", "--precision", "mixed")["checks"]
        true = 1 / np.linalg.cond(np.load(self.folder / "wilkinson.npy"), 1)
        if checks["rcond"] is None:
            self.assertGreaterEqual(checks["rcond_at_most"], true)
        else:
            self.assertLess(abs(np.log10(checks["rcond"] / true)), 1)

    def test_near_overflow(self):
        """Norms and sums of rows overflow; the system is as good as any."""
        self.write("a.npy", 1e308 * np.array([[1, 0.5, 0.5], [0.25, -1, 1], [0.5, 1, 1]]))
        done = self.lugpu("solve", "a.npy")
        text = " ".join(done.stdout.split())
        self.assertIn("B A * ones * 0.25", text)
        self.assertIn("checks passed", text)
        self.assertNotIn("ill-conditioned", done.stderr)
        self.assertLess(float(re.search(r"1\| is (\S+)", text).group(1)), 1e-15)
        self.assertGreater(self.solve("a.npy")["checks"]["digits"], 13)

    def test_no_factors(self):
        """Gauss-Jordan says what it cannot: no bound, no refinement."""
        self.write("a.csv", random_matrix(9, 9))
        flags = ["a.csv", "--method", "gauss-jordan"]
        self.assertEqual(self.solve(*flags)["checks"]["ferr"], [])
        self.assertIn("not known without factors", self.lugpu("solve", *flags).stdout)
        for more in (["--refine"], ["--precision", "mixed"]):
            self.refused("solve", *flags, *more, words=["gauss-jordan", "no factors"])

    def test_refine(self):
        self.generate("wilkinson", 60)
        failed = self.lugpu("solve", "a.mtx", status=4)
        self.assertIn("use --pivot full", failed.stderr)
        row = self.solve("a.mtx", "--refine")
        self.assertGreater(row["refinement"]["steps"], 0)
        self.assertLess(row["checks"]["berr"][0], 1e-15)
        done = self.lugpu("solve", "a.mtx", "--refine")
        self.assert_narrow(done.stdout)
        self.assertRegex(done.stdout, r"(?m)^refined   \d+ steps?, residuals on the host$")
        self.write("b.csv", random_matrix(20, 20))
        self.assertIsNone(self.solve("b.csv")["refinement"])

    def test_mixed(self):
        """Factors in single, X as good as in double; or double after all, which is reported."""
        self.generate("random", 150)
        row = self.solve("a.mtx", "--precision", "mixed")
        self.assertEqual((row["precision"], row["status"]), ("mixed", "ok"))
        self.assertTrue(row["refinement"]["converged"])
        self.assertIsNone(row["refinement"]["fallback"])
        self.assertEqual((row["refinement"]["factors"], row["refinement"]["given_up"]), ("single", []))
        self.assertEqual(row["refinement"]["residuals"], "device")
        self.assertLess(row["checks"]["hpl_residual"], 16)
        done = self.lugpu("solve", "a.mtx", "--precision", "mixed")
        self.assert_narrow(done.stdout)
        self.assertIn("mixed precision", done.stdout)
        self.assertRegex(done.stdout, r"(?m)^refined   \d+ steps?, residuals on the device$")
        self.generate("very-ill-conditioned", 150)
        row = self.solve("a.mtx", "--precision", "mixed")
        self.assertFalse(row["refinement"]["converged"])
        self.assertIn("did not converge", row["refinement"]["fallback"])
        self.assertEqual(row["refinement"]["factors"], "double")
        self.assertEqual(row["refinement"]["given_up"],
                         [{"factors": "single", "reason": row["refinement"]["fallback"]}])
        done = self.lugpu("solve", "a.mtx", "--precision", "mixed")
        self.assert_narrow(done.stdout)
        self.assertIn("--precision double", done.stderr)
        self.assertIn("factored in double", " ".join(done.stdout.split()))

    def test_mixed_beyond_the_range_of_single(self):
        """Rows are scaled, which is said, and single does."""
        a = random_matrix(40, 40)
        a[::2] *= 1e200
        self.write("a.npy", a)
        row = self.solve("a.npy", "--precision", "mixed")
        self.assertEqual((row["status"], row["refinement"]["factors"]), ("ok", "single"))
        self.assertTrue(row["equilibration"]["rows"])
        self.assertRegex(self.lugpu("solve", "a.npy", "--precision", "mixed").stdout, r"(?m)^scaling   of rows")

    def test_mixed_on_every_path(self):
        self.write("a.csv", random_matrix(50, 50))
        for storage, texel, pivot in itertools.product(STORAGES, TEXELS, ["partial", "full"]):
            with self.subTest(storage=storage, texel=texel, pivot=pivot):
                row = self.solve("a.csv", "--method", "lu", "--storage", storage, "--texel", texel,
                                 "--pivot", pivot, "--precision", "mixed", env=UNOPTIMIZED)
                self.assertTrue(row["refinement"]["converged"])

    def test_mixed_is_compared_with_double(self):
        """In the table, too: there is a speed-up where getrf ran in double alone."""
        done = self.lugpu(*small(sizes=64, method=BLOCKED, precision="mixed", pivot="partial",
                                 baseline="getrf"))
        rows = {case[2]: row for case, row in table_rows(done.stdout).items()}
        self.assertEqual(set(rows), {"double", "mixed"})
        self.assertNotEqual(rows["mixed"]["speedup"], "-")

    def test_mixed_in_bench(self):
        """Beside double and its rivals; without double, the rivals still run in double."""
        for given, rivals in (("double,mixed", 1), ("mixed", 1), ("single,mixed", 2)):
            rows = self.results(*small(sizes=64, method=f"{BLOCKED},gauss-jordan", precision=given,
                                       pivot="partial", baseline="getrf"))
            self.assertEqual(sum(row["routine"] == "getrf" for row in rows), rivals, given)
            mixed = {row["routine"]: row for row in rows if row["precision"] == "mixed"}
            self.assertEqual(set(mixed), {BLOCKED, "gauss-jordan"})
            self.assertEqual(mixed[BLOCKED]["status"], "ok")
            self.assertIsNone(mixed[BLOCKED]["checks"]["factor_ratio"])
            self.assertEqual(mixed["gauss-jordan"]["status"], "unsupported")
            self.assertIn("no factors", mixed["gauss-jordan"]["reason"])
        done = self.lugpu(*small(sizes=64, method=BLOCKED, precision="mixed", pivot="partial",
                                 baseline="getrf"))
        self.assert_narrow(done.stdout)
        self.assertRegex(done.stdout, r"(?m)^ +64 lu-blocked +partial mixed +buffer .* \d")

    def test_equilibrate(self):
        scale = np.exp2(np.linspace(-40, 40, 30))
        core = random_matrix(30, 30)
        self.write("a.npy", np.diag(scale) @ core @ np.diag(scale[::-1]))
        self.write("b.npy", np.diag(scale) @ core @ np.ones((30, 1)))
        done = self.lugpu("solve", "a.npy")
        self.assertIn("--equilibrate", done.stderr)
        row = self.solve("a.npy", "--equilibrate")
        self.assertEqual((row["equilibration"]["rows"], row["equilibration"]["columns"]),
                         (True, True))
        self.assertLess(row["equilibration"]["rowcnd"], 1e-10)
        self.assertGreater(row["checks"]["rcond"], 1e-6)
        done = self.lugpu("solve", "a.npy", "b.npy", "--equilibrate", "-o", "x.npy")
        self.assertEqual(done.stderr, "")
        self.assert_narrow(done.stdout)
        self.assertRegex(done.stdout, r"(?m)^scaling   of rows and columns: rowcnd ")
        x = np.load(self.folder / "x.npy")
        np.testing.assert_allclose(x[:, 0] * scale[::-1], 1, rtol=1e-10)
        self.write("c.npy", dominant_matrix(10))
        self.assertIn("scaling   not needed", self.lugpu("solve", "c.npy", "--equilibrate").stdout)

    def test_determinant(self):
        self.write("a.csv", [[0, 2, 0], [1, 0, 0], [0, 0, 3]])
        for method in [*METHODS, BLOCKED]:
            det = self.solve("a.csv", "--det", "--method", method)["determinant"]
            self.assertEqual(det, {"mantissa": -1.5, "exponent": 2})
        self.assertRegex(self.lugpu("solve", "a.csv", "--det").stdout,
                         r"(?m)^det       -6\.000000 \* 10\^0$")
        for value, text in ((1000, "1.000000 * 10^3"), (999.9999999, "1.000000 * 10^3"),
                            (0.001, "1.000000 * 10^-3"), (999.999, "9.999990 * 10^2")):
            self.write("d.npy", [[value]])
            self.assertIn(f"det       {text}\n", self.lugpu("solve", "d.npy", "--det").stdout)
        done = self.lugpu("solve", "a.csv", "--det", "--precision", "mixed")
        self.assertIn("from pivots in single precision", done.stdout)
        self.write("b.npy", np.diag(np.full(200, 1e300)))
        self.assertIn("* 10^60000\n", self.lugpu("solve", "b.npy", "--det").stdout)
        self.write("c.csv", [[1, 2], [2, 4]])
        self.assertEqual(self.solve("c.csv", "--det", status=3)["determinant"]["mantissa"], 0)
        self.assertIsNone(self.solve("a.csv")["determinant"])

    def test_inverse(self):
        a = random_matrix(40, 40)
        self.write("a.csv", a)
        for method, suffix in itertools.product([*METHODS, BLOCKED], FORMATS):
            with self.subTest(method=method, suffix=suffix):
                self.lugpu("solve", "a.csv", "--method", method, "--inverse", "i" + suffix)
                inverse = read_matrix(self.folder / ("i" + suffix))
                np.testing.assert_allclose(inverse, np.linalg.inv(a), rtol=1e-8, atol=1e-10)
        self.refused("solve", "a.csv", "--inverse", "i.mat", words=["i.mat"])

    def test_ill_conditioned(self):
        """A warning that names what to try."""
        self.generate("hilbert", 14)
        done = self.run_lugpu("solve", "a.mtx", "--equilibrate")
        self.assertRegex(done.stderr, "A is ill-conditioned.*--refine")
        done = self.run_lugpu("solve", "a.mtx", "--equilibrate", "--precision", "single")
        self.assertRegex(done.stderr, "A is ill-conditioned.*--precision double")

    def test_numbers_that_are_none(self):
        for value in (np.nan, np.inf):
            a = random_matrix(6, 6)
            a[2, 3] = value
            self.write("a.npy", a)
            for flags in ([], ["--refine"], ["--equilibrate"], ["--precision", "mixed"],
                          ["--det", "--inverse", "i.npy"]):
                with self.subTest(value=value, flags=flags):
                    self.assertIn(self.run_lugpu("solve", "a.npy", *flags).returncode, (2, 4))


if __name__ == "__main__":
    main()
