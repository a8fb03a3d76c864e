#!/usr/bin/python3
"""`lugpu solve` for coordinate files that stay sparse."""

import json

import numpy as np
import scipy.io
import scipy.sparse
import scipy.sparse.linalg

from program import CommandLine, main, parse_report


def chain(n, below=-1.0, above=-1.0):
    """A matrix of three diagonals, diagonally dominant."""
    return scipy.sparse.diags([below, 4.0, above], [-1, 0, 1], shape=(n, n))


class SparseTest(CommandLine):
    def file(self, a, name="a.mtx"):
        scipy.io.mmwrite(self.folder / name, scipy.sparse.coo_matrix(a), precision=17, symmetry="general")
        return name

    def report(self, *arguments, status=0):
        done = self.lugpu("solve", *arguments, "--json", "r.json", "--force", status=status)
        text = (self.folder / "r.json").read_text(encoding="utf-8")
        return done, parse_report(text)[0]

    def test_a_narrow_band_stays_a_band(self):
        """By default; the report says why, and X is what SciPy finds."""
        a = chain(5000, below=-2.0)
        b = np.arange(5000.0)
        np.save(self.folder / "b.npy", b)
        done, row = self.report(self.file(a), "b.npy", "-o", "x.npy")
        self.assert_narrow(done.stdout)
        self.assertEqual((row["routine"], row["status"], row["n"]), ("banded", "ok", 5000))
        self.assertIn("1 below and 1 above the diagonal", row["choice"])
        self.assertIn("method    banded", done.stdout)
        exact = scipy.sparse.linalg.spsolve(a.tocsc(), b)
        np.testing.assert_allclose(np.load(self.folder / "x.npy").ravel(), exact, rtol=1e-12)

    def test_iterative_methods(self):
        name = self.file(chain(3000))
        for method in ("cg", "jacobi", "gauss-seidel"):
            for tolerance in ("1e-4", "1e-11"):
                with self.subTest(method=method, tolerance=tolerance):
                    done, row = self.report(name, "--method", method, "--tolerance", tolerance)
                    self.assertEqual((row["routine"], row["status"]), (method, "ok"))
                    self.assertLessEqual(row["checks"]["residual"], 1.01 * float(tolerance))
                    self.assertGreater(row["iterations"], 1)
                    self.assertIn("checks    passed", done.stdout)

    def test_start(self):
        name = self.file(chain(3000))
        self.report(name, "--method", "jacobi", "--tolerance", "1e-9", "-o", "x.npy")
        _, row = self.report(name, "--method", "jacobi", "--tolerance", "1e-9", "--start", "x.npy")
        self.assertEqual((row["status"], row["iterations"]), ("ok", 0))
        np.save(self.folder / "short.npy", np.ones(2999))
        done = self.lugpu("solve", name, "--method", "cg", "--start", "short.npy", status=2)
        self.assertIn("short.npy", done.stderr)
        np.save(self.folder / "dense.npy", np.eye(3))
        done = self.lugpu("solve", "dense.npy", "--start", "short.npy", status=2)
        self.assertIn("--start is for sparse matrices", done.stderr)

    def test_too_few_steps(self):
        name = self.file(chain(3000))
        done, row = self.report(name, "--method", "jacobi", "--iterations", "2", "-o", "x.npy", status=4)
        self.assertEqual((row["status"], row["iterations"]), ("failed", 2))
        self.assertIn("after 2 sweeps", done.stderr)
        self.assertFalse((self.folder / "x.npy").exists())

    def test_refused_beforehand(self):
        unsymmetric, name = self.file(chain(3000, below=-2.0), "u.mtx"), self.file(chain(3000))
        self.refused("solve", unsymmetric, "--method", "cg", words=["symmetric"])
        self.refused("solve", name, "--method", "multigrid-cg", words=["grid"])
        self.refused("solve", name, "--method", "cg", "--pivot", "full", words=["pivot"])
        self.refused("solve", self.write("d.csv", np.eye(3)), "--method", "cg", words=["sparse"])

    def test_singular(self):
        a = scipy.sparse.lil_matrix(chain(3000))
        a[1000, :] = 0
        a[1000, 1001] = 0
        done, row = self.report(self.file(a), "--method", "banded", status=3)
        self.assertEqual(row["status"], "failed")
        self.assertIn("singular", done.stderr)

    def test_small_ones_become_dense(self):
        rows = self.results("solve", self.file(scipy.sparse.random(50, 50, 0.5, random_state=1)
                                               + 50 * scipy.sparse.identity(50)))
        self.assertEqual(rows[0]["routine"], "lu-blocked")
        self.assertIn("small", json.dumps(rows[0]["choice"]))


if __name__ == "__main__":
    main()
