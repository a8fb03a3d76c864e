"""lugpu's lu_factor, lu_solve, inv, det and slogdet against SciPy and NumPy."""

import gc
import math
import unittest
import warnings

import numpy as np
import scipy.linalg
from numpy.linalg import LinAlgError

import lugpu
from lugpu import _factors

REALS = (np.float32, np.float64)


def matrix(n, dtype=np.float64, seed=1):
    """A random matrix that is far from singular and needs interchanges."""
    random = np.random.default_rng(seed)
    return random.permutation(random.standard_normal((n, n)) + 2 * n**0.5 * np.eye(n)).astype(dtype)


def tolerance(dtype):
    return 1e-3 if dtype == np.float32 else 1e-9


class LuFactor(unittest.TestCase):
    def test_as_scipy(self):
        for n in (1, 2, 3, 10, 64, 65, 132):
            for dtype in REALS:
                for order in "CF":
                    with self.subTest(n=n, dtype=dtype, order=order):
                        a = matrix(n, dtype).copy(order)
                        pair, expected = lugpu.lu_factor(a), scipy.linalg.lu_factor(a)
                        self.assertIs(type(pair), tuple)
                        for ours, theirs in zip(pair, expected, strict=True):
                            self.assertEqual((ours.shape, ours.dtype), (theirs.shape, theirs.dtype))
                        np.testing.assert_array_equal(pair[1], expected[1])
                        np.testing.assert_allclose(pair[0], expected[0], atol=tolerance(dtype))

    def test_factors(self):
        a = matrix(80)
        for pivot in ("partial", "none"):
            lu, piv = lugpu.lu_factor(a + 40 * np.eye(80), pivot=pivot)
            rows = np.arange(80)
            for k, row in enumerate(piv):
                rows[[k, row]] = rows[[row, k]]
            product = (np.tril(lu, -1) + np.eye(80)) @ np.triu(lu)
            np.testing.assert_allclose(product, (a + 40 * np.eye(80))[rows], atol=1e-11)
        np.testing.assert_array_equal(piv, np.arange(80))

    def test_arguments_of_scipy(self):
        a = matrix(5)
        before = a.copy()
        lugpu.lu_factor(a, True, False)
        np.testing.assert_array_equal(a, before)
        self.assertEqual(lugpu.lu_factor(np.arange(9).reshape(3, 3) + np.eye(3, dtype=int))[0].dtype, np.float64)

    def test_singular(self):
        for a in (np.zeros((3, 3)), np.diag([1.0, 0.0, 2.0])):
            with self.assertWarns(lugpu.LinAlgWarning) as ours:
                lu, piv = lugpu.lu_factor(a)
            with self.assertWarns(scipy.linalg.LinAlgWarning) as theirs:
                expected = scipy.linalg.lu_factor(a)
            self.assertEqual(str(ours.warning), str(theirs.warning))
            self.assertEqual(ours.filename, __file__)
            np.testing.assert_array_equal(lu, expected[0])
            np.testing.assert_array_equal(piv, expected[1])
            for pair in ((lu, piv), expected):
                with self.assertRaisesRegex(LinAlgError, "A is singular: pivot . is exactly zero"):
                    lugpu.lu_solve(pair, np.ones(3))

    def test_bad_input(self):
        for shape in ((), (3,), (3, 4), (2, 3, 4)):
            with self.assertRaises((ValueError, LinAlgError)):  # which is one as of NumPy 1.25
                lugpu.lu_factor(np.ones(shape))
        for pivot in ("full", "rook", "x"):
            with self.assertRaisesRegex(ValueError, "pivot must be one of"):
                lugpu.lu_factor(np.eye(3), pivot=pivot)
        for value in (np.nan, np.inf):
            a = np.eye(3)
            a[1, 1] = value
            with self.assertRaisesRegex(ValueError, "infs or NaNs"):
                lugpu.lu_factor(a)
        with self.assertRaises(TypeError):
            lugpu.lu_factor(np.eye(3) * 1j)

    def test_a_sum_that_overflows_is_finite(self):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            lugpu.lu_factor(np.full((2, 2), 1e308) * [[1, 1], [1, -1]] / 4)
            lugpu.lu_factor(np.diag(np.full(30, 1e307)))

    def test_empty(self):
        lu, piv = lugpu.lu_factor(np.zeros((0, 0)))
        self.assertEqual((lu.shape, piv.shape), ((0, 0), (0,)))
        self.assertEqual(lugpu.lu_solve((lu, piv), np.zeros((0, 2))).shape, (0, 2))


class LuSolve(unittest.TestCase):
    def test_as_scipy(self):
        for n in (1, 5, 64, 100):
            for dtype in REALS:
                a = matrix(n, dtype)
                ours, theirs = lugpu.lu_factor(a), scipy.linalg.lu_factor(a)
                random = np.random.default_rng(2)
                for shape in ((n,), (n, 1), (n, 6), (n, 0)):
                    for trans in (0, 1, 2):
                        for b in (random.standard_normal(shape).astype(dtype), np.ones(shape, int)):
                            with self.subTest(n=n, dtype=dtype, shape=shape, trans=trans):
                                expected = scipy.linalg.lu_solve(theirs, b, trans=trans)
                                x = lugpu.lu_solve(ours, b, trans=trans)
                                self.assertEqual((x.shape, x.dtype), (expected.shape, expected.dtype))
                                np.testing.assert_allclose(x, expected, atol=tolerance(dtype))

    def test_layouts_of_b(self):
        a = matrix(12)
        pair = lugpu.lu_factor(a)
        b = np.random.default_rng(3).standard_normal((24, 24))
        for rhs in (b[:12, :5], b[:12, :5].copy("F"), b[::2, ::-3], b[::-2, 0], b.astype(">f8")[:12]):
            before = rhs.copy()
            np.testing.assert_allclose(a @ lugpu.lu_solve(pair, rhs, overwrite_b=True), rhs, atol=1e-12)
            np.testing.assert_array_equal(rhs, before)

    def test_the_factors_stay_on_the_device(self):
        lu, piv = lugpu.lu_factor(matrix(10))
        self.assertIsNotNone(_factors._recall(lu, piv))
        self.assertFalse(lu.flags.writeable or piv.flags.writeable)
        with self.assertRaises(ValueError):
            lu[0, 0] = 1
        self.assertIsNone(_factors._recall(lu.copy(), piv))
        self.assertIsNone(_factors._recall(lu, piv.copy()))
        before = len(_factors._known)
        del lu
        gc.collect()
        self.assertEqual(len(_factors._known), before - 1)

    def test_other_pairs_are_uploaded(self):
        for dtype in REALS:
            a, b = matrix(40, dtype), np.arange(80, dtype=dtype).reshape(40, 2)
            theirs = scipy.linalg.lu_factor(a)
            ours = lugpu.lu_factor(a)
            for pair in (theirs, tuple(map(np.copy, ours)), (ours[0].copy("C"), list(ours[1]))):
                for trans in (0, 1):
                    expected = scipy.linalg.lu_solve(theirs, b, trans=trans)
                    np.testing.assert_allclose(lugpu.lu_solve(pair, b, trans), expected, atol=tolerance(dtype))

    def test_factors_that_were_changed(self):
        a = matrix(6)
        lu, piv = lugpu.lu_factor(a)
        lu.flags.writeable = True
        lu[np.diag_indices(6)] *= 2
        expected = scipy.linalg.lu_solve((lu, piv), np.ones(6))
        np.testing.assert_allclose(lugpu.lu_solve((lu, piv), np.ones(6)), expected)

    def test_single_factors_and_double_b(self):
        a, b = matrix(8, np.float32), np.random.default_rng(4).standard_normal(8)
        pair = lugpu.lu_factor(a)
        x, expected = lugpu.lu_solve(pair, b), scipy.linalg.lu_solve(pair, b)
        self.assertEqual(x.dtype, np.float64)
        np.testing.assert_allclose(x, expected, rtol=1e-12)

    def test_bad_input(self):
        pair = lugpu.lu_factor(np.eye(3))
        for b in (np.ones(4), np.ones((2, 3)), 1.0, np.ones((3, 3, 3))):
            with self.assertRaisesRegex(ValueError, "incompatible"):
                lugpu.lu_solve(pair, b)
        with self.assertRaisesRegex(ValueError, "infs or NaNs"):
            lugpu.lu_solve(pair, [1, np.nan, 2])
        with self.assertRaisesRegex(ValueError, "trans"):
            lugpu.lu_solve(pair, np.ones(3), trans=3)
        for piv in ([0, 1, 3], [-1, 1, 2], [0, 0, 2], [0, 1]):
            with self.assertRaisesRegex(ValueError, "[Pp]iv"):
                lugpu.lu_solve((np.eye(3), piv), np.ones(3))
        with self.assertRaises(TypeError):
            lugpu.lu_solve((np.eye(3), [0.0, 1.0, 2.0]), np.ones(3))
        with self.assertRaises(TypeError):
            lugpu.lu_solve(pair, [1j, 0, 0])


class InverseAndDeterminant(unittest.TestCase):
    def test_inv(self):
        for n in (0, 1, 2, 3, 65, 132):
            for dtype in REALS:
                a = matrix(n, dtype)
                inverse, expected = lugpu.inv(a), np.linalg.inv(a)
                self.assertEqual((inverse.shape, inverse.dtype), (expected.shape, expected.dtype))
                np.testing.assert_allclose(inverse, expected, atol=tolerance(dtype))

    def test_inv_of_what_has_none(self):
        with self.assertRaisesRegex(LinAlgError, "^A is singular: pivot 2 is exactly zero"):
            lugpu.inv(np.ones((3, 3)))
        for shape in ((3,), (3, 4)):
            with self.assertRaises(LinAlgError):
                lugpu.inv(np.ones(shape))
        hilbert = 1.0 / (np.arange(20)[:, None] + np.arange(20) + 1)
        with self.assertWarnsRegex(lugpu.AccuracyWarning, "singular to working precision") as caught:
            lugpu.inv(hilbert)
        self.assertEqual(caught.filename, __file__)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            lugpu.inv(matrix(30))

    def test_det(self):
        for n in (0, 1, 2, 3, 50):
            for dtype in REALS:
                a = matrix(n, dtype)
                self.assertIs(type(lugpu.det(a)), float)
                self.assertAlmostEqual(lugpu.det(a) / np.linalg.det(a.astype(float)), 1, places=4)
        self.assertEqual(lugpu.det(np.diag([1.0, 0.0, 3.0])), 0)
        self.assertEqual(lugpu.det(np.eye(3)[[1, 0, 2]]), -1)
        self.assertEqual(lugpu.det(np.diag([-1e200, 1e200])), -math.inf)
        self.assertEqual(lugpu.det(np.diag([1e-200, 1e-200])), 0)
        self.assertAlmostEqual(lugpu.det(np.diag([1e-200, 1e-200, 1e200, 1e200])), 1)
        with self.assertRaises(LinAlgError):
            lugpu.det(np.ones((2, 3)))

    def test_slogdet(self):
        for n in (0, 1, 2, 3, 50, 200):
            for dtype in REALS:
                a = matrix(n, dtype, seed=n)
                sign, logabsdet = lugpu.slogdet(a)
                expected = np.linalg.slogdet(a.astype(float))
                self.assertEqual(sign, expected[0])
                self.assertAlmostEqual(logabsdet, expected[1], delta=1e-4 * max(1, n))
        self.assertEqual(lugpu.slogdet(np.zeros((2, 2))), (0, -math.inf))


if __name__ == "__main__":
    unittest.main()
