"""Batches: lugpu.solve and lu_factor with leading dimensions, against NumPy one by one."""

import unittest
import warnings

import numpy as np
from numpy.linalg import LinAlgError

import lugpu


def batch(lead, n, k=None, dtype=np.float64, seed=1):
    random = np.random.default_rng(seed)
    a = random.standard_normal((*lead, n, n)) + 2 * n**0.5 * np.eye(n)
    b = random.standard_normal((*lead, n, k) if k else n)
    return a.astype(dtype), b.astype(dtype)


class SolveBatch(unittest.TestCase):
    def assert_solves(self, a, b, **options):
        x = lugpu.solve(a, b, **options)
        # As NumPy 2 has it; before, b of one dimension less than a was vectors.
        sides = b if b.ndim > 1 else np.broadcast_to(b[:, np.newaxis], (*a.shape[:-1], 1))
        expected = np.linalg.solve(a, sides)
        if b.ndim == 1:
            expected = expected[..., 0]
        self.assertEqual(x.shape, expected.shape)
        self.assertEqual(x.dtype, expected.dtype)
        np.testing.assert_allclose(x, expected, rtol=0, atol=1e-3 if x.dtype == np.float32 else 1e-9)

    def test_leading_dimensions(self):
        for dtype in (np.float32, np.float64):
            for lead, n in (((1,), 1), ((33,), 3), ((2, 3), 7), ((5, 1, 2), 20), ((3,), 70)):
                for k in (None, 1, 4):
                    with self.subTest(dtype=dtype, lead=lead, n=n, k=k):
                        self.assert_solves(*batch(lead, n, k, dtype))

    def test_broadcasts(self):
        a, b = batch((4, 1), 5, 2)
        self.assert_solves(a, np.concatenate([b, 2 * b, 3 * b], axis=1))
        self.assert_solves(a[0, 0], np.stack([b[0, 0]] * 6))
        self.assert_solves(a, b[0, 0])
        with self.assertRaisesRegex(ValueError, "broadcast"):
            lugpu.solve(np.zeros((2, 3, 3)), np.zeros((4, 3, 1)))

    def test_pivoting_and_layouts(self):
        a, b = batch((6,), 8, 2)
        for pivot in ("none", "partial", "full"):
            self.assert_solves(a, b, pivot=pivot)
        self.assert_solves(a[::2, ::-1, ::-1], b[1::2])
        self.assert_solves(np.moveaxis(np.asfortranarray(np.moveaxis(a, 0, -1)), -1, 0), b)
        self.assert_solves(np.arange(8).reshape(2, 2, 2) % 3 * 5 + 1, np.array([1, 2]))

    def test_empty(self):
        self.assertEqual(lugpu.solve(np.zeros((0, 3, 3)), np.zeros((0, 3, 2))).shape, (0, 3, 2))
        self.assertEqual(lugpu.solve(np.zeros((4, 0, 0)), np.zeros((4, 0, 2))).shape, (4, 0, 2))

    def test_reports_members(self):
        a, b = batch((2, 3), 4, 1)
        a[1, 0] = 1
        a[0, 2, 0, 0] = np.nan
        with self.assertRaisesRegex(LinAlgError, r"1 of 6 matrices are singular; the first is member \(1, 0\)"):
            lugpu.solve(a, b)
        with self.assertWarnsRegex(lugpu.AccuracyWarning, r"1 of 6 systems .* member \(0, 2\)"):
            x, report = lugpu.solve(a, b, full_output=True)
        self.assertEqual(report.status.tolist(), [["ok", "ok", "failed"], ["singular", "ok", "ok"]])
        self.assertEqual(report.info.tolist(), [[0, 0, 0], [2, 0, 0]])
        self.assertTrue(np.isnan(x[1, 0]).all())
        self.assertTrue((report.solve_ratio[:, 1] < 30).all())
        np.testing.assert_allclose(x[0, 0], np.linalg.solve(a[0, 0], b[0, 0]))
        _, report = lugpu.solve(a[:1, :2], b[:1, :2], full_output=True, check=False)
        self.assertEqual(report.status.tolist(), [["unchecked", "unchecked"]])
        self.assertIsNone(report.solve_ratio)

    def test_refuses(self):
        a, b = batch((3,), 4, 1)
        for options, text in (({"method": "lu"}, "auto"), ({"refine": True}, "refined"), ({"x0": b}, "sparse")):
            with self.assertRaisesRegex(ValueError, text):
                lugpu.solve(a, b, **options)
        with self.assertRaisesRegex(lugpu.Error, "no pivoting named rook"):
            lugpu.solve(a, b, pivot="rook")
        with self.assertRaisesRegex(LinAlgError, "square"):
            lugpu.solve(a[:, :3], b)
        with self.assertRaisesRegex(ValueError, "do not fit"):
            lugpu.solve(a, b[:, :3])


class BatchFactors(unittest.TestCase):
    def test_factors_are_used_again(self):
        for dtype in (np.float32, np.float64):
            a, b = batch((2, 3), 6, 2, dtype)
            lu, piv = lugpu.lu_factor(a)
            self.assertEqual((lu.shape, piv.shape, lu.dtype), ((2, 3, 6, 6), (2, 3, 6), dtype))
            alone, rows = lugpu.lu_factor(a[1, 2])
            np.testing.assert_allclose(lu[1, 2], alone, atol=1e-5)
            np.testing.assert_array_equal(piv[1, 2], rows)
            for sides in (b, b[0, 0], b[0, 0, :, 0]):
                np.testing.assert_allclose(lugpu.lu_solve((lu, piv), sides), lugpu.solve(a, sides), atol=1e-4)

    def test_singular_members_are_nan(self):
        a, b = batch((3,), 4, 1)
        a[1] = 0
        with self.assertWarnsRegex(lugpu.LinAlgWarning, "1 of 3"):
            factors = lugpu.lu_factor(a)
        x = lugpu.lu_solve(factors, b)
        self.assertTrue(np.isnan(x[1]).all())
        np.testing.assert_allclose(x[2], np.linalg.solve(a[2], b[2]))

    def test_refuses(self):
        a, b = batch((3,), 4, 1)
        lu, piv = lugpu.lu_factor(a)
        with self.assertRaisesRegex(ValueError, "lu_factor gave"):
            lugpu.lu_solve((lu.copy(), piv), b)
        with self.assertRaisesRegex(ValueError, "trans"):
            lugpu.lu_solve((lu, piv), b, trans=1)
        with self.assertRaisesRegex(ValueError, "incompatible"):
            lugpu.lu_solve((lu, piv), b[:, :2])
        with warnings.catch_warnings(), self.assertRaises(LinAlgError):
            lugpu.lu_factor(a[:, :3])


if __name__ == "__main__":
    unittest.main()
