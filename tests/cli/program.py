"""What the tests of the command line share: the program as a process, matrices and records.

Run one of them as: /usr/bin/python3 tests/cli/NAME_test.py PATH_TO_LUGPU [arguments of unittest]
"""

import itertools
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from pathlib import Path

import jsonschema
import numpy as np
import scipy.io

ROOT = Path(__file__).resolve().parent.parent.parent
VALIDATOR = jsonschema.Draft7Validator(
    json.loads((ROOT / "docs/lugpu.schema.json").read_text(encoding="utf-8")))
# What PoCL compiled is shared: compiling it for each test would take most of the time.
COMPILED_KERNELS = Path(os.environ.get("POCL_CACHE_DIR") or Path(
    os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "pocl/kcache")
# For runs that cannot share it, or whose kernels other tests run optimized: PoCL takes a third to a half of the time.
UNOPTIMIZED = {"POCL_EXTRA_BUILD_FLAGS": "-cl-opt-disable"}
SANITIZED = "ASAN_OPTIONS" in os.environ
SECONDS = 400  # that a process may take, with the compilation of its kernels, on a slow machine
COLUMNS = 80
# What a process takes, by a small one that starts it: to Linux, a new program has had the memory of the one
# that started it.
COST_OF = """
import os, sys, time
null = [(os.POSIX_SPAWN_OPEN, stream, "/dev/null", os.O_RDWR, 0) for stream in range(3)]
start = time.monotonic()
_, status, usage = os.wait4(os.posix_spawn(sys.argv[1], sys.argv[1:], os.environ, file_actions=null), 0)
print(os.waitstatus_to_exitcode(status), time.monotonic() - start, usage.ru_maxrss * 1024)
"""
COMMANDS = ["devices", "solve", "advise", "bench", "compare", "report", "probe", "tune", "verify", "generate", "help"]

# For tests of what a process takes, or may take.
measures = unittest.skipIf(SANITIZED, "sanitizers take memory and time of their own")

METHODS = ["lu", "gauss-jordan"]  # of the paper: every pivoting, on every surface
BLOCKED = "lu-blocked"
PIVOTS = ["none", "partial", "scaled", "full"]  # of every method of the paper; lu has rook too
BLOCKED_PIVOTS = ["none", "partial"]
PRECISIONS = ["single", "double"]
STORAGES = ["image", "buffer"]
TEXELS = ["r", "rgba"]
SCHEDULES = ["fused", "paper"]
RIVALS = ["getrf", "getc2", "cusolver", "cusolver-none", "cusolver-mg", "cusolver-mp", "viennacl"]
FORMATS = [".mtx", ".npy", ".csv"]
KINDS = ["random", "dominant", "wilkinson", "tiny-pivot", "hilbert", "kahan", "singular", "graded"]


def small(**options):
    """A sweep of one case, which takes a moment; `options` are set or added by their long names. With little
    memory the device's rate of copying is measured sooner."""
    given = {"sizes": 8, "method": "lu", "pivot": "none", "baseline": "none", "runs": 1,
             "min_time": 0, "device_memory": "100M"} | options
    return ["bench", *itertools.chain.from_iterable(
        ("--" + name.replace("_", "-"), str(value)) for name, value in given.items())]


def random_matrix(m, n, seed=1):
    """m x n normal numbers."""
    return np.random.default_rng(seed).standard_normal((m, n))


def dominant_matrix(n):
    """A matrix that needs no pivoting."""
    return random_matrix(n, n) + 4 * n * np.eye(n)


def write_matrix(path, a):
    """Writes a matrix with code other than lugpu's, in the format of the extension."""
    if path.suffix == ".mtx":
        scipy.io.mmwrite(path, a, precision=17)
    elif path.suffix == ".npy":
        np.save(path, a)
    else:
        np.savetxt(path, a, fmt="%.17g", delimiter=",")


def read_matrix(path):
    """Reads a matrix with code other than lugpu's."""
    if path.suffix == ".mtx":
        return scipy.io.mmread(path)
    if path.suffix == ".npy":
        return np.load(path)
    return np.loadtxt(path, delimiter=",", ndmin=2)


def refuse_constant(name):
    """JSON has no NaN and no Infinity, whatever Python says."""
    raise ValueError(f"{name} is not JSON")


def parse_report(text):
    """The results of a JSON text, which must keep to the schema."""
    report = json.loads(text, parse_constant=refuse_constant)
    VALIDATOR.validate(report)
    return report["results"]


def case_of(row):
    """What tells a result from the others."""
    keys = ("routine", "pivot", "precision", "storage", "texel", "schedule", "n")
    return tuple(row[key] for key in keys)


def table_rows(text):
    """The rows of bench's table that show a time: case -> its numbers as text."""
    rows = {}
    for line in text.splitlines():
        fields = line.split()
        if len(fields) == 10 and re.fullmatch("[0-9.]+", fields[5]):
            n, routine, pivot, precision, storage, *numbers = fields
            path = (storage, None, None) if storage == "host" else (
                storage.removesuffix("4"), "rgba" if storage.endswith("4") else "r",
                "paper" if routine.endswith("*") else "fused")
            names = ("ms", "deviation", "gflops", "speedup", "check")
            case = (routine.removesuffix("*"), pivot, precision, *path, int(n))
            rows[case] = dict(zip(names, numbers))
    return rows


class CommandLine(unittest.TestCase):
    """A test that runs the program in a folder of its own, without what verify recorded elsewhere."""

    program = ""  # set from the command line

    def setUp(self):
        self.folder = self.new_folder()
        self.cache = self.new_folder()

    def new_folder(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        return Path(folder.name)

    def environment(self, env):
        own = {name: value for name, value in os.environ.items()
               if name not in ("LUGPU_DEVICE", "NO_COLOR")}
        own |= {"XDG_CACHE_HOME": str(self.cache), "POCL_CACHE_DIR": str(COMPILED_KERNELS)}
        return own | (env or {})

    def run_lugpu(self, *arguments, env=None, stdout=subprocess.PIPE, seconds=SECONDS):
        return subprocess.run([self.program, *arguments], cwd=self.folder, env=self.environment(env),
                              stdin=subprocess.DEVNULL, stdout=stdout, stderr=subprocess.PIPE,
                              encoding="utf-8", errors="surrogateescape", timeout=seconds,
                              check=False)

    def start_lugpu(self, *arguments, stderr=subprocess.DEVNULL):
        process = subprocess.Popen([self.program, *arguments], cwd=self.folder,
                                   env=self.environment(None), stdin=subprocess.DEVNULL,
                                   stdout=subprocess.DEVNULL, stderr=stderr)
        timer = threading.Timer(SECONDS, process.kill)
        timer.start()
        self.addCleanup(timer.cancel)
        return process

    def cost_of(self, *arguments):
        """Exit status, seconds and the most bytes of memory of a run."""
        done = subprocess.run([sys.executable, "-c", COST_OF, self.program, *arguments], cwd=self.folder,
                              env=self.environment(None), capture_output=True, encoding="utf-8", check=True)
        status, seconds, memory = done.stdout.split()
        return int(status), float(seconds), int(memory)

    def with_fault(self, function, call, code, kind="error"):
        """Environment in which a call of OpenCL fails in each process, by tests/opencl_faults.cpp."""
        shim = Path(self.program).parent / "tests/libopencl_faults.so"
        self.assertTrue(shim.is_file(), shim)
        return {"OPENCL_LAYERS": str(shim), "OPENCL_FAULT_FUNCTION": function,
                "OPENCL_FAULT_CALL": str(call), "OPENCL_FAULT_CODE": str(code),
                "OPENCL_FAULT_KIND": kind}

    def without(self, *abilities):
        """Environment in which devices have no "images" or no "double"."""
        return self.with_fault("", 0, 0) | {"OPENCL_FAULT_LACKS": " ".join(abilities)}

    def with_pace(self, milliseconds, kernels=(), longer=0, noise=0):
        """Environment in which the device takes so many milliseconds, with these kernels so many per cent longer,
        and up to twice the noise longer, by tests/opencl_pace.cpp."""
        shim = Path(self.program).parent / "tests/libopencl_pace.so"
        self.assertTrue(shim.is_file(), shim)
        return {"OPENCL_LAYERS": str(shim), "LD_PRELOAD": str(shim), "OPENCL_PACE_SPAN": str(milliseconds),
                "OPENCL_PACE_KERNELS": ",".join(kernels), "OPENCL_PACE_LONGER": str(longer),
                "OPENCL_PACE_NOISE": str(noise)}

    def lugpu(self, *arguments, status=0, env=None):
        """Runs lugpu, which must end with this status."""
        done = self.run_lugpu(*arguments, env=env)
        self.assertEqual(done.returncode, status, (arguments, done.stdout, done.stderr))
        return done

    def results(self, *arguments, status=0, env=None):
        """The results that a run with --json - prints."""
        return parse_report(self.lugpu(*arguments, "--json", "-", status=status, env=env).stdout)

    def device_type(self, matrix):
        return json.loads(self.lugpu("solve", matrix, "--json", "-").stdout)["devices"][0]["type"]

    def refused(self, *arguments, status=2, words=(), env=None):
        """Only one line on stderr, which has these words; no file is written."""
        before = sorted(self.folder.rglob("*"))
        done = self.lugpu(*arguments, status=status, env=env)
        self.assertEqual(done.stdout, "")
        self.assertRegex(done.stderr, r"\Alugpu: [^\n]+\n\Z")
        for word in words:
            self.assertIn(word, done.stderr)
        self.assertEqual(sorted(self.folder.rglob("*")), before)
        return done.stderr

    def write(self, name, content):
        """A file with these bytes or this matrix."""
        path = self.folder / name
        if isinstance(content, bytes):
            path.write_bytes(content)
        else:
            write_matrix(path, np.asarray(content))
        return name

    def generate(self, kind, n, name="a.mtx", seed=1):
        self.lugpu("generate", kind, str(n), "-o", name, "--seed", str(seed))
        return name

    def file_names(self):
        return sorted(path.name for path in self.folder.iterdir())

    def assert_narrow(self, text):
        for line in text.splitlines():
            self.assertLessEqual(len(line), COLUMNS, line)


def main():
    """Runs the tests of the file that is the script, with the program that the command line names."""
    if len(sys.argv) < 2:
        sys.exit(f"usage: {sys.argv[0]} PATH_TO_LUGPU [arguments of unittest]")
    CommandLine.program = os.path.abspath(sys.argv.pop(1))
    # A shell starts background jobs with SIGINT ignored; the processes of the tests need it.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    unittest.main()
