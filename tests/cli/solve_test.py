#!/usr/bin/python3
"""`lugpu solve`: X, the report, and systems that are not solved."""

import itertools
import os
import re
from pathlib import Path

import numpy as np

from program import (BLOCKED, FORMATS, METHODS, PRECISIONS, CommandLine, case_of, dominant_matrix,
                     main, parse_report, random_matrix, read_matrix)


class SolveTest(CommandLine):
    def residual(self, *arguments):
        row, = self.results("solve", *arguments)
        return row["checks"]["hpl_residual"]

    def test_every_format_in_and_out(self):
        """X is what numpy finds, for a matrix B and all formats of A, B and X."""
        a, b = random_matrix(12, 12), random_matrix(12, 3, seed=2)
        for given, wanted in itertools.product(FORMATS, FORMATS):
            with self.subTest(given=given, wanted=wanted):
                files = [self.write("a" + given, a), self.write("b" + given, b)]
                self.lugpu("solve", *files, "-o", "x" + wanted)
                x = read_matrix(self.folder / ("x" + wanted))
                np.testing.assert_allclose(x, np.linalg.solve(a, b), rtol=1e-10)

    def test_automatic_method(self):
        """The fastest one that supports the other options."""
        self.write("a.csv", random_matrix(5, 5))
        for flags, path in {
                (): (BLOCKED, "partial", "buffer", "r", None),
                ("--pivot", "full"): ("lu", "full", "buffer", None, "fused"),
                ("--pivot", "rook"): ("lu", "rook", "buffer", None, "fused"),
                ("--pivot", "scaled"): ("lu", "scaled", "buffer", None, "fused"),
                ("--storage", "image"): (BLOCKED, "partial", "image", None, None),
                ("--storage", "image", "--pivot", "full"): ("lu", "full", "image", None, "fused"),
                ("--texel", "rgba"): ("lu", "partial", "buffer", "rgba", "fused"),
                ("--schedule", "paper"): ("lu", "partial", "buffer", "r", "paper")}.items():
            with self.subTest(flags=flags):
                row, = self.results("solve", "a.csv", *flags)
                for key, value in zip(("routine", "pivot", "storage", "texel", "schedule"), path):
                    if value or key != "texel":  # which texel is the fastest, the device decides
                        self.assertEqual(row[key], value, key)

    def test_options_that_a_method_does_not_have(self):
        """Refused, not ignored: an ignored one would give a result for something else."""
        self.write("a.csv", random_matrix(5, 5))
        for flags, words in (
                (["--method", "lu", "--nb", "64"], ["lu has no blocks", "--method " + BLOCKED]),
                (["--pivot", "full", "--nb", "64"], ["lu has no blocks", "--method " + BLOCKED]),
                (["--method", BLOCKED, "--schedule", "paper"], ["schedule of the paper", "--method lu"]),
                (["--method", BLOCKED, "--texel", "rgba"], ["--texel r"]),
                (["--method", BLOCKED, "--pivot", "full"], ["full pivoting", "--method lu"]),
                (["--method", BLOCKED, "--pivot", "rook"], ["rook pivoting", "--method lu"]),
                (["--method", "gauss-jordan", "--pivot", "rook"], ["rook", "--method lu"])):
            with self.subTest(flags=flags):
                self.refused("solve", "a.csv", "-o", "x.csv", *flags, words=words)

    def test_complete_is_full(self):
        self.write("a.csv", random_matrix(5, 5))
        row, = self.results("solve", "a.csv", "--pivot", "complete")
        self.assertEqual(row["pivot"], "full")

    def test_default_right_hand_side(self):
        """B = A ones: X is ones, and the report says how near."""
        self.write("a.csv", random_matrix(20, 20))
        text = self.lugpu("solve", "a.csv", "-o", "x.csv").stdout
        error = float(re.search(r"largest \|x - 1\| is (\S+)", text).group(1))
        x = read_matrix(self.folder / "x.csv")
        self.assertEqual(x.shape, (20, 1))
        self.assertAlmostEqual(error, abs(x - 1).max(), delta=0.01 * error)
        self.assertLess(error, 1e-11)

    def test_options_may_stand_anywhere(self):
        a, b = random_matrix(4, 4), random_matrix(4, 1)
        self.write("a.csv", a)
        self.write("b.csv", b)
        for order in (["-d", "0", "a.csv", "b.csv"], ["a.csv", "-d", "0", "b.csv"],
                      ["a.csv", "b.csv", "-d", "0"], ["--", "a.csv", "b.csv"]):
            with self.subTest(order=order):
                self.lugpu("solve", "-o", "x.csv", *order)
                x = read_matrix(self.folder / "x.csv")
                np.testing.assert_allclose(x, np.linalg.solve(a, b), rtol=1e-10)

    def test_odd_but_legal_names(self):
        """Blanks, letters of other alphabets, a leading dash, absolute and relative paths."""
        (self.folder / "größe 数").mkdir()
        for name in ("two words.csv", "größe 数/матрица.mtx", "./-a.npy", "a.b.CSV"):
            with self.subTest(name=name):
                target = "x of " + Path(name).name
                self.write(name, random_matrix(5, 5))
                self.assertLess(self.residual(name, "-o", target), 16)
                self.assertLess(self.residual(str(self.folder / name)), 16)
                self.assertTrue((self.folder / target).is_file())

    def test_name_that_is_no_utf8(self):
        """JSON is UTF-8 even where a file name is not."""
        name = os.fsdecode(b"a\xe9.csv")
        self.write(name, random_matrix(5, 5))
        self.assertLess(self.residual(name), 16)

    def test_crlf(self):
        a = random_matrix(5, 5)
        for name in ("a.csv", "a.mtx"):
            path = self.folder / self.write(name, a)
            path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
            self.lugpu("solve", name, "-o", "x.npy")
            np.testing.assert_allclose(np.load(self.folder / "x.npy"), np.ones((5, 1)), rtol=1e-9)

    def test_x_appears_at_once_and_alone(self):
        """X is renamed into place: a new file, and nothing is left beside it."""
        self.write("a.csv", random_matrix(5, 5))
        old = self.folder / self.write("x.csv", b"old")
        with old.open("rb") as still_open:
            self.lugpu("solve", "a.csv", "-o", "x.csv")
            self.assertEqual(still_open.read(), b"old")
        self.assertEqual(read_matrix(old).shape, (5, 1))
        self.assertEqual(self.file_names(), ["a.csv", "x.csv"])

    def test_output_through_a_link(self):
        """The file behind a symbolic link is written; the link stays."""
        self.write("a.csv", random_matrix(5, 5))
        for flag, name in (("-o", "x.csv"), ("--json", "r.json")):
            with self.subTest(flag=flag):
                link, behind = self.folder / ("link-" + name), self.folder / name
                behind.write_bytes(b"old")
                link.symlink_to(name)
                self.lugpu("solve", "a.csv", flag, link.name)
                self.assertTrue(link.is_symlink())
                self.assertNotEqual(behind.read_bytes(), b"old")


class SolveReportTest(CommandLine):
    def setUp(self):
        super().setUp()
        self.write("a.csv", random_matrix(30, 30))

    def test_report_for_people(self):
        """80 columns, no colour in a pipe, the residual that the JSON has."""
        done = self.lugpu("solve", "a.csv", "-o", "x.csv", "--json", "r.json")
        self.assertEqual(done.stderr, "")
        self.assert_narrow(done.stdout)
        self.assertNotIn("\033", done.stdout)
        row, = parse_report((self.folder / "r.json").read_text(encoding="utf-8"))
        text = " ".join(done.stdout.split())
        self.assertIn(f"hpl_residual {row['checks']['hpl_residual']:.3g} ", text)
        self.assertIn("a.csv, 30 x 30", text)
        self.assertIn("30 x 1, written to x.csv", text)

    def test_error_is_known_for_the_default_right_hand_side_alone(self):
        """X is ones then; for another B it is unknown."""
        a = np.loadtxt(self.folder / "a.csv", delimiter=",")
        self.write("b.csv", a @ np.arange(1.0, 31.0)[:, np.newaxis])
        self.lugpu("solve", "a.csv", "-o", "x.csv")
        x = read_matrix(self.folder / "x.csv")
        text = " ".join(self.lugpu("solve", "a.csv").stdout.split())
        self.assertIn(f"error largest |x - 1| is {abs(x - 1).max():.3g}", text)
        self.assertNotIn("|x - 1|", self.lugpu("solve", "a.csv", "b.csv").stdout)

    def test_method_in_the_report(self):
        """A blocked method names its panels, another its surfaces."""
        for flags, text in ((["--nb", "128"], f"{BLOCKED}, pivoting partial, double precision, "
                             "blocks of 128 columns"),
                            ([], " columns"),
                            (["--method", "lu", "--texel", "r", "--storage", "image"],
                             "lu, pivoting partial, double precision, image of r texels")):
            with self.subTest(flags=flags):
                done = self.lugpu("solve", "a.csv", "--precision", "double", *flags)
                self.assert_narrow(done.stdout)
                method = " ".join(done.stdout.split()).partition("method ")[2]
                self.assertIn(text, method.partition(" device ")[0])

    def test_colour_where_asked_for(self):
        self.assertIn("\033[", self.lugpu("solve", "a.csv", "--color", "always").stdout)
        self.assertNotIn("\033[", self.lugpu("solve", "a.csv", "--color", "never").stdout)

    def test_quiet(self):
        """-q prints nothing, and still writes X."""
        done = self.lugpu("solve", "a.csv", "-o", "x.csv", "-q")
        self.assertEqual(done.stdout + done.stderr, "")
        self.assertTrue((self.folder / "x.csv").is_file())

    def test_verbose_names_the_kernels(self):
        done = self.lugpu("solve", "a.csv", "-v")
        self.assertIn("residual", done.stdout)
        for name in ("common/transfer", "[cg]pu/lu_blocked"):
            self.assertRegex(done.stderr, rf"built {name}\.cl ")

    def test_json_file(self):
        self.lugpu("solve", "a.csv", "--json", "r.json")
        row, = parse_report((self.folder / "r.json").read_text(encoding="utf-8"))
        self.assertEqual((row["status"], row["n"], row["nrhs"], row["matrix"]),
                         ("ok", 30, 1, "a.csv"))
        self.assertEqual(self.file_names(), ["a.csv", "r.json"])

    def test_json_on_stdout_is_all_there_is(self):
        row, = self.results("solve", "a.csv")
        self.assertLess(row["checks"]["hpl_residual"], 16)
        quiet, = self.results("solve", "a.csv", "-q")
        self.assertEqual(case_of(quiet), case_of(row))

    def test_json_of_a_failure(self):
        """A system that is not solved has a result too, without a speed."""
        for kind, pivot, status in (("singular", "partial", 3), ("zero-first-column", "none", 4)):
            with self.subTest(kind=kind):
                self.generate(kind, 5)
                row, = self.results("solve", "a.mtx", "--pivot", pivot, status=status)
                self.assertEqual((row["status"], row["gflops"]), ("failed", None))
                self.assertEqual(row["checks"]["info"], 5 if kind == "singular" else 1)


class BreakdownTest(CommandLine):
    def not_solved(self, *arguments, status, words):
        """One line says why; neither X nor anything else is written."""
        before = self.file_names()
        done = self.lugpu("solve", *arguments, "-o", "x.mtx", status=status)
        self.assertEqual(self.file_names(), before)
        last = done.stderr.splitlines()[-1]
        for word in ("lugpu: ", *words):
            self.assertIn(word, last)

    def test_singular(self):
        """An exact zero pivot in spite of pivoting: status 3, and the pivot is named."""
        self.generate("singular", 40)
        for method, pivot in [*itertools.product(METHODS, ["partial", "full"]),
                              (BLOCKED, "partial")]:
            with self.subTest(method=method, pivot=pivot):
                self.not_solved("a.mtx", "--method", method, "--pivot", pivot, status=3,
                                words=["singular", "pivot 40 "])

    def test_old_x_survives_a_failure(self):
        self.generate("singular", 5)
        self.write("x.mtx", b"old")
        self.lugpu("solve", "a.mtx", "-o", "x.mtx", status=3)
        self.assertEqual((self.folder / "x.mtx").read_bytes(), b"old")

    def test_zero_first_pivot(self):
        """Without pivoting status 4 and the advice to pivot, which then helps."""
        self.write("a.csv", [[0, 1], [1, 0]])
        for method in [*METHODS, BLOCKED]:
            with self.subTest(method=method):
                self.not_solved("a.csv", "--method", method, "--pivot", "none", status=4,
                                words=["pivot 1 ", "--pivot partial"])
                self.lugpu("solve", "a.csv", "--method", method, "--pivot", "partial")

    def test_tiny_pivot(self):
        """A pivot that ruins the answer without being zero: status 4 as well."""
        self.generate("tiny-pivot", 40)
        for method in [*METHODS, BLOCKED]:
            with self.subTest(method=method):
                flags = ["--method", method, "--precision", "single"]
                self.not_solved("a.mtx", *flags, "--pivot", "none", status=4,
                                words=["is not under", "--pivot partial"])
                self.lugpu("solve", "a.mtx", *flags, "--pivot", "partial")

    def test_singular_but_for_rounding(self):
        """Either rounding leaves an exact zero, status 3, or a warning names the pivot."""
        self.write("a.csv", [[1, 2, 3], [4, 5, 6], [7, 8, 9]])
        for precision, pivot in itertools.product(PRECISIONS, ["partial", "full"]):
            with self.subTest(precision=precision, pivot=pivot):
                done = self.run_lugpu("solve", "a.csv", "--precision", precision, "--pivot", pivot)
                self.assertIn(done.returncode, (0, 3))
                self.assertIn("pivot 3 is", done.stderr)
                if done.returncode == 0:
                    self.assertRegex(done.stderr, r"\Alugpu: warning: pivot 3 is -?[0-9.e-]+, so near "
                                                  r"zero that [^\n]+ A is singular[^\n]+\.\n")

    def test_quiet_silences_warnings(self):
        self.write("a.csv", [[1e-17, 1], [1, 1]])
        loud = self.run_lugpu("solve", "a.csv", "--pivot", "none")
        quiet = self.run_lugpu("solve", "a.csv", "--pivot", "none", "-q", "--json", "r.json")
        self.assertIn("warning: ", loud.stderr)
        self.assertNotIn("warning: ", quiet.stderr)
        self.assertEqual((quiet.returncode, quiet.stdout), (loud.returncode, ""))
        self.assertTrue((self.folder / "r.json").is_file())

    def test_near_zero_without_pivoting(self):
        """Says nothing about A: the warning advises to pivot."""
        self.write("a.csv", [[1e-17, 1], [1, 1]])
        done = self.run_lugpu("solve", "a.csv", "--pivot", "none")
        self.assertIn("warning: pivot 1 is 1e-17, so near zero", done.stderr)
        self.assertIn("--pivot partial", done.stderr)
        self.assertNotIn("singular", done.stderr)

    def test_regular_matrix_gives_no_warning(self):
        self.write("a.csv", dominant_matrix(10))
        self.assertEqual(self.lugpu("solve", "a.csv").stderr, "")

    def test_quiet_keeps_the_reason(self):
        self.generate("singular", 5)
        done = self.lugpu("solve", "a.mtx", "-q", status=3)
        self.assertEqual(done.stdout, "")
        self.assertIn("pivot 5 ", done.stderr)


if __name__ == "__main__":
    main()
