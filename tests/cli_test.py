#!/usr/bin/python3
"""The command line of lugpu as people and scripts meet it: exit status, text, JSON and files.

Run it as: /usr/bin/python3 tests/cli_test.py PATH_TO_LUGPU [arguments of unittest]
"""

import contextlib
import gzip
import itertools
import json
import os
import pty
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import termios
import threading
import time
import unittest
from pathlib import Path

import jsonschema
import numpy as np
import scipy.io

ROOT = Path(__file__).resolve().parent.parent
VALIDATOR = jsonschema.Draft7Validator(
    json.loads((ROOT / "docs/lugpu.schema.json").read_text(encoding="utf-8")))
PROGRAM = ""  # set from the command line
SECONDS = 60  # that a process may take
COLUMNS = 80

METHODS = ["lu", "gauss-jordan"]  # of the paper: every pivoting, on every surface
BLOCKED = "lu-blocked"
PIVOTS = ["none", "partial", "full"]  # of every method of the paper; lu has rook too
BLOCKED_PIVOTS = ["none", "partial"]
PRECISIONS = ["single", "double"]
STORAGES = ["image", "buffer"]
TEXELS = ["r", "rgba"]
SCHEDULES = ["fused", "paper"]
RIVALS = ["getrf", "getc2", "cusolver", "cusolver-none", "viennacl"]
FORMATS = [".mtx", ".npy", ".csv"]
KINDS = ["random", "dominant", "wilkinson", "tiny-pivot", "hilbert", "kahan", "singular", "graded"]
WITHOUT_SEED = {"wilkinson", "hilbert", "kahan", "diagonal"}

SWEEP = ["bench", "-n", "8:64:8", "--method", "lu", "--baseline", "getrf", "--runs", "2",
         "--min-time", "0.05", "--json", "sweep.json"]
SWEEP_ROWS = 8 * (1 + 3)


def small(**options):
    """A sweep of one case, which takes a moment; `options` are set or added by their long names."""
    given = {"sizes": 8, "method": "lu", "pivot": "none", "baseline": "none", "runs": 1,
             "min_time": 0} | options
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


def fnv(text):
    """FNV-1a of 64 bits, in hexadecimal."""
    value = 0xcbf29ce484222325
    for byte in text.encode("utf-8"):
        value = (value ^ byte) * 0x100000001b3 % 2**64
    return f"{value:016x}"


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


def rounding(text):
    """Half a unit of the last digit of a number as printed, and a little for the last bit."""
    return 0.5001 * 10.0 ** -len(text.partition(".")[2])


class CommandLine(unittest.TestCase):
    """A test that runs the program in its own folder."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def environment(self, env):
        own = {name: value for name, value in os.environ.items()
               if name not in ("LUGPU_DEVICE", "NO_COLOR")}
        return own | (env or {})

    def run_lugpu(self, *arguments, env=None, stdout=subprocess.PIPE, seconds=SECONDS):
        return subprocess.run([PROGRAM, *arguments], cwd=self.folder, env=self.environment(env),
                              stdin=subprocess.DEVNULL, stdout=stdout, stderr=subprocess.PIPE,
                              encoding="utf-8", errors="surrogateescape", timeout=seconds,
                              check=False)

    def start_lugpu(self, *arguments):
        process = subprocess.Popen([PROGRAM, *arguments], cwd=self.folder,
                                   env=self.environment(None), stdin=subprocess.DEVNULL,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        timer = threading.Timer(SECONDS, process.kill)
        timer.start()
        self.addCleanup(timer.cancel)
        return process

    def cost_of(self, *arguments):
        """Exit status, seconds and the most bytes of memory of a run."""
        start = time.monotonic()
        process = self.start_lugpu(*arguments)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        return process.returncode, time.monotonic() - start, usage.ru_maxrss * 1024

    def with_fault(self, function, call, code):
        """Environment in which a call of OpenCL fails in each process, by tests/opencl_faults.cpp."""
        shim = Path(PROGRAM).parent / "tests/libopencl_faults.so"
        self.assertTrue(shim.is_file(), shim)
        return {"LD_PRELOAD": str(shim), "OPENCL_FAULT_FUNCTION": function,
                "OPENCL_FAULT_CALL": str(call), "OPENCL_FAULT_CODE": str(code)}

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


class HelpTest(CommandLine):
    COMMANDS = ["devices", "solve", "advise", "bench", "probe", "verify", "generate", "help"]
    EXIT_STATUSES = {None: "012345", "devices": "0125", "solve": "012345", "advise": "012345",
                     "bench": "01245", "probe": "0125", "verify": "01245", "generate": "012",
                     "help": "012"}

    def help_of(self, *command):
        done = self.lugpu(*command, "--help")
        self.assertEqual(done.stderr, "")
        return done.stdout

    def test_help_fits_80_columns(self):
        """No line of a help text is longer than 80 columns."""
        for command in ([], *([name] for name in self.COMMANDS)):
            with self.subTest(command=command):
                self.assert_narrow(self.help_of(*command))

    def test_help_fits_the_terminal(self):
        """COLUMNS decides, or else the terminal; 80 columns are the most, and at any width each word is
        whole and the words are the same."""
        for command in ([], *([name] for name in self.COMMANDS)):
            words = self.help_of(*command).split()
            for width in (60, 80, 120):
                with self.subTest(command=command, width=width):
                    text = self.lugpu(*command, "--help", env={"COLUMNS": str(width)}).stdout
                    self.assertLessEqual(max(map(len, text.splitlines())), min(width, COLUMNS))
                    self.assertGreater(max(map(len, text.splitlines())), min(width, COLUMNS) - 15)
                    self.assertEqual(text.split(), words)
        ours, theirs = pty.openpty()
        try:
            termios.tcsetwinsize(theirs, (24, 60))
            self.run_lugpu("solve", "--help", stdout=theirs)
            text = os.read(ours, 65536).decode()
        finally:
            os.close(ours)
            os.close(theirs)
        self.assertLessEqual(max(map(len, text.splitlines())), 60)

    def test_help_command(self):
        """`lugpu help` is `lugpu --help`, with a subcommand that one's."""
        self.assertEqual(self.lugpu("help").stdout, self.help_of())
        for command in self.COMMANDS:
            self.assertEqual(self.lugpu("help", command).stdout, self.help_of(command))
        self.refused("help", "sovle", words=['"sovle"', "did you mean solve"])
        self.refused("help", "solve", "bench", words=["lugpu help --help"])

    def test_exit_statuses(self):
        """The help of a subcommand names those that it can return."""
        for command, statuses in self.EXIT_STATUSES.items():
            with self.subTest(command=command):
                text = self.help_of(*filter(None, [command])).partition("Exit status: ")[2]
                self.assertEqual("".join(re.findall(r"(?:^|, *)(\d) ", text.replace("\n", " "))), statuses)

    def test_complete_is_documented(self):
        for command in ("solve", "bench"):
            self.assertIn("complete is another name for full", " ".join(self.help_of(command).split()))

    def test_short_and_long_help_agree(self):
        for command in self.COMMANDS:
            self.assertEqual(self.lugpu(command, "-h").stdout, self.help_of(command))

    def test_version(self):
        """-V and --version print name and version, as CMake knows it."""
        cmake = (ROOT / "CMakeLists.txt").read_text(encoding="utf-8")
        version = re.search(r"project\(lugpu VERSION ([0-9.]+)", cmake).group(1)
        for flag in ("-V", "--version"):
            self.assertEqual(self.lugpu(flag).stdout, f"lugpu {version}\n")

    def test_main_help_lists_commands_and_exit_status(self):
        text = self.help_of()
        for command in self.COMMANDS:
            self.assertRegex(text, rf"(?m)^  {command} ")
        for meaning in ("0 done", "1 failed", "2 bad", "3 singular", "4 failed", "5 no usable"):
            self.assertIn(meaning, " ".join(text.split()))

    def assert_lists(self, text, words):
        for word in words:
            self.assertRegex(text, rf"(?<![\w-]){re.escape(word)}(?![\w-])")

    def test_help_lists_options(self):
        shared = ["-p", "--platform", "-d", "--device", "LUGPU_DEVICE", "--units", "--kernel-dir",
                  "--no-vendor-kernels", "--precision", "--storage", "--json", "--color", "-q",
                  "--quiet", "-v", "--verbose", "-h", "--help"]
        solver = ["--method", "--pivot", "--texel", "--schedule", "--nb"]
        own = {"solve": ["-o", "--output", "MATRIX", "RHS", *solver],
               "bench": ["-n", "--sizes", "--baseline", "--threads", "--warmup", "--runs",
                         "--min-time", "--timeout", "--matrix", "--nrhs", "--seed", "--resume",
                         *solver],
               "probe": ["-n", "--sizes", "--runs"]}
        for command, options in own.items():
            with self.subTest(command=command):
                self.assert_lists(self.help_of(command), shared + options)
        self.assert_lists(self.help_of("advise"), ["MATRIX", "RHS", "-d", "--timeout", "--json"])
        self.assert_lists(self.help_of("verify"), ["-d", "--kernel-dir", "--json", "-q", "--full"])

    def test_help_lists_values(self):
        values = ["auto", *METHODS, BLOCKED, *PIVOTS, "rook", "complete", *PRECISIONS, *STORAGES, *TEXELS,
                  *SCHEDULES, "always", "never"]
        for command, more in (("solve", FORMATS), ("bench", [*RIVALS, "none"])):
            with self.subTest(command=command):
                self.assert_lists(self.help_of(command), values + more)

    def test_generate_help_lists_kinds_and_formats(self):
        self.assert_lists(self.help_of("generate"), KINDS + FORMATS + ["-o", "--output", "--seed"])


class DevicesTest(CommandLine):
    LABELS = ["platform", "driver", "type", "memory", "doubles", "images", "largest n"]

    def test_every_device_has_every_label(self):
        """Each device is an index and a name, then a line for every label; 80 columns."""
        text = self.lugpu("devices").stdout
        devices = re.split(r"(?m)^(?=\d+  \S)", text)[1:]
        self.assertGreater(len(devices), 0, text)
        for index, device in enumerate(devices):
            self.assertTrue(device.startswith(f"{index}  "), device)
            for label in self.LABELS:
                self.assertRegex(device, rf"(?m)^   {label} +\S")
        self.assert_narrow(text)

    def test_no_device(self):
        """Without an OpenCL driver: status 5 and a sentence that says what to install."""
        (self.folder / "no-drivers").mkdir()
        self.write("a.csv", [[2.0]])
        env = {"OCL_ICD_VENDORS": str(self.folder / "no-drivers")}
        for command in (["devices"], ["solve", "a.csv", "-o", "x.csv"], small(), ["probe"],
                        ["verify"], ["advise", "a.csv"]):
            with self.subTest(command=command):
                self.refused(*command, status=5, env=env, words=["No OpenCL device", "install"])


class DeviceChoiceTest(CommandLine):
    def setUp(self):
        super().setUp()
        self.write("a.csv", [[2.0]])
        self.first = self.lugpu("devices").stdout.splitlines()[0].partition("  ")[2]

    def test_by_index_and_by_part_of_the_name(self):
        for name in ("0", self.first, self.first[1:-1].upper()):
            for chosen in ({"env": {"LUGPU_DEVICE": name}}, {}):
                flags = [] if chosen else ["-d", name]
                with self.subTest(name=name, flags=flags):
                    row, = self.results("solve", "a.csv", *flags, **chosen)
                    self.assertEqual(row["device"], self.first)

    def test_flag_goes_before_environment(self):
        self.lugpu("solve", "a.csv", "-d", "0", env={"LUGPU_DEVICE": "none-such"})

    def test_unknown_device(self):
        """Status 5; the message repeats what was asked for and lists what is available."""
        for name in ("99", "none-such"):
            for command in (["solve", "a.csv", "-o", "x.csv"], small()):
                with self.subTest(name=name, command=command):
                    words = [f'"{name}"', self.first]
                    self.refused(*command, "-d", name, status=5, words=words)
                    self.refused(*command, status=5, words=words, env={"LUGPU_DEVICE": name})

    def test_platforms_are_named(self):
        """Where no platform is given, the existing ones; where one is, its devices."""
        platform = re.search("platform +(.*?),", self.lugpu("devices").stdout)[1]
        self.refused("solve", "a.csv", "-p", "nosuch", status=5, words=[
            'no OpenCL platform "nosuch"', f'"{platform}"'])
        self.refused("solve", "a.csv", "-p", platform, "-d", "99", status=5, words=[
            '"99"', f'"{platform}"', self.first])

    def test_lists(self):
        """An entry that is empty or names the same device again has status 2, and so have several devices
        for one run."""
        for command in (["solve", "a.csv"], small(), ["probe"], ["verify"], ["advise", "a.csv"]):
            for devices in ("0,0", ",", "0,", ",0", "", "0,,0", f"0,{self.first[1:-1]}"):
                with self.subTest(command=command, devices=devices):
                    words = ["--device", f'"{devices}"' if devices and command[0] != "bench" else devices]
                    self.refused(*command, "-d", devices, words=words)
                    if devices:
                        self.refused(*command, words=words, env={"LUGPU_DEVICE": devices})
        self.refused("solve", "a.csv", "-p", "", words=["--platform"])

    def test_unknown_platform(self):
        self.refused("solve", "a.csv", "-p", "none-such", status=5, words=["none-such"])

    def test_two_devices_of_one_name_both_run(self):
        """A machine with two equal devices: each that -d names has its row."""
        env = {"POCL_DEVICES": "pthread pthread"}
        listed = self.lugpu("devices", env=env).stdout
        if len(re.findall(r"(?m)^\d+  ", listed)) != 2:
            self.skipTest("only PoCL can pretend to be two equal devices")
        self.assertEqual(len(self.results(*small(), "-d", "0,1", env=env)), 2)


class AffinityTest(CommandLine):
    """Whether PoCL keeps its threads on cores; the user has the last word."""

    def affinity(self, *arguments, env=None):
        """What the record says of it; None: nothing."""
        report = json.loads(self.lugpu(*arguments, "--json", "-", env=env).stdout)
        return report["context"]["environment"].get("POCL_AFFINITY")

    def setUp(self):
        super().setUp()
        if "POCL_AFFINITY" in os.environ:
            self.skipTest("POCL_AFFINITY is set")
        cores = os.sched_getaffinity(0)
        if len(cores) < 2 or len(cores) < os.cpu_count():
            self.skipTest("not all cores are ours, or there is but one")
        self.addCleanup(os.sched_setaffinity, 0, cores)

    def test_threads_stay_on_cores(self):
        self.assertEqual(self.affinity(*small()), "1")

    def test_user_decides(self):
        self.assertEqual(self.affinity(*small(), env={"POCL_AFFINITY": "0"}), "0")

    def test_some_cores_are_not_ours(self):
        os.sched_setaffinity(0, {0})
        self.assertIsNone(self.affinity(*small()))

    def test_processes_of_verify_share_cores(self):
        self.assertEqual(self.affinity("verify"), "0")


class UnitsTest(CommandLine):
    def setUp(self):
        super().setUp()
        self.write("a.csv", [[2.0]])
        self.units = int(re.search(r"(\d+) compute units", self.lugpu("devices").stdout).group(1))

    def compute_units(self, *flags):
        text = self.lugpu("solve", "a.csv", "--json", "-", *flags).stdout
        return json.loads(text)["devices"][0]["compute_units"]

    def test_fewer_units(self):
        """The record says how many were used; one where the device can be partitioned."""
        self.assertEqual(self.compute_units(), self.units)
        if self.run_lugpu("solve", "a.csv", "--units", "1").returncode == 0:
            self.assertEqual(self.compute_units("--units", "1"), 1)

    def test_more_units_than_there_are(self):
        self.refused("solve", "a.csv", "-o", "x.csv", "--units", str(self.units + 1),
                     words=["--units", str(self.units)])


class SolveTest(CommandLine):
    def residual(self, *arguments):
        row, = self.results("solve", *arguments)
        return row["checks"]["hpl_residual"]

    def test_every_format_in_and_out(self):
        """X is what numpy finds, for a matrix B and all formats of A, B and X."""
        a, b = random_matrix(12, 12), random_matrix(12, 3, seed=2)
        for given, wanted in itertools.product(FORMATS, FORMATS):
            with self.subTest(given=given, wanted=wanted):
                files = [self.write("a" + given, a), self.write("b" + given, b)]
                self.lugpu("solve", *files, "-o", "x" + wanted)
                x = read_matrix(self.folder / ("x" + wanted))
                np.testing.assert_allclose(x, np.linalg.solve(a, b), rtol=1e-10)

    # The surfaces of the paper, and those that may be the fastest on a device.
    PATHS = [("image", "r", "paper"), ("image", "rgba", "paper"), ("image", "rgba", "fused"),
             ("buffer", "r", "fused"), ("buffer", "rgba", "fused")]

    def test_every_method_pivoting_and_precision_on_every_path(self):
        a, b = dominant_matrix(40), random_matrix(40, 2, seed=2)
        self.write("a.npy", a)
        self.write("b.npy", b)
        flags = ["--method", "--pivot", "--precision", "--storage", "--texel", "--schedule"]
        for method, pivot, precision, path in itertools.product(METHODS, PIVOTS, PRECISIONS,
                                                                self.PATHS):
            case = (method, pivot, precision, *path)
            with self.subTest(case=case):
                chosen = itertools.chain.from_iterable(zip(flags, case))
                row, = self.results("solve", "a.npy", "b.npy", "-o", "x.npy", *chosen)
                self.assertEqual(case_of(row), (*case, 40))
                x = np.load(self.folder / "x.npy")
                tolerance = 1e-12 if precision == "double" else 1e-5
                np.testing.assert_allclose(x, np.linalg.solve(a, b), atol=tolerance)

    def test_blocked_with_every_pivoting_precision_and_block_size(self):
        """What auto is: panels that are narrower, as wide and wider than the matrix."""
        a, b = dominant_matrix(70), random_matrix(70, 2, seed=2)
        self.write("a.npy", a)
        self.write("b.npy", b)
        for pivot, precision, nb in itertools.product(BLOCKED_PIVOTS, PRECISIONS, [64, 128, 256]):
            with self.subTest(pivot=pivot, precision=precision, nb=nb):
                row, = self.results("solve", "a.npy", "b.npy", "-o", "x.npy", "--pivot", pivot,
                                    "--precision", precision, "--nb", str(nb))
                self.assertEqual(case_of(row),
                                 (BLOCKED, pivot, precision, "buffer", "r", None, 70))
                self.assertEqual(row["nb"], nb)
                tolerance = 1e-12 if precision == "double" else 1e-5
                np.testing.assert_allclose(np.load(self.folder / "x.npy"), np.linalg.solve(a, b),
                                           atol=tolerance)

    def test_automatic_method(self):
        """The fastest one that supports the other options."""
        self.write("a.csv", random_matrix(5, 5))
        for flags, path in {
                (): (BLOCKED, "partial", "buffer", "r", None),
                ("--pivot", "full"): ("lu", "full", "buffer", None, "fused"),
                ("--pivot", "rook"): ("lu", "rook", "buffer", None, "fused"),
                ("--storage", "image"): (BLOCKED, "partial", "image", None, None),
                ("--storage", "image", "--pivot", "full"): ("lu", "full", "image", None, "fused"),
                ("--texel", "rgba"): ("lu", "partial", "buffer", "rgba", "fused"),
                ("--schedule", "paper"): ("lu", "partial", "buffer", "r", "paper")}.items():
            with self.subTest(flags=flags):
                row, = self.results("solve", "a.csv", *flags)
                for key, value in zip(("routine", "pivot", "storage", "texel", "schedule"), path):
                    if value or key != "texel":  # which texel is the fastest, the device decides
                        self.assertEqual(row[key], value, key)

    def test_options_that_a_method_does_not_have(self):
        """Refused, not ignored: an ignored one would give a result for something else."""
        self.write("a.csv", random_matrix(5, 5))
        for flags, words in (
                (["--method", "lu", "--nb", "64"], ["--nb", "lu has", BLOCKED]),
                (["--pivot", "full", "--nb", "64"], ["--nb", "lu has", BLOCKED]),
                (["--method", BLOCKED, "--schedule", "paper"], ["--schedule paper", "--method lu"]),
                (["--method", BLOCKED, "--texel", "rgba"], ["--texel r"]),
                (["--method", BLOCKED, "--pivot", "full"], ["full pivoting", "--method lu"]),
                (["--method", BLOCKED, "--pivot", "rook"], ["rook pivoting", "--method lu"]),
                (["--method", "gauss-jordan", "--pivot", "rook"], ["rook", "--method lu"])):
            with self.subTest(flags=flags):
                self.refused("solve", "a.csv", "-o", "x.csv", *flags, words=words)

    def test_rook_pivoting(self):
        """On every path of lu, where partial pivoting fails."""
        self.generate("wilkinson", 100)
        for precision, path in itertools.product(PRECISIONS, self.PATHS):
            with self.subTest(precision=precision, path=path):
                flags = zip(["--precision", "--storage", "--texel", "--schedule"],
                            [precision, *path])
                row, = self.results("solve", "a.mtx", "--pivot", "rook",
                                    *itertools.chain.from_iterable(flags))
                self.assertEqual(case_of(row), ("lu", "rook", precision, *path, 100))
                self.assertLessEqual(row["checks"]["growth"], 4)
        self.lugpu("solve", "a.mtx", "--pivot", "partial", status=4)

    def test_complete_is_full(self):
        self.write("a.csv", random_matrix(5, 5))
        row, = self.results("solve", "a.csv", "--pivot", "complete")
        self.assertEqual(row["pivot"], "full")

    def test_default_right_hand_side(self):
        """B = A ones: X is ones, and the report says how near."""
        self.write("a.csv", random_matrix(20, 20))
        text = self.lugpu("solve", "a.csv", "-o", "x.csv").stdout
        error = float(re.search(r"largest \|x - 1\| is (\S+)", text).group(1))
        x = read_matrix(self.folder / "x.csv")
        self.assertEqual(x.shape, (20, 1))
        self.assertAlmostEqual(error, abs(x - 1).max(), delta=0.01 * error)
        self.assertLess(error, 1e-11)

    def test_options_may_stand_anywhere(self):
        a, b = random_matrix(4, 4), random_matrix(4, 1)
        self.write("a.csv", a)
        self.write("b.csv", b)
        for order in (["-d", "0", "a.csv", "b.csv"], ["a.csv", "-d", "0", "b.csv"],
                      ["a.csv", "b.csv", "-d", "0"], ["--", "a.csv", "b.csv"]):
            with self.subTest(order=order):
                self.lugpu("solve", "-o", "x.csv", *order)
                x = read_matrix(self.folder / "x.csv")
                np.testing.assert_allclose(x, np.linalg.solve(a, b), rtol=1e-10)

    def test_odd_but_legal_names(self):
        """Blanks, letters of other alphabets, a leading dash, absolute and relative paths."""
        (self.folder / "größe 数").mkdir()
        for name in ("two words.csv", "größe 数/матрица.mtx", "./-a.npy", "a.b.CSV"):
            with self.subTest(name=name):
                target = "x of " + Path(name).name
                self.write(name, random_matrix(5, 5))
                self.assertLess(self.residual(name, "-o", target), 16)
                self.assertLess(self.residual(str(self.folder / name)), 16)
                self.assertTrue((self.folder / target).is_file())

    def test_name_that_is_no_utf8(self):
        """JSON is UTF-8 even where a file name is not."""
        name = os.fsdecode(b"a\xe9.csv")
        self.write(name, random_matrix(5, 5))
        self.assertLess(self.residual(name), 16)

    def test_crlf(self):
        a = random_matrix(5, 5)
        for name in ("a.csv", "a.mtx"):
            path = self.folder / self.write(name, a)
            path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
            self.lugpu("solve", name, "-o", "x.npy")
            np.testing.assert_allclose(np.load(self.folder / "x.npy"), np.ones((5, 1)), rtol=1e-9)

    def test_x_appears_at_once_and_alone(self):
        """X is renamed into place: a new file, and nothing is left beside it."""
        self.write("a.csv", random_matrix(5, 5))
        old = self.folder / self.write("x.csv", b"old")
        with old.open("rb") as still_open:
            self.lugpu("solve", "a.csv", "-o", "x.csv")
            self.assertEqual(still_open.read(), b"old")
        self.assertEqual(read_matrix(old).shape, (5, 1))
        self.assertEqual(self.file_names(), ["a.csv", "x.csv"])

    def test_output_through_a_link(self):
        """The file behind a symbolic link is written; the link stays."""
        self.write("a.csv", random_matrix(5, 5))
        for flag, name in (("-o", "x.csv"), ("--json", "r.json")):
            with self.subTest(flag=flag):
                link, behind = self.folder / ("link-" + name), self.folder / name
                behind.write_bytes(b"old")
                link.symlink_to(name)
                self.lugpu("solve", "a.csv", flag, link.name)
                self.assertTrue(link.is_symlink())
                self.assertNotEqual(behind.read_bytes(), b"old")


class SolveReportTest(CommandLine):
    def setUp(self):
        super().setUp()
        self.write("a.csv", random_matrix(30, 30))

    def test_report_for_people(self):
        """80 columns, no colour in a pipe, the residual that the JSON has."""
        done = self.lugpu("solve", "a.csv", "-o", "x.csv", "--json", "r.json")
        self.assertEqual(done.stderr, "")
        self.assert_narrow(done.stdout)
        self.assertNotIn("\033", done.stdout)
        row, = parse_report((self.folder / "r.json").read_text(encoding="utf-8"))
        text = " ".join(done.stdout.split())
        self.assertIn(f"hpl_residual {row['checks']['hpl_residual']:.3g} ", text)
        self.assertIn("a.csv, 30 x 30", text)
        self.assertIn("30 x 1, written to x.csv", text)

    def test_error_is_known_for_the_default_right_hand_side_alone(self):
        """X is ones then; for another B it is unknown."""
        a = np.loadtxt(self.folder / "a.csv", delimiter=",")
        self.write("b.csv", a @ np.arange(1.0, 31.0)[:, np.newaxis])
        self.lugpu("solve", "a.csv", "-o", "x.csv")
        x = read_matrix(self.folder / "x.csv")
        text = " ".join(self.lugpu("solve", "a.csv").stdout.split())
        self.assertIn(f"error largest |x - 1| is {abs(x - 1).max():.3g}", text)
        self.assertNotIn("|x - 1|", self.lugpu("solve", "a.csv", "b.csv").stdout)

    def test_method_in_the_report(self):
        """A blocked method names its panels, another its surfaces."""
        for flags, text in ((["--nb", "128"], f"{BLOCKED}, pivoting partial, double precision, "
                             "blocks of 128 columns"),
                            ([], " columns"),
                            (["--method", "lu", "--texel", "r", "--storage", "image"],
                             "lu, pivoting partial, double precision, image of r texels")):
            with self.subTest(flags=flags):
                done = self.lugpu("solve", "a.csv", "--precision", "double", *flags)
                self.assert_narrow(done.stdout)
                method = " ".join(done.stdout.split()).partition("method ")[2]
                self.assertIn(text, method.partition(" device ")[0])

    def test_colour_where_asked_for(self):
        self.assertIn("\033[", self.lugpu("solve", "a.csv", "--color", "always").stdout)
        self.assertNotIn("\033[", self.lugpu("solve", "a.csv", "--color", "never").stdout)

    def test_quiet(self):
        """-q prints nothing, and still writes X."""
        done = self.lugpu("solve", "a.csv", "-o", "x.csv", "-q")
        self.assertEqual(done.stdout + done.stderr, "")
        self.assertTrue((self.folder / "x.csv").is_file())

    def test_verbose_names_the_kernels(self):
        done = self.lugpu("solve", "a.csv", "-v")
        self.assertIn("residual", done.stdout)
        for name in ("common/transfer", "[cg]pu/lu_blocked"):
            self.assertRegex(done.stderr, rf"built {name}\.cl ")

    def test_json_file(self):
        self.lugpu("solve", "a.csv", "--json", "r.json")
        row, = parse_report((self.folder / "r.json").read_text(encoding="utf-8"))
        self.assertEqual((row["status"], row["n"], row["nrhs"], row["matrix"]),
                         ("ok", 30, 1, "a.csv"))
        self.assertEqual(self.file_names(), ["a.csv", "r.json"])

    def test_json_on_stdout_is_all_there_is(self):
        row, = self.results("solve", "a.csv")
        self.assertLess(row["checks"]["hpl_residual"], 16)
        quiet, = self.results("solve", "a.csv", "-q")
        self.assertEqual(case_of(quiet), case_of(row))

    def test_json_of_a_failure(self):
        """A system that is not solved has a result too, without a speed."""
        for kind, pivot, status in (("singular", "partial", 3), ("zero-first-column", "none", 4)):
            with self.subTest(kind=kind):
                self.generate(kind, 5)
                row, = self.results("solve", "a.mtx", "--pivot", pivot, status=status)
                self.assertEqual((row["status"], row["gflops"]), ("failed", None))
                self.assertEqual(row["checks"]["info"], 5 if kind == "singular" else 1)


class BreakdownTest(CommandLine):
    def not_solved(self, *arguments, status, words):
        """One line says why; neither X nor anything else is written."""
        before = self.file_names()
        done = self.lugpu("solve", *arguments, "-o", "x.mtx", status=status)
        self.assertEqual(self.file_names(), before)
        last = done.stderr.splitlines()[-1]
        for word in ("lugpu: ", *words):
            self.assertIn(word, last)

    def test_singular(self):
        """An exact zero pivot in spite of pivoting: status 3, and the pivot is named."""
        self.generate("singular", 40)
        for method, pivot in [*itertools.product(METHODS, ["partial", "full"]),
                              (BLOCKED, "partial")]:
            with self.subTest(method=method, pivot=pivot):
                self.not_solved("a.mtx", "--method", method, "--pivot", pivot, status=3,
                                words=["singular", "pivot 40 "])

    def test_old_x_survives_a_failure(self):
        self.generate("singular", 5)
        self.write("x.mtx", b"old")
        self.lugpu("solve", "a.mtx", "-o", "x.mtx", status=3)
        self.assertEqual((self.folder / "x.mtx").read_bytes(), b"old")

    def test_zero_first_pivot(self):
        """Without pivoting status 4 and the advice to pivot, which then helps."""
        self.write("a.csv", [[0, 1], [1, 0]])
        for method in [*METHODS, BLOCKED]:
            with self.subTest(method=method):
                self.not_solved("a.csv", "--method", method, "--pivot", "none", status=4,
                                words=["pivot 1 ", "--pivot partial"])
                self.lugpu("solve", "a.csv", "--method", method, "--pivot", "partial")

    def test_tiny_pivot(self):
        """A pivot that ruins the answer without being zero: status 4 as well."""
        self.generate("tiny-pivot", 40)
        for method in [*METHODS, BLOCKED]:
            with self.subTest(method=method):
                flags = ["--method", method, "--precision", "single"]
                self.not_solved("a.mtx", *flags, "--pivot", "none", status=4,
                                words=["is not under", "--pivot partial"])
                self.lugpu("solve", "a.mtx", *flags, "--pivot", "partial")

    def test_singular_but_for_rounding(self):
        """Either rounding leaves an exact zero, status 3, or a warning names the pivot."""
        self.write("a.csv", [[1, 2, 3], [4, 5, 6], [7, 8, 9]])
        for precision, pivot in itertools.product(PRECISIONS, ["partial", "full"]):
            with self.subTest(precision=precision, pivot=pivot):
                done = self.run_lugpu("solve", "a.csv", "--precision", precision, "--pivot", pivot)
                self.assertIn(done.returncode, (0, 3))
                self.assertIn("pivot 3 is", done.stderr)
                if done.returncode == 0:
                    self.assertRegex(done.stderr, r"\Alugpu: warning: pivot 3 is -?[0-9.e-]+, so near "
                                                  r"zero that [^\n]+ A is singular[^\n]+\.\n")

    def test_quiet_silences_warnings(self):
        self.write("a.csv", [[1e-17, 1], [1, 1]])
        loud = self.run_lugpu("solve", "a.csv", "--pivot", "none")
        quiet = self.run_lugpu("solve", "a.csv", "--pivot", "none", "-q", "--json", "r.json")
        self.assertIn("warning: ", loud.stderr)
        self.assertNotIn("warning: ", quiet.stderr)
        self.assertEqual((quiet.returncode, quiet.stdout), (loud.returncode, ""))
        self.assertTrue((self.folder / "r.json").is_file())

    def test_near_zero_without_pivoting(self):
        """Says nothing about A: the warning advises to pivot."""
        self.write("a.csv", [[1e-17, 1], [1, 1]])
        done = self.run_lugpu("solve", "a.csv", "--pivot", "none")
        self.assertIn("warning: pivot 1 is 1e-17, so near zero", done.stderr)
        self.assertIn("--pivot partial", done.stderr)
        self.assertNotIn("singular", done.stderr)

    def test_regular_matrix_gives_no_warning(self):
        self.write("a.csv", dominant_matrix(10))
        self.assertEqual(self.lugpu("solve", "a.csv").stderr, "")

    def test_quiet_keeps_the_reason(self):
        self.generate("singular", 5)
        done = self.lugpu("solve", "a.mtx", "-q", status=3)
        self.assertEqual(done.stdout, "")
        self.assertIn("pivot 5 ", done.stderr)


class AccuracyTest(CommandLine):
    """How good X is, and what makes it better."""

    def solve(self, *arguments, status=0):
        row, = self.results("solve", *arguments, status=status)
        return row

    def test_bounds_hold(self):
        """berr and ferr for every right-hand side; the true error of the default one."""
        a = random_matrix(40, 40)
        self.write("a.csv", a)
        self.write("b.csv", a @ random_matrix(40, 3))
        for method in [BLOCKED, "lu"]:
            with self.subTest(method=method):
                checks = self.solve("a.csv", "b.csv", "--method", method)["checks"]
                self.assertEqual((len(checks["berr"]), len(checks["ferr"])), (3, 3))
                self.assertLess(max(checks["berr"]), 1e-13)
                self.assertLess(max(checks["ferr"]), 1e-8)
                done = self.lugpu("solve", "a.csv", "--method", method)
                self.assert_narrow(done.stdout)
                text = " ".join(done.stdout.split())
                bound = float(re.search(r"forward error at most (\S+)", text).group(1))
                self.assertLessEqual(float(re.search(r"1\| is (\S+)", text).group(1)), bound)
        inverse_norm = np.linalg.norm(np.linalg.inv(a), 1)
        exact = 1 / (np.linalg.norm(a, 1) * inverse_norm)
        self.assertLess(abs(np.log10(checks["rcond"] / exact)), 1)

    def test_bounds_that_are_not_known(self):
        """Factors that cannot tell say so, and no number is printed in their place."""
        self.generate("hilbert", 12, "hilbert.npy")
        done = self.lugpu("solve", "hilbert.npy", "--precision", "mixed")
        text = " ".join(done.stdout.split())
        self.assertIn("reciprocal condition not known, at most ", text)
        self.assertIn("forward error not known", text)
        self.assertIn("digits none guaranteed", text)
        checks = self.solve("hilbert.npy", "--precision", "mixed")["checks"]
        self.assertEqual((checks["rcond"], checks["ferr"], checks["digits"]), (None, [None], None))
        self.assertLess(checks["rcond_at_most"], 1e-7)
        self.generate("wilkinson", 60, "wilkinson.npy")
        checks = self.solve("wilkinson.npy", "--precision", "mixed")["checks"]
        true = 1 / np.linalg.cond(np.load(self.folder / "wilkinson.npy"), 1)
        if checks["rcond"] is None:
            self.assertGreaterEqual(checks["rcond_at_most"], true)
        else:
            self.assertLess(abs(np.log10(checks["rcond"] / true)), 1)

    def test_near_overflow(self):
        """Norms and sums of rows overflow; the system is as good as any."""
        self.write("a.npy", 1e308 * np.array([[1, 0.5, 0.5], [0.25, -1, 1], [0.5, 1, 1]]))
        done = self.lugpu("solve", "a.npy")
        text = " ".join(done.stdout.split())
        self.assertIn("B A * ones * 0.25", text)
        self.assertIn("checks passed", text)
        self.assertNotIn("ill-conditioned", done.stderr)
        self.assertLess(float(re.search(r"1\| is (\S+)", text).group(1)), 1e-15)
        self.assertGreater(self.solve("a.npy")["checks"]["digits"], 13)

    def test_no_factors(self):
        """Gauss-Jordan says what it cannot: no bound, no refinement."""
        self.write("a.csv", random_matrix(9, 9))
        flags = ["a.csv", "--method", "gauss-jordan"]
        self.assertEqual(self.solve(*flags)["checks"]["ferr"], [])
        self.assertIn("not known without factors", self.lugpu("solve", *flags).stdout)
        for more in (["--refine"], ["--precision", "mixed"]):
            self.refused("solve", *flags, *more, words=["gauss-jordan", "no factors"])

    def test_refine(self):
        self.generate("wilkinson", 60)
        failed = self.lugpu("solve", "a.mtx", status=4)
        self.assertIn("--pivot full or --refine", failed.stderr)
        row = self.solve("a.mtx", "--refine")
        self.assertGreater(row["refinement"]["steps"], 0)
        self.assertLess(row["checks"]["berr"][0], 1e-15)
        done = self.lugpu("solve", "a.mtx", "--refine")
        self.assert_narrow(done.stdout)
        self.assertRegex(done.stdout, r"(?m)^refined   \d+ steps?, residuals on the host$")
        self.write("b.csv", random_matrix(20, 20))
        self.assertIsNone(self.solve("b.csv")["refinement"])

    def test_mixed(self):
        """Factors in single, X as good as in double; or double after all, which is reported."""
        self.generate("random", 150)
        row = self.solve("a.mtx", "--precision", "mixed")
        self.assertEqual((row["precision"], row["status"]), ("mixed", "ok"))
        self.assertTrue(row["refinement"]["converged"])
        self.assertIsNone(row["refinement"]["fallback"])
        self.assertEqual(row["refinement"]["residuals"], "device")
        self.assertLess(row["checks"]["hpl_residual"], 16)
        done = self.lugpu("solve", "a.mtx", "--precision", "mixed")
        self.assert_narrow(done.stdout)
        self.assertIn("mixed precision", done.stdout)
        self.assertRegex(done.stdout, r"(?m)^refined   \d+ steps?, residuals on the device$")
        self.generate("very-ill-conditioned", 150)
        row = self.solve("a.mtx", "--precision", "mixed")
        self.assertFalse(row["refinement"]["converged"])
        self.assertIn("did not converge", row["refinement"]["fallback"])
        done = self.lugpu("solve", "a.mtx", "--precision", "mixed")
        self.assert_narrow(done.stdout)
        self.assertIn("--precision double", done.stderr)
        self.assertIn("factored in double", " ".join(done.stdout.split()))

    def test_mixed_on_every_path(self):
        self.write("a.csv", random_matrix(50, 50))
        for storage, texel, pivot in itertools.product(STORAGES, TEXELS, ["partial", "full"]):
            with self.subTest(storage=storage, texel=texel, pivot=pivot):
                row = self.solve("a.csv", "--method", "lu", "--storage", storage, "--texel", texel,
                                 "--pivot", pivot, "--precision", "mixed")
                self.assertTrue(row["refinement"]["converged"])

    def test_mixed_is_compared_with_double(self):
        """In the table, too: there is a speed-up where getrf ran in double alone."""
        done = self.lugpu(*small(sizes=64, method=BLOCKED, precision="mixed", pivot="partial",
                                 baseline="getrf"))
        rows = {case[2]: row for case, row in table_rows(done.stdout).items()}
        self.assertEqual(set(rows), {"double", "mixed"})
        self.assertNotEqual(rows["mixed"]["speedup"], "-")

    def test_mixed_in_bench(self):
        """Beside double and its rivals; without double, the rivals still run in double."""
        for given, rivals in (("double,mixed", 1), ("mixed", 1), ("single,mixed", 2)):
            rows = self.results(*small(sizes=64, method=f"{BLOCKED},gauss-jordan", precision=given,
                                       pivot="partial", baseline="getrf"))
            self.assertEqual(sum(row["routine"] == "getrf" for row in rows), rivals, given)
            mixed = {row["routine"]: row for row in rows if row["precision"] == "mixed"}
            self.assertEqual(set(mixed), {BLOCKED, "gauss-jordan"})
            self.assertEqual(mixed[BLOCKED]["status"], "ok")
            self.assertIsNone(mixed[BLOCKED]["checks"]["factor_ratio"])
            self.assertEqual(mixed["gauss-jordan"]["status"], "unsupported")
            self.assertIn("no factors", mixed["gauss-jordan"]["reason"])
        done = self.lugpu(*small(sizes=64, method=BLOCKED, precision="mixed", pivot="partial",
                                 baseline="getrf"))
        self.assert_narrow(done.stdout)
        self.assertRegex(done.stdout, r"(?m)^ +64 lu-blocked +partial mixed +buffer .* \d")

    def test_equilibrate(self):
        scale = np.exp2(np.linspace(-40, 40, 30))
        core = random_matrix(30, 30)
        self.write("a.npy", np.diag(scale) @ core @ np.diag(scale[::-1]))
        self.write("b.npy", np.diag(scale) @ core @ np.ones((30, 1)))
        done = self.lugpu("solve", "a.npy")
        self.assertIn("--equilibrate", done.stderr)
        row = self.solve("a.npy", "--equilibrate")
        self.assertEqual((row["equilibration"]["rows"], row["equilibration"]["columns"]),
                         (True, True))
        self.assertLess(row["equilibration"]["rowcnd"], 1e-10)
        self.assertGreater(row["checks"]["rcond"], 1e-6)
        done = self.lugpu("solve", "a.npy", "b.npy", "--equilibrate", "-o", "x.npy")
        self.assertEqual(done.stderr, "")
        self.assert_narrow(done.stdout)
        self.assertRegex(done.stdout, r"(?m)^scaling   of rows and columns: rowcnd ")
        x = np.load(self.folder / "x.npy")
        np.testing.assert_allclose(x[:, 0] * scale[::-1], 1, rtol=1e-10)
        self.write("c.npy", dominant_matrix(10))
        self.assertIn("scaling   not needed", self.lugpu("solve", "c.npy", "--equilibrate").stdout)

    def test_determinant(self):
        self.write("a.csv", [[0, 2, 0], [1, 0, 0], [0, 0, 3]])
        for method in [*METHODS, BLOCKED]:
            det = self.solve("a.csv", "--det", "--method", method)["determinant"]
            self.assertEqual(det, {"mantissa": -1.5, "exponent": 2})
        self.assertRegex(self.lugpu("solve", "a.csv", "--det").stdout,
                         r"(?m)^det       -6\.000000 \* 10\^0$")
        for value, text in ((1000, "1.000000 * 10^3"), (999.9999999, "1.000000 * 10^3"),
                            (0.001, "1.000000 * 10^-3"), (999.999, "9.999990 * 10^2")):
            self.write("d.npy", [[value]])
            self.assertIn(f"det       {text}\n", self.lugpu("solve", "d.npy", "--det").stdout)
        done = self.lugpu("solve", "a.csv", "--det", "--precision", "mixed")
        self.assertIn("from pivots in single precision", done.stdout)
        self.write("b.npy", np.diag(np.full(200, 1e300)))
        self.assertIn("* 10^60000\n", self.lugpu("solve", "b.npy", "--det").stdout)
        self.write("c.csv", [[1, 2], [2, 4]])
        self.assertEqual(self.solve("c.csv", "--det", status=3)["determinant"]["mantissa"], 0)
        self.assertIsNone(self.solve("a.csv")["determinant"])

    def test_inverse(self):
        a = random_matrix(40, 40)
        self.write("a.csv", a)
        for method, suffix in itertools.product([*METHODS, BLOCKED], FORMATS):
            with self.subTest(method=method, suffix=suffix):
                self.lugpu("solve", "a.csv", "--method", method, "--inverse", "i" + suffix)
                inverse = read_matrix(self.folder / ("i" + suffix))
                np.testing.assert_allclose(inverse, np.linalg.inv(a), rtol=1e-8, atol=1e-10)
        self.refused("solve", "a.csv", "--inverse", "i.txt", words=["i.txt"])

    def test_ill_conditioned(self):
        """A warning that names what to try."""
        self.generate("hilbert", 14)
        done = self.run_lugpu("solve", "a.mtx", "--equilibrate")
        self.assertRegex(done.stderr, "A is ill-conditioned.*--refine")
        done = self.run_lugpu("solve", "a.mtx", "--equilibrate", "--precision", "single")
        self.assertRegex(done.stderr, "A is ill-conditioned.*--precision double")

    def test_numbers_that_are_none(self):
        for value in (np.nan, np.inf):
            a = random_matrix(6, 6)
            a[2, 3] = value
            self.write("a.npy", a)
            for flags in ([], ["--refine"], ["--equilibrate"], ["--precision", "mixed"],
                          ["--det", "--inverse", "i.npy"]):
                with self.subTest(value=value, flags=flags):
                    self.assertIn(self.run_lugpu("solve", "a.npy", *flags).returncode, (2, 4))


class BadMatrixTest(CommandLine):
    BANNER = b"%%MatrixMarket matrix array real general\n"
    NPY = b"\x93NUMPY\x01\x00"

    def test_malformed_text(self):
        """The line that is wrong is named."""
        for name, content, line in [
                ("word.mtx", self.BANNER + b"2 2\n1\n2\nx\n4\n", 5),
                ("index.mtx", self.BANNER.replace(b"array", b"coordinate") + b"2 2 1\n3 1 1\n", 3),
                ("more.mtx", self.BANNER + b"1 1\n1\n2\n", 4),
                ("no_banner.mtx", b"2 2\n1\n2\n3\n4\n", 1),
                ("no_size.mtx", self.BANNER + b"two two\n", 2),
                ("ragged.csv", b"1,2\n3\n", 2),
                ("word.csv", b"1,2\n3,4x\n", 2),
                ("hole.csv", b"1,2\n3,\n", 2),
                ("nan.csv", b"1,2\n3,nan\n", 2),
                ("nan.mtx", self.BANNER + b"1 1\nnan\n", 3),
                ("infinite.csv", b"1,2\n1e999,4\n", 2)]:
            with self.subTest(name=name):
                self.write(name, content)
                self.refused("solve", name, "-o", "x.mtx", words=[f"{name}:{line}: "])

    def test_truncated(self):
        whole = (self.folder / self.write("whole.npy", random_matrix(4, 4))).read_bytes()
        for name, content in [("data.npy", whole[:-8]), ("header.npy", whole[:40]),
                              ("magic.npy", whole[:7]),
                              ("array.mtx", self.BANNER + b"2 2\n1.5\n2.5\n3.5\n"),
                              ("size.mtx", self.BANNER)]:
            with self.subTest(name=name):
                self.write(name, content)
                self.refused("solve", name, "-o", "x.mtx", words=[name])

    def test_complex_or_otherwise_no_real_matrix(self):
        i = 1j * np.eye(2)
        for name, content in [("complex.mtx", i), ("complex.npy", i),
                              ("cube.npy", np.ones((2, 2, 2))),
                              ("text.npy", np.array([["a", "b"], ["c", "d"]])),
                              ("nan.npy", [[1.0, np.nan], [0.0, 1.0]])]:
            with self.subTest(name=name):
                self.write(name, content)
                self.refused("solve", name, "-o", "x.mtx", words=[name])

    def test_wrong_shape(self):
        for name, content, shape in [("wide.csv", [[1.0, 2.0]], "1 x 2"),
                                     ("high.mtx", [[1.0], [2.0]], "2 x 1"),
                                     ("none.mtx", self.BANNER + b"0 0\n", "0 x 0"),
                                     ("none.npy", np.zeros((0, 0)), "0 x 0")]:
            with self.subTest(name=name):
                self.write(name, content)
                self.refused("solve", name, "-o", "x.mtx", words=[name, shape])

    def test_no_file(self):
        (self.folder / "folder.mtx").mkdir()
        os.mkfifo(self.folder / "pipe.mtx")
        for name in ("missing.mtx", "folder.mtx", "pipe.mtx", "folder.mtx/a.mtx"):
            with self.subTest(name=name):
                self.refused("solve", name, "-o", "x.mtx", words=[name])

    def test_empty_file(self):
        for extension in FORMATS:
            name = self.write("empty" + extension, b"")
            with self.subTest(name=name):
                self.refused("solve", name, "-o", "x.mtx", words=[name, "empty"])

    def test_unknown_extension(self):
        self.write("a.csv", [[1.0]])
        self.write("a.txt", b"1\n")
        for arguments in (["a.txt"], ["a.csv", "a.txt"], ["a.csv", "-o", "x.txt"],
                          ["a.csv", "-o", "x"]):
            with self.subTest(arguments=arguments):
                self.refused("solve", *arguments, words=FORMATS)

    def test_right_hand_side(self):
        """B needs as many rows as A; any fault of its file names that file."""
        self.write("a.csv", np.eye(3))
        for name, content, words in [("short.csv", [[1.0], [2.0]], ["2 x 1", "3"]),
                                     ("row.csv", [[1.0, 2.0, 3.0]], ["1 x 3", "3"]),
                                     ("nan.csv", b"1\nnan\n3\n", ["nan.csv:2: "]),
                                     ("empty.csv", b"", ["empty"])]:
            with self.subTest(name=name):
                self.write(name, content)
                self.refused("solve", "a.csv", name, "-o", "x.csv", words=[name, *words])

    def test_value_too_large_for_single_precision(self):
        """A short message that says where and what helps."""
        self.write("a.csv", [[1e300, 0.0], [0.0, 1.0]])
        message = self.refused("solve", "a.csv", "--precision", "single", "-o", "x.csv",
                               words=["a.csv", "single", "--precision double"])
        self.assertLess(len(message), 200)
        self.lugpu("solve", "a.csv", "--precision", "double")

    def test_boundless_sizes_cost_nothing(self):
        """A header that claims 2^40 rows is refused at once, before memory is taken."""
        coordinate = self.BANNER.replace(b"array", b"coordinate")
        npy = (b"{'descr': '<f8', 'fortran_order': False, 'shape': (%d, %d), }" % (2**40, 2**40))
        for name, content in [
                ("array.mtx", self.BANNER + b"%d %d\n1\n" % (2**40, 2**40)),
                ("million.mtx", self.BANNER + b"%d %d\n1\n" % (2**20, 2**20)),
                ("entries.mtx", coordinate + b"%d %d 1\n1 1 1\n" % (2**40, 2**40)),
                ("count.mtx", coordinate + b"9 9 %d\n1 1 1\n" % 2**40),
                ("huge.npy", self.NPY + len(npy).to_bytes(2, "little") + npy)]:
            with self.subTest(name=name):
                self.write(name, content)
                status, seconds, memory = self.cost_of("solve", name)
                self.assertEqual(status, 2)
                self.assertLess(seconds, 5)
                self.assertLess(memory, 2**29)

    def test_what_no_system_can_be_costs_nothing(self):
        """A is refused from its header if it is not square or a large one with empty rows, B if it
        has other rows than A; the text of a CSV is not kept."""
        coordinate = self.BANNER.replace(b"array", b"coordinate")
        self.write("a.csv", np.eye(3))
        self.write("rows.mtx", coordinate + b"15000 15000 1\n1 1 1\n")
        self.write("flat.mtx", coordinate + b"15000 14999 1\n1 1 1\n")
        header = b"{'descr': '<f8', 'fortran_order': False, 'shape': (4, 30000000), }"
        self.write("flat.npy", self.NPY + len(header).to_bytes(2, "little") + header)
        os.truncate(self.folder / "flat.npy", 10 + len(header) + 8 * 4 * 30000000)
        self.write("line.csv", b"1" + b",1" * 20000000)
        for arguments, words in [
                (["rows.mtx"], ["rows.mtx:2: ", "1 entry", "singular"]),
                (["flat.mtx"], ["flat.mtx:2: ", "15000 x 14999", "square"]),
                (["flat.npy"], ["flat.npy: ", "4 x 30000000", "square"]),
                (["line.csv"], ["line.csv:1: ", "no room", "square"]),
                (["a.csv", "flat.mtx"], ["flat.mtx:2: ", "15000 x 14999", "3 rows"]),
                (["a.csv", "flat.npy"], ["flat.npy: ", "4 x 30000000", "3 rows"]),
                (["a.csv", "line.csv"], ["line.csv:1: ", "no room"])]:
            for command in ("solve", "advise"):
                with self.subTest(command=command, arguments=arguments):
                    self.refused(command, *arguments, words=words)
                    _, seconds, memory = self.cost_of(command, *arguments)
                    self.assertLess(seconds, 5)
                    self.assertLess(memory, 2**29)
        self.write("small.mtx", coordinate + b"50 50 1\n1 1 1\n")
        self.lugpu("solve", "small.mtx", status=3)

    def test_compressed_and_misnamed_files(self):
        """The message says what they are and what to do."""
        array = self.folder / self.write("a.npy", np.eye(2))
        for name, content, words in [
                ("a.mtx", gzip.compress(self.BANNER), ["gzip", "gunzip"]),
                ("a.mtx.gz", gzip.compress(self.BANNER), [".gz", "gzip", "gunzip", *FORMATS]),
                ("b.mtx", array.read_bytes(), [".npy"]),
                ("b.csv", self.BANNER, [".mtx"]),
                ("b.npy", b"1,2\n3,4\n", [".csv"])]:
            with self.subTest(name=name):
                self.write(name, content)
                self.refused("solve", name, "-o", "x.csv", words=[f"lugpu: {name}: ", *words])


class BadUsageTest(CommandLine):
    def setUp(self):
        super().setUp()
        self.write("a.csv", [[2.0]])

    def test_no_or_unknown_command(self):
        self.refused(words=["subcommand", "--help"])
        for word in ("sovle", "--frobnicate", "-x"):
            with self.subTest(word=word):
                self.refused(word, words=[word])

    def test_help_that_is_pointed_to(self):
        """The subcommand's own."""
        for command in HelpTest.COMMANDS:
            for arguments in (["--frobnicate"], ["a.csv"] * 9):
                with self.subTest(command=command, arguments=arguments):
                    self.refused(command, *arguments, words=[f"(see `lugpu {command} --help`)"])
        for arguments in (["solve"], ["solve", "a.csv", "--nb"], ["solve", "a.csv", "--pivot", "knight"]):
            self.refused(*arguments, words=["(see `lugpu solve --help`)"])
        for arguments in ([], ["--frobnicate"], ["frobnicate"], ["--frobnicate", "solve", "a.csv"]):
            self.refused(*arguments, words=["(see `lugpu --help`)"])

    def test_suggestions(self):
        """A name that differs by a few letters, and none where nothing is near."""
        for arguments, meant in ((["sovle", "a.csv"], "solve"), (["Bench"], "bench"), (["--vresion"], "--version"),
                                 (["slove"], "solve"), (["verfy"], "verify"), (["hepl", "solve"], "help"),
                                 (["solve", "a.csv", "--pivto", "none"], "--pivot"),
                                 (["solve", "a.csv", "--pivots=none"], "--pivot"),
                                 (["solve", "--presicion", "single", "a.csv"], "--precision"),
                                 (["solve", "a.csv", "--dte"], "--det"),
                                 (["bench", "--size", "8"], "--sizes"),
                                 (["bench", "--warm-up", "8"], "--warmup"),
                                 (["generate", "random", "8", "--output-", "a.csv"], "--output")):
            with self.subTest(arguments=arguments):
                see = arguments[0] + " " if arguments[0] in HelpTest.COMMANDS else ""
                self.refused(*arguments, words=[f"; did you mean {meant} (see `lugpu {see}--help`)?"])
        for arguments in (["frobnicate"], ["x"], ["solve", "a.csv", "--frobnicate"], ["bench", "--x"]):
            with self.subTest(arguments=arguments):
                self.assertNotIn("did you mean", self.refused(*arguments))

    def test_whole_numbers(self):
        """Every option and argument whose help names a range takes decimal digits and nothing else, one of
        seconds a decimal point too."""
        found = []
        for command, needed in (("solve", ["a.csv"]), ("advise", ["a.csv"]), ("bench", []), ("probe", []),
                                ("verify", []), ("generate", ["random", "5", "-o", "x.csv"])):
            text = self.lugpu(command, "--help").stdout
            self.assertNotRegex(text, r":[A-Z]+ in \[")  # how CLI11 shows a range that it checks itself
            for flag, kind in re.findall(r"(?m)^ +(?:-\w,)?(--[\w-]+) (\w+):[\d.e+-]+\.\.[\d.e+-]+", text):
                found.append(flag)
                words = ["0x10", "+1", " 3", "3 ", "1_0", "1'0", "", "nan", "١"]
                for word in words + ([] if kind == "S" else ["1e1", "1.0"]):
                    with self.subTest(command=command, flag=flag, word=word):
                        self.refused(command, *needed, flag, word, words=[flag, f'"{word}"'])
        self.assertLessEqual({"--nb", "--units", "--digits", "--nrhs", "--seed", "--threads", "--warmup", "--runs",
                              "--min-time", "--timeout"}, set(found))
        for word in ("0x10", "+1", " 3", "1e1", "1.0", ""):
            self.refused("generate", "random", word, "-o", "x.csv", words=[f'"{word}"'])
        self.lugpu("generate", "random", "5", "-o", "x.csv", "--seed", "007")

    def test_unknown_flag(self):
        for command in (["devices"], ["solve", "a.csv"], small(), ["probe"], ["verify"],
                        ["advise", "a.csv"], ["generate", "random", "5", "-o", "x.csv"]):
            with self.subTest(command=command):
                self.refused(*command, "--frobnicate", words=["--frobnicate"])

    def test_unknown_value(self):
        """The value and the values that are known are named."""
        for name, known in (("method", [*METHODS, BLOCKED]), ("pivot", PIVOTS), ("precision", PRECISIONS),
                            ("storage", STORAGES), ("texel", TEXELS), ("schedule", SCHEDULES),
                            ("color", ["always", "never"])):
            for value in ("knight", ""):
                with self.subTest(name=name, value=value):
                    words = ["--" + name, value, *known]
                    self.refused("solve", "a.csv", "-o", "x.csv", "--" + name, value, words=words)
                    self.refused(*small(**{name: value}), words=words)

    def test_missing_value(self):
        for flag in ("--method", "--pivot", "--json", "-o", "-d", "--kernel-dir"):
            with self.subTest(flag=flag):
                self.refused("solve", "a.csv", flag, words=[flag.lstrip("-")])
        for flag in ("-n", "--baseline", "--matrix", "--threads", "--timeout", "--seed"):
            with self.subTest(flag=flag):
                self.refused("bench", flag, words=[flag.lstrip("-")])

    def test_missing_matrix(self):
        self.refused("solve", words=["matrix"])

    def test_too_many_files(self):
        self.refused("solve", "a.csv", "a.csv", "third.csv", words=["third.csv"])

    def test_empty_names(self):
        """An unset variable of a script must not quietly mean something else."""
        for arguments in ([""], ["a.csv", ""], ["a.csv", "-o", ""], ["a.csv", "--json", ""]):
            with self.subTest(arguments=arguments):
                self.refused("solve", *arguments)

    def test_sizes(self):
        """The part of -n that is wrong is quoted."""
        for sizes in ("0", "-5", "abc", "64:32", "64:128:0", "1:1000000:1", "1e3", "64::2", "",
                      "99999999999999999999", "1.5", "8:", ":8", "8:16:*1", "8:16:*", "1:2:3:4",
                      "0x10", "+8", " 8"):
            with self.subTest(sizes=sizes):
                self.refused("bench", "-n", sizes, "--json", "r.json",
                             words=["--sizes", f'"{sizes}"'])
        self.refused("bench", "-n", "8,,16", words=['""'])

    def test_numbers(self):
        """Numbers out of range, of another type and not at all."""
        for name, values in {"threads": ["0", "-1", "abc", "1.5", ""],
                             "runs": ["0", "-1", "abc", "99999999999999999999"],
                             "warmup": ["-1", "abc"], "nrhs": ["0", "-1", "abc"],
                             "units": ["0", "-1", "abc"],
                             "min_time": ["-1", "abc", "nan", "inf"],
                             "timeout": ["0", "-1", "nan", "inf", "abc", ""],
                             "seed": ["abc", "1.5", "-1", "18446744073709551616"]}.items():
            for value in values:
                with self.subTest(name=name, value=value):
                    arguments = small(**{name: value}, json="r.json")
                    self.refused(*arguments, words=["--" + name.replace("_", "-")])

    def test_unknown_baseline(self):
        for value in ("gesv", "getrf,gesv", ""):
            with self.subTest(value=value):
                self.refused("bench", "-n", "8", "--baseline", value, words=RIVALS)

    def test_none_goes_alone(self):
        """As a baseline; it is neither unknown nor one of them."""
        for value in ("none,getrf", "getrf,none", "none,none"):
            message = self.refused("bench", "-n", "8", "--baseline", value, words=["--baseline", "alone"])
            self.assertNotIn("no baseline", message)
        message = self.refused("bench", "-n", "8", "--baseline", "gesv", words=['"gesv"', *RIVALS])
        self.assertNotRegex(message, r"\bnone\b(?!-)(?<!cusolver-none)")

    def test_unknown_kind(self):
        """The kinds that are known are listed."""
        self.refused("bench", "-n", "8", "--matrix", "magic", words=['"magic"', *KINDS])
        self.refused("generate", "magic", "5", "-o", "x.csv", words=['"magic"', *KINDS])

    def test_generate(self):
        for arguments in (["random"], ["random", "5"], ["random", "0", "-o", "x.csv"],
                          ["random", "-5", "-o", "x.csv"], ["random", "abc", "-o", "x.csv"],
                          ["random", "99999999999", "-o", "x.csv"],
                          ["random", "5", "-o", "x.txt"], ["random", "5", "-o", ""],
                          ["random", "5", "6", "-o", "x.csv"],
                          ["random", "5", "-o", "x.csv", "--seed", "-1"]):
            with self.subTest(arguments=arguments):
                self.refused("generate", *arguments)

    def test_leading_zeros_are_decimal(self):
        self.lugpu("generate", "random", "010", "-o", "x.csv")
        self.assertEqual(read_matrix(self.folder / "x.csv").shape, (10, 10))


class TerminalTest(CommandLine):
    """Text from outside does nothing to a terminal: no control characters but ends of lines."""
    ODD = os.fsdecode("\x1b[31m\n\r\t\x7f\u009b31m größe 数".encode() + b"\x9b31m\xff")
    SHOWN = r"\x1b[31m\n\r\t\x7f\xc2\x9b31m größe 数\x9b31m\xff"

    def assert_harmless(self, text):
        self.assertNotRegex(text, "[\x00-\x09\x0b-\x1f\x7f-\x9f\ud800-\udfff]")

    def test_arguments(self):
        """Of every option, in one line each."""
        self.write("a.csv", [[2.0]])
        for command, needed in (("solve", ["a.csv"]), ("advise", ["a.csv"]), ("bench", []), ("probe", []),
                                ("generate", ["random", "5", "-o", "x.csv"])):
            text = self.lugpu(command, "--help").stdout
            flags = [flag for flag in re.findall(r"(?m)^ +(?:-\w,)?(--[\w-]+) [A-Z]+", text)
                     if flag not in ("--output", "--inverse", "--json", "--inverse")]
            for arguments in (*([flag, self.ODD] for flag in flags), ["--" + self.ODD], [self.ODD] * 3):
                with self.subTest(command=command, arguments=arguments):
                    done = self.run_lugpu(command, *needed, *arguments)
                    self.assertIn(done.returncode, (2, 5), done.stderr)
                    self.assertRegex(done.stderr, r"\Alugpu: [^\n]+\n\Z")
                    self.assert_harmless(done.stderr)
                    self.assertIn(self.SHOWN, done.stderr)
        for arguments in ([self.ODD], ["solve", self.ODD], ["solve", self.ODD + ".csv"], ["help", self.ODD],
                          ["generate", self.ODD, "5", "-o", "x.csv"],
                          ["generate", "random", "5", "-o", self.ODD]):
            self.assert_harmless(self.refused(*arguments, words=[self.SHOWN]))

    def test_file_names(self):
        """In the reports and errors of solve and advise; the files keep their names."""
        name, rhs, x, inverse = (self.ODD + end for end in (".csv", "b.csv", "x.csv", "i.csv"))
        self.write(name, random_matrix(5, 5))
        self.write(rhs, random_matrix(5, 1))
        done = self.lugpu("solve", name, rhs, "-o", x, "--inverse", inverse)
        for end in (".csv", "b.csv", "x.csv", "i.csv"):
            self.assertIn("".join((self.SHOWN + end).split()), "".join(done.stdout.split()))
        self.assertTrue({os.fsencode(x), os.fsencode(inverse)} < set(os.listdir(os.fsencode(self.folder))))
        self.assert_harmless(done.stdout + done.stderr)
        self.write(name, np.ones((5, 5)))
        done = self.run_lugpu("solve", name)
        self.assertEqual(done.returncode, 3)
        self.assertIn(self.SHOWN, done.stderr)
        self.assert_harmless(done.stdout + done.stderr)
        done = self.run_lugpu("advise", name)
        self.assertIn(self.SHOWN, done.stderr)
        self.assert_harmless(done.stdout + done.stderr)

    def test_json(self):
        """Has the characters as its own escapes."""
        name = "\x1b\x7f\u0080\u009b\n größe.csv"
        self.write(name, random_matrix(5, 5))
        text = self.lugpu("solve", name, "--json", "-").stdout
        self.assert_harmless(text)
        self.assertEqual(parse_report(text)[0]["matrix"], name)

    def test_quiet_has_no_progress(self):
        """Nothing is drawn on a terminal."""
        self.write("a.csv", random_matrix(5, 5))
        for flags, drawn in (([], True), (["-q"], False)):
            ours, theirs = pty.openpty()
            try:
                subprocess.run([PROGRAM, "advise", "a.csv", *flags], cwd=self.folder, check=True,
                               stdout=subprocess.DEVNULL, stderr=theirs, timeout=SECONDS)
                os.write(theirs, b".")
                self.assertEqual(len(os.read(ours, 65536)) > 1, drawn)
            finally:
                os.close(ours)
                os.close(theirs)


class OutputTest(CommandLine):
    """Where results cannot go."""

    def setUp(self):
        super().setUp()
        self.write("a.csv", [[2.0]])

    def failed(self, *arguments):
        """Status 1, one line on stderr, no file."""
        before = self.file_names()
        done = self.lugpu(*arguments, status=1)
        self.assertRegex(done.stderr, r"\Alugpu: [^\n]+\n\Z")
        self.assertEqual(self.file_names(), before)
        return done

    def test_folder_that_does_not_exist(self):
        for command in (["solve", "a.csv", "-o", "none/x.csv"],
                        ["solve", "a.csv", "--json", "none/r.json"],
                        [*small(), "--json", "none/r.json"],
                        ["generate", "random", "5", "-o", "none/x.csv"]):
            with self.subTest(command=command):
                self.assertIn(command[-1], self.failed(*command).stderr)

    def test_nothing_is_done_before_a_refusal(self):
        """Not even a kernel is built, which -v would say."""
        (self.folder / "folder.json").mkdir()
        for path in ("none/r.json", "folder.json"):
            for command in (["solve", "a.csv"], ["advise", "a.csv"], small(),
                            ["probe", "-n", "16", "--runs", "1"], ["verify"]):
                with self.subTest(command=command, path=path):
                    done = self.failed(*command, "-v", "--json", path)
                    self.assertEqual(done.stdout, "")
                    self.assertIn(path, done.stderr)
        self.write("zero.csv", [[0.0]])
        for flag in ("-o", "--inverse"):  # a singular matrix would be status 3
            self.assertIn("none/x.csv", self.failed("solve", "zero.csv", flag, "none/x.csv").stderr)

    def test_a_pipe_is_written_into(self):
        """It stays where it is, and its reader gets the file, once."""
        for command, flag, name in ((["solve", "a.csv"], "-o", "x.csv"),
                                    (["solve", "a.csv"], "--json", "r.json"),
                                    (small(sizes="8,16"), "--json", "s.json"),
                                    (["probe", "-n", "16,32", "--runs", "1"], "--json", "p.json")):
            with self.subTest(command=command, flag=flag):
                pipe = self.folder / name
                os.mkfifo(pipe)
                texts = []
                reader = threading.Thread(
                    target=lambda: texts.append(pipe.read_text(encoding="utf-8")), daemon=True)
                reader.start()
                self.lugpu(*command, flag, name)
                reader.join(SECONDS)
                self.assertTrue(pipe.is_fifo())
                if flag == "--json":
                    parse_report(texts[0])
                else:
                    self.assertEqual(texts, ["1\n"])

    def test_dev_stdout_is_as_a_dash(self):
        """Behind a pipe and a file there is the JSON and nothing else."""
        for command in (["solve", "a.csv"], small(), ["advise", "a.csv"]):
            with self.subTest(command=command):
                self.assertTrue(parse_report(self.lugpu(*command, "--json", "/dev/stdout").stdout))
        for path in ("/dev/stdout", "out.json"):
            with self.subTest(path=path):
                with open(self.folder / "out.json", "wb") as out:
                    self.assertEqual(self.run_lugpu(*small(), "--json", path, stdout=out).returncode, 0)
                report = (self.folder / "out.json").read_text(encoding="utf-8")
                self.assertEqual(len(parse_report(report)), 1)

    def test_dev_null(self):
        done = self.lugpu("solve", "a.csv", "--json", "/dev/null")
        self.assertIn("passed", done.stdout)

    def test_device_that_may_not_be_written(self):
        """A disk is not filled with a matrix."""
        disks = [path for path in Path("/dev").iterdir() if path.is_block_device()]
        if not disks:
            self.skipTest("there is no disk")
        self.assertIn("disk", self.failed("solve", "a.csv", "--json", str(disks[0])).stderr)

    def test_full_disk_behind_stdout(self):
        """Lost text is a failure, so that a script does not continue without it."""
        for command in (["devices"], ["solve", "a.csv"], ["solve", "a.csv", "--json", "-"],
                        [*small(), "--json", "-"]):
            with self.subTest(command=command), open("/dev/full", "wb") as full:
                done = self.run_lugpu(*command, stdout=full, env={"TMPDIR": str(self.folder)})
                self.assertEqual(done.returncode, 1)
                self.assertRegex(done.stderr, r"\Alugpu: [^\n]+\n\Z")


class OverwriteTest(CommandLine):
    """Outputs that are the same file as an input, another output or an older sweep."""

    def setUp(self):
        super().setUp()
        self.write("a.csv", [[2.0]])
        self.write("b.csv", [[4.0]])
        os.symlink("a.csv", self.folder / "link.csv")
        os.link(self.folder / "a.csv", self.folder / "hard.csv")
        os.symlink("nowhere.csv", self.folder / "open.csv")
        os.symlink(".", self.folder / "here")

    def contents(self):
        return {path.name: path.read_bytes() for path in self.folder.iterdir() if path.is_file()}

    def kept(self, *arguments, words=()):
        """Refused, and every file is as it was."""
        before = self.contents()
        self.refused(*arguments, words=words)
        self.assertEqual(self.contents(), before)

    def test_inputs(self):
        for same in ("a.csv", "./a.csv", "link.csv", "hard.csv", "here/a.csv", str(self.folder / "a.csv")):
            for flag in ("-o", "--inverse", "--json"):
                with self.subTest(same=same, flag=flag):
                    self.kept("solve", "a.csv", flag, same, words=[flag, same, "MATRIX a.csv", "--force"])
        self.kept("solve", "link.csv", "-o", "a.csv", words=["MATRIX link.csv"])
        self.kept("solve", "a.csv", "b.csv", "-o", "b.csv", words=["-o b.csv", "RHS b.csv"])
        self.kept("advise", "a.csv", "b.csv", "--json", "b.csv", words=["--json b.csv", "RHS b.csv"])

    def test_kernels(self):
        shutil.copytree(ROOT / "kernels", self.folder / "kernels")
        kernel = "kernels/common/surface.clh"
        before = (self.folder / kernel).read_bytes()
        self.refused("solve", "a.csv", "--kernel-dir", "kernels", "--json", kernel, words=[kernel])
        self.assertEqual((self.folder / kernel).read_bytes(), before)

    def test_one_another(self):
        for one, other in (("s.csv", "s.csv"), ("s.csv", "./s.csv"), ("s.csv", "here/s.csv"),
                           ("open.csv", "nowhere.csv"), ("b.csv", "b.csv")):
            for flags in (["-o", "--inverse"], ["-o", "--json"], ["--inverse", "--json"]):
                for force in ([], ["--force"]):
                    with self.subTest(one=one, other=other, flags=flags, force=force):
                        self.kept("solve", "a.csv", flags[0], one, flags[1], other, *force,
                                  words=[f"{flags[0]} {one}", f"{flags[1]} {other}"])

    def test_devices_and_other_files_may_be_named_twice(self):
        os.symlink("/dev/null", self.folder / "null.csv")
        self.lugpu("solve", "a.csv", "-o", "null.csv", "--json", "/dev/null")
        self.lugpu("solve", "a.csv", "-o", "x.csv")
        self.lugpu("solve", "b.csv", "b.csv", "-o", "x.csv")  # as cp
        self.assertEqual((self.folder / "x.csv").read_text(encoding="utf-8"), "1\n")

    def test_through_a_link_to_a_file_to_be(self):
        self.lugpu("solve", "a.csv", "-o", "open.csv")
        self.assertTrue((self.folder / "open.csv").is_symlink())
        self.assertEqual((self.folder / "nowhere.csv").read_text(encoding="utf-8"), "1\n")

    def test_force(self):
        self.lugpu("solve", "a.csv", "-o", "a.csv", "--force")
        self.assertEqual((self.folder / "a.csv").read_text(encoding="utf-8"), "1\n")

    def test_an_older_sweep(self):
        self.lugpu(*small(), "--json", "s.json")
        for command in (small(sizes=16), ["solve", "a.csv"], ["advise", "a.csv"], ["verify"],
                        ["probe", "-n", "16", "--runs", "1"]):
            with self.subTest(command=command):
                self.kept(*command, "--json", "s.json", words=["--json s.json", "--force", "--resume"])
        for command, rows in ((small(sizes=16), 1), (small(sizes=8) + ["--resume"], 2), (["solve", "a.csv"], 1),
                              (["solve", "b.csv"], 1)):
            force = [] if "--resume" in command or command[-1] == "b.csv" else ["--force"]
            with self.subTest(command=command):
                self.lugpu(*command, "--json", "s.json", *force)
                report = (self.folder / "s.json").read_text(encoding="utf-8")
                self.assertEqual(len(parse_report(report)), rows)


class KeptElsewhereTest(CommandLine):
    """Results that turn out not to be writable where they should be."""

    def setUp(self):
        super().setUp()
        self.write("a.csv", [[2.0]])
        os.symlink("/dev/full", self.folder / "full.csv")
        (self.folder / "tmp").mkdir()

    def kept(self, *arguments, stdout=subprocess.PIPE, tmp="tmp"):
        """The text that is elsewhere, as one line on stderr says."""
        done = self.run_lugpu(*arguments, stdout=stdout, env={"TMPDIR": str(self.folder / tmp)})
        self.assertEqual(done.returncode, 1, done.stderr)
        line, = [line for line in done.stderr.splitlines() if "cannot be written" in line
                 or "Cannot write" in line]
        place = Path(re.search(r" is in (/\S+)\.$", line).group(1))
        text = place.read_text(encoding="utf-8")
        self.addCleanup(shutil.rmtree, place.parent, ignore_errors=True)
        self.assertEqual(place.parent.parent == self.folder / "tmp", tmp == "tmp")
        return done, text

    def test_full_disk(self):
        done, text = self.kept("solve", "a.csv", "-o", "full.csv")
        self.assertEqual(text, "1\n")
        self.assertNotIn("written to", done.stdout)
        for command in (["solve", "a.csv"], ["advise", "a.csv"], small(), ["probe", "-n", "16", "--runs", "1"]):
            with self.subTest(command=command):
                parse_report(self.kept(*command, "--json", "/dev/full")[1])

    def test_full_disk_behind_stdout(self):
        for command in (["solve", "a.csv"], small()):
            with self.subTest(command=command), open("/dev/full", "wb") as full:
                self.assertEqual(len(parse_report(self.kept(*command, "--json", "-", stdout=full)[1])), 1)

    def test_no_temporary_folder(self):
        self.assertEqual(self.kept("solve", "a.csv", "-o", "full.csv", tmp="none")[1], "1\n")

    def test_the_other_files_are_written(self):
        self.kept("solve", "a.csv", "-o", "full.csv", "--inverse", "i.csv", "--json", "r.json")
        self.assertEqual((self.folder / "i.csv").read_text(encoding="utf-8"), "0.5\n")
        row, = parse_report((self.folder / "r.json").read_text(encoding="utf-8"))
        self.assertEqual(row["status"], "ok")

    def test_a_folder_that_is_moved_in_a_sweep(self):
        """The sweep continues, with all its results in another file."""
        folder = self.folder / "sub"
        folder.mkdir()
        process = subprocess.Popen(
            [PROGRAM, *small(sizes="8:128:8", runs=3), "--json", "sub/s.json"], cwd=self.folder,
            env=self.environment({"TMPDIR": str(self.folder / "tmp")}), stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE, encoding="utf-8")
        while not (folder / "s.json").exists():
            self.assertIsNone(process.poll(), "the sweep ended too early")
            time.sleep(0.001)
        folder.rename(self.folder / "away")
        _, words = process.communicate(timeout=SECONDS)
        self.assertEqual(process.returncode, 1)
        self.assertRegex(words, r"\Alugpu: sub/s\.json: cannot be written[^\n]*\n\Z")
        kept, = (self.folder / "tmp").glob("*/s.json")
        self.assertEqual(len(parse_report(kept.read_text(encoding="utf-8"))), 16)


class SignalTest(CommandLine):
    def writes(self, process):
        """Waits until some of big.csv is in its unfinished file."""
        started = False
        while not started:
            self.assertIsNone(process.poll(), "it was written too soon")
            time.sleep(0.001)
            for path in self.folder.glob("big.csv.*.tmp"):
                with contextlib.suppress(FileNotFoundError):
                    started = path.stat().st_size > 0

    def test_no_unfinished_file_stays(self):
        for how in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM):
            with self.subTest(how=how):
                process = self.start_lugpu("generate", "random", "1500", "-o", "big.csv")
                self.writes(process)
                process.send_signal(how)
                self.assertEqual(process.wait(SECONDS), -how)
                self.assertEqual(self.file_names(), [])

    def test_an_ignored_signal_stays_ignored(self):
        """As under nohup."""
        process = subprocess.Popen(
            [PROGRAM, "generate", "random", "1000", "-o", "big.csv"], cwd=self.folder,
            preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
        self.writes(process)
        process.send_signal(signal.SIGHUP)
        self.assertEqual(process.wait(SECONDS), 0)
        self.assertEqual(self.file_names(), ["big.csv"])


class FaultTest(CommandLine):
    """Calls of OpenCL that fail, by tests/opencl_faults.cpp."""

    CASES = small(pivot="none,partial", warmup=0)

    def run_with_fault(self, function, call, code, *arguments):
        """The finished process, and how many calls failed in it; with code 0 all are counted."""
        log = self.folder / "faults.log"
        log.write_bytes(b"")
        done = self.run_lugpu(*arguments, env=self.with_fault(function, call, code)
                              | {"OPENCL_FAULT_LOG": str(log)})
        return done, len(log.read_text(encoding="utf-8").splitlines())

    def test_a_wait_that_fails_costs_one_row(self):
        """Whichever wait of the last case fails, including the one for the profile."""
        _, calls = self.run_with_fault("clFinish", "1+", 0, *self.CASES)
        self.assertGreater(calls, 20)
        for call in range(calls - 15, calls + 1):
            with self.subTest(call=call):
                done, _ = self.run_with_fault("clFinish", call, -36, *self.CASES, "--json", "-")
                self.assertEqual(done.returncode, 1, done.stderr)
                statuses = [row["status"] for row in parse_report(done.stdout)]
                self.assertEqual(sorted(statuses), ["error", "ok"])

    def test_a_program_that_does_not_build(self):
        """The error of clBuildProgram, not that of what is asked for afterwards."""
        self.write("a.csv", [[2.0]])
        for code, name in ((-11, "CL_BUILD_PROGRAM_FAILURE"), (-36, "CL_INVALID_COMMAND_QUEUE"),
                           (-44, "CL_INVALID_PROGRAM"), (-9999, "OpenCL error")):
            with self.subTest(code=code):
                done, _ = self.run_with_fault("clBuildProgram", "1+", code, "solve", "a.csv")
                self.assertEqual(done.returncode, 1, done.stderr)
                self.assertRegex(done.stderr, r"\Alugpu: The kernels of [^\n]+ do not build on [^\n]+: "
                                 rf"clBuildProgram failed with {name} \(?{code}\)?(, no log\.|: )")

    def test_what_cannot_be_released(self):
        """It ends no process by a signal."""
        for function in ("clReleaseMemObject", "clReleaseEvent", "clReleaseKernel",
                         "clReleaseProgram", "clReleaseCommandQueue", "clReleaseContext"):
            with self.subTest(function=function):
                done, failed = self.run_with_fault(function, "1+", -36, *self.CASES)
                self.assertGreater(failed, 0)
                self.assertIn(done.returncode, (0, 1), done.stderr)


class KernelDirTest(CommandLine):
    def setUp(self):
        super().setUp()
        self.write("a.csv", random_matrix(5, 5))
        shutil.copytree(ROOT / "kernels", self.folder / "kernels")

    def test_copy_of_the_kernels_works(self):
        self.lugpu("solve", "a.csv", "--kernel-dir", "kernels")

    def test_folder_that_does_not_exist(self):
        for command in (["solve", "a.csv", "-o", "x.csv"], [*small(), "--json", "r.json"]):
            with self.subTest(command=command):
                self.refused(*command, "--kernel-dir", "none", words=["none", "--kernel-dir"])

    def break_kernel(self, name):
        """Puts a syntax error at the end of a kernel file; returns its place."""
        source = self.folder / "kernels" / name
        text = source.read_text(encoding="utf-8") + "\n"
        source.write_text(text + "void broken( {\n", encoding="utf-8")
        return f"{name}:{len(text.splitlines()) + 1}:"

    def edit_kernel(self, name, old, new):
        source = self.folder / "kernels" / name
        text = source.read_text(encoding="utf-8")
        self.assertIn(old, text)
        source.write_text(text.replace(old, new), encoding="utf-8")

    def test_driver_that_ends_loops_early(self):
        """What needs long loops on a CPU is refused, and what does not is possible."""
        if self.device_type("a.csv") != "cpu":
            self.skipTest("only kernels for CPUs have long loops")
        self.edit_kernel("common/loops.cl", "i < iterations", "i < min(iterations, 65535)")
        for method in ("auto", BLOCKED, *METHODS):
            self.refused("solve", "a.csv", "--method", method, "--kernel-dir", "kernels",
                         words=["loops", "--schedule paper"])
        self.lugpu("solve", "a.csv", "--method", "lu", "--schedule", "paper", "--kernel-dir", "kernels")
        row, = self.results(*small(), "--kernel-dir", "kernels")
        self.assertEqual(row["status"], "unsupported")

    def test_driver_that_computes_wrong_pivots(self):
        """Status 1, and nothing is read or written in a row outside the matrix."""
        self.edit_kernel("dense/pivot_search.clh", "places[k] = (int2)(row[0], column[0])",
                         "places[k] = (int2)(row[0] + n, column[0])")
        self.refused("solve", "a.csv", "--method", "lu", "--schedule", "paper", "--kernel-dir",
                     "kernels", status=1, words=["Pivot 1 of", "computes incorrectly"])

    def test_syntax_error(self):
        """Status 1; the file and the line are named; no X."""
        for name in ("common/transfer.cl", "common/surface.clh"):
            with self.subTest(name=name):
                place = self.break_kernel(name)
                done = self.lugpu("solve", "a.csv", "-o", "x.csv", "--kernel-dir", "kernels",
                                  status=1)
                # In the log of the compiler, whose lines stay lines.
                self.assertTrue(any(place in line for line in done.stderr.splitlines()[1:]),
                                done.stderr)
                self.assertFalse((self.folder / "x.csv").exists())

    def test_syntax_error_in_a_sweep(self):
        """Cases whose kernels do not build are rows of status error, with the reason."""
        place = self.break_kernel("common/transfer.cl")
        row, = self.results(*small(), "--kernel-dir", "kernels", status=1)
        self.assertEqual((row["status"], row["gflops"]), ("error", None))
        self.assertIn(place, row["reason"])

    def test_errors_and_failed_checks_in_a_sweep(self):
        """Status 1, whichever comes first."""
        self.break_kernel("dense/fused.cl")
        for schedules, statuses in (("fused,paper", ["error", "failed"]),
                                    ("paper,fused", ["failed", "error"])):
            with self.subTest(schedules=schedules):
                rows = self.results(*small(matrix="singular", schedule=schedules), "--kernel-dir",
                                    "kernels", status=1)
                self.assertEqual([row["status"] for row in rows], statuses)


class VerifyTest(CommandLine):
    """Every kernel path of the device; wrong ones are kept for later runs."""
    SECONDS = 300  # with every kernel to be compiled
    CELLS = r"(?:[0-9.]+|-|\?|WRONG|ERROR)"

    def setUp(self):
        super().setUp()
        self.generate("random", 20)
        # What a driver compiled stays where it was.
        compiled = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "pocl/kcache"
        self.env = {"XDG_CACHE_HOME": str(self.folder / "cache"),
                    "POCL_CACHE_DIR": os.environ.get("POCL_CACHE_DIR", str(compiled))}

    def verify(self, *arguments, status):
        done = self.run_lugpu("verify", *arguments, env=self.env, seconds=self.SECONDS)
        self.assertEqual(done.returncode, status, (done.stdout, done.stderr))
        return done

    def records(self):
        return list((self.folder / "cache").glob("lugpu/*"))

    def automatic(self, *arguments):
        """What solve takes by itself, and what it says on stderr."""
        done = self.lugpu("solve", "a.mtx", "--json", "-", *arguments, env=self.env)
        return parse_report(done.stdout)[0]["routine"], done.stderr

    def record(self, kernels, *paths):
        """Keeps these paths as wrong with these kernels, as verify would."""
        device, = json.loads(self.lugpu("solve", "a.mtx", "--json", "-").stdout)["devices"]
        files = sorted(str(path) for path in kernels.rglob("*") if path.is_file())
        text = "".join(Path(file).read_text(encoding="utf-8") for file in files)
        head = (f"wrong by lugpu verify\nplatform {device['platform']}\ndevice {device['name']}\n"
                f"driver {device['driver_version']}\nkernels {fnv(text)}\n")
        folder = self.folder / "cache/lugpu"
        folder.mkdir(parents=True)
        (folder / f"failed-paths-{fnv(head)}.txt").write_text(
            head + "".join(path + "\n" for path in paths) + "end\n", encoding="utf-8")

    def test_quiet_has_no_note(self):
        self.record(ROOT / "kernels", f"{BLOCKED} partial double buffer r")
        self.assertIn("note: ", self.automatic()[1])
        self.assertEqual(self.automatic("-q"), ("lu", ""))

    def test_a_right_device(self):
        """Status 0, a number or a dash for every path; what was kept about it is forgotten."""
        self.record(ROOT / "kernels", f"{BLOCKED} partial double buffer r")
        routine, note = self.automatic()
        self.assertEqual(routine, "lu")
        self.assertRegex(note, rf"\Alugpu: note: [^\n]*{BLOCKED} partial double buffer r [^\n]+\n\Z")
        self.assertEqual(self.automatic("--precision", "single")[0], BLOCKED)
        self.assertEqual(self.automatic("--method", BLOCKED)[0], BLOCKED)

        done = self.verify("--json", "r.json", status=0)
        self.assertEqual(done.stderr, "")
        self.assertEqual(self.records(), [])
        self.assertEqual(self.automatic(), (BLOCKED, ""))
        self.assert_narrow(done.stdout)
        rows = re.findall(rf"(?m)^(\S+) +(\w+)((?: +{self.CELLS}){{8}})$", done.stdout)
        self.assertEqual({row[:2] for row in rows},
                         {(method + star, pivot) for method in METHODS for pivot in PIVOTS
                          for star in ("", "*")} | {(BLOCKED, pivot) for pivot in BLOCKED_PIVOTS}
                         | {("lu", "rook"), ("lu*", "rook")})
        mixed = re.findall(rf"(?m)^{BLOCKED}\+ +(\w+) {{28}}((?: +{self.CELLS}){{4}})$", done.stdout)
        self.assertEqual([row[0] for row in mixed], BLOCKED_PIVOTS)
        for row in [*rows, *mixed]:
            self.assertNotRegex(row[-1], "WRONG|ERROR")
            self.assertRegex(row[-1].split()[0], r"\d")

        report = json.loads((self.folder / "r.json").read_text(encoding="utf-8"),
                            parse_constant=refuse_constant)
        VALIDATOR.validate(report)
        self.assertEqual(report["results"], [])
        ok = [path for path in report["paths"] if path["status"] == "ok"]
        self.assertEqual({path["routine"] for path in ok}, {*METHODS, BLOCKED})
        for path in ok:
            self.assertGreater(path["systems"], 0)
            self.assertEqual((path["wrong"], path["reason"]), (0, ""))

    def test_a_driver_that_is_wrong(self):
        """Status 4; the paths are named, in the text and in the JSON; auto avoids them."""
        shutil.copytree(ROOT / "kernels", self.folder / "kernels")
        source = self.folder / "kernels/cpu/lu_blocked.cl"
        source.write_text(source.read_text(encoding="utf-8").replace("if (p != k + j)", "if (0)"),
                          encoding="utf-8")
        if self.device_type("a.mtx") != "cpu":
            self.skipTest("the kernel is for CPUs")
        done = self.verify("--kernel-dir", "kernels", "--json", "-", status=4)
        report = json.loads(done.stdout)
        VALIDATOR.validate(report)
        wrong = [path for path in report["paths"] if path["status"] == "failed"]
        surfaces = [("buffer", "r"), ("image", "r"), ("image", "rgba")]
        broken = [(BLOCKED, "partial", precision, *surface)
                  for precision, surface in itertools.product(PRECISIONS, surfaces)]
        named = [tuple(path[key] for key in ("routine", "pivot", "precision", "storage", "texel"))
                 for path in wrong]
        self.assertEqual(named[:len(broken)], broken)
        # Mixed precision uses the same kernels; its refinement may make up for them.
        self.assertLessEqual({path[:3] for path in named[len(broken):]}, {(BLOCKED, "partial", "mixed")})
        self.assertEqual(len(report["results"]), sum(path["wrong"] for path in wrong))
        for path in named:
            self.assertRegex(done.stderr, rf"(?m)^lugpu: {' '.join(path)}: "
                                          r"\d+ of \d+ systems [^\n]+ is not under 30$")
        self.assertEqual(done.stderr.count("\n"), len(named))

        self.assertEqual(len(self.records()), 1)
        routine, note = self.automatic("--kernel-dir", "kernels")
        self.assertEqual(routine, "lu")
        self.assertIn(f"{BLOCKED} partial single buffer r and {len(named) - 1} more", note)
        self.assertEqual(self.automatic(), (BLOCKED, ""))
        bench = self.lugpu(*small(method="auto", pivot="partial"), "--kernel-dir", "kernels",
                           "--json", "-", env=self.env)
        self.assertEqual([row["routine"] for row in parse_report(bench.stdout)], ["lu"])
        self.assertIn("note: ", bench.stderr)

    def test_a_driver_that_crashes(self):
        """Status 1; the path is named, auto avoids it, and what does not share its process is verified."""
        shutil.copytree(ROOT / "kernels", self.folder / "kernels")
        source = self.folder / "kernels/cpu/lu_blocked.cl"
        crash = "if (p != k + j) *(volatile __global int*)16 = 0;"
        source.write_text(source.read_text(encoding="utf-8").replace("if (p != k + j)", crash + " if (1)"),
                          encoding="utf-8")
        if self.device_type("a.mtx") != "cpu":
            self.skipTest("the kernel is for CPUs")
        done = self.verify("--kernel-dir", "kernels", status=1)
        self.assertRegex(done.stderr, rf"(?m)^lugpu: {BLOCKED} partial single buffer r: 1 of \d+ systems "
                                      r"[^\n]+ the driver ended the process: Segmentation fault\.$")
        self.assertRegex(done.stdout, r"(?m)^lu +full +\?")  # it came after that
        self.assertRegex(done.stdout, r"(?m)^lu +full +\S+ +[0-9.]+ ")
        routine, note = self.automatic("--precision", "single", "--kernel-dir", "kernels")
        self.assertEqual(routine, "lu")
        self.assertIn(f"{BLOCKED} partial single buffer r and 5 more", note)

    def test_kernels_that_do_not_build(self):
        """Status 1, as elsewhere; every path is named."""
        (self.folder / "empty").mkdir()
        done = self.verify("--kernel-dir", "empty", status=1)
        self.assertRegex(done.stderr, r"(?m)^lugpu: lu none [^\n]+ kernel file empty/")
        self.assertIn("ERROR", done.stdout)
        self.assert_narrow(done.stdout)

    def start(self, *arguments):
        """A run of verify on its way, with pipes."""
        process = subprocess.Popen([PROGRAM, "verify", *arguments], cwd=self.folder,
                                   env=self.environment(self.env), stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8")
        timer = threading.Timer(self.SECONDS, process.kill)
        timer.start()
        self.addCleanup(timer.cancel)
        return process

    def children(self, process):
        """The processes that it started and that have not ended."""
        tasks = Path(f"/proc/{process.pid}/task")
        try:
            return [int(child) for task in tasks.iterdir()
                    for child in (task / "children").read_text(encoding="utf-8").split()]
        except OSError:
            return []

    def threads(self, pid):
        try:
            return len(list(Path(f"/proc/{pid}/task").iterdir()))
        except OSError:
            return 0

    def test_a_process_that_was_killed_is_tried_again(self):
        """A kill is no verdict: what it was at is verified alone, and nothing is recorded."""
        process = self.start("--json", "r.json")
        victim = None
        while victim is None and process.poll() is None:
            time.sleep(0.05)
            victim = next((child for child in self.children(process) if self.threads(child) > 1), None)
        os.kill(victim, signal.SIGKILL)
        text, errors = process.communicate()
        self.assertEqual((process.returncode, errors), (0, ""), text)
        report = json.loads((self.folder / "r.json").read_text(encoding="utf-8"))
        VALIDATOR.validate(report)
        self.assertEqual({path["status"] for path in report["paths"]} - {"unsupported"}, {"ok"})
        self.assertEqual(self.records(), [])

    def test_when_every_process_is_killed_nothing_is_known(self):
        """Status 1, one sentence, and a status of its own; what was recorded stays."""
        recorded = [f"{BLOCKED} partial double buffer r"]
        self.record(ROOT / "kernels", *recorded)
        process = self.start("--json", "r.json")
        killed = set()
        while process.poll() is None:
            for child in self.children(process):
                if child in killed or self.threads(child) > 1:
                    killed.add(child)
                    os.kill(child, signal.SIGKILL)
            time.sleep(0.01)
        text, errors = process.communicate()
        self.assertEqual(process.returncode, 1, errors)
        self.assertGreater(len(killed), 0)
        self.assertRegex(errors, r"\Alugpu: [^\n]+ and \d+ more could not be verified; "
                                 r"[^\n]+: Killed\.\n\Z")
        self.assertRegex(text, r"(?m)^lu +full +\?")
        self.assertRegex(text, r"\?:\s+not\s+known")
        self.assertNotRegex(text, "WRONG|ERROR")
        report = json.loads((self.folder / "r.json").read_text(encoding="utf-8"))
        VALIDATOR.validate(report)
        self.assertIn("unknown", {path["status"] for path in report["paths"]})
        self.assertEqual(report["results"], [])
        record, = self.records()
        self.assertEqual(record.read_text(encoding="utf-8").splitlines()[5:-1], recorded)

    def test_a_program_that_did_not_build_once(self):
        """The third program of every process does not build; alone it does."""
        self.env |= self.with_fault("clBuildProgram", 3, -11)
        self.assertEqual(self.verify(status=0).stderr, "")
        self.assertEqual(self.records(), [])

    def test_programs_that_never_build(self):
        """Status 1, the error's own name, and nothing recorded."""
        for function, code, name in (("clBuildProgram", -11, "CL_BUILD_PROGRAM_FAILURE (-11)"),
                                     ("clCreateBuffer", -4, "CL_MEM_OBJECT_ALLOCATION_FAILURE (-4)")):
            with self.subTest(function=function):
                self.env |= self.with_fault(function, "1+", code)
                done = self.verify(status=1)
                self.assertIn(f"{function} failed with {name}", done.stderr)
                self.assertEqual(done.stderr.count("\n"), 1)
                self.assertNotRegex(done.stdout, "WRONG|ERROR")
                self.assertEqual(self.records(), [])

    def test_records_are_listed_and_forgotten(self):
        """By text that names device, driver, kernels and paths; auto takes a path again."""
        paths = [f"{BLOCKED} partial double buffer r", "lu full single image rgba fused"]
        self.assertIn("No wrong paths", self.verify("--list", status=0).stdout)
        self.assertNotIn("   wrong ", self.lugpu("devices", env=self.env).stdout)
        self.record(ROOT / "kernels", *paths)
        listed = self.verify("--list", status=0).stdout
        device, = json.loads(self.lugpu("solve", "a.mtx", "--json", "-").stdout)["devices"]
        for words in (device["name"], device["platform"], device["driver_version"],
                      "of this program", *paths):
            self.assertIn(words, " ".join(listed.split()))
        self.assert_narrow(listed)
        self.assertRegex(self.lugpu("devices", env=self.env).stdout,
                         rf"(?m)^   wrong +{paths[0]} and 1 more \(`lugpu verify\s+--list`\)")
        self.assertEqual(self.verify("--list", "-d", "0", status=0).stdout, listed)

        self.assertEqual(len(self.records()), 1)
        self.assertEqual(self.automatic()[0], "lu")
        self.assertIn("2 wrong paths", self.verify("--forget", "-d", "0", status=0).stdout)
        self.assertEqual(self.records(), [])
        self.assertEqual(self.automatic(), (BLOCKED, ""))
        self.assertIn("No wrong paths", self.verify("--forget", status=0).stdout)

    def test_records_of_a_device_that_is_gone(self):
        """-d leaves them alone; without it they are forgotten too, and nothing else is."""
        folder = self.folder / "cache/lugpu"
        folder.mkdir(parents=True)
        head = "wrong by lugpu verify\nplatform P\ndevice Ada\ndriver 1\nkernels 0123456789abcdef\n"
        (folder / f"failed-paths-{fnv(head)}.txt").write_text(head + "lu none\nend\n", encoding="utf-8")
        (folder / "else.txt").write_text(head + "lu none\nend\n", encoding="utf-8")
        self.assertRegex(self.verify("--list", status=0).stdout, r"Ada \(P\)(.|\n)+others(.|\n)+lu none")
        for arguments in (["--list", "-d", "0"], ["--forget", "-d", "0"]):
            self.assertIn("No wrong paths", self.verify(*arguments, status=0).stdout)
        self.assertEqual(len(self.records()), 2)
        self.assertEqual(self.verify("--forget", status=0).stdout,
                         "Forgot 1 wrong path of Ada (P), driver 1.\n")
        self.assertEqual([path.name for path in self.records()], ["else.txt"])

    def test_one_thing_at_a_time(self):
        for arguments in (["--list", "--forget"], ["--list", "--full"], ["--forget", "--json", "-"]):
            self.refused("verify", *arguments, words=[arguments[0]], env=self.env)

    def test_what_is_no_record(self):
        """Garbage in place of what was kept means nothing, and breaks nothing."""
        self.record(ROOT / "kernels", f"{BLOCKED} partial double buffer r")
        record, = self.records()
        whole = record.read_bytes()
        self.assertEqual(self.automatic()[0], "lu")
        for content in (b"", whole[:-1], whole[:60], b"\0" * 5000, b"\xff\xfe\n", whole + b"x"):
            with self.subTest(content=content[:80]):
                record.write_bytes(content)
                self.assertEqual(self.automatic(), (BLOCKED, ""))


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
        """A row for each run, one of them marked; 80 columns, whatever is in them."""
        for kind in ("random", "tiny-pivot", "near-overflow-double"):
            text = self.lugpu("advise", self.generate(kind, 50)).stdout
            self.assert_narrow(text)
            rows = re.findall(r"(?m)^[> ] (\w+) +(single|double|mixed)\*? +(lu\S*) ", text)
            self.assertEqual(len(rows), 12)
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
            advice = [self.advise("a.mtx")[2] for _ in range(3)]
            self.assertEqual(advice, advice[:1] * 3)

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


class DataTest(CommandLine):
    """The files of other projects in tests/data, and what each group stands for."""

    def files(self, group):
        found = sorted((ROOT / "tests/data" / group).iterdir())
        self.assertGreater(len(found), 0)
        return found

    def test_good(self):
        for path in self.files("good"):
            with self.subTest(file=path.name):
                row, = self.results("solve", str(path))
                self.assertLess(row["checks"]["hpl_residual"], 16)

    def test_singular(self):
        """Status 3, or 0 with a warning where rounding hides the zero pivot."""
        for path in self.files("singular"):
            with self.subTest(file=path.name):
                done = self.run_lugpu("solve", str(path))
                self.assertIn(done.returncode, (0, 3))
                self.assertRegex(done.stderr, r"pivot \d+ is")

    def test_bad(self):
        for path in self.files("bad"):
            with self.subTest(file=path.name):
                self.refused("solve", str(path), "-o", "x.mtx", words=[str(path)])

    def test_either(self):
        """Read or refused, never a crash."""
        for path in self.files("either"):
            with self.subTest(file=path.name):
                self.assertIn(self.run_lugpu("solve", str(path)).returncode, (0, 2, 3))


class BenchTest(CommandLine):
    EVERYTHING = ["bench", "-n", "8,16", "--method", ",".join(METHODS),
                  "--pivot", ",".join(PIVOTS), "--precision", ",".join(PRECISIONS),
                  "--storage", ",".join(STORAGES), "--texel", ",".join(TEXELS),
                  "--schedule", ",".join(SCHEDULES), "--baseline", "getrf,getc2",
                  "--matrix", "dominant", "--runs", "2", "--min-time", "0"]

    def report(self, name="r.json"):
        return parse_report((self.folder / name).read_text(encoding="utf-8"))

    def test_everything(self):
        """Every combination has one row, which is ok; text and file say the same."""
        done = self.lugpu(*self.EVERYTHING, "--json", "r.json")
        rows = {case_of(row): row["status"] for row in self.report()}
        lugpu = set(itertools.product(METHODS, PIVOTS, PRECISIONS, STORAGES, TEXELS, SCHEDULES,
                                      [8, 16]))
        rivals = {(*rival, precision, "host", None, None, n)
                  for rival in (("getrf", "partial"), ("getc2", "full"))
                  for precision in PRECISIONS for n in (8, 16)}
        self.assertEqual(set(rows), lugpu | rivals)
        self.assertEqual(len(self.report()), len(lugpu | rivals))
        for case, status in rows.items():
            self.assertEqual(status, "ok", case)
        self.assertEqual(set(table_rows(done.stdout)), set(rows))
        self.assertNotIn("\033", done.stdout)

    def test_statistics_follow_from_the_samples(self):
        for row in self.results(*small(baseline="getrf", runs=4)):
            times = row["times_s"]
            self.assertGreaterEqual(len(times), 4)
            self.assertAlmostEqual(row["median_s"], statistics.median(times), delta=1e-12)
            self.assertEqual(row["min_s"], min(times))
            deviation = statistics.stdev(times) / statistics.mean(times)
            self.assertAlmostEqual(row["rel_stdev"], deviation, delta=1e-9)
            self.assertAlmostEqual(row["gflops"] * row["median_s"], 2 / 3 * 8**3 * 1e-9,
                                   delta=1e-15)

    def test_rates_follow_from_the_counters(self):
        """And lu-blocked beyond two blocks says how fast its products are alone."""
        for row in self.results(*small(method=f"{BLOCKED},lu", sizes="8,200", pivot="partial",
                                       storage="buffer", texel="r", nb="64", baseline="getrf")):
            rates = row["rates"]
            if row["implementation"] != "lugpu":
                self.assertIsNone(rates)
                continue
            for rate, counter in (("bytes_model_per_s", "bytes_model"),
                                  ("bytes_counted_per_s", "bytes_counted"),
                                  ("multiply_adds_per_s", "elements_updated")):
                self.assertAlmostEqual(rates[rate] * row["median_s"] / row["counters"][counter], 1)
            product = rates.get("product_multiply_adds_per_s")
            self.assertEqual(product is not None, row["routine"] == BLOCKED and row["n"] == 200)
            if product is not None:
                self.assertAlmostEqual(rates["multiply_adds_over_product"] * product
                                       / rates["multiply_adds_per_s"], 1)

    def test_table_shows_the_medians(self):
        """Milliseconds, GFLOP/s and the speed-up over the rival that pivots as much."""
        done = self.lugpu("bench", "-n", "100", "--method", "lu", "--runs", "2", "--min-time", "0",
                          "--json", "r.json")
        rows = {case_of(row): row for row in self.report()}
        table = table_rows(done.stdout)
        self.assertEqual(set(table), set(rows))
        rivals = {row["pivot"]: row["median_s"] for row in rows.values()
                  if row["storage"] == "host"}
        for case, shown in table.items():
            median = rows[case]["median_s"]
            rival = rivals["full" if case[1] == "full" else "partial"]
            for key, value in (("ms", 1e3 * median), ("gflops", rows[case]["gflops"]),
                               ("speedup", rival / median)):
                self.assertAlmostEqual(float(shown[key]), value, delta=rounding(shown[key]))

    def test_table_fits_80_columns(self):
        """Rows with times, failed and unsupported ones, the longest names, the largest n."""
        for arguments in (small(method="gauss-jordan", pivot="partial", baseline="getrf"),
                          small(matrix="singular"), small(sizes=2**20)):
            with self.subTest(arguments=arguments):
                self.assert_narrow(self.run_lugpu(*arguments).stdout)

    def test_footer_says_what_speedups_are_over(self):
        footer = " ".join(self.lugpu(*small()).stdout.split())
        self.assertIn("speedup: over getrf of the same n and precision (mixed: double), "
                      "for lu-blocked", footer)
        self.assertIn("for full pivoting over getc2", footer)

    def test_default_matrices(self):
        """`dominant` without pivoting, which random matrices would need; `random` with it."""
        rows = self.results("bench", "-n", "8", "--method", "lu", "--runs", "1", "--min-time", "0")
        kinds = {(row["routine"], row["pivot"]): row["matrix"] for row in rows}
        self.assertEqual(kinds.pop(("lu", "none")), "dominant")
        self.assertEqual(set(kinds.values()), {"random"})
        self.assertEqual(len(kinds), 4)

    def test_sizes(self):
        """Lists and ranges, inclusive, in the order given, each size once."""
        for sizes, expected in (("16,8", [16, 8]), ("8:24:8", [8, 16, 24]),
                                ("8:40:*2", [8, 16, 32]), ("8,8:16:8,8", [8, 16])):
            with self.subTest(sizes=sizes):
                rows = self.results(*small(sizes=sizes))
                self.assertEqual([row["n"] for row in rows], expected)

    def test_automatic_method(self):
        """For every variant the fastest one that has it."""
        rows = self.results(*small(method="auto", pivot="partial,full", storage="buffer",
                                   texel="r", schedule="fused,paper", nb="64,128"))
        self.assertEqual([(row["routine"], row["pivot"], row["schedule"], row["nb"])
                          for row in rows],
                         [(BLOCKED, "partial", None, 64), (BLOCKED, "partial", None, 128),
                          ("lu", "partial", "paper", None), ("lu", "full", "fused", None),
                          ("lu", "full", "paper", None)])

    def test_schedules_are_of_the_methods_of_the_paper(self):
        """A star in the table is the paper's schedule; lu-blocked has neither, and one row."""
        done = self.lugpu(*small(method=f"{BLOCKED},lu", pivot="partial", schedule="paper,fused"))
        names = [line.split()[1] for line in done.stdout.splitlines() if line.startswith("     8 ")]
        self.assertEqual(names, [BLOCKED, "lu*", "lu"])

    def test_rook_pivoting(self):
        """A row of lu's; the other methods have none."""
        done = self.lugpu(*small(method=f"lu,gauss-jordan,{BLOCKED}", pivot="rook"))
        self.assertEqual([case[:2] for case in table_rows(done.stdout)], [("lu", "rook")])

    def test_pivotings_that_no_method_has(self):
        """Nothing to run is bad usage, and the message lists what is possible; a rival alone is a sweep."""
        selection = small(method="gauss-jordan", pivot="rook", json="r.json")
        self.refused(*selection, words=["--pivot rook", "gauss-jordan has none, partial, full"])
        self.refused(*selection, "--resume", words=["--pivot rook"])
        self.lugpu(*small(method="gauss-jordan", pivot="rook", baseline="getrf"))

    def test_repeated_names_run_once(self):
        rows = self.results(*small(method="lu,lu", pivot="full,complete"))
        self.assertEqual([case_of(row)[:2] for row in rows], [("lu", "full")])

    def test_parameters_reach_the_record(self):
        rows = self.results(*small(baseline="getrf", nrhs=3, seed=7, threads=1))
        for row in rows:
            self.assertEqual((row["nrhs"], row["seed"]), (3, 7))
        self.assertEqual([row["threads"] for row in rows], [1, None])

    def test_quiet_and_json_on_stdout(self):
        self.assertEqual(self.lugpu(*small(), "-q").stdout, "")
        self.assertEqual(len(self.results(*small())), 1)
        self.assertEqual(len(self.results(*small(), "-q")), 1)

    def test_no_progress_outside_a_terminal(self):
        self.assertNotRegex(self.lugpu(*small()).stderr, r"[\r\033]")

    def test_breakdown_is_failed(self):
        """Too small a pivot without pivoting: the reason, no speed, status 4."""
        arguments = ["bench", "--matrix", "tiny-pivot", "--precision", "single", "-n", "64",
                     "--baseline", "none", "--runs", "1", "--min-time", "0", "--json", "r.json"]
        done = self.lugpu(*arguments, "--pivot", "none", status=4)
        methods = {*METHODS, BLOCKED}
        self.assertEqual(done.stdout.count("failed: "), len(methods))
        self.assertEqual(table_rows(done.stdout), {})
        self.assertEqual({row["routine"] for row in self.report()}, methods)
        for row in self.report():
            self.assertEqual((row["status"], row["gflops"]), ("failed", None))
            self.assertIn("--pivot partial", row["reason"])
            if row["routine"] != "gauss-jordan":  # which leaves no factors to see growth in
                self.assertRegex(row["reason"], r"growth [0-9.]+e\+")
        self.lugpu(*arguments, "--pivot", "partial", "--force")
        self.assertEqual({row["status"] for row in self.report()}, {"ok"})

    def test_singular_is_failed(self):
        """The pivot is named, for the rivals too."""
        rows = self.results("bench", "--matrix", "singular", "-n", "8", "--runs", "1",
                            "--min-time", "0", status=4)
        for row in rows:
            self.assertEqual((row["status"], row["checks"]["info"]), ("failed", 8), row)
            self.assertIn("pivot 8 ", row["reason"])

    def test_unknown_numbers_do_not_break_the_file(self):
        """A matrix whose checks are not finite still gives JSON, without NaN."""
        self.results("bench", "-n", "8,150", "--matrix", "wilkinson", "--method", "lu",
                     "--precision", "single", "--runs", "1", "--min-time", "0", status=4)


class UnsupportedTest(CommandLine):
    def largest_image(self):
        text = " ".join(self.lugpu("devices").stdout.split())
        return int(re.search(r"single: buffer \S+ image (\d+)", text).group(1))

    def test_image_too_large(self):
        """Said with the reason, before the matrix is made; not a failure."""
        n = self.largest_image() + 1
        status, seconds, memory = self.cost_of("bench", "-n", str(n), "--storage", "image",
                                               "--method", ",".join(METHODS),
                                               "--baseline", "none", "--json", "r.json")
        self.assertEqual(status, 0)
        self.assertLess(seconds, 20)
        rows = parse_report((self.folder / "r.json").read_text(encoding="utf-8"))
        self.assertEqual(len(rows), len(METHODS) * len(PIVOTS))
        for row in rows:
            self.assertEqual((row["status"], row["gflops"]), ("unsupported", None))
            self.assertIn(str(n), row["reason"])
        self.assertLess(memory, 8 * n * n)

    def test_blocked_on_an_image(self):
        """A row for each storage and texel; packed buffers are unsupported, with the reason."""
        rows = self.results(*small(method=BLOCKED, storage=",".join(STORAGES),
                                   texel=",".join(TEXELS), pivot=",".join(BLOCKED_PIVOTS)))
        self.assertEqual(len(rows), len(STORAGES) * len(TEXELS) * len(BLOCKED_PIVOTS))
        for row in rows:
            if (row["storage"], row["texel"]) == ("buffer", "rgba"):
                self.assertEqual(row["status"], "unsupported")
                self.assertIn("--texel r", row["reason"])
            else:
                self.assertEqual(row["status"], "ok")
                self.assertGreater(row["counters"]["bytes_counted"], 0)

    def test_matrix_too_large_for_any_memory(self):
        """The largest n that -n takes; the table says so, also for the rivals."""
        done = self.lugpu("bench", "-n", str(2**20), "--method", "lu")
        self.assertEqual(done.stdout.count("unsupported: "), 5)


class RivalsTest(CommandLine):
    """Rivals on the device. tests/cuda_stub.cpp stands in for CUDA and its device."""

    def bench(self, device=None, status=0):
        """The results of all rivals, where CUDA's device has this name; absent: there is none."""
        folder = Path(PROGRAM).parent / "tests/cuda_stub"
        self.assertTrue(folder.is_dir(), folder)
        env = {"LD_LIBRARY_PATH": str(folder)}
        env |= {"LUGPU_CUDA_STUB": device} if device else {}
        done = self.lugpu(*small(sizes="8,300", pivot="partial", baseline=",".join(RIVALS)),
                          "--json", "r.json", status=status, env=env)
        self.assert_narrow(done.stdout)
        return parse_report((self.folder / "r.json").read_text(encoding="utf-8"))

    def device(self):
        return parse_report(self.lugpu(*small(), "--json", "-").stdout)[0]["device"]

    def test_unsupported_with_a_reason(self):
        """Of all rows, those of cuSOLVER alone; the others go on."""
        rows = self.bench()
        self.assertEqual(len(rows), 2 * (len(RIVALS) + 1))
        for row in rows:
            if row["implementation"] == "cusolver":
                self.assertEqual((row["status"], row["gflops"]), ("unsupported", None))
                self.assertIn("no CUDA device", row["reason"])
            elif row["implementation"] != "viennacl":
                self.assertEqual(row["status"], "ok", row["reason"])

    def test_quiet_has_no_warning(self):
        """That OpenBLAS does not know the processor."""
        for flags, said in (([], "lugpu: warning: OpenBLAS does not know this processor"), (["-q"], "")):
            done = self.lugpu(*small(baseline="getrf"), *flags, env={"OPENBLAS_CORETYPE": "Prescott"})
            self.assertEqual(done.stderr[:len(said) or None], said)

    def test_another_device(self):
        for row in self.bench("Testcard"):
            if row["implementation"] == "cusolver":
                self.assertEqual(row["status"], "unsupported")
                self.assertRegex(row["reason"], f"^{re.escape(row['device'])} is not a CUDA device.*"
                                                r"Testcard\.$")

    def test_on_the_device(self):
        """Timed and checked as a row of the device, with the routine and the library that ran."""
        device = self.device()
        for row in self.bench(device):
            if row["implementation"] == "cusolver":
                self.assertEqual((row["status"], row["device"], row["storage"], row["texel"]),
                                 ("ok", device, "buffer", None), row["reason"])
                self.assertIn(row["variant"], ("cusolverDnSgetrf", "cusolverDnXgetrf"))
                self.assertEqual(len(row["device_times_s"]), 1)
        report = json.loads((self.folder / "r.json").read_text(encoding="utf-8"))
        self.assertEqual(report["libraries"]["cusolver"]["version"], "1.2.3")

    def test_viennacl_runs_where_it_is_built_in(self):
        report = json.loads(self.lugpu(*small(baseline="viennacl"), "--json", "-").stdout)
        row = report["results"][0]
        built_in = "viennacl" in report["libraries"]
        self.assertEqual(row["status"], "ok" if built_in else "unsupported", row["reason"])
        if not built_in:
            self.assertIn("libviennacl-dev", row["reason"])


class TimeoutTest(CommandLine):
    SLOW = ["bench", "-n", "512", "--method", "lu", "--pivot", "none", "--baseline", "getc2",
            "--json", "r.json", "--runs", "1", "--min-time", "0"]

    def statuses(self):
        rows = parse_report((self.folder / "r.json").read_text(encoding="utf-8"))
        return {(row["routine"], row["n"]): row["status"] for row in rows}

    def test_skipped(self):
        """What takes too long is skipped, with the reason, without a speed; status 0."""
        rows = self.results(*self.SLOW[:-6], "--timeout", "0.001")
        self.assertEqual(len(rows), 2)
        for row in rows:
            self.assertEqual((row["status"], row["gflops"]), ("skipped", None))
            self.assertIn("--timeout 0.001", row["reason"])

    def test_only_what_is_slow_is_skipped(self):
        """A case has its own time, however long the one before it took."""
        self.lugpu("bench", "-n", "2048,4", "--method", "lu", "--pivot", "none,partial",
                   "--baseline", "none", "--timeout", "0.5", "--json", "r.json")
        self.assertEqual(self.statuses()["lu", 4], "ok")

    def test_resume_runs_skipped_cases_again(self):
        self.lugpu(*self.SLOW, "--timeout", "0.001")
        self.lugpu(*self.SLOW, "--resume")
        self.assertEqual(self.statuses(), {("getc2", 512): "ok", ("lu", 512): "ok"})


class ResumeTest(CommandLine):
    def rows(self):
        path = self.folder / "sweep.json"
        return parse_report(path.read_text(encoding="utf-8")) if path.exists() else []

    def interrupt(self, how, after):
        """Stops a sweep once it has this many rows; the file is valid at any time."""
        process = self.start_lugpu(*SWEEP)
        while len(self.rows()) < after:
            self.assertIsNone(process.poll(), "the sweep ended too early")
            time.sleep(0.001)
        process.send_signal(how)
        self.assertIn(process.wait(SECONDS), (-how, 128 + how))
        rows = self.rows()
        self.assertGreaterEqual(len(rows), after)
        self.assertLess(len(rows), SWEEP_ROWS)
        return rows

    def assert_complete(self, earlier):
        rows = self.rows()
        self.assertEqual(rows[:len(earlier)], earlier)
        self.assertEqual(len(rows), SWEEP_ROWS)
        self.assertEqual(len({case_of(row) for row in rows}), SWEEP_ROWS)
        self.assertEqual({row["status"] for row in rows}, {"ok"})

    def test_killed_sweep_is_resumed(self):
        """Nothing that was measured is lost or measured again."""
        earlier = self.interrupt(signal.SIGKILL, after=5)
        self.lugpu(*SWEEP, "--resume")
        self.assert_complete(earlier)

    def test_interrupted_sweep_is_resumed(self):
        earlier = self.interrupt(signal.SIGINT, after=3)
        self.lugpu(*SWEEP, "--resume")
        self.assert_complete(earlier)
        self.assertEqual(self.file_names(), ["sweep.json"])

    def test_quick_case_does_not_wait_for_a_slow_one(self):
        """It is in the file while the slow one is measured, and after it in the end."""
        # Two samples each in turn, the second one of lu-blocked first: it is done first at any speed.
        slow_first = ("--method", "lu-blocked", "--pivot", "partial", "--baseline", "getc2", "--runs", "2",
                      "--min-time", "0", "--timeout", "1000")
        process = self.start_lugpu("bench", "-n", "1200", *slow_first, "--json", "sweep.json")
        while not self.rows():
            self.assertIsNone(process.poll(), "there was no file until the end")
            time.sleep(0.01)  # leaves the cores to lugpu
        self.assertEqual([row["routine"] for row in self.rows()], ["lu-blocked"])
        self.assertEqual(process.wait(SECONDS), 0)
        self.assertEqual([row["routine"] for row in self.rows()], ["getc2", "lu-blocked"])
        table = self.lugpu("bench", "-n", "300", *slow_first).stdout
        self.assertLess(table.index("   300 getc2"), table.index("   300 lu-blocked"))

    def test_complete_sweep_is_left_alone(self):
        self.lugpu(*small(), "--json", "sweep.json")
        before = self.rows()
        self.lugpu(*small(), "--json", "sweep.json", "--resume")
        self.assertEqual(self.rows(), before)

    def test_with_force_the_file_is_new(self):
        self.lugpu(*small(), "--json", "sweep.json")
        self.lugpu(*small(sizes=16), "--json", "sweep.json", "--force")
        self.assertEqual([row["n"] for row in self.rows()], [16])

    def test_resume_adds_what_is_new(self):
        self.lugpu(*small(), "--json", "sweep.json")
        before = self.rows()
        self.lugpu(*small(sizes="8,16"), "--json", "sweep.json", "--resume")
        self.assertEqual(self.rows()[:1], before)
        self.assertEqual([row["n"] for row in self.rows()], [8, 16])

    def test_resume_knows_the_rivals_of_the_file(self):
        """A new row shows its speed-up over a baseline that ran before."""
        start = ["bench", "-n", "64", "--method", "lu", "--baseline", "getrf",
                 "--json", "sweep.json", "--runs", "2", "--min-time", "0"]
        self.lugpu(*start, "--pivot", "none")
        done = self.lugpu(*start, "--pivot", "none,partial", "--resume")
        row, = [shown for case, shown in table_rows(done.stdout).items() if case[1] == "partial"]
        self.assertNotEqual(row["speedup"], "-")

    def test_resumed_sweep_with_failed_rows_ends_as_before(self):
        """Status 4, though no row is measured again, or only others are."""
        failing = small(matrix="singular", json="sweep.json")
        self.lugpu(*failing, status=4)
        before = self.rows()
        self.assertEqual([row["status"] for row in before], ["failed"])
        self.lugpu(*failing, "--resume", status=4)
        self.assertEqual(self.rows(), before)
        self.lugpu(*small(json="sweep.json"), "--resume", status=4)
        self.assertEqual(self.rows()[:1], before)
        self.assertEqual([row["status"] for row in self.rows()], ["failed", "ok"])

    def test_resumed_sweep_runs_error_rows_again(self):
        """Status 1 for as long as they end in errors."""
        shutil.copytree(ROOT / "kernels", self.folder / "kernels")
        (self.folder / "kernels/common/transfer.cl").write_text("no kernel", encoding="utf-8")
        broken = small(json="sweep.json", kernel_dir="kernels")
        self.lugpu(*broken, status=1)
        self.change_row(reason="clFinish: out of resources.")
        self.lugpu(*broken, "--resume", status=1)
        row, = self.rows()
        self.assertEqual(row["status"], "error")
        self.assertNotIn("out of resources", row["reason"])

        self.lugpu(*small(json="sweep.json"), "--force")
        self.change_row(status="error", reason="clFinish: out of resources.")
        self.lugpu(*small(json="sweep.json"), "--resume")
        row, = self.rows()
        self.assertEqual((row["status"], row["reason"]), ("ok", ""))

    def change_row(self, **fields):
        """Writes these into the only row of the file."""
        report = json.loads((self.folder / "sweep.json").read_text(encoding="utf-8"))
        row, = report["results"]
        row.update(fields)
        self.write("sweep.json", json.dumps(report).encode())

    def test_resume_needs_a_file(self):
        for flags in ([], ["--json", "-"]):
            with self.subTest(flags=flags):
                self.refused(*small(), "--resume", *flags, words=["--resume", "--json FILE"])

    def test_resume_refuses_what_lugpu_did_not_write(self):
        """The file is named and stays as it is."""
        (self.folder / "folder.json").mkdir()
        self.refused(*small(), "--resume", "--json", "folder.json", words=["folder.json"])
        for content in (b"", b"x", b"[]", b"{}", b'{"schema_version": 2, "results": []}',
                        b'{"schema_version": "1", "results": []}',
                        b'{"schema_version": 1, "results": {}}',
                        b'{"schema_version": 1, "results": [1]}',
                        b'{"schema_version": 1, "results": [{"status": null}]}'):
            with self.subTest(content=content):
                self.write("sweep.json", content)
                self.refused(*small(), "--resume", "--json", "sweep.json", words=["sweep.json"])
                self.assertEqual((self.folder / "sweep.json").read_bytes(), content)

    def change(self, change):
        """Changes the report in sweep.json, and returns its bytes then."""
        path = self.folder / "sweep.json"
        report = json.loads(path.read_text(encoding="utf-8"))
        change(report)
        return self.write("sweep.json", json.dumps(report).encode()) and path.read_bytes()

    def assert_not_resumed(self, content, words):
        """With a sentence that has these words; the file stays as it is."""
        self.refused(*small(sizes="8,16"), "--resume", "--json", "sweep.json",
                     words=["sweep.json", *words])
        self.assertEqual((self.folder / "sweep.json").read_bytes(), content)

    def test_resume_refuses_another_environment(self):
        """Another host, build or driver: what differs is named, there and here."""
        def other(place, key):
            def change(report):
                part = report["devices"][0] if place == "device" else report[place]
                part[key] = "nonesuch"
            return change
        for place, key, words in (("context", "host", "host"), ("tool", "git_rev", "revision"),
                                  ("device", "driver_version", "driver"),
                                  ("device", "name", "device")):
            with self.subTest(key=key):
                self.lugpu(*small(), "--json", "fresh.json")
                (self.folder / "fresh.json").rename(self.folder / "sweep.json")
                self.assert_not_resumed(self.change(other(place, key)),
                                        [words, '"nonesuch" there'])

    def test_resume_refuses_other_kernels(self):
        self.lugpu(*small(), "--json", "sweep.json")
        shutil.copytree(ROOT / "kernels", self.folder / "kernels")
        kernels = ("--kernel-dir", "kernels")
        self.lugpu(*small(sizes="8,16"), "--json", "sweep.json", "--resume", *kernels)
        with open(self.folder / "kernels/dense/fused.cl", "a", encoding="utf-8") as stream:
            stream.write("// a change")
        self.refused(*small(sizes="8,16"), "--resume", "--json", "sweep.json", *kernels,
                     words=["sweep.json", "kernels"])

    def test_resume_refuses_rows_that_are_none(self):
        """File, row and field are named."""
        self.lugpu(*small(), "--json", "sweep.json")
        self.assert_not_resumed(self.change(lambda report: report["results"][0].update(n="64")),
                                ['results[0].n is "64", not a whole number'])

    def test_resume_keeps_what_it_does_not_run_again(self):
        """A skipped case that is not in this sweep."""
        self.lugpu(*small(sizes=512, baseline="getc2"), "--timeout", "0.001", "--json", "sweep.json")
        before = self.rows()
        self.assertEqual({row["status"] for row in before}, {"skipped"})
        self.lugpu(*small(sizes=16), "--json", "sweep.json", "--resume")
        self.assertEqual(self.rows()[:2], before)
        self.assertEqual([row["n"] for row in self.rows()], [512, 512, 16])


class ProbeTest(CommandLine):
    PROBE = ["probe", "-n", "16", "--runs", "1"]

    def probes(self, text):
        report = json.loads(text, parse_constant=refuse_constant)
        VALIDATOR.validate(report)
        self.assertEqual(report["results"], [])
        return report["probes"]

    def test_text_and_json(self):
        """One line and one entry for every measurement."""
        done = self.lugpu(*self.PROBE, "--json", "p.json")
        self.assert_narrow(done.stdout)
        probes = self.probes((self.folder / "p.json").read_text(encoding="utf-8"))
        self.assertEqual({probe["n"] for probe in probes if "n" in probe}, {16})
        for probe in probes:
            self.assertRegex(done.stdout, rf"(?m)^ *(16 )?{re.escape(probe['name'])} ")

    def test_samples(self):
        """Every run, so that readers can judge the medians."""
        done = self.lugpu("probe", "-n", "8", "--runs", "3", "--storage", "buffer", "--json", "-")
        timed = [probe for probe in self.probes(done.stdout) if "median_s" in probe]
        self.assertEqual(len(timed), 4)
        for probe in timed:
            self.assertEqual(len(probe["times_s"]), 3)
            self.assertEqual(sorted(probe["times_s"])[1], probe["median_s"])

    def test_json_on_stdout_and_quiet(self):
        self.assertGreater(len(self.probes(self.lugpu(*self.PROBE, "--json", "-").stdout)), 0)
        self.assertEqual(self.lugpu(*self.PROBE, "-q").stdout, "")

    def test_bad_usage(self):
        for flags in (["-n", "0"], ["-n", "abc"], ["--runs", "0"], ["--precision", "half"],
                      ["--storage", "tape"], ["--frobnicate"]):
            with self.subTest(flags=flags):
                self.refused("probe", *flags, "--json", "p.json", words=[flags[-1]])


class ColourTest(CommandLine):
    def on_terminal(self, *arguments, env=None):
        """What the program prints where stdout is a terminal; less than its buffer holds."""
        ours, theirs = pty.openpty()
        try:
            self.assertEqual(self.run_lugpu(*arguments, env=env, stdout=theirs).returncode, 0)
            return os.read(ours, 65536).decode()
        finally:
            os.close(ours)
            os.close(theirs)

    def test_auto(self):
        """Colour on a terminal, unless NO_COLOR is set to something."""
        self.assertIn("\033[", self.on_terminal(*small()))
        self.assertIn("\033[", self.on_terminal(*small(), env={"NO_COLOR": ""}))
        self.assertNotIn("\033[", self.on_terminal(*small(), env={"NO_COLOR": "1"}))

    def test_flag_decides(self):
        self.assertNotIn("\033[", self.on_terminal(*small(), "--color", "never"))
        done = self.lugpu(*small(), "--color", "always", env={"NO_COLOR": "1"})
        self.assertIn("\033[", done.stdout)

    def test_json_has_no_colour(self):
        self.assertEqual(len(self.results(*small(), "--color", "always")), 1)


class ProgressTest(CommandLine):
    """The line that overwrites itself where stderr is a terminal."""
    DRAWN = re.compile(r"\r\033\[K(\[[^\r\n]*)")

    def on_terminal(self, *arguments):
        """What is drawn over one another on stderr, the rest of it, and the seconds that it took."""
        ours, theirs = pty.openpty()
        process = subprocess.Popen([PROGRAM, *arguments], cwd=self.folder, stdin=subprocess.DEVNULL,
                                   env=self.environment(None), stdout=subprocess.DEVNULL, stderr=theirs)
        os.close(theirs)
        start, text = time.monotonic(), b""
        with contextlib.suppress(OSError), open(ours, "rb", buffering=0) as terminal:
            while part := terminal.read(65536):
                text += part
        self.assertEqual(process.wait(SECONDS), 0)
        return text.decode(), time.monotonic() - start

    def test_ten_redraws_a_second(self):
        text, seconds = self.on_terminal(*small(sizes="1:400:1"))
        drawn = self.DRAWN.findall(text)
        self.assertLessEqual(len(drawn), 10 * seconds + 1)
        self.assertTrue(text.endswith("\r\033[K"), text[-80:])

    def test_the_last_text_before_a_pause_is_seen(self):
        """Though the one before was drawn a moment ago."""
        text, _ = self.on_terminal(*small(sizes="1,2,3,4,5,6,7,8,900", min_time=1, runs=1000))
        self.assertIn("[8/9]", text)


class PoclCacheTest(CommandLine):
    """Where PoCL cannot write its compiled kernels."""
    UNWRITABLE = "/dev/null"  # for root too

    def setUp(self):
        super().setUp()
        if "Portable Computing Language" not in self.lugpu("devices").stdout:
            self.skipTest("PoCL is not there")
        self.write("a.csv", [[2.0]])
        self.env = {"HOME": self.UNWRITABLE, "XDG_CACHE_HOME": "", "POCL_CACHE_DIR": "",
                    "TMPDIR": str(self.folder)}
        self.cache = self.folder / f"lugpu-cache-{os.geteuid()}"

    def assert_cached(self):
        self.assertEqual(self.cache.stat().st_mode & 0o7777, 0o700)
        self.assertGreater(len(list(self.cache.iterdir())), 0)

    def test_it_gets_a_private_folder(self):
        """As many devices as ever, a note for -v, and compiled kernels in the folder."""
        for _ in range(2):  # it is there the second time
            self.assertEqual(self.lugpu("devices", env=self.env).stdout, self.lugpu("devices").stdout)
            done = self.lugpu("solve", "a.csv", "-v", "-p", "Portable", env=self.env)
            note, = [line for line in done.stderr.splitlines() if "note: " in line]
            self.assertIn(str(self.cache), note)
            self.assert_cached()
        self.assertEqual(self.lugpu("solve", "a.csv", "-p", "Portable", env=self.env).stderr, "")
        self.assertEqual(self.file_names(), ["a.csv", self.cache.name])

    def test_every_variable_that_names_it(self):
        for names in ({"XDG_CACHE_HOME": self.UNWRITABLE, "HOME": str(self.folder)},
                      {"XDG_CACHE_HOME": self.UNWRITABLE + "/below"},
                      {"POCL_KERNEL_CACHE": "0"}):
            with self.subTest(names=names):
                self.lugpu("solve", "a.csv", "-p", "Portable", env=self.env | names)
                self.assert_cached()
                shutil.rmtree(self.cache)

    def test_a_folder_that_can_be_written_stays(self):
        for names in ({"HOME": str(self.folder)}, {"XDG_CACHE_HOME": str(self.folder / "xdg")},
                      {"POCL_CACHE_DIR": str(self.folder / "pocl")}):
            with self.subTest(names=names):
                done = self.lugpu("solve", "a.csv", "-v", "-p", "Portable", env=self.env | names)
                self.assertNotIn("note: ", done.stderr)
                self.assertFalse(self.cache.exists())

    def test_no_folder_at_all(self):
        """Status 5 and the folders that cannot be written, not the advice to install a driver."""
        if len(re.findall("(?m)^   platform ", self.lugpu("devices").stdout)) > 1:
            self.skipTest("there are other devices")
        def shared_folder(path):
            path.mkdir()
            path.chmod(0o755)
        for names, place in (({"POCL_CACHE_DIR": "/dev/null/x"}, "/dev/null/x"), ({"TMPDIR": "/proc"}, "/proc")):
            self.refused_without_cache(self.env | names, place)
        for number, make in enumerate((shared_folder, Path.touch, lambda path: path.symlink_to(self.folder))):
            with self.subTest(number=number):
                temporary = self.folder / str(number)
                temporary.mkdir()
                make(temporary / self.cache.name)
                self.refused_without_cache(self.env | {"TMPDIR": str(temporary)},
                                           str(temporary / self.cache.name))

    def refused_without_cache(self, env, place):
        for command in (["devices"], ["solve", "a.csv"], ["verify"]):
            error = self.refused(*command, status=5, env=env, words=[place, "set POCL_CACHE_DIR"])
            self.assertNotIn("install", error)


class GenerateTest(CommandLine):
    def kinds(self):
        """The kinds that the help lists."""
        listed = self.lugpu("generate", "--help").stdout.partition("Kinds:\n")[2]
        return re.findall(r"(?m)^  (\S+)", listed)

    def content(self, kind, name, seed=1):
        self.generate(kind, 64, name, seed)
        return (self.folder / name).read_bytes()

    def test_every_kind_in_every_format(self):
        """The same numbers, bit for bit, whichever format carries them."""
        kinds = self.kinds()
        self.assertGreaterEqual(set(kinds), set(KINDS))
        for kind in kinds:
            with self.subTest(kind=kind):
                files = [self.folder / self.generate(kind, 5, "a" + end) for end in FORMATS]
                a, *others = [read_matrix(path) for path in files]
                self.assertEqual((a.shape, a.dtype), ((5, 5), np.float64))
                for other in others:
                    np.testing.assert_array_equal(a, other)

    def test_round_trip(self):
        """lugpu reads what it writes: X is the same for every format of A."""
        for kind in ("random", "hilbert", "graded"):
            with self.subTest(kind=kind):
                solutions = []
                for end in FORMATS:
                    self.lugpu("solve", self.generate(kind, 5, "a" + end), "-o", "x.npy")
                    solutions.append(np.load(self.folder / "x.npy"))
                np.testing.assert_array_equal(solutions[0], solutions[1])
                np.testing.assert_array_equal(solutions[0], solutions[2])

    def test_seed(self):
        """The same seed gives the same bytes; another seed gives others, for random kinds."""
        for kind in self.kinds():
            with self.subTest(kind=kind):
                first = self.content(kind, "a.mtx")
                self.assertEqual(self.content(kind, "b.mtx"), first)
                differs = self.content(kind, "c.mtx", seed=2) != first
                self.assertEqual(differs, kind not in WITHOUT_SEED)

    def test_kinds_are_what_they_say(self):
        for kind, fits in {
                "random": lambda a: abs(a).max() <= 0.5,
                "dominant": lambda a: (2 * abs(a.diagonal()) > abs(a).sum(axis=1)).all(),
                "tiny-pivot": lambda a: a[0, 0] == 1e-10,
                "hilbert": lambda a: a[1, 2] == 1 / 4,
                "singular": lambda a: (a[0] == a[-1]).all(),
                "wilkinson": lambda a: a[4].tolist() == [-1, -1, -1, -1, 1]}.items():
            with self.subTest(kind=kind):
                a = read_matrix(self.folder / self.generate(kind, 5, "a.npy"))
                self.assertTrue(fits(a), a)

    def test_prints_nothing(self):
        done = self.lugpu("generate", "random", "1", "-o", "a.csv")
        self.assertEqual(done.stdout + done.stderr, "")
        self.assertEqual(self.file_names(), ["a.csv"])


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    PROGRAM = os.path.abspath(sys.argv.pop(1))
    # A shell starts background jobs with SIGINT ignored; the processes of the tests need it.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    unittest.main()
