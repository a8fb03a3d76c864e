#!/usr/bin/python3
"""`lugpu advise`."""

import itertools
import json
import re

import numpy as np
import scipy.io
import scipy.sparse

from program import (PIVOTS, PRECISIONS, VALIDATOR, CommandLine, dominant_matrix, main,
                     random_matrix, refuse_constant)


class AdviseTest(CommandLine):
    """One system in every way, and which of them is enough."""

    def advise(self, *arguments, status=0):
        """Its results by pivoting and precision, the recommended one, and the advice."""
        report = json.loads(self.lugpu("advise", *arguments, "--json", "-", status=status).stdout,
                            parse_constant=refuse_constant)
        VALIDATOR.validate(report)
        rows = {(row["pivot"], row["precision"]): row for row in report["results"]}
        self.assertEqual(set(rows), set(itertools.product([*PIVOTS, "rook"],
                                                          [*PRECISIONS, "mixed"])))
        best = report["advice"]["best"]
        return rows, None if best is None else report["results"][best], report["advice"]

    def test_table_and_sentence(self):
        """A row for each run, one of them marked; 80 columns, whatever is in them, or 60."""
        text = self.lugpu("advise", self.generate("tiny-pivot", 8), env={"COLUMNS": "60"}).stdout
        self.assertLessEqual(max(map(len, text.splitlines())), 60, text)
        self.assertNotIn("growth: ", text)
        for kind in ("random", "tiny-pivot", "near-overflow-double"):
            text = self.lugpu("advise", self.generate(kind, 50)).stdout
            self.assert_narrow(text)
            rows = re.findall(r"(?m)^[> ] (\w+) +(single|double|mixed)\*? +(lu\S*) ", text)
            self.assertEqual(len(rows), 3 * len([*PIVOTS, "rook"]))
            self.assertEqual("mixed* " in text,
                             "*: factored in double after all" in " ".join(text.split()))
            marked, = re.findall(r"(?m)^> (\w+) +(\w+) ", text)
            self.assertIn(f"Use --pivot {marked[0]} --precision {marked[1]}: it guarantees", text)

    def test_easy(self):
        """Every run is stable, and the safest one is recommended; the sentence names the alternatives."""
        self.write("a.npy", dominant_matrix(60))
        rows, best, advice = self.advise("a.npy")
        self.assertEqual({row["status"] for row in rows.values()}, {"ok"})
        self.assertEqual((best["pivot"], best["precision"]), ("partial", "double"))
        self.assertIn("would not need pivoting", advice["sentence"])
        self.assertRegex(advice["sentence"], "single precision guarantees [1-6] digits")

    def test_same_advice_each_time(self):
        """Noise, which a busy machine has plenty of, decides nothing."""
        for kind, n in (("random", 100), ("graded", 60), ("hilbert", 12)):
            self.generate(kind, n)
            advice = [self.advise("a.mtx")[2] for _ in range(2)]
            self.assertEqual(advice[0], advice[1])

    def test_no_pivoting_that_is_worse(self):
        """A graded matrix: its backward error is 300 times that of partial pivoting."""
        rows, best, advice = self.advise(self.generate("graded", 100))
        self.assertGreater(rows["none", "double"]["checks"]["hpl_residual"],
                           10 * rows["partial", "double"]["checks"]["hpl_residual"])
        self.assertEqual((best["pivot"], best["precision"]), ("partial", "double"))
        self.assertIn("without pivoting the backward error is", advice["sentence"])

    def test_digits(self):
        """Single precision is enough for few digits, and no run for too many."""
        self.generate("random", 100)
        _, best, advice = self.advise("a.mtx")
        self.assertEqual((best["pivot"], best["precision"]), ("partial", "double"))
        _, best, few = self.advise("a.mtx", "--digits", "1")
        self.assertEqual((best["pivot"], best["precision"]), ("partial", "single"))
        self.assertIn("(1 wanted)", few["sentence"])
        self.assertEqual(few["digits"], 1)
        _, best, _ = self.advise("a.mtx", "--digits", str(advice["digits"]))
        self.assertEqual((best["pivot"], best["precision"]), ("partial", "double"))
        _, best, many = self.advise("a.mtx", "--digits", "15", status=4)
        self.assertIsNone(best)
        self.assertIn("No run guarantees 15 digits", many["sentence"])

    def test_nothing_finishes(self):
        """Nothing about stability; a failure while running."""
        self.generate("random", 1000, "a.npy")
        rows, best, advice = self.advise("a.npy", "--timeout", "0.001", status=1)
        self.assertEqual({row["status"] for row in rows.values()}, {"skipped"})
        self.assertIsNone(best)
        self.assertIn("No run finished within the timeout", advice["sentence"])
        self.assertNotIn("stable", advice["sentence"])

    def test_growth(self):
        """Neither without pivoting nor with partial pivoting."""
        rows, best, _ = self.advise(self.generate("wilkinson", 100))
        for precision in PRECISIONS:
            self.assertEqual(rows["none", precision]["status"], "failed")
            self.assertEqual(rows["partial", precision]["status"], "failed")
        self.assertIn(best["pivot"], ("rook", "full"))

    def test_ill_conditioned(self):
        """Double, since single would leave no digit."""
        _, best, advice = self.advise(self.generate("ill-conditioned", 60))
        self.assertEqual(best["precision"], "double")
        self.assertIn("single precision guarantees no digit", advice["sentence"])

    def test_singular(self):
        """Status 3, and the same sentence on stderr."""
        self.generate("singular", 20)
        _, best, advice = self.advise("a.mtx", status=3)
        self.assertIsNone(best)
        self.assertTrue(advice["singular"])
        done = self.lugpu("advise", "a.mtx", "-q", status=3)
        self.assertEqual((done.stdout, done.stderr), ("", "lugpu: a.mtx: A is singular: every "
                                                          "pivoting ends at a zero pivot.\n"))

    def test_right_hand_side(self):
        a = self.write("a.csv", random_matrix(5, 5))
        rows, _, _ = self.advise(a, self.write("b.csv", random_matrix(5, 3, seed=2)))
        self.assertEqual({row["nrhs"] for row in rows.values()}, {3})

    def test_bad_input(self):
        self.write("a.csv", [[1.0, 2.0]])
        self.write("b.csv", [[1.0]])
        for arguments in ([], ["none.mtx"], ["a.csv"], ["b.csv", "a.csv", "b.csv"], [""],
                          ["b.csv", "--timeout", "0"], ["b.csv", "--digits", "0"],
                          ["b.csv", "--digits", "16"], ["b.csv", "--digits", "many"],
                          ["b.csv", "--digits", "0x3"]):
            with self.subTest(arguments=arguments):
                self.refused("advise", *arguments)


def laplacian(m):
    """Of a square of m x m points: symmetric and positive definite."""
    line = scipy.sparse.diags([-1.0, 2.0, -1.0], [-1, 0, 1], shape=(m, m))
    return scipy.sparse.kronsum(line, line)


def chain(n, below=-1.0):
    """Of five diagonals, diagonally dominant."""
    return scipy.sparse.diags([below, -1.0, 5.0, -1.0, -1.0], [-2, -1, 0, 1, 2], shape=(n, n))


class SparseAdviseTest(CommandLine):
    """A coordinate file that `solve` keeps sparse, by every method for such matrices."""

    METHODS = {"fast-diagonal", "banded", "lu-blocked", "multigrid-cg", "cg", "gauss-seidel", "jacobi"}

    def file(self, a, name="a.mtx"):
        scipy.io.mmwrite(self.folder / name, scipy.sparse.coo_matrix(a), precision=17, symmetry="general")
        return name

    def advise(self, *arguments, status=0):
        """Its rows by method and precision, the recommended one, and the advice."""
        if "--timeout" not in arguments:
            arguments += ("--timeout", "1")  # what iterates in vain has as much as it wants otherwise
        report = json.loads(self.lugpu("advise", *arguments, "--json", "-", status=status).stdout,
                            parse_constant=refuse_constant)
        VALIDATOR.validate(report)
        rows = {(row["routine"], row["precision"]): row for row in report["results"]}
        self.assertEqual(set(rows), set(itertools.product(self.METHODS, PRECISIONS)))
        best = report["advice"]["best"]
        return rows, None if best is None else report["results"][best], report["advice"]

    def test_symmetric(self):
        """Every method of stored matrices has an X as good as it says; `solve` takes the same one."""
        name = self.file(laplacian(20))
        rows, best, advice = self.advise(name)
        for (method, precision), row in rows.items():
            with self.subTest(method=method, precision=precision):
                if method in ("fast-diagonal", "multigrid-cg"):
                    self.assertEqual(row["status"], "unsupported")
                    self.assertIn("grids", row["reason"])
                elif precision == "double":
                    self.assertEqual(row["status"], "ok")
                    self.assertLessEqual(row["checks"]["residual"], 1.01e-10)
                    self.assertLess(row["checks"]["error"], 1e-7)
                    self.assertEqual(row["iterations"] is None, method in ("banded", "lu-blocked"))
        self.assertEqual(rows["cg", "single"]["status"], "failed")
        self.assertEqual((best["routine"], best["precision"]), ("banded", "double"))
        self.assertIn("`solve` takes banded too", advice["sentence"])
        self.assertEqual(self.results("solve", name)[0]["routine"], "banded")

    def test_table_and_sentence(self):
        text = self.lugpu("advise", self.file(laplacian(20)), "--timeout", "1").stdout
        self.assert_narrow(text)
        marked, = re.findall(r"(?m)^> (\S+) +(\w+) ", text)
        self.assertEqual(marked, ("banded", "double"))
        self.assertRegex(text, r"(?m)^  cg +double .*\b\d+ +\S+e-1\d +\S+e-\d+$")
        self.assertRegex(text, r"(?m)^  multigrid-cg +any +unsupported: ")
        self.assertIn("Use --method banded --precision double", text)

    def test_digits(self):
        """A residual of 10^-N; single precision where it reaches that."""
        name = self.file(laplacian(20))
        rows, best, advice = self.advise(name, "--digits", "4")
        self.assertEqual((best["routine"], best["precision"]), ("banded", "single"))
        self.assertEqual((advice["digits"], rows["jacobi", "single"]["tolerance"]), (4, 1e-4))
        _, best, _ = self.advise(name, "--digits", "12")
        self.assertEqual((best["routine"], best["precision"]), ("banded", "double"))
        # Ones, which single precision holds exactly, do not make it good enough.
        rows, best, _ = self.advise(self.file(chain(500)), "--digits", "9")
        self.assertEqual(best["precision"], "double")

    def test_nonsymmetric(self):
        rows, best, _ = self.advise(self.file(chain(500, below=-2.0)))
        for precision in PRECISIONS:
            self.assertEqual(rows["cg", precision]["status"], "unsupported")
            self.assertIn("symmetric", rows["cg", precision]["reason"])
        self.assertEqual(best["routine"], "banded")

    def test_singular(self):
        """Status 3, and the same sentence on stderr; methods that divide by the diagonal cannot."""
        a = scipy.sparse.lil_matrix(chain(500))
        a[200, :] = 0
        name = self.file(a)
        rows, best, advice = self.advise(name, status=3)
        self.assertIsNone(best)
        self.assertTrue(advice["singular"])
        self.assertEqual(rows["banded", "double"]["status"], "failed")
        self.assertEqual(rows["jacobi", "double"]["status"], "unsupported")
        done = self.lugpu("advise", name, "-q", status=3)
        self.assertEqual(done.stdout, "")
        self.assertRegex(done.stderr, r"\Alugpu: a.mtx: A is singular: pivot \d+ is exactly zero.\n\Z")

    def test_large(self):
        """In the memory of its entries: dense, it would take 29 GB."""
        self.file(chain(60_000))
        status, _, memory = self.cost_of("advise", "a.mtx", "--json", "r.json", "--timeout", "2")
        self.assertEqual(status, 0)
        self.assertLess(memory, 2e9)
        report = json.loads((self.folder / "r.json").read_text(encoding="utf-8"))
        best = report["results"][report["advice"]["best"]]
        self.assertEqual((best["routine"], best["n"]), ("banded", 60_000))

    def test_too_large_to_be_factored(self):
        """An iterative method, by its residual, and what solve() says of it."""
        far = scipy.sparse.diags([0.1, 0.2], [-6000, 6000], shape=(17_000, 17_000))
        rows, best, advice = self.advise(self.file(chain(17_000) + far), "--timeout", "1")
        self.assertEqual((best["routine"], best["precision"]), ("gauss-seidel", "double"))
        self.assertIn("diagonally dominant", advice["sentence"])
        self.assertIn("16384", rows["lu-blocked", "double"]["reason"])

    def test_what_solve_refuses(self):
        """It is tried all the same."""
        far = scipy.sparse.diags([0.5, 0.7], [-6000, 6000], shape=(17_000, 17_000))
        a = self.file(chain(17_000) + far)
        self.refused("solve", a, words=["too large"])
        rows, _, advice = self.advise(a, "--timeout", "1")
        self.assertEqual(rows["jacobi", "double"]["status"], "ok")
        self.assertIn("`solve` alone would refuse A", advice["sentence"])

    def test_nothing_finishes(self):
        _, best, advice = self.advise(self.file(laplacian(60)), "--timeout", "0.001", status=1)
        self.assertIsNone(best)
        self.assertIn("No run finished within the timeout", advice["sentence"])

    def test_nothing_is_good_enough(self):
        """Status 4 and the least residual."""
        a = scipy.sparse.diags([-1.0, 2.0, -1.0], [-1, 0, 1], shape=(500, 500))
        np.save(self.folder / "b.npy", random_matrix(500, 1))
        _, best, advice = self.advise(self.file(a), "b.npy", "--digits", "15", "--timeout", "0.3", status=4)
        self.assertIsNone(best)
        self.assertRegex(advice["sentence"], "reaches a residual of 1e-15; the least is .*, by --method")

    def test_right_hand_sides(self):
        """X is not known, and no column stands for all."""
        np.save(self.folder / "b.npy", random_matrix(400, 3))
        rows, best, _ = self.advise(self.file(laplacian(20)), "b.npy")
        self.assertEqual({row["nrhs"] for row in rows.values()}, {3})
        self.assertIsNone(best["checks"]["error"])
        self.assertLess(best["checks"]["residual"], 1e-10)

    def test_small_ones_become_dense(self):
        a = scipy.sparse.random(50, 50, 0.5, random_state=1) + 50 * scipy.sparse.identity(50)
        text = self.lugpu("advise", self.file(a)).stdout
        self.assertIn("made dense", text)
        self.assertIn("Use --pivot partial --precision double", text)

    def test_bad_input(self):
        self.file(chain(100)), self.file(scipy.sparse.identity(7), "b.mtx")
        self.file(scipy.sparse.random(4, 5, 0.5), "wide.mtx")
        nan = b"%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 nan\n3 2 1\n"
        for arguments in (["wide.mtx"], ["a.mtx", "b.mtx"], [self.write("n.mtx", nan)],
                          ["a.mtx", "--digits", "16"]):
            with self.subTest(arguments=arguments):
                self.refused("advise", *arguments)


if __name__ == "__main__":
    main()
