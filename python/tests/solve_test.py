"""lugpu.solve against numpy.linalg.solve."""

import os
import subprocess
import sys
import threading
import unittest
import warnings

import numpy as np
from numpy.linalg import LinAlgError

import lugpu

TOLERANCE = {np.dtype(np.float32): 1e-3, np.dtype(np.float64): 1e-9}


def system(n, k=None, dtype=np.float64, seed=1):
    """A well-conditioned random system."""
    random = np.random.default_rng(seed)
    a = random.standard_normal((n, n)) + n**0.5 * 2 * np.eye(n)
    return a.astype(dtype), random.standard_normal(n if k is None else (n, k)).astype(dtype)


def layouts(matrix):
    """The same matrix in every layout, by name."""
    rows, columns = matrix.shape
    inside = np.full((rows + 3, columns + 5), np.nan, matrix.dtype)
    inside[1:-2, 2:-3] = matrix
    inside_t = np.full((columns + 3, rows + 5), np.nan, matrix.dtype).T
    inside_t[2:-3, 1:-2] = matrix
    every_second = np.full((2 * rows, 3 * columns), np.nan, matrix.dtype)
    every_second[::2, ::3] = matrix
    packed = np.zeros(matrix.size * matrix.itemsize + 1, np.uint8)[1:].view(matrix.dtype)
    unaligned = packed.reshape(matrix.shape)
    unaligned[:] = matrix
    return {
        "rows": np.ascontiguousarray(matrix),
        "columns": np.asfortranarray(matrix),
        "rows of a larger one": inside[1:-2, 2:-3],
        "columns of a larger one": inside_t[2:-3, 1:-2],
        "every second": every_second[::2, ::3],
        "backwards": np.ascontiguousarray(matrix[::-1, ::-1])[::-1, ::-1],
        "big-endian": matrix.astype(matrix.dtype.newbyteorder(">")),
        "unaligned": unaligned,
    }


class Solve(unittest.TestCase):
    def assert_solves(self, a, b, **options):
        x = lugpu.solve(a, b, **options)
        expected = np.linalg.solve(a, b)
        self.assertEqual(x.shape, expected.shape)
        self.assertEqual(x.dtype, expected.dtype)
        np.testing.assert_allclose(x, expected, rtol=0, atol=TOLERANCE[x.dtype])
        return x

    def test_what_is_raised_is_named_as_users_name_it(self):
        for raised in (lugpu.Error, lugpu.InputError, lugpu.AccuracyWarning, lugpu.LinAlgWarning):
            self.assertIs(getattr(lugpu, raised.__name__), raised)
            self.assertEqual(raised.__module__, "lugpu")

    def test_orders(self):
        for n in (1, 2, 3, 5, 63, 64, 65, 132, 300):
            for k in (None, 1, 2, 7):
                for dtype in TOLERANCE:
                    with self.subTest(n=n, k=k, dtype=dtype):
                        self.assert_solves(*system(n, k, dtype))

    def test_more_right_hand_sides_than_rows(self):
        self.assert_solves(*system(5, 200))

    def test_empty(self):
        for dtype in TOLERANCE:
            for shape in ((0,), (0, 3), (0, 0)):
                x = self.assert_solves(np.zeros((0, 0), dtype), np.zeros(shape, dtype))
                self.assertEqual(x.size, 0)
        self.assert_solves(*system(4, 0))
        with self.assertRaises(LinAlgError):
            lugpu.solve(np.zeros((3, 3)), np.zeros((3, 0)))

    def test_layouts(self):
        for dtype in TOLERANCE:
            a, b = system(37, 4, dtype)
            expected = np.linalg.solve(a, b)
            for name, matrix in layouts(a).items():
                for rhs_name, rhs in layouts(b).items():
                    with self.subTest(a=name, b=rhs_name, dtype=dtype):
                        x = lugpu.solve(matrix, rhs)
                        self.assertEqual(x.dtype, dtype)
                        np.testing.assert_allclose(x, expected, rtol=0, atol=TOLERANCE[dtype])

    def test_vectors_with_strides(self):
        a, b = system(20)
        for rhs in (b[::-1], np.repeat(b, 3)[::3], np.broadcast_to(2.0, 20)):
            self.assert_solves(a, rhs)

    def test_neither_matrix_is_changed(self):
        a, b = system(40, 3)
        for order in "CF":
            matrix, rhs = a.copy(order), b.copy(order)
            matrix.flags.writeable = rhs.flags.writeable = False
            lugpu.solve(matrix, rhs)
            np.testing.assert_array_equal(matrix, a)
            np.testing.assert_array_equal(rhs, b)

    def test_dtypes(self):
        a, b = system(6)
        integers = np.round(a * 10)
        for dtype in (np.int8, np.uint16, np.int64, bool, np.dtype(">i4")):
            matrix = np.tril(np.ones((6, 6))).astype(dtype) if dtype in (bool, np.uint16) else integers.astype(dtype)
            self.assert_solves(matrix, np.arange(6))
        self.assert_solves(a.astype(np.float32), b)
        self.assert_solves(a, b.astype(np.float32))
        self.assert_solves(a.astype(np.float32), np.arange(6))
        self.assert_solves(a.tolist(), b.tolist())
        for dtype in (complex, np.complex64, np.longdouble, np.float16, object, "U9"):
            with self.subTest(dtype=dtype), self.assertRaises(TypeError):
                lugpu.solve(a.astype(dtype), b)
            with self.subTest(dtype=dtype), self.assertRaises(TypeError):
                lugpu.solve(a, b.astype(dtype))

    def test_shapes(self):
        for shape in ((), (3,), (3, 4), (2, 3, 4)):
            with self.subTest(shape=shape), self.assertRaises(LinAlgError):
                lugpu.solve(np.ones(shape), np.ones(3))
        for shape in ((), (4,), (4, 3), (0,), (2, 4, 3)):
            with self.subTest(shape=shape), self.assertRaisesRegex(ValueError, "do not fit together"):
                lugpu.solve(np.eye(3), np.ones(shape))

    def test_singular(self):
        for dtype in TOLERANCE:
            for matrix in (np.zeros((3, 3)), np.ones((4, 4)), np.diag([1.0, 0.0, 2.0])):
                with self.assertRaisesRegex(LinAlgError, "^A is singular.*pivot . is exactly zero"):
                    lugpu.solve(matrix.astype(dtype), np.ones(len(matrix), dtype))
        with self.assertRaisesRegex(LinAlgError, 'zero without pivoting; pivot="partial" may help'):
            lugpu.solve([[0, 1], [1, 0]], [1, 2], pivot="none")

    def test_pivotings_and_methods(self):
        a, b = system(50, 2)
        for options in (
            {"pivot": "none"},
            {"pivot": "rook"},
            {"pivot": "full"},
            {"method": "lu"},
            {"method": "gauss-jordan"},
            {"method": "lu-blocked"},
            {"refine": True},
            {"equilibrate": True},
            {"precision": "mixed"},
        ):
            with self.subTest(**options):
                self.assert_solves(a, b, **options)

    def test_precision(self):
        a, b = system(80)
        exact = np.linalg.solve(a, b)
        error = {
            precision: np.abs(lugpu.solve(a, b, precision=precision) - exact).max()
            for precision in ("single", "double", "mixed")
        }
        self.assertGreater(error["single"], 1e-9)
        self.assertLess(error["single"], 1e-4)
        self.assertLess(error["double"], 1e-12)
        self.assertLess(error["mixed"], 1e-12)
        for precision in ("double", "mixed"):
            x = lugpu.solve(a.astype(np.float32), b.astype(np.float32), precision=precision)
            self.assertEqual(x.dtype, np.float64)

    def test_report(self):
        a, b = system(64, 3)
        x, report = lugpu.solve(a, b, full_output=True)
        np.testing.assert_array_equal(x, lugpu.solve(a, b))
        self.assertEqual((report.status, report.reason, report.warnings), ("ok", None, []))
        self.assertEqual((report.pivot, report.precision), ("partial", "double"))
        self.assertLess(report.checks.solve_ratio, 30)
        self.assertEqual((len(report.checks.berr), len(report.checks.ferr)), (3, 3))
        self.assertGreater(report.checks.digits, 8)
        self.assertAlmostEqual(report.checks.rcond * np.linalg.cond(a, 1), 1, delta=0.9)
        self.assertLessEqual({"upload", "factor", "solve", "download"}, set(report.phases_s))
        self.assertIsNone(report.refinement)
        _, report = lugpu.solve(a, b, precision="mixed", full_output=True)
        self.assertTrue(report.refinement.converged)
        self.assertEqual((report.refinement.factors, report.refinement.given_up), ("single", []))
        self.assertEqual(report.precision, "single")
        self.assertLess(report.checks.solve_ratio, 30)
        near = np.ones((2, 2)) + np.diag([0, 2.0**-40])
        x, report = lugpu.solve(near, near.sum(axis=1), precision="mixed", full_output=True)
        np.testing.assert_array_equal(x, [1, 1])
        self.assertEqual((report.precision, report.refinement.factors), ("double", "double"))
        self.assertEqual(report.refinement.given_up, [("single", report.refinement.fallback)])
        bad = a * 10.0 ** np.arange(-32, 32)[:, None]
        _, report = lugpu.solve(bad, b, equilibrate=True, full_output=True)
        self.assertEqual(len(report.equilibration.r), 64)

    def test_without_checks(self):
        a, b = system(30)
        x, report = lugpu.solve(a, b, check=False, full_output=True)
        self.assertEqual(report.status, "unchecked")
        np.testing.assert_allclose(a @ x, b)

    def test_inaccurate(self):
        a, b = system(60)
        a[0, 0] = 1e-14
        with self.assertWarnsRegex(lugpu.AccuracyWarning, r'pivot="partial"') as caught:
            _, report = lugpu.solve(a, b, pivot="none", full_output=True)
        self.assertEqual(caught.filename, __file__)
        self.assertEqual(report.status, "failed")
        self.assertEqual(str(caught.warning), report.reason)
        hilbert = 1.0 / (np.arange(20)[:, None] + np.arange(20) + 1)
        with self.assertWarns(lugpu.AccuracyWarning):
            lugpu.solve(hilbert, np.ones(20))

    def test_quiet_where_all_is_well(self):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            lugpu.solve(*system(100, 3))

    def test_bad_arguments(self):
        a, b = system(4)
        for options in ({"pivot": "ful"}, {"precision": "half"}, {"method": "cholesky"}):
            with self.subTest(**options), self.assertRaises(ValueError):
                lugpu.solve(a, b, **options)
        with self.assertRaises(lugpu.Error) as caught:
            lugpu.solve(a, b, method="lu-blocked", pivot="full")
        self.assertEqual(caught.exception.kind, "unsupported")
        self.assertEqual(caught.exception.remedy, 'method="lu"')
        self.assertTrue(str(caught.exception).startswith(caught.exception.reason))
        self.assertNotIn("--", str(caught.exception))

    def test_devices(self):
        a, b = system(4)
        device = lugpu.devices()[0]
        for choice in (0, "0", device, device.name, np.int64(0)):
            self.assert_solves(a, b, device=choice)
        with self.assertRaises(lugpu.Error) as caught:
            lugpu.solve(a, b, device="no such device")
        self.assertEqual(caught.exception.kind, "no_device")

    def test_several_devices(self):
        """The same bits for every number of them above one."""
        a, b = system(400)
        x = lugpu.solve(a, b, device="0,0")
        self.assertEqual(x.tobytes(), lugpu.solve(a, b, device="0,0,0").tobytes())
        np.testing.assert_allclose(a @ x, b, atol=1e-8)
        lu, piv = lugpu.lu_factor(a, device="0,0")
        np.testing.assert_array_equal(lugpu.lu_solve((lu, piv), b), x)
        self.assert_solves(a, b, device="all")
        with self.assertRaises(lugpu.Error) as caught:
            lugpu.solve(a, b, method="lu", device="0,0")
        self.assertEqual((caught.exception.kind, caught.exception.reason),
                         ("unsupported", "lu works on one device alone"))

    def test_environment(self):
        a, b = system(4)
        os.environ["LUGPU_DEVICE"] = "no such device"
        try:
            with self.assertRaises(lugpu.Error):
                lugpu.solve(a, b)
            self.assert_solves(a, b, device=0)
        finally:
            del os.environ["LUGPU_DEVICE"]

    def test_nan(self):
        for dtype in TOLERANCE:
            for part in (0, 1):
                given = system(5, 2, dtype)
                given[part][2, 1] = np.nan
                with self.assertWarnsRegex(lugpu.AccuracyWarning, "nan"):
                    x, report = lugpu.solve(*given, full_output=True)
                np.testing.assert_array_equal(np.isnan(x), np.isnan(np.linalg.solve(*given)))
                self.assertEqual(report.status, "failed")


class Processes(unittest.TestCase):
    def test_threads(self):
        systems = [system(20 + 13 * i, 1 + i % 3, seed=i) for i in range(12)]
        wrong = []

        def work(a, b):
            for _ in range(5):
                try:
                    np.testing.assert_allclose(lugpu.solve(a, b), np.linalg.solve(a, b), atol=1e-9)
                    pair = lugpu.lu_factor(a)
                    np.testing.assert_allclose(a @ lugpu.lu_solve(pair, b), b, atol=1e-9)
                except BaseException as error:
                    wrong.append(error)

        threads = [threading.Thread(target=work, args=each) for each in systems]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])

    def test_the_gil_is_released(self):
        a, b = system(200)
        lugpu.solve(a, b)
        interval = sys.getswitchinterval()
        for call in (lambda: lugpu.solve(a, b), lambda: lugpu.lu_factor(a), lambda: lugpu.inv(a)):
            gate, ran = threading.Lock(), []
            gate.acquire()
            other = threading.Thread(target=lambda gate=gate, ran=ran: gate.acquire() and ran.append(True))
            other.start()
            sys.setswitchinterval(1000)  # the other thread runs only if this one gives way
            try:
                gate.release()
                sum(range(100_000))
                before = bool(ran)
                for _ in range(100):  # on a busy machine it may wake too late for one call
                    call()
                    if ran:
                        break
                after = bool(ran)
            finally:
                sys.setswitchinterval(interval)
                other.join()
            self.assertEqual((before, after), (False, True))

    def in_child(self, first):
        """What a forked process prints that solves a system after `first` in its parent."""
        code = f"""
import os, sys, lugpu
{first}
child = os.fork()
if child == 0:
    try:
        print(lugpu.solve([[2.0]], [4.0]))
        print(lugpu.lu_solve(pair, [4.0]))
    except lugpu.Error as error:
        print(error.kind, error)
    pair = None
    sys.stdout.flush()
    os._exit(0)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
        self.assertEqual(done.stderr, "")
        return done.stdout.splitlines()

    def test_fork(self):
        for first in ("pair = lugpu.lu_factor([[2.0]])", "pair = None; lugpu.devices()"):
            error, status = self.in_child(first)
            self.assertRegex(error, "^failure This process was forked")
            self.assertEqual(status, "0")
        self.assertEqual(self.in_child("pair = [[2.0]], [0]"), ["[2.]", "[2.]", "0"])

    def test_import_starts_no_driver(self):
        code = "import lugpu, sys; print(open('/proc/self/maps').read().count('pocl'))"
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        self.assertEqual(done.stdout, "0\n")


if __name__ == "__main__":
    unittest.main()
