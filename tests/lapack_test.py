#!/usr/bin/python3
"""The drop-in LAPACK as programs meet it: called by its Fortran names, under LAPACK's own tests, NumPy
and SciPy by LD_PRELOAD and as liblapack.so.3. The truth is the LAPACK that the system has.

Run it as: /usr/bin/python3 tests/lapack_test.py LIBLUGPU_LAPACK LIBLAPACK XERBLA_STUB [arguments of unittest]
"""

import collections
import contextlib
import ctypes
import glob
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import unittest

if len(sys.argv) < 4:
    sys.exit(__doc__)
LIBRARY, AS_LIBLAPACK, XERBLA_STUB = (os.path.abspath(sys.argv.pop(1)) for _ in range(3))
# What must come before all libraries, as the runtime of a sanitizer, still does.
BEFORE = os.environ.get("LD_PRELOAD", "")
PRELOADED = f"{BEFORE} {LIBRARY}".strip()
# Before NumPy, to whose own xerbla_ its LAPACK would report.
xerbla = ctypes.CDLL(XERBLA_STUB, mode=ctypes.RTLD_GLOBAL)

import numpy as np  # noqa: E402

SECONDS = 120  # that a process may take
POCL = "/etc/OpenCL/vendors/pocl.icd"

MIN_N = 8  # in this process: smaller systems are the host's
PAD = -77.0  # what is behind the rows of a matrix
REALS = {"s": np.float32, "d": np.float64}
EXPORTED = {x + name + "_" for x in REALS for name in
            ["getrf", "getrs", "getri", "gesv", "getc2", "gesc2"]} | {"dsgesv_"}
ORDERS = [1, 2, 3, 5, 8, 10, 50, 63, 64, 65, 132]
SOLVES = """
import numpy as np
def ratio(n, dtype):
    a = np.random.default_rng(n).standard_normal((n, n)).astype(dtype)
    b = a @ np.ones((n, 2), dtype)
    x = np.linalg.solve(a, b)
    norm = lambda v: np.linalg.norm(v, 1)
    return norm(b - a @ x) / (norm(a) * norm(x) * np.finfo(dtype).eps * n)
"""
# Prints what NumPy's xerbla_ raises for illegal arguments of the LAPACK that a process calls: the
# preloaded one, or NumPy's.
ILLEGAL_ARGUMENTS = """
import ctypes, os
import numpy.linalg._umath_linalg as numpy_lapack
library = ctypes.PyDLL(None if "lugpu" in os.environ["LD_PRELOAD"] else numpy_lapack.__file__)
for x, real in (("s", ctypes.c_float), ("d", ctypes.c_double)):
    for routine, values in (("gesv", (9, -1, "a", 9, "ipiv", "b", 9)), ("getrf", (-1, 9, "a", 9, "ipiv"))):
        info = ctypes.c_int(0)
        arguments = [(real * 81)() if isinstance(value, str) else ctypes.byref(ctypes.c_int(value))
                     for value in values]
        try:
            getattr(library, x + routine + "_")(*arguments, ctypes.byref(info))
        except ValueError as error:
            print(info.value, error)
"""
# What scripts/time_languages.py takes for a language whose answers are right.
LANGUAGE = """#!/bin/sh
for runs; do :; done
[ $runs = 1 ] && seconds=0.5 || seconds="0.5 0.25"
echo version 1.2.3
echo solve $seconds
echo inv $seconds
echo det $seconds
echo solve_ratio 0.1
echo inv_ratio 0.1
echo sign -1
echo log_abs_det 31
"""

own, truth = None, None  # shared libraries


def call(library, name, *arguments):
    """INFO of a routine. Integers are passed by reference, strings with their length at the end, None as
    a null pointer."""
    info = ctypes.c_int(12345)
    passed = []
    for value in arguments:
        if isinstance(value, np.ndarray):
            passed.append(ctypes.c_void_p(value.ctypes.data))
        elif isinstance(value, str):
            passed.append(ctypes.c_char_p(value.encode()))
        else:
            passed.append(None if value is None else ctypes.byref(ctypes.c_int(value)))
    lengths = [ctypes.c_size_t(len(value)) for value in arguments if isinstance(value, str)]
    getattr(library, name + "_")(*passed, ctypes.byref(info), *lengths)
    return info.value


@contextlib.contextmanager
def stderr_text():
    """What this process, libraries included, writes to stderr: a list of lines, complete at the end."""
    lines = []
    with tempfile.TemporaryFile() as file:
        sys.stderr.flush()
        before = os.dup(2)
        os.dup2(file.fileno(), 2)
        try:
            yield lines
        finally:
            os.dup2(before, 2)
            os.close(before)
            file.seek(0)
            lines += file.read().decode().splitlines()


# A line of the trace: where it says host, it says why.
TRACE = re.compile(r"lugpu_lapack: (\w+)(?: [a-z]+=\d+)+ "
                   r"(?:(device|cache) \d+\.\d{3} ms|(host) \d+\.\d{3} ms: (.+))")


def places(lines):
    """How often each routine ran at each place, by the trace: {("dgetrf", "device"): 3, ...}"""
    matches = map(TRACE.fullmatch, lines)
    return collections.Counter((match[1], match[2] or match[3]) for match in matches if match)


def reasons(lines):
    """Why calls ran on the host, by the trace."""
    matches = map(TRACE.fullmatch, lines)
    return {match[4] for match in matches if match and match[3]}


def other_lines(lines):
    return [line for line in lines if not TRACE.fullmatch(line)]


def random_matrix(x, m, n, seed=1):
    return np.random.default_rng(seed).uniform(-0.5, 0.5, (m, n)).astype(REALS[x])


def padded(a, more=3):
    """A column-major copy with a larger leading dimension."""
    wide = np.full((a.shape[0] + more, a.shape[1]), PAD, a.dtype, order="F")
    wide[:a.shape[0]] = a
    return wide


def pivots(count):
    return np.full(count, -1, np.int32)


def norm1(a):
    return np.abs(a).sum(axis=0).max() if a.size else 0.0


def interchanged(a, ipiv):
    """P A"""
    a = a.copy()
    for k, row in enumerate(ipiv - 1):
        a[[k, row]] = a[[row, k]]
    return a


def factor_ratio(a, lu, ipiv, jpiv=None):
    """norm(P A Q - L U) / (N norm(A) eps), as in LAPACK's tests"""
    m, n = a.shape
    eps = np.finfo(a.dtype).eps / 2
    a, lu = a.astype(float), lu.astype(float)
    lower = np.tril(lu, -1)[:, :min(m, n)] + np.eye(m, min(m, n))
    moved = interchanged(a, ipiv)
    if jpiv is not None:
        moved = interchanged(moved.T, jpiv).T
    return norm1(moved - lower @ np.triu(lu)[:min(m, n)]) / (max(m, n) * norm1(a) * eps)


def solve_ratio(a, x, b):
    """The largest norm(B - A X) / (norm(A) norm(X) eps) over the columns"""
    eps = np.finfo(b.dtype).eps / 2
    a, x, b = a.astype(float), x.astype(float), b.astype(float)
    return max((norm1(b[:, [j]] - a @ x[:, [j]]) / (norm1(a) * norm1(x[:, [j]]) * eps)
                for j in range(b.shape[1])), default=0.0)


class LapackTest(unittest.TestCase):
    def assert_padding_untouched(self, wide, rows):
        self.assertTrue((wide[rows:] == PAD).all())

    def assert_place(self, lines, routine, place, count=1):
        self.assertEqual(places(lines), {(routine, place): count}, lines)

    def factored(self, x, a):
        """LU and IPIV of a square matrix, by the library."""
        n = len(a)
        lu, ipiv = np.asfortranarray(a), pivots(n)
        self.assertEqual(call(own, x + "getrf", n, n, lu, max(n, 1), ipiv), 0)
        return lu, ipiv


class ExportsTest(unittest.TestCase):
    def test_fortran_names_and_nothing_else(self):
        symbols = subprocess.run(["nm", "-D", "--defined-only", LIBRARY], check=True,
                                 capture_output=True, text=True, timeout=SECONDS).stdout
        self.assertEqual({line.split()[-1] for line in symbols.splitlines()}, EXPORTED)

    def test_needs_no_other_lapack(self):
        needed = subprocess.run(["readelf", "-d", LIBRARY], check=True, capture_output=True,
                                text=True, timeout=SECONDS).stdout
        self.assertNotRegex(needed, "blas|lapack.*so\\.3|lapacke")


class ArgumentsTest(LapackTest):
    """Every argument that LAPACK checks, alone wrong; and the first of several wrong ones."""

    def assert_wrong(self, position, routine, *arguments, workspace=None):
        kept = [a for a in arguments if isinstance(a, np.ndarray) and a is not workspace]
        before = [np.copy(a) for a in kept]
        ctypes.c_int.in_dll(xerbla, "lugpu_wrong_position").value = 0
        self.assertEqual(call(own, routine, *arguments), -position)
        reported = (ctypes.c_char * 16).in_dll(xerbla, "lugpu_wrong_routine").value.decode()
        self.assertEqual(reported.rstrip(), routine.upper())
        self.assertEqual(ctypes.c_int.in_dll(xerbla, "lugpu_wrong_position").value, position)
        for b, a in zip(before, kept):
            np.testing.assert_array_equal(b, a)

    def test_each(self):
        for x, real in REALS.items():
            a, b, work = np.ones((9, 9), real), np.ones((9, 2), real), np.ones(9, real)
            ipiv = np.arange(1, 10, dtype=np.int32)
            for position, arguments in [
                    (1, (-1, 9, a, 9, ipiv)), (2, (9, -1, a, 9, ipiv)), (4, (9, 9, a, 8, ipiv)),
                    (4, (0, 0, a, 0, ipiv)), (1, (-1, -1, a, 0, ipiv)), (4, (9, 2, a, 2, ipiv))]:
                self.assert_wrong(position, x + "getrf", *arguments)
            for position, arguments in [
                    (1, ("/", 9, 2, a, 9, ipiv, b, 9)), (2, ("N", -1, 2, a, 9, ipiv, b, 9)),
                    (3, ("T", 9, -1, a, 9, ipiv, b, 9)), (5, ("C", 9, 2, a, 8, ipiv, b, 9)),
                    (8, ("n", 9, 2, a, 9, ipiv, b, 8)), (1, ("X", -1, -1, a, 0, ipiv, b, 0))]:
                self.assert_wrong(position, x + "getrs", *arguments)
            for position, arguments in [
                    (1, (-1, a, 9, ipiv, work, 9)), (3, (9, a, 8, ipiv, work, 9)),
                    (6, (9, a, 9, ipiv, work, 8)), (3, (9, a, 8, ipiv, work, -1)),
                    (6, (0, a, 1, ipiv, work, 0))]:
                self.assert_wrong(position, x + "getri", *arguments, workspace=work)
            for position, arguments in [
                    (1, (-1, 2, a, 9, ipiv, b, 9)), (2, (9, -1, a, 9, ipiv, b, 9)),
                    (4, (9, 2, a, 8, ipiv, b, 9)), (7, (9, 2, a, 9, ipiv, b, 8))]:
                self.assert_wrong(position, x + "gesv", *arguments)

    def test_dsgesv(self):
        a, b, x, work = np.ones((9, 9)), np.ones((9, 2)), np.ones((9, 2)), np.ones((9, 2))
        swork, ipiv, iteration = np.ones(99, np.float32), pivots(9), np.zeros(1, np.int32)
        for position, (n, nrhs, lda, ldb, ldx) in [
                (1, (-1, 2, 9, 9, 9)), (2, (9, -1, 9, 9, 9)), (4, (9, 2, 8, 9, 9)),
                (7, (9, 2, 9, 8, 9)), (9, (9, 2, 9, 9, 8))]:
            self.assert_wrong(position, "dsgesv", n, nrhs, a, lda, ipiv, b, ldb, x, ldx, work,
                              swork, iteration)

    def test_as_without_the_library(self):
        """A module that brings its own xerbla_, opened with RTLD_LOCAL as Python's are, hears of an illegal
        argument; NumPy's raises ValueError. With the library before or in the place of the host's LAPACK as
        without."""
        environments = [{"LD_PRELOAD": BEFORE}, {"LD_PRELOAD": PRELOADED},
                        {"LD_PRELOAD": BEFORE, "LD_LIBRARY_PATH": os.path.dirname(AS_LIBLAPACK)}]
        for environment in environments:
            with self.subTest(environment):
                done = subprocess.run(["/usr/bin/python3", "-c", ILLEGAL_ARGUMENTS], capture_output=True,
                                      text=True, timeout=SECONDS, check=True, env=os.environ | environment)
                self.assertEqual(done.stdout.splitlines(), [
                    f"{-position} On entry to {x}{routine} parameter number {position} had an illegal value"
                    for x in "SD" for routine, position in (("GESV", 2), ("GETRF", 1))])
                self.assertEqual(done.stderr, "")

    def test_nothing_to_do(self):
        """No element is looked at."""
        with stderr_text() as lines:
            for x in REALS:
                for m, n in [(0, 0), (0, 9), (9, 0)]:
                    self.assertEqual(call(own, x + "getrf", m, n, None, 9, None), 0)
                for trans in "NTC":
                    self.assertEqual(call(own, x + "getrs", trans, 0, 2, None, 1, None, None, 1), 0)
                    self.assertEqual(call(own, x + "getrs", trans, 9, 0, None, 9, None, None, 9), 0)
                self.assertEqual(call(own, x + "gesv", 0, 2, None, 1, None, None, 1), 0)
                self.assertEqual(call(own, x + "getc2", 0, None, 1, None, None), 0)
                work = np.zeros(1, REALS[x])
                self.assertEqual(call(own, x + "getri", 0, None, 1, None, work, 1), 0)
            iteration = np.full(1, 9, np.int32)
            self.assertEqual(call(own, "dsgesv", 0, 2, None, 1, None, None, 1, None, 1, None, None,
                                  iteration), 0)
            self.assertEqual(iteration[0], 0)
        self.assertEqual(lines, [])


class GetrfTest(LapackTest):
    def test_every_shape(self):
        for x in REALS:
            for m in ORDERS:
                for n in ORDERS:
                    a = random_matrix(x, m, n, m + 1000 * n)
                    lu, ipiv = padded(a), pivots(min(m, n))
                    with stderr_text() as lines:
                        self.assertEqual(call(own, x + "getrf", m, n, lu, m + 3, ipiv), 0)
                    place = "device" if min(m, n) >= MIN_N else "host"
                    self.assert_place(lines, x + "getrf", place)
                    self.assert_padding_untouched(lu, m)
                    self.assertLess(factor_ratio(a, lu[:m], ipiv), 30, (x, m, n))
                    expected, true_ipiv = padded(a), pivots(min(m, n))
                    call(truth, x + "getrf", m, n, expected, m + 3, true_ipiv)
                    np.testing.assert_array_equal(ipiv, true_ipiv)

    def test_singular(self):
        """The first zero pivot is reported, the factorization completed."""
        for x in REALS:
            for zero in [0, 5, 63, 64, 99]:
                a = random_matrix(x, 100, 100)
                a[:, zero] = 0
                a[:, 99] = 0
                lu, ipiv = np.asfortranarray(a), pivots(100)
                expected, true_ipiv = lu.copy(order="F"), pivots(100)
                self.assertEqual(call(own, x + "getrf", 100, 100, lu, 100, ipiv), zero + 1)
                call(truth, x + "getrf", 100, 100, expected, 100, true_ipiv)
                np.testing.assert_array_equal(ipiv, true_ipiv)
                np.testing.assert_allclose(lu, expected, atol=1e4 * np.finfo(a.dtype).eps, rtol=0)

    def test_zero_matrix(self):
        for x, real in REALS.items():
            a, ipiv = np.zeros((70, 70), real, order="F"), pivots(70)
            self.assertEqual(call(own, x + "getrf", 70, 70, a, 70, ipiv), 1)
            np.testing.assert_array_equal(ipiv, np.arange(1, 71))
            self.assertFalse(a.any())

    def test_what_is_no_number(self):
        """NaN and infinities do not prevent termination, in the factors or in the solution."""
        for x in REALS:
            for value in [np.nan, np.inf, -np.inf]:
                for i, j in [(0, 0), (50, 3), (99, 99)]:
                    a = random_matrix(x, 100, 100)
                    a[i, j] = value
                    lu, ipiv, b = np.asfortranarray(a), pivots(100), np.ones((100, 1), a.dtype)
                    self.assertGreaterEqual(call(own, x + "getrf", 100, 100, lu, 100, ipiv), 0)
                    self.assertTrue(((ipiv >= 1) & (ipiv <= 100)).all())
                    self.assertFalse(np.isfinite(lu).all())
                    for trans in "NT":
                        call(own, x + "getrs", trans, 100, 1, lu, 100, ipiv, b, 100)
                        if np.isnan(value):
                            self.assertTrue(np.isnan(b).any())


class GetrsTest(LapackTest):
    def test_every_transpose(self):
        for x in REALS:
            for n in ORDERS:
                a = random_matrix(x, n, n, n)
                lu, ipiv = self.factored(x, a)
                wide = padded(lu)
                for trans in "NnTtCc":
                    for nrhs in [1, 2, 65]:
                        b = random_matrix(x, n, nrhs, n + 7)
                        solution = padded(b, 2)
                        with stderr_text() as lines:
                            self.assertEqual(call(own, x + "getrs", trans, n, nrhs, wide, n + 3,
                                                  ipiv, solution, n + 2), 0)
                        self.assert_place(lines, x + "getrs", "cache" if n >= MIN_N else "host")
                        self.assert_padding_untouched(solution, n)
                        op_a = a if trans in "Nn" else a.T
                        self.assertLess(solve_ratio(op_a, solution[:n], b), 30, (x, n, trans))

    def test_factors_of_another_lapack(self):
        for x in REALS:
            a, b = random_matrix(x, 70, 70), random_matrix(x, 70, 3)
            lu, ipiv = np.asfortranarray(a), pivots(70)
            call(truth, x + "getrf", 70, 70, lu, 70, ipiv)
            for place in ["device", "cache"]:
                solution = np.asfortranarray(b)
                with stderr_text() as lines:
                    call(own, x + "getrs", "N", 70, 3, lu, 70, ipiv, solution, 70)
                self.assert_place(lines, x + "getrs", place)
                self.assertLess(solve_ratio(a, solution, b), 30)

    def test_changed_factors_are_noticed(self):
        """Every single element, and the interchanges."""
        for x in REALS:
            lu, ipiv = self.factored(x, random_matrix(x, 11, 11))
            b = random_matrix(x, 11, 1)

            def assert_solved(place):
                solution, expected = np.asfortranarray(b), np.asfortranarray(b)
                with stderr_text() as lines:
                    call(own, x + "getrs", "N", 11, 1, lu, 11, ipiv, solution, 11)
                self.assert_place(lines, x + "getrs", place)
                call(truth, x + "getrs", "N", 11, 1, lu, 11, ipiv, expected, 11)
                np.testing.assert_allclose(solution, expected, rtol=1e4 * np.finfo(b.dtype).eps)

            assert_solved("cache")
            for i in range(11):
                for j in range(11):
                    lu[i, j] = np.nextafter(lu[i, j], REALS[x](9))
                    assert_solved("device")
            assert_solved("cache")
            ipiv[0] = 1 if ipiv[0] != 1 else 2
            assert_solved("device")


class GetriTest(LapackTest):
    def test_inverse(self):
        for x in REALS:
            for n in ORDERS:
                a = random_matrix(x, n, n, n)
                lu, ipiv = self.factored(x, a)
                inverse, work = padded(lu), np.zeros(n, a.dtype)
                with stderr_text() as lines:
                    self.assertEqual(call(own, x + "getri", n, inverse, n + 3, ipiv, work, n), 0)
                self.assert_place(lines, x + "getri", "cache" if n >= MIN_N else "host")
                self.assert_padding_untouched(inverse, n)
                self.assertGreaterEqual(work[0], n)
                exact = a.astype(float)
                error = norm1(inverse[:n].astype(float) @ exact - np.eye(n))
                eps = np.finfo(a.dtype).eps / 2
                self.assertLess(error / (n * norm1(exact) * norm1(inverse[:n]) * eps), 30)

    def test_workspace_query(self):
        for x in REALS:
            a, work, expected = random_matrix(x, 70, 70), np.zeros(1, REALS[x]), np.zeros(1, REALS[x])
            before = a.copy()
            self.assertEqual(call(own, x + "getri", 70, a, 70, pivots(70), work, -1), 0)
            call(truth, x + "getri", 70, a, 70, pivots(70), expected, -1)
            self.assertEqual(work[0], expected[0])
            np.testing.assert_array_equal(a, before)

    def test_singular(self):
        for x in REALS:
            lu, ipiv = self.factored(x, random_matrix(x, 70, 70))
            lu[41, 41] = lu[60, 60] = 0
            before = lu.copy()
            self.assertEqual(call(own, x + "getri", 70, lu, 70, ipiv, np.zeros(70, lu.dtype), 70), 42)
            np.testing.assert_array_equal(lu, before)


class GesvTest(LapackTest):
    def test_solves(self):
        for x in REALS:
            for n in ORDERS:
                # OpenBLAS does not factor without right-hand sides.
                for nrhs in [0, 1, 65] if n >= MIN_N else [1, 65]:
                    a, b = random_matrix(x, n, n, n), random_matrix(x, n, nrhs, n + 7)
                    lu, solution, ipiv = padded(a), padded(b, 2), pivots(n)
                    with stderr_text() as lines:
                        self.assertEqual(call(own, x + "gesv", n, nrhs, lu, n + 3, ipiv, solution,
                                              n + 2), 0)
                    self.assert_place(lines, x + "gesv", "device" if n >= MIN_N else "host")
                    self.assert_padding_untouched(lu, n)
                    self.assert_padding_untouched(solution, n)
                    self.assertLess(factor_ratio(a, lu[:n], ipiv), 30)
                    self.assertLess(solve_ratio(a, solution[:n], b), 30)

    def test_singular_leaves_b(self):
        for x in REALS:
            a, b = random_matrix(x, 70, 70), random_matrix(x, 70, 2)
            a[:, 30] = 0
            lu, solution = np.asfortranarray(a), np.asfortranarray(b)
            self.assertEqual(call(own, x + "gesv", 70, 2, lu, 70, pivots(70), solution, 70), 31)
            np.testing.assert_array_equal(solution, b)
            self.assertTrue((lu != a).any())


class DsgesvTest(LapackTest):
    def solved_by(self, library, a, b):
        """A, IPIV, X and ITER after dsgesv"""
        n, nrhs = b.shape
        held, given, solution = padded(a), padded(b, 2), padded(np.zeros_like(b), 1)
        ipiv, iteration = pivots(n), np.full(1, 99, np.int32)
        self.assertEqual(call(library, "dsgesv", n, nrhs, held, n + 3, ipiv, given, n + 2, solution,
                              n + 1, np.zeros(n * nrhs), np.zeros(n * (n + nrhs), np.float32),
                              iteration), 0)
        self.assert_padding_untouched(solution, n)
        np.testing.assert_array_equal(given[:n], b)
        return held[:n], ipiv, solution[:n], iteration[0]

    def assert_solved(self, a, b):
        """As LAPACK does it. Returns ITER and the trace."""
        *_, true_iteration = self.solved_by(truth, a, b)
        with stderr_text() as lines:
            held, ipiv, x, iteration = self.solved_by(own, a, b)
        if true_iteration < 0:
            self.assertEqual(iteration, true_iteration)
            self.assertLess(factor_ratio(a, held, ipiv), 30)
        else:
            # GCR may need fewer corrections, and rounding one more.
            self.assertIn(iteration, range(true_iteration + 2))
            np.testing.assert_array_equal(held, a)
            single_lu, single_ipiv = np.asfortranarray(a.astype(np.float32)), pivots(len(a))
            call(truth, "sgetrf", *a.shape, single_lu, len(a), single_ipiv)
            np.testing.assert_array_equal(ipiv, single_ipiv)
        self.assertLess(solve_ratio(a, x, b), 30)
        return iteration, lines

    def test_refined(self):
        for n in ORDERS:
            for nrhs in [1, 5]:
                _, lines = self.assert_solved(random_matrix("d", n, n, n),
                                              random_matrix("d", n, nrhs, n + 7))
                if n >= MIN_N:
                    self.assert_place(lines, "dsgesv", "device")

    def test_no_right_hand_sides(self):
        self.assertEqual(self.solved_by(own, random_matrix("d", 20, 20), np.zeros((20, 0)))[3], 0)

    def test_exact_at_once(self):
        iteration, _ = self.assert_solved(np.eye(20), np.ones((20, 1)))
        self.assertEqual(iteration, 0)

    def assert_given_up(self, a, b, why):
        iteration, lines = self.assert_solved(a, b)
        self.assertEqual(iteration, why)
        self.assertEqual(places(lines), {("dgetrf", "device"): 1, ("dgetrs", "cache"): 1,
                                         ("dsgesv", "device"): 1})

    def test_overflow_of_single(self):
        a, b = random_matrix("d", 20, 20), random_matrix("d", 20, 2)
        self.assert_given_up(a * 1e100, b, -2)
        self.assert_given_up(a, b * 1e100, -2)
        for value in [1e100, -1e100, -1e300]:  # alone
            with self.subTest(value=value):
                large = a.copy()
                large[3, 4] = value
                self.assert_given_up(large, b, -2)
                large = b.copy()
                large[3, 1] = value
                self.assert_given_up(a, large, -2)

    def test_zero_right_hand_side(self):
        """Done at once: no residual is smaller than zero."""
        *_, x, iteration = self.solved_by(own, random_matrix("d", 20, 20), np.zeros((20, 2)))
        self.assertEqual(iteration, 0)
        np.testing.assert_array_equal(x, np.zeros((20, 2)))

    def test_singular_in_single(self):
        a = np.eye(20)
        a[3, 3] = 1e-60
        self.assert_given_up(a, random_matrix("d", 20, 2), -3)

    def test_too_ill_conditioned(self):
        rng = np.random.default_rng(3)
        u, v = (np.linalg.qr(rng.standard_normal((50, 50)))[0] for _ in range(2))
        a = u @ np.diag(np.logspace(0, -11, 50)) @ v
        self.assert_given_up(a, random_matrix("d", 50, 1), -31)

    def test_singular(self):
        a, iteration = np.zeros((20, 20), order="F"), np.zeros(1, np.int32)
        info = call(own, "dsgesv", 20, 1, a, 20, pivots(20), np.ones(20), 20, np.zeros(20), 20,
                    np.zeros(20), np.zeros(420, np.float32), iteration)
        self.assertEqual((info, iteration[0]), (1, -3))


class Getc2Test(LapackTest):
    def factored_by(self, library, x, a):
        n = len(a)
        lu, ipiv, jpiv = padded(a), pivots(n), pivots(n)
        info = call(library, x + "getc2", n, lu, n + 3, ipiv, jpiv)
        self.assert_padding_untouched(lu, n)
        return lu[:n], ipiv, jpiv, info

    def test_factors_and_solves(self):
        for x in REALS:
            for n in [1, 2, 5, 8, 10, 50, 65]:
                a, b = random_matrix(x, n, n, n), random_matrix(x, n, 1, n + 7)
                with stderr_text() as lines:
                    lu, ipiv, jpiv, info = self.factored_by(own, x, a)
                self.assert_place(lines, x + "getc2", "device" if n >= MIN_N else "host")
                self.assertEqual(info, 0)
                self.assertLess(factor_ratio(a, lu, ipiv, jpiv), 30)
                _, true_ipiv, true_jpiv, _ = self.factored_by(truth, x, a)
                np.testing.assert_array_equal(ipiv, true_ipiv)
                np.testing.assert_array_equal(jpiv, true_jpiv)
                solution, scale = b[:, 0].copy(), np.zeros(1, a.dtype)
                held = np.asfortranarray(lu)
                getattr(own, x + "gesc2_")(
                    ctypes.byref(ctypes.c_int(n)), ctypes.c_void_p(held.ctypes.data),
                    ctypes.byref(ctypes.c_int(n)), ctypes.c_void_p(solution.ctypes.data),
                    ctypes.c_void_p(ipiv.ctypes.data), ctypes.c_void_p(jpiv.ctypes.data),
                    ctypes.c_void_p(scale.ctypes.data))
                self.assertLess(solve_ratio(a, solution[:, None] / scale[0], b), 30)

    def test_small_pivots_are_replaced(self):
        """Those below max(eps max|A|, smlnum), and INFO is the last of them."""
        rng = np.random.default_rng(1)
        of_rank_10 = rng.integers(-3, 4, (40, 10)) @ rng.integers(-3, 4, (10, 40))
        for x, real in REALS.items():
            eps, tiny = np.finfo(real).eps, np.finfo(real).tiny
            diagonal = np.eye(9)
            diagonal[4, 4], diagonal[7, 7] = eps, -eps / 2  # the first is just large enough
            for a in [of_rank_10, np.zeros((9, 9)), diagonal, np.full((9, 9), -tiny)]:
                a = a.astype(real)
                lu, ipiv, jpiv, info = self.factored_by(own, x, a)
                *_, true_info = self.factored_by(truth, x, a)
                self.assertEqual(info, true_info)
                self.assertGreater(info, 0)
                least = max(eps * np.abs(a).max(), tiny / eps)
                self.assertEqual(lu[info - 1, info - 1], real(least))
                self.assertTrue((np.abs(np.diag(lu)) >= real(least)).all())
                if np.abs(a).max() > tiny:
                    self.assertLess(factor_ratio(a, lu, ipiv, jpiv), 30)


class ThreadsTest(LapackTest):
    def test_threads_of_one_process(self):
        ratios = []

        def solve_some(thread):
            x = "sd"[thread % 2]
            for n in range(10, 60, 5):
                a, b = random_matrix(x, n, n, n + thread), random_matrix(x, n, 2, n)
                lu, ipiv, solution = np.asfortranarray(a), pivots(n), np.asfortranarray(b)
                call(own, x + "getrf", n, n, lu, n, ipiv)
                call(own, x + "getrs", "N", n, 2, lu, n, ipiv, solution, n)
                ratios.append(solve_ratio(a, solution, b))

        threads = [threading.Thread(target=solve_some, args=[t]) for t in range(4)]
        with stderr_text() as lines:
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        self.assertEqual(other_lines(lines), [])
        self.assertEqual(len(ratios), 40)
        self.assertLess(max(ratios), 30)


class ProcessTest(LapackTest):
    """Programs unaware of the library."""

    def run_with(self, command, stdin="", check=True, **environment):
        unset = {k: v for k, v in os.environ.items() if not k.startswith("LUGPU_")}
        return subprocess.run(command, input=stdin, capture_output=True, text=True, timeout=SECONDS,
                              check=check,
                              env=unset | {"LUGPU_LAPACK_TRACE": "1"} | environment)

    def python(self, code, **environment):
        """stdout and the lines of stderr of a Python program with SOLVES before it."""
        done = self.run_with(["/usr/bin/python3", "-c", SOLVES + code],
                             **{"LD_PRELOAD": PRELOADED} | environment)
        return done.stdout, done.stderr.splitlines()

    def test_where_home_cannot_be_written(self):
        """PoCL gets a folder for its kernels all the same."""
        with tempfile.TemporaryDirectory() as folder:
            _, errors = self.python("ratio(64, np.float64)", LUGPU_LAPACK_MIN_N="8", HOME="/dev/null",
                                    XDG_CACHE_HOME="", POCL_CACHE_DIR="", TMPDIR=folder)
            self.assertEqual(places(errors), {("dgesv", "device"): 1})
            if os.path.exists(POCL):
                self.assertEqual(os.listdir(folder), [f"lugpu-cache-{os.geteuid()}"])

    def test_numpy(self):
        """NumPy solves in double, whatever the type."""
        out, lines = self.python("print(max(ratio(n, t) for n in (20, 299, 300) for t in 'fd') < 30)",
                                 LUGPU_LAPACK_MIN_N="300")
        self.assertEqual(out, "True\n")
        self.assertEqual(places(lines), {("dgesv", "host"): 4, ("dgesv", "device"): 2})
        self.assertEqual(reasons(lines), {"order 20 is below LUGPU_LAPACK_MIN_N=300",
                                          "order 299 is below LUGPU_LAPACK_MIN_N=300"})

    @unittest.skipUnless(os.path.exists(POCL), POCL + " is not there")
    def test_a_cpu_must_be_asked_for(self):
        """By default every call is the host's where the device is a CPU, as PoCL's is."""
        out, lines = self.python("print(ratio(511, 'd') < 30, ratio(1024, 'd') < 30)",
                                 OCL_ICD_VENDORS=POCL)
        self.assertEqual(out, "True True\n")
        self.assertEqual(places(lines), {("dgesv", "host"): 2})
        self.assertEqual(reasons(lines), {"order 511 is below 512",
                                          "the device is a CPU, used only if LUGPU_LAPACK_MIN_N is set"})
        self.assertEqual(other_lines(lines), [])

    def test_scipy_finds_its_factors_again(self):
        out, lines = self.python("""
import scipy.linalg as la
a = np.random.default_rng(1).standard_normal((200, 200))
factors = la.lu_factor(a)
x, y = la.lu_solve(factors, np.ones(200)), la.lu_solve(factors, np.ones(200), trans=1)
inverse = la.inv(a)
print(abs(a @ x - 1).max() < 1e-9, abs(a.T @ y - 1).max() < 1e-9,
      abs(a @ inverse - np.eye(200)).max() < 1e-9)
""", LUGPU_LAPACK_MIN_N="8")
        self.assertEqual(out, "True True True\n")
        counted = places(lines)
        self.assertEqual(counted["dgetrs", "cache"], 2, lines)
        self.assertEqual(counted["dgetrf", "device"], 2)
        self.assertEqual(counted["dgetri", "cache"], 1)

    def test_as_liblapack(self):
        """What the alternatives system would put in place of liblapack.so.3."""
        for preload in [BEFORE, PRELOADED]:
            out, lines = self.python("""
eigenvalues = np.linalg.eigvalsh(np.diag([3., 1, 2]))
print(ratio(50, 'd') < 30, ratio(7, 'd') < 30, abs(eigenvalues - [1, 2, 3]).max() < 1e-9)
""", LD_LIBRARY_PATH=os.path.dirname(AS_LIBLAPACK), LUGPU_LAPACK_MIN_N="8", LD_PRELOAD=preload)
            self.assertEqual(out, "True True True\n")
            self.assertEqual(places(lines), {("dgesv", "device"): 1, ("dgesv", "host"): 1})

    def install(self, prefix, **environment):
        """The folder of liblapack.so.3 after an installation."""
        self.run_with(["cmake", "--install", os.path.dirname(LIBRARY), "--prefix", prefix], **environment)
        root = environment.get("DESTDIR", "") + prefix
        return os.path.dirname(glob.glob(root + "/**/lugpu/liblapack.so.3", recursive=True)[0])

    def test_installed_under_another_prefix(self):
        """liblapack.so.3 finds the drop-in beside it, reached by its own path or by links as the alternatives
        system makes them; and when it is installed once more."""
        with tempfile.TemporaryDirectory() as folder:
            links = os.path.join(folder, "links")
            os.mkdir(links)
            prefix = os.path.join(folder, "a rather long prefix, " + 200 * "x")
            for _ in range(2):
                installed = self.install(prefix)
                if not os.listdir(links):
                    alternative = os.path.join(folder, "alternative")
                    os.symlink(os.path.join(installed, "liblapack.so.3"), alternative)
                    os.symlink(alternative, os.path.join(links, "liblapack.so.3"))
                for path in [installed, links]:
                    out, lines = self.python("print(ratio(50, 'd') < 30)", LUGPU_LAPACK_MIN_N="8",
                                             LD_LIBRARY_PATH=path, LD_PRELOAD=BEFORE)
                    self.assertEqual(out, "True\n")
                    self.assertEqual(places(lines), {("dgesv", "device"): 1})

    def test_installed_for_a_package(self):
        """In DESTDIR, the RUNPATH is the folder where the package will be."""
        with tempfile.TemporaryDirectory() as stage:
            installed = self.install("/opt/elsewhere", DESTDIR=stage)
            library = os.path.join(installed, "liblapack.so.3")
            dynamic = self.run_with(["readelf", "-d", library], LC_ALL="C").stdout
            self.assertIn(f"Library runpath: [{os.path.dirname(installed.removeprefix(stage))}]\n", dynamic)

    def test_no_device(self):
        out, lines = self.python("print(max(ratio(n, 'd') for n in (20, 30, 40)) < 30)",
                                 LUGPU_LAPACK_MIN_N="8", LUGPU_DEVICE="no such device")
        self.assertEqual(out, "True\n")
        self.assertEqual(places(lines), {("dgesv", "host"): 3})
        self.assertEqual(len(other_lines(lines)), 1, lines)
        no_device = 'There is no OpenCL device "no such device"'
        self.assertTrue(other_lines(lines)[0].startswith(
            "lugpu_lapack: warning: the host computes what the device cannot: " + no_device), lines)
        self.assertTrue(all(reason.startswith(no_device) for reason in reasons(lines)), lines)

    def test_too_large_for_the_device(self):
        """Of 1 GiB, PoCL gives one matrix a quarter at most."""
        out, lines = self.python("""
a = 2 * np.eye(5800)
x = np.linalg.solve(a, np.ones(5800))
print(abs(x - 0.5).max(), ratio(1100, 'd') < 30)
""", POCL_MEMORY_LIMIT="1", LUGPU_LAPACK_MIN_N="1000")
        self.assertEqual(out, "0.0 True\n")
        self.assertEqual(places(lines), {("dgesv", "host"): 1, ("dgesv", "device"): 1})
        self.assertEqual(len(other_lines(lines)), 1, lines)
        self.assertIn("does not fit", other_lines(lines)[0])
        self.assertIn("does not fit", *reasons(lines))

    def test_several_devices(self):
        """Square systems are shared, in the same bits for every number of shares; all else is the first one's."""
        code = """
import hashlib, scipy.linalg as la
a = np.asfortranarray(np.random.default_rng(1).standard_normal((450, 450)))
lu, piv = la.lu_factor(a)
x = la.lu_solve((lu, piv), a @ np.ones(450))
y = la.lu_solve((lu, piv), a.T @ np.ones(450), trans=1)
inverse = la.inv(a)
u = np.triu(lu)
z = la.lu_solve((u, np.arange(450, dtype=np.int32)), u @ np.ones(450))
tall, swaps, _ = la.lapack.dgetrf(a[:, :200])
rows = np.arange(450)
for k, row in enumerate(swaps): rows[[k, row]] = rows[[row, k]]
errors = [abs(x - 1), abs(y - 1), abs(inverse @ a - np.eye(450)), abs(z - 1),
          abs((np.tril(tall, -1) + np.eye(450, 200)) @ np.triu(tall[:200]) - a[rows, :200])]
print(max(error.max() for error in errors) < 1e-8, ratio(450, 'f') < 30,
      hashlib.md5(b''.join(array.tobytes() for array in (lu, x, y, z, inverse))).hexdigest())
"""
        outs = set()
        for devices in ("0,0", "0,0,0"):
            out, lines = self.python(code, LUGPU_LAPACK_MIN_N="8", LUGPU_DEVICE=devices)
            self.assertEqual(other_lines(lines), [])
            self.assertEqual({place for _, place in places(lines)}, {"device", "cache"})
            outs.add(out)
        self.assertEqual(len(outs), 1)
        self.assertTrue(out.startswith("True True "), out)

    def test_forked_process(self):
        out, lines = self.python("""
import os
first = ratio(20, 'd') < 30
child = os.fork()
if child == 0:
    os._exit(0 if ratio(30, 'd') < 30 and ratio(31, 'd') < 30 else 1)
print(first, os.waitpid(child, 0)[1], ratio(40, 'd') < 30)
""", LUGPU_LAPACK_MIN_N="8")
        self.assertEqual(out, "True 0 True\n")
        self.assertEqual(places(lines), {("dgesv", "device"): 2, ("dgesv", "host"): 2})
        self.assertEqual(reasons(lines), {"a forked process cannot use the device of its parent."})
        self.assertEqual(len(other_lines(lines)), 1, lines)  # it warns once

    def test_bad_threshold(self):
        for value in ["many", "-1", "8x", "99999999999"]:
            out, lines = self.python("print(ratio(20, 'd') < 30)", LUGPU_LAPACK_MIN_N=value)
            self.assertEqual(out, "True\n")
            self.assertEqual(places(lines), {("dgesv", "host"): 1})
            self.assertEqual(len(other_lines(lines)), 1)
            self.assertIn("lugpu_lapack: warning: LUGPU_LAPACK_MIN_N=" + value, other_lines(lines)[0])

    def test_no_control_characters(self):
        """Of the environment: none reaches the terminal raw, and a warning is one line."""
        _, lines = self.python("ratio(20, 'd')", LUGPU_LAPACK_MIN_N="\x1b[31m\n8")
        self.assertEqual(len(other_lines(lines)), 1, lines)
        self.assertIn(r"LUGPU_LAPACK_MIN_N=\x1b[31m\n8 is not", other_lines(lines)[0])

    def test_timing_script(self):
        """Both libraries, every routine, answers within the limit."""
        script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../scripts/time_lapack.py")
        lugpu = os.path.join(os.path.dirname(LIBRARY), "lugpu")
        with tempfile.TemporaryDirectory() as folder:
            file = os.path.join(folder, "r.json")
            self.run_with(["/usr/bin/python3", script, lugpu, LIBRARY, "--orders", "8,70", "--runs", "2",
                           "--json", file])
            with open(file, encoding="utf-8") as stream:
                rows = json.load(stream)["results"]
        self.assertEqual({(row["library"], row["routine"], row["n"]) for row in rows},
                         {(library, x + routine, n) for library in ("host", "liblugpu_lapack") for x in "sd"
                          for routine in ("getrf", "getrs", "getri", "gesv") for n in (8, 70)})
        for row in rows:
            self.assertEqual(len(row["times_s"]), 2)
            self.assertTrue(0 < row["ratio"] < 30, row)

    def time_languages(self, lugpu, *options, python=("/usr/bin/python3",), **environment):
        """scripts/time_languages.py at order 40, two runs of each."""
        script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../scripts/time_languages.py")
        return self.run_with([*python, script, lugpu, LIBRARY, "--orders", "40", "--runs", "2", *options],
                             check=False, LUGPU_LAPACK_MIN_N="1", **environment)

    def test_languages(self):
        """Those that are there: what ran where, both libraries, answers within the limits."""
        there = {"NumPy"} | {language for language, program in (("R", "Rscript"), ("Octave", "octave-cli"))
                             if shutil.which(program)}
        with tempfile.TemporaryDirectory() as folder:
            file = os.path.join(folder, "r.json")
            done = self.time_languages(os.path.join(os.path.dirname(LIBRARY), "lugpu"), "--json", file)
            self.assertEqual(done.returncode, 0, done.stderr)
            with open(file, encoding="utf-8") as stream:
                record = json.load(stream)
        self.assertEqual(list(record), ["argv", "context", "libraries", "devices", "languages", "calls",
                                        "results"])
        self.assertEqual(set(record["languages"]), there)
        self.assertEqual(record["languages"]["NumPy"], np.__version__)
        self.assertEqual(len(done.stderr.splitlines()), 3 - len(there), done.stderr)
        self.assertLessEqual(max(map(len, done.stdout.splitlines())), 80)
        self.assertEqual([row for row in record["calls"] if row["language"] == "NumPy"],
                         [{"language": "NumPy", "n": 40, "routine": routine, "device": device, "cache": 0,
                           "host": 0} for routine, device in (("dgesv", 4), ("dgetrf", 2))])
        self.assertEqual({row["language"] for row in record["calls"]}, there)
        self.assertFalse([row for row in record["calls"] if row["host"]])
        rows = record["results"]
        self.assertEqual({(row["library"], row["language"], row["operation"], row["n"]) for row in rows},
                         {(library, language, operation, 40) for library in ("host", "liblugpu_lapack")
                          for language in there for operation in ("solve", "inv", "det")})
        for row in rows:
            self.assertEqual(len(row["times_s"]), 2)
            self.assertLess(0, row["median_s"])
            if row["operation"] == "det":
                self.assertIn(row["sign"], (-1, 1))
                self.assertTrue(0 < abs(row["log_abs_det"]) < 100, row)
            else:
                self.assertTrue(0 < row["ratio"] < 30, row)

    def test_languages_that_fail(self):
        """Wrong answers and failures have status 1 and their reason. Shell scripts are R and Octave here,
        and the Python has no NumPy."""
        trace = "echo lugpu_lapack: dgesv n=40 nrhs=1 device 0.100 ms >&2\n"
        no_answer = "R of order 40 printed no answer"
        wrong_det = "det of R of order 40 is wrong, sign and log|det| are "
        preloaded = f"[ \"$LD_PRELOAD\" = '{BEFORE}' ] || "
        cases = {
            "": "",
            "echo solve_ratio 30": "solve of R of order 40 is wrong, ratio 30.",
            "echo inv_ratio NaN": "inv of R of order 40 is wrong, ratio nan.",
            preloaded + "echo log_abs_det 31.0000002": "",
            preloaded + "echo log_abs_det 31.0000004": wrong_det + "[-1.0, 31.0000004], "
                                                          "by the host [-1.0, 31.0].",
            preloaded + "echo sign 1": wrong_det + "[1.0, 31.0], by the host [-1.0, 31.0].",
            "echo log_abs_det -Inf": wrong_det + "[-1.0, -inf], by the host [-1.0, -inf].",
            "echo U is singular. >&2; exit 3": "R of order 40 ended with status 3: U is singular.",
            "echo no number": "",
            "echo inv 0.5 0.5 0.5": no_answer,
            "echo log_abs_det": no_answer,
            "echo solve_ratio NA": no_answer,
            "echo": no_answer,
            preloaded + "echo lugpu_lapack: warning: no device. >&2":
                "R of order 40: lugpu_lapack: warning: no device.",
        }
        with tempfile.TemporaryDirectory() as folder:

            def program(name, text):
                path = os.path.join(folder, name)
                with open(path, "w", encoding="utf-8") as file:
                    file.write(text)
                os.chmod(path, 0o755)
                return path

            lugpu = program("lugpu", '#!/bin/sh\necho \'{"context": {}, "libraries": {}, "devices": []}\'\n')
            program("octave-cli", LANGUAGE)
            for addition, reason in cases.items():
                with self.subTest(addition):
                    program("Rscript", LANGUAGE + trace + addition + "\nexit 0\n")
                    done = self.time_languages(lugpu, python=["/usr/bin/python3", "-S"],
                                               PATH=folder + ":" + os.environ["PATH"])
                    self.assertEqual(done.returncode, 1 if reason else 0, done.stderr)
                    self.assertIn("time_languages.py: NumPy is not installed.\n", done.stderr)
                    if reason:
                        self.assertIn("\ntime_languages.py: " + reason, done.stderr)
                        self.assertEqual(done.stdout, "")
                    else:
                        self.assertIn(f"time_languages.py: Octave calls nothing in {LIBRARY}.\n", done.stderr)
                        self.assertIn("\n    40  R         inv            375.000       375.000    1.00\n",
                                      done.stdout)

    def lapacks_tests(self, program, input_file, section):
        """The text and the trace of LAPACK's own test program, one section of its input."""
        folder = os.path.dirname(glob.glob("/usr/lib/*/lapack/" + program)[0])
        with open(os.path.join(folder, input_file), encoding="ascii") as file:
            lines = file.read().splitlines()
        kept = [line for line in lines if line.startswith(section)
                or not re.match(section[0] + r"[A-Z0-9]{2}\b", line)]
        reference = folder + ":" + os.path.join(os.path.dirname(folder), "blas")
        done = self.run_with([os.path.join(folder, program)], "\n".join(kept) + "\n",
                             LD_PRELOAD=PRELOADED, LD_LIBRARY_PATH=reference, LUGPU_LAPACK_MIN_N="0")
        lines = done.stderr.splitlines()
        self.assertEqual(other_lines(lines), [])
        self.assertNotRegex(done.stdout, "(?i)fail")
        counted = places(lines)
        self.assertFalse([key for key in counted if key[1] == "host"], counted)
        return done.stdout, counted

    def test_lapacks_own_tests(self):
        for x in "sd":
            text, counted = self.lapacks_tests("xlintst" + x, x + "test.in", x.upper() + "GE")
            for what in ["routines passed the tests of the error exits",
                         "drivers passed the tests of the error exits"]:
                self.assertIn(f"{x.upper()}GE {what}", text)
            for what, least in [("routines", 3653), ("drivers ", 5748)]:
                passed = re.search(f"All tests for {x.upper()}GE {what} passed the threshold "
                                   r"\( +(\d+) tests run\)", text)
                self.assertIsNotNone(passed, text)
                self.assertGreaterEqual(int(passed[1]), least)
            for routine, least in [("getrf", 1700), ("getrs", 16000), ("getri", 300), ("gesv", 60)]:
                ran = counted[x + routine, "device"] + counted[x + routine, "cache"]
                self.assertGreater(ran, least, routine)

    def test_lapacks_own_tests_of_dsgesv(self):
        text, counted = self.lapacks_tests("xlintstds", "dstest.in", "DGE")
        self.assertIn("DSGESV drivers passed the tests of the error exits", text)
        self.assertRegex(text, r"All tests for DSGESV routines passed the threshold \( +\d+ tests run")
        self.assertGreater(counted["dsgesv", "device"], 300)


if __name__ == "__main__":
    os.environ |= {"LUGPU_LAPACK_MIN_N": str(MIN_N), "LUGPU_LAPACK_TRACE": "1"}
    truth, own = ctypes.CDLL("liblapack.so.3"), ctypes.CDLL(LIBRARY)
    unittest.main()
