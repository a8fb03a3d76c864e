#!/usr/bin/python3
"""The drop-in ScaLAPACK under mpirun: ScaLAPACK's own test programs, and calls whose answers are known. The
real ScaLAPACK is the system's.

Run it as: /usr/bin/python3 tests/scalapack_test.py LIBLUGPU_SCALAPACK [arguments of unittest]
"""

import collections
import ctypes.util
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent / "cli"))
from program import COMPILED_KERNELS  # noqa: E402

if len(sys.argv) < 2:
    sys.exit(__doc__)
LIBRARY = os.path.abspath(sys.argv.pop(1))
SECONDS = 600  # that a run may take, with cold caches on few cores
PROGRAMS = next(iter(Path("/usr/lib").glob("*/scalapack/openmpi-tests")), None)
SCALAPACK = "libscalapack-openmpi.so.2.2"
EXPORTED = {f"p{x}{name}_" for x in "sd" for name in ("getrf", "getrs", "gesv")}
# Around the blocks of 64 columns, in narrower blocks and as wide ones, on 1 x 1, 1 x 2 and 1 x 3.
INPUT = """'SCALAPACK, LU factorization input file'
'lugpu'
'LU.out' output file name
6 device out
4 number of problem sizes
2 64 65 17 M
2 64 65 13 N
2 number of NB's
5 64 NB
2 number of NRHS's
1 9 NRHS
1 number of NBRHS's
3 NBRHS
3 number of process grids
1 1 1 P
1 2 3 Q
1.0 threshold
T test condition estimation and refinement
"""
# Systems of whose X all processes know what it is. Process p has column p of the grid.
CALLS = """
import ctypes, hashlib, sys
import numpy as np
libraries = ctypes.CDLL("{scalapack}", mode=ctypes.RTLD_GLOBAL)
own = ctypes.CDLL(None)
integer, blocks = ctypes.c_int, 32
rank, size, context = integer(), integer(), integer()
own.Cblacs_pinfo(ctypes.byref(rank), ctypes.byref(size))
own.Cblacs_get(-1, 0, ctypes.byref(context))
own.Cblacs_gridinit(ctypes.byref(context), b"R", 1, size.value)
me, count = rank.value, size.value

class Dealt:
    \"\"\"The columns of a matrix that this process has, below one another with padding, from a process on.\"\"\"
    def __init__(self, whole, nb, first):
        rows, columns = whole.shape
        self.mine = [j for j in range(columns) if (first + j // nb) % count == me]
        self.local = np.full((rows + 3, max(len(self.mine), 1)), -77, whole.dtype, order="F")
        self.local[:rows, :len(self.mine)] = whole[:, self.mine]
        self.descriptor = (integer * 9)(1, context.value, rows, columns, blocks, nb, 0, first, rows + 3)
    def arguments(self):
        one = integer(1)
        return [ctypes.c_void_p(self.local.ctypes.data), ctypes.byref(one), ctypes.byref(one), self.descriptor]
    def values(self):
        assert (self.local[-3:] == -77).all()
        return self.local[:-3, :len(self.mine)]

def call(name, *arguments):
    info = integer(-99)
    passed = [ctypes.byref(integer(value)) if isinstance(value, int) else value for value in arguments]
    getattr(own, name + "_")(*passed, ctypes.byref(info))
    return info.value

for x, real in (("s", np.float32), ("d", np.float64)):
    for n, first in ((150, 0), (200, count - 1)):
        random = np.random.default_rng(n)
        a = random.standard_normal((n, n)).astype(real)
        truth = random.standard_normal((n, 7)).astype(real)
        b = (a.astype(float) @ truth).astype(real)
        A, B = Dealt(a, blocks, first), Dealt(b, 3, 0)
        ipiv = np.full(n + blocks, -1, np.int32)
        pivots = ctypes.c_void_p(ipiv.ctypes.data)
        assert call(f"p{{x}}gesv", n, 7, *A.arguments(), pivots, *B.arguments()) == 0
        tolerance = 1e6 * np.finfo(real).eps
        assert np.allclose(B.values(), truth[:, B.mine], rtol=0, atol=tolerance)
        assert (ipiv[n:] == -1).all() and (ipiv[:n] > np.arange(n)).all()
        C = Dealt((a.T.astype(float) @ truth).astype(real), 5, count - 1)
        assert call(f"p{{x}}getrs", b"T", n, 7, *A.arguments(), pivots, *C.arguments()) == 0
        assert np.allclose(C.values(), truth[:, C.mine], rtol=0, atol=tolerance)
        digests = {{j: hashlib.md5(column.tobytes()).hexdigest()[:8] for j, column in zip(A.mine, A.values().T)}}
        for j, digest in digests.items():
            sys.stdout.write(f"{{x}} {{n}} {{j}} {{digest}}\\n")
        a[:, 70] = 0
        A = Dealt(a, blocks, first)
        assert call(f"p{{x}}getrf", n, n, *A.arguments(), pivots) == 71
sys.stdout.flush()
own.Cblacs_gridexit(context)
own.Cblacs_exit(0)
""".format(scalapack=SCALAPACK)

TRACE = re.compile(r"lugpu_scalapack: (p[sd]ge\w+) n=(\d+) grid=(\d+x\d+) "
                   r"(?:(device) \d+\.\d{3} ms|(host) \d+\.\d{3} ms: (.+))")


class ScalapackTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.environment = os.environ | {"XDG_CACHE_HOME": str(self.folder / "cache"),
                                         "POCL_CACHE_DIR": str(COMPILED_KERNELS)}
        if not shutil.which("mpirun"):
            self.skipTest("there is no mpirun")

    def mpirun(self, count, *command, **variables):
        """Without an error; stdout, and the matches of the trace and other lines of the library."""
        preloaded = f"{os.environ.get('LD_PRELOAD', '')} {LIBRARY}".strip()  # after the runtime of a sanitizer
        variables = {"LD_PRELOAD": preloaded, "LUGPU_LAPACK_MIN_N": "0", "LUGPU_LAPACK_TRACE": "1"} | variables
        passed = [argument for name, value in variables.items() for argument in ("-x", f"{name}={value}")]
        done = subprocess.run(["mpirun", "--oversubscribe", "--allow-run-as-root", "-n", str(count), *passed,
                               *command], cwd=self.folder, env=self.environment, stdin=subprocess.DEVNULL,
                              capture_output=True, encoding="utf-8", timeout=SECONDS, check=False)
        self.assertEqual(done.returncode, 0, done.stdout[-2000:] + done.stderr[-2000:])
        lines = [line for line in done.stderr.splitlines() if line.startswith("lugpu")]
        return (done.stdout, [match for match in map(TRACE.fullmatch, lines) if match],
                [line for line in lines if not TRACE.fullmatch(line)])


class ExportsTest(unittest.TestCase):
    def test_fortran_names_and_nothing_else(self):
        symbols = subprocess.run(["nm", "-D", "--defined-only", LIBRARY], check=True, capture_output=True,
                                 text=True, timeout=SECONDS).stdout
        self.assertEqual({line.split()[-1] for line in symbols.splitlines()}, EXPORTED)


class ProgramsTest(ScalapackTest):
    """xslu and xdlu of ScaLAPACK."""

    def setUp(self):
        super().setUp()
        if not PROGRAMS:
            self.skipTest("scalapack-mpi-test is not installed")

    def check_run(self, program, count):
        out, trace, others = self.mpirun(count, str(PROGRAMS / program))
        self.assertRegex(out, r"\n +0 tests completed and failed residual checks")
        self.assertIn("PASSED", out)
        self.assertNotIn("FAILED", out)
        return trace, others

    def write_input(self, text):
        """Without the estimation of conditions and the refinement: on several processes these of ScaLAPACK 2.2.1, by
        themselves, now and then wait for one another without end."""
        (self.folder / "LU.dat").write_text(re.sub(r"(?m)^T\b", "F", text))

    def test_estimation_and_refinement_on_one_process(self):
        (self.folder / "LU.dat").write_text(INPUT.replace("3 number of process grids", "1 number of process grids"))
        for x in "sd":
            trace, _ = self.check_run(f"x{x}lu", 1)
            self.assertGreater(sum(match[1].endswith("getrs") and match[4] == "device" for match in trace), 20)

    def test_around_blocks_on_grids_of_one_row(self):
        self.write_input(INPUT)
        for x in "sd":
            trace, others = self.check_run(f"x{x}lu", 3)
            places = collections.Counter((match[3], match[4] or match[5]) for match in trace)
            for grid in ("1x1", "1x2", "1x3"):
                self.assertGreater(places[grid, "device"], 15)
            self.assertEqual({match[6] for match in trace if match[5]}, {"its matrix is not square"})
            self.assertEqual(len(others), 1)
            self.assertIn("warning: the host computes", others[0])

    def test_input_of_its_own(self):
        self.write_input((PROGRAMS / "LU.dat").read_text())
        for x in "sd":
            trace, others = self.check_run(f"x{x}lu", 4)
            self.assertEqual({match[3] for match in trace if match[4]}, {"1x1", "1x4"})
            self.assertIn("its grid has 2 rows of processes, not one", {match[6] for match in trace})
            self.assertEqual(len(others), 1)  # the first of all that the host computes


class CallsTest(ScalapackTest):
    def setUp(self):
        super().setUp()
        try:
            ctypes.CDLL(SCALAPACK)
        except OSError:
            self.skipTest(f"there is no {SCALAPACK}")
        (self.folder / "calls.py").write_text(CALLS)

    def test_the_same_bits_on_any_number_of_processes(self):
        first = None
        for count, devices in ((1, "0"), (2, "0"), (3, "0"), (2, "0,0")):
            out, trace, others = self.mpirun(count, "/usr/bin/python3", "calls.py", LUGPU_DEVICE=devices)
            self.assertEqual(others, [])
            places = collections.Counter((match[1], match[4]) for match in trace)
            self.assertEqual(set(places.values()), {2})
            self.assertEqual(len(places), 6)
            columns = sorted(out.splitlines())
            self.assertEqual(len(columns), 2 * (150 + 200))
            first = first or columns
            self.assertEqual(columns, first, count)

    def test_small_orders_and_cpus_are_the_hosts(self):
        for variables, why in (({"LUGPU_LAPACK_MIN_N": "1000"}, "order 150 is below 1000"),
                               ({"LUGPU_LAPACK_MIN_N": ""}, "order 150 is below 512")):
            _, trace, others = self.mpirun(2, "/usr/bin/python3", "calls.py", **variables)
            self.assertEqual(others, [])
            self.assertIn(why, {match[6] for match in trace})
        _, trace, others = self.mpirun(2, "/usr/bin/python3", "calls.py", LUGPU_DEVICE="none such")
        self.assertIn("none such", others[0])
        self.assertEqual(len(others), 1)
        self.assertTrue(trace and all(match[5] for match in trace))

    def test_one_process_that_declines(self):
        """By a setting of its own; nobody waits for it."""
        for rank, of_others in ((0, ""), (1, r"Process 1 on \S+: ")):
            (self.folder / "decline.sh").write_text(
                f"[ $OMPI_COMM_WORLD_RANK != {rank} ] || export LUGPU_LAPACK_MIN_N=1000\nexec \"$@\"\n")
            _, trace, others = self.mpirun(2, "sh", "decline.sh", "/usr/bin/python3", "calls.py")
            self.assertEqual(others, [])
            self.assertEqual({match[4] for match in trace}, {None})
            for match in trace:
                self.assertRegex(match[6], f"^{of_others}order (150|200) is below 1000$")


if __name__ == "__main__":
    unittest.main()
