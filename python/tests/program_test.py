"""lugpu.advise, bench and devices, the errors, and the doctests of every module."""

import doctest
import importlib.util
import os
import pathlib
import pickle
import pkgutil
import stat
import tempfile
import unittest
from unittest import mock

import numpy as np
from numpy.linalg import LinAlgError

import lugpu
from lugpu import _program


def load_tests(_loader, tests, _pattern):
    for module in pkgutil.iter_modules(lugpu.__path__, "lugpu."):
        if module.name != "lugpu._core":
            tests.addTests(doctest.DocTestSuite(importlib.import_module(module.name)))
    tests.addTests(doctest.DocTestSuite(lugpu))
    return tests


class Guide(unittest.TestCase):
    @unittest.skipIf(importlib.util.find_spec("scipy") is None, "SciPy is not installed")
    def test_examples(self):
        guide = pathlib.Path(__file__).parents[2] / "docs" / "python.md"
        results = doctest.testfile(str(guide), module_relative=False)
        self.assertEqual(results.failed, 0)
        self.assertGreater(results.attempted, 20)


class Advise(unittest.TestCase):
    def test_advice(self):
        a = np.random.default_rng(1).standard_normal((60, 60))
        advice = lugpu.advise(a)
        self.assertFalse(advice["singular"])
        self.assertEqual(advice["best"]["matrix"], "a.npy")
        self.assertIn(advice["best"], advice["results"])
        self.assertIn(f'pivot="{advice["best"]["pivot"]}"', advice["sentence"])
        self.assertNotIn("--", advice["sentence"])
        x = lugpu.solve(a, a @ np.ones(60), pivot=advice["best"]["pivot"], precision=advice["best"]["precision"])
        np.testing.assert_allclose(x, 1, atol=1e-6)

    def test_arguments(self):
        a = np.eye(5, dtype=int) * 2
        advice = lugpu.advise(np.asfortranarray(a), b=np.ones((5, 2)), digits=3, device=0, timeout=5)
        self.assertEqual(advice["digits"] >= 3, True)
        self.assertEqual({row["nrhs"] for row in advice["results"]}, {2})

    @unittest.skipIf(importlib.util.find_spec("scipy") is None, "SciPy is not installed")
    def test_advice_for_a_sparse_matrix(self):
        import scipy.sparse

        n = 1000
        for form in ("csr", "csc", "coo"):
            a = scipy.sparse.diags([-1.0, 2.5, -1.0], [-1, 0, 1], shape=(n, n), format=form)
            advice = lugpu.advise(a, timeout=5)
            self.assertEqual(advice["best"]["status"], "ok")
            method, precision = advice["best"]["routine"], advice["best"]["precision"]
            self.assertIn(f'method="{method}"', advice["sentence"])
            x = lugpu.solve(a, a @ np.ones(n), method=method, precision=precision)
            np.testing.assert_allclose(x, 1, atol=1e-6)
        with self.assertRaises(LinAlgError):
            lugpu.advise(scipy.sparse.csr_matrix((3, 2)))

    def test_no_advice(self):
        advice = lugpu.advise(np.ones((3, 3)))
        self.assertTrue(advice["singular"])
        self.assertIsNone(advice["best"])
        with self.assertRaises(LinAlgError):
            lugpu.advise(np.ones((3, 2)))
        with self.assertRaisesRegex(lugpu.InputError, r"a.npy: element \(1, 1\).*nan"):
            lugpu.advise([[np.nan]])
        with self.assertRaises(TypeError):
            lugpu.advise([[1j]])
        with self.assertRaises(lugpu.Error) as caught:
            lugpu.advise(np.eye(2), device="no such device")
        self.assertEqual(caught.exception.kind, "no_device")


class Bench(unittest.TestCase):
    def test_records(self):
        rows = lugpu.bench(
            range(16, 33, 16), method=["lu", "lu-blocked"], pivot="partial", precision=("single", "double"),
            baseline="none", runs=2, min_time=0, no_vendor_kernels=True, timeout=None, resume=False,
        )
        self.assertEqual(len(rows), 8)
        self.assertEqual({row["n"] for row in rows}, {16, 32})
        self.assertEqual({row["status"] for row in rows}, {"ok"})
        for row in rows:
            self.assertLess(row["checks.solve_ratio"], 30)
            self.assertGreater(row["phases_s.factor"], 0)
            self.assertFalse(any(isinstance(value, dict) for value in row.values()))

    def test_pandas(self):
        try:
            import pandas
        except ImportError:
            self.skipTest("pandas is not installed")
        frame = pandas.DataFrame(lugpu.bench(16, method="lu", baseline="none", min_time=0))
        self.assertEqual(list(frame["n"].unique()), [16])
        self.assertTrue((frame["median_s"] > 0).all())
        devices = pandas.DataFrame(lugpu.devices())
        self.assertEqual(list(devices["index"]), list(range(len(devices))))

    def test_rows_that_failed_are_rows(self):
        rows = lugpu.bench(100, method="lu", pivot="none", matrix="random", baseline="none", min_time=0)
        self.assertEqual([row["status"] for row in rows], ["failed"])
        self.assertTrue(rows[0]["reason"])

    def test_bad_options(self):
        for options in ({"sizes": "x"}, {"no_such_option": 1}, {"pivot": "x"}):
            with self.assertRaises(lugpu.InputError) as caught:
                lugpu.bench(**options)
            self.assertEqual(caught.exception.kind, "bad_input")


class Program(unittest.TestCase):
    def test_in_the_package(self):
        self.assertEqual(_program.program(), os.path.join(os.path.dirname(lugpu.__file__), "bin", "lugpu"))

    def test_on_path(self):
        with tempfile.TemporaryDirectory() as folder:
            with mock.patch.object(_program, "__file__", folder + "/x.py"), \
                    mock.patch.dict(os.environ, {"PATH": folder}):
                with self.assertRaisesRegex(lugpu.Error, "neither in this package nor on PATH"):
                    lugpu.bench(16)
                own = pathlib.Path(folder, "lugpu")
                own.write_text("#!/bin/sh\necho lugpu: it broke >&2\nexit 1\n")
                own.chmod(own.stat().st_mode | stat.S_IXUSR)
                with self.assertRaisesRegex(lugpu.Error, "^it broke.$") as caught:
                    lugpu.bench(16)
                self.assertEqual(caught.exception.kind, "failure")


class Errors(unittest.TestCase):
    def test_kinds(self):
        self.assertTrue(issubclass(lugpu.Error, RuntimeError))
        self.assertTrue(issubclass(lugpu.InputError, ValueError))
        self.assertTrue(issubclass(lugpu.AccuracyWarning, RuntimeWarning))

    def test_pickle(self):
        error = lugpu.InputError("bad_input", "it is wrong", 'method="lu"')
        copy = pickle.loads(pickle.dumps(error))
        self.assertIs(type(copy), lugpu.InputError)
        self.assertEqual(str(copy), 'it is wrong; method="lu" may help.')
        self.assertEqual((copy.kind, copy.reason, copy.remedy), ("bad_input", "it is wrong", 'method="lu"'))

    def test_devices(self):
        devices = lugpu.devices()
        self.assertEqual([device.index for device in devices], list(range(len(devices))))
        self.assertGreater(devices[0].global_memory, 0)


if __name__ == "__main__":
    unittest.main()
