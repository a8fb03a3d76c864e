"""lugpu.solve with SciPy's sparse matrices and arrays, against NumPy's and SciPy's."""

import subprocess
import sys
import unittest
import warnings
from unittest import mock

import numpy as np
from numpy.linalg import LinAlgError

import lugpu
from lugpu import _core

try:
    import scipy.sparse as sparse
except ImportError:
    sparse = None

FORMATS = ("csr", "csc", "coo", "bsr", "dia", "lil", "dok")
METHODS = ("auto", "banded", "cg", "gauss-seidel", "jacobi", "lu-blocked")


def laplacian(m, dtype=np.float64):
    """Minus Laplace's operator on m x m points, a csr_array."""
    line = sparse.diags([-1.0, 2.0, -1.0], [-1, 0, 1], shape=(m, m))
    return sparse.csr_array(sparse.kronsum(line, line)).astype(dtype)


def given_to_the_library(a, b, **options):
    """What solve() passes on of a: row_begin, columns and values."""
    with mock.patch.object(_core, "solve_sparse", wraps=_core.solve_sparse) as call:
        lugpu.solve(a, b, **options)
    return call.call_args.args[:3]


@unittest.skipIf(sparse is None, "SciPy is not installed")
class Sparse(unittest.TestCase):
    def test_methods_and_shapes(self):
        a = laplacian(9)
        dense = a.toarray()
        for method in METHODS:
            for shape in ((81,), (81, 1), (81, 4), (81, 0)):
                b = np.arange(np.prod(shape)).reshape(shape) % 7 - 3.0
                with self.subTest(method=method, shape=shape):
                    x = lugpu.solve(a, b, method=method, tolerance=1e-12)
                    self.assertEqual((x.shape, x.dtype), (shape, np.float64))
                    np.testing.assert_allclose(x, np.linalg.solve(dense, b), atol=1e-9)

    def test_formats(self):
        """Matrices and arrays of every format, and none of them is changed."""
        dense = np.array([[4.0, 1, 0], [1, 4, 2], [0, 2, 5]])
        b = [2, -1, 11]
        for name in FORMATS:
            for kind in ("array", "matrix"):
                with self.subTest(format=name, kind=kind):
                    a = getattr(sparse, f"{name}_{kind}")(dense)
                    for method in ("auto", "cg", "banded"):
                        np.testing.assert_allclose(lugpu.solve(a, b, method=method), [1, -2, 3], rtol=1e-9)
                    self.assertEqual(a.format, name)
                    np.testing.assert_array_equal(a.toarray(), dense)

    def test_dtypes(self):
        dense = np.array([[4, 1, 0], [1, 4, 2], [0, 2, 5]])
        for dtype in (np.int8, np.uint16, np.int64, np.float32, np.float64):
            for dtype_of_b in (np.int32, np.float32, np.float64, ">f8"):
                with self.subTest(a=dtype, b=dtype_of_b):
                    a, b = sparse.csr_array(dense.astype(dtype)), np.array([2, -1, 11], dtype_of_b)
                    x = lugpu.solve(a, b, method="banded")
                    self.assertEqual(x.dtype, np.float64)
                    np.testing.assert_allclose(x, [1, -2, 3], rtol=1e-14)
        boolean = sparse.csr_array(np.tril(np.ones((3, 3), bool)))
        np.testing.assert_allclose(lugpu.solve(boolean, [1, 2, 3]), [1, 1, 1])
        big = sparse.csr_array(dense.astype(float))
        big.data = big.data.astype(">f8")
        np.testing.assert_allclose(lugpu.solve(big, [2, -1, 11]), [1, -2, 3])
        for dtype in (complex, np.complex64, np.longdouble):
            with self.subTest(dtype=dtype), self.assertRaisesRegex(TypeError, "are not supported"):
                lugpu.solve(sparse.csr_array(dense.astype(dtype)), [1, 2, 3])
        for dtype in (complex, np.longdouble, object):
            with self.subTest(dtype=dtype), self.assertRaisesRegex(TypeError, "are not supported"):
                lugpu.solve(sparse.csr_array(dense), np.array([1, 2, 3], dtype))

    def test_layouts_of_b(self):
        a = laplacian(5)
        b = np.random.default_rng(1).standard_normal((25, 3))
        expected = np.linalg.solve(a.toarray(), b)
        inside = np.full((30, 7), np.nan)
        inside[2:27, 1:4] = b
        for rhs in (b, np.asfortranarray(b), inside[2:27, 1:4], np.repeat(b, 2, axis=1)[:, ::2], b[::-1][::-1]):
            np.testing.assert_allclose(lugpu.solve(a, rhs, method="banded"), expected, atol=1e-12)

    def test_no_copy(self):
        a, b = laplacian(6), np.ones(36)
        self.assertEqual((a.indices.dtype, a.data.dtype), (np.int32, np.float64))
        for matrix in (a, sparse.csr_matrix(a)):
            row_begin, columns, values = given_to_the_library(matrix, b)
            self.assertTrue(np.shares_memory(columns, matrix.indices))
            self.assertTrue(np.shares_memory(values, matrix.data))
            self.assertEqual((row_begin.dtype, columns.dtype, values.dtype), (np.int64, np.int32, np.float64))
            for array in (matrix.indptr, matrix.indices, matrix.data):
                array.flags.writeable = False
            lugpu.solve(matrix, b)
        wide = sparse.csr_array((a.data, a.indices.astype(np.int64), a.indptr.astype(np.int64)), shape=a.shape)
        wide.indices, wide.indptr = a.indices.astype(np.int64), a.indptr.astype(np.int64)
        row_begin, columns, values = given_to_the_library(wide, b)
        self.assertTrue(np.shares_memory(row_begin, wide.indptr))
        self.assertEqual(columns.dtype, np.int32)
        np.testing.assert_allclose(lugpu.solve(wide, b), lugpu.solve(a, b))

    def test_disorder_and_duplicates(self):
        indices = np.array([1, 0, 2, 0, 2, 2, 1, 0, 2, 1], np.int32)
        data = np.array([1, 3.5, 2, 0.5, -2, 2, 4, 1, 5, 2])
        a = sparse.csr_array((data, indices, [0, 5, 8, 10]), shape=(3, 3))
        before = a.copy()
        for method in ("auto", "cg", "banded"):
            np.testing.assert_allclose(lugpu.solve(a, [2, -1, 11], method=method), [1, -2, 3], rtol=1e-9)
        np.testing.assert_array_equal(a.indices, before.indices)
        np.testing.assert_array_equal(a.data, before.data)

    def test_broken_arrays(self):
        """What nobody should do to a matrix ends in an exception, not in foreign memory."""
        for change in (
            {"indptr": np.array([0, 1, 2, 1_000_000])},
            {"indptr": np.array([0, 3, 1, 3])},
            {"indptr": np.array([1, 2, 3, 3])},
            {"indptr": np.array([0, 1, 2])},
            {"indptr": np.array([], int)},
            {"indices": np.array([0, 1, 3], np.int32)},
            {"indices": np.array([0, -1, 2], np.int32)},
            {"indices": np.array([0, 1, 2**32 + 2])},
            {"indices": np.array([0], np.int32)},
            {"data": np.ones(1)},
        ):
            with self.subTest(**change):
                a = sparse.csr_array(np.eye(3))
                for name, array in change.items():
                    setattr(a, name, array)
                with self.assertRaises(ValueError):
                    lugpu.solve(a, [1, 2, 3])

    def test_shapes(self):
        with self.assertRaisesRegex(LinAlgError, "^Array must be square$"):
            lugpu.solve(sparse.csr_array(np.ones((3, 4))), np.ones(3))
        line = sparse.coo_array(np.ones(3))
        if line.ndim == 1:  # as of SciPy 1.13
            with self.assertRaisesRegex(LinAlgError, "^1-dimensional array given"):
                lugpu.solve(line, np.ones(3))
        a = sparse.csr_array(np.eye(3))
        for shape in ((), (4,), (4, 3), (0,), (2, 3, 3)):
            with self.subTest(shape=shape), self.assertRaisesRegex(ValueError, "do not fit together"):
                lugpu.solve(a, np.ones(shape))
        with self.assertRaisesRegex(TypeError, "^b is sparse"):
            lugpu.solve(a, a)
        with self.assertRaisesRegex(TypeError, "^b is sparse"):
            lugpu.solve(np.eye(3), a)
        self.assertEqual(lugpu.solve(sparse.csr_array((0, 0)), np.zeros((0, 2))).shape, (0, 2))
        with self.assertRaises(ValueError):
            lugpu.solve(sparse.csr_array((2**31, 2**31)), np.zeros(3))

    def test_report(self):
        a = laplacian(30)
        b = a @ np.ones(900)
        x, report = lugpu.solve(a, b, method="cg", full_output=True, tolerance=1e-8)
        self.assertEqual((report.method, report.why, report.status), ("cg", None, "ok"))
        self.assertGreater(report.iterations, 5)
        self.assertIsInstance(report.residuals, np.ndarray)
        self.assertEqual(report.residuals.shape, (report.iterations + 1,))
        self.assertEqual(report.residuals[0], 1)
        self.assertLessEqual(report.residuals[-1], 1e-8)
        exact = np.linalg.norm(b - a @ x) / np.linalg.norm(b)
        self.assertAlmostEqual(report.checks.residual / exact, 1, places=6)
        self.assertIsNone(report.checks.solve_ratio)
        self.assertLessEqual({"setup", "upload", "solve", "download"}, set(report.phases_s))
        _, more = lugpu.solve(a, b, method="cg", full_output=True, tolerance=1e-12)
        self.assertGreater(more.iterations, report.iterations)

        _, report = lugpu.solve(a, b, full_output=True)
        self.assertEqual(report.method, "banded")
        self.assertRegex(report.why, "30 below and 30 above the diagonal")
        self.assertEqual((report.iterations, report.residuals.size), (0, 0))
        self.assertLess(report.checks.solve_ratio, 30)
        _, report = lugpu.solve(np.eye(3), np.ones(3), full_output=True)
        self.assertEqual((report.why, report.iterations, report.checks.residual), (None, 0, None))
        self.assertEqual(report.residuals.size, 0)

    def test_not_converged(self):
        a = laplacian(20)
        with self.assertWarnsRegex(lugpu.AccuracyWarning, "not below the tolerance after 3 iterations") as caught:
            x, report = lugpu.solve(a, np.ones(400), method="cg", iterations=3, full_output=True)
        self.assertEqual(caught.filename, __file__)
        self.assertEqual((report.status, report.iterations, x.shape), ("failed", 3, (400,)))
        self.assertEqual(str(caught.warning), report.reason)
        self.assertGreater(report.checks.residual, 1e-3)

    def test_singular(self):
        a = sparse.csr_array(np.diag([1.0, 0.0, 2.0]))
        for method in ("auto", "banded"):
            with self.assertRaisesRegex(LinAlgError, r"^A is singular: pivot 2 is exactly zero\.$"):
                lugpu.solve(a, np.ones(3), method=method)

    def test_refused(self):
        skew = sparse.csr_array(np.array([[2.0, 1], [0, 2]]))
        with self.assertRaisesRegex(lugpu.Error, 'symmetric matrix; method="auto" may help') as caught:
            lugpu.solve(skew, [1, 2], method="cg")
        self.assertEqual(caught.exception.kind, "unsupported")
        for options in ({"pivot": "full"}, {"refine": True}, {"equilibrate": True}, {"precision": "mixed"}):
            with self.subTest(**options):
                with self.assertRaisesRegex(lugpu.InputError, "^banded is for sparse matrices") as caught:
                    lugpu.solve(skew, [1, 2], method="banded", **options)
                self.assertNotIn("--", str(caught.exception))
                x, report = lugpu.solve(skew, [4, 4], full_output=True, **options)
                np.testing.assert_allclose(x, [1, 2], rtol=1e-12)
                self.assertRegex(report.why, "is an option of dense methods")
        for options in ({"pivot": "ful"}, {"precision": "half"}, {"method": "qr"}, {"tolerance": -1.0}):
            with self.subTest(**options), self.assertRaises(ValueError):
                lugpu.solve(skew, [1, 2], **options)
        for options in ({"tolerance": "small"}, {"iterations": -1}, {"iterations": 2.5}):
            with self.subTest(**options), self.assertRaises(TypeError):
                lugpu.solve(skew, [1, 2], **options)
        with self.assertRaises(ValueError):
            lugpu.solve(np.eye(2), [1, 2], method="cg")

    def test_single_precision(self):
        a = laplacian(12)
        exact = np.linalg.solve(a.toarray(), np.ones(144))
        for method in ("cg", "banded"):
            x, report = lugpu.solve(a, np.ones(144), precision="single", method=method, tolerance=1e-5, full_output=True)
            self.assertEqual((report.precision, report.status, x.dtype), ("single", "ok", np.float64))
            error = np.abs(x - exact).max()
            self.assertTrue(1e-12 < error < 1e-2, error)

    def test_without_checks(self):
        a = laplacian(8)
        x, report = lugpu.solve(a, np.ones(64), method="cg", check=False, full_output=True)
        self.assertEqual((report.status, report.checks.residual), ("unchecked", None))
        np.testing.assert_allclose(a @ x, 1)

    def test_nan(self):
        with self.assertWarnsRegex(lugpu.AccuracyWarning, "nan"):
            lugpu.solve(sparse.csr_array(np.diag([1.0, np.nan, 2.0])), np.ones(3))
        with self.assertWarns(lugpu.AccuracyWarning):
            lugpu.solve(laplacian(3), np.full(9, np.nan), method="cg")

    def test_quiet_where_all_is_well(self):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            for method in METHODS:
                lugpu.solve(laplacian(10), np.ones(100), method=method)


class WithoutSciPy(unittest.TestCase):
    def test_scipy_is_not_imported(self):
        code = "import lugpu, sys; lugpu.solve([[2.0]], [4.0]); print('scipy' in sys.modules)"
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        self.assertEqual(done.stdout, "False\n")


if __name__ == "__main__":
    unittest.main()
