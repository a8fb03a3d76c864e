#!/usr/bin/python3
"""A device that misbehaves at one call of OpenCL after another, under every command and the drop-in LAPACK.

    tests/faults.py PATH_TO_LUGPU [--quick] [--only WORD] [--python INTERPRETER]

Runs each command once undisturbed, which counts its calls of OpenCL, and then once for every chosen call
and kind of fault (tests/opencl_faults.cpp). What must hold whatever happens:
  - the process ends by itself, with an exit status of lugpu, not by a signal, and not late;
  - status 0 comes with a right x; another one with one sentence on stderr, and no file with an x;
  - a JSON file that is there keeps to the schema.
Prints a line for each command and kind of fault, and above it every case that broke a rule, with what repeats it.
--quick: a few calls of each function, for ctest. --python: an interpreter that has the module lugpu.
Exit status 0 only if no run broke a rule.
"""

import argparse
import concurrent.futures
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import scipy.io
import scipy.sparse

sys.path.insert(0, str(Path(__file__).resolve().parent / "cli"))
from program import COMPILED_KERNELS, VALIDATOR, refuse_constant  # noqa: E402

N = 40
SECONDS = 120  # that a run may take, on a machine that does other things too
TIMEOUT = 4    # on a device that hangs; bench waits a minute
COMMON_CODE, MEMORY_CODE = -5, -4
# Waits, where a device that hangs shows; all other calls may hang too.
WAITS = ["clFinish", "clWaitForEvents", "clEnqueueReadBuffer", "clBuildProgram", "clCreateContext"]
# A child of liblapack's callers: solves A x = b for a.npy by dgesv_ and writes x.npy.
LAPACK = """
import ctypes, sys, numpy as np
lapack = ctypes.CDLL(sys.argv[1])
a = np.asfortranarray(np.load("a.npy")); n = a.shape[0]; b = a.sum(axis=1)
whole = lambda i: ctypes.byref(ctypes.c_int(i)); data = lambda m: m.ctypes.data_as(ctypes.c_void_p)
ipiv = np.zeros(n, "i4"); info = ctypes.c_int(-99)
lapack.dgesv_(whole(n), whole(1), data(a), whole(n), data(ipiv), data(b), whole(n), ctypes.byref(info))
if info.value != 0: sys.exit(4)
np.save("x.npy", b.reshape(-1, 1))
"""
PYTHON = """
import lugpu, numpy as np, warnings
warnings.simplefilter("error", lugpu.AccuracyWarning)  # with which an x comes that fails its checks
a = np.load("a.npy")
np.save("x.npy", lugpu.solve(a, a.sum(axis=1)).reshape(-1, 1))
"""
# Commands that are tried at most of their calls; others at a few.
THOROUGH = ["solve lu-blocked partial", "solve sparse", "solve two devices", "bench"]
# Each of its paths is a process, which counts anew: in every one of them such a call fails.
OF_VERIFY = {"clBuildProgram": 3, "clCreateBuffer": 3, "clEnqueueNDRangeKernel": 3}


def solve(*options, matrix="a.npy"):
    return ["solve", matrix, *options, "-o", "x.npy", "--json", "r.json", "-q"]


def commands(lapack, python):
    """Each command line by a name."""
    found = {"devices": ["devices", "--format", "json"]}
    for method, pivot in (("lu-blocked", "partial"), ("lu", "none"), ("lu", "full"), ("lu", "rook"),
                          ("gauss-jordan", "partial")):
        options = ["--method", method, "--pivot", pivot]
        found[f"solve {method} {pivot}"] = solve(*options, matrix="d.npy" if pivot == "none" else "a.npy")
    found["solve mixed"] = solve("--precision", "mixed")
    found["solve inverse"] = solve("--inverse", "i.npy", "--refine", "--det")
    found["solve sparse"] = solve("--method", "cg", matrix="s.mtx")
    found["solve two devices"] = solve("-d", "0,0", "--method", "lu-blocked", matrix="l.npy")
    small = ["--runs", "1", "--min-time", "0", "--warmup", "0", "--json", "r.json", "-q"]
    found["bench"] = ["bench", "-n", "8", "--method", "lu", "--pivot", "none,partial", "--baseline", "none",
                      *small]
    found["bench problem"] = ["bench", "--problem", "poisson2d", "--grid", "8", "--method", "cg", "--baseline",
                              "none", *small]
    found["advise"] = ["advise", "a.npy", "--json", "r.json", "-q"]
    found["simulate"] = ["simulate", "wave", "--grid", "16", "--steps", "2", "--json", "r.json", "-q"]
    found["verify"] = ["verify", "--json", "r.json", "-q"]
    if lapack.is_file():  # which checks no more than LAPACK does: for errors alone
        found["lapack"] = ["/usr/bin/python3", "-c", LAPACK, str(lapack)]
    if python:
        found["python"] = [python, "-c", PYTHON]
    return found


class Faults:
    def __init__(self, program, quick):
        self.program, self.quick = program, quick
        self.layer = Path(program).parent / "tests/libopencl_faults.so"
        self.runs = self.problems = 0

    def run(self, arguments, fault):
        """The finished process (None if it is late) and its folder with what it wrote."""
        folder = tempfile.TemporaryDirectory()
        place = Path(folder.name)
        self.write_inputs(place)
        env = {name: value for name, value in os.environ.items() if name not in ("LUGPU_DEVICE", "NO_COLOR")}
        env |= {"XDG_CACHE_HOME": str(place / "cache"), "POCL_CACHE_DIR": str(COMPILED_KERNELS),
                "OPENCL_LAYERS": str(self.layer), "OPENCL_FAULT_SUMMARY": str(place / "summary"),
                "LUGPU_LAPACK_MIN_N": "1", "LUGPU_LAPACK_TRACE": "0"} | fault
        line = arguments if arguments[0].startswith("/") else [self.program, *arguments]
        try:
            done = subprocess.run(line, cwd=place, env=env, stdin=subprocess.DEVNULL, capture_output=True,
                                  encoding="utf-8", errors="replace", timeout=SECONDS, check=False)
        except subprocess.TimeoutExpired:
            done = None
        return done, folder

    @staticmethod
    def write_inputs(place):
        random = np.random.default_rng(7)
        a = random.standard_normal((N, N))
        np.save(place / "a.npy", a)
        np.save(place / "d.npy", a + 4 * N * np.eye(N))
        np.save(place / "l.npy", random.standard_normal((150, 150)))  # several panels
        laplace = scipy.sparse.diags([-1.0, 2.5, -1.0], [-1, 0, 1], shape=(N, N))
        scipy.io.mmwrite(place / "s.mtx", laplace.tocoo(), precision=17)

    def calls(self, arguments):
        """How often each function is called when nothing goes wrong."""
        done, folder = self.run(arguments, {})
        with folder:
            if done is None or done.returncode != 0:
                sys.exit(f"{' '.join(arguments)} fails undisturbed: {done and done.stderr}")
            text = (Path(folder.name) / "summary").read_text(encoding="utf-8")
        return {name: int(count) for name, count in re.findall(r"(?m)^(cl\w+) (\d+)$", text)}

    def chosen(self, count, few):
        """Which of so many calls: all of a few; else the first, the last, and some between."""
        wanted = min(few, 2) if self.quick else few
        if count <= wanted:
            return range(1, count + 1)
        if wanted == 1:
            return [(count + 1) // 2]
        return sorted({1 + round(i * (count - 1) / (wanted - 1)) for i in range(wanted)})

    def faults(self, name, calls):
        """Kind of fault -> the environments that cause it."""
        found = {"error": [], "error for good": [], "dropped": [], "flipped": [], "hang": []}

        kinds = {"dropped": "drop", "flipped": "flip", "hang": "hang"}

        def add(kind, function, call, code=0):
            found[kind].append({"OPENCL_FAULT_FUNCTION": function, "OPENCL_FAULT_CALL": str(call),
                                "OPENCL_FAULT_KIND": kinds.get(kind, "error"), "OPENCL_FAULT_CODE": str(code)})

        slow = name == "verify"  # it tries every path of the device
        few = 1 if slow or (self.quick and name == "bench") else 4 if name in THOROUGH else 2
        for function, count in calls.items():
            code = MEMORY_CODE if function in ("clCreateBuffer", "clCreateImage") else COMMON_CODE
            for call in self.chosen(count, few):
                add("error", function, call, code=code)
            add("error for good", function, f"{(count + 1) // 2}+", code=code)
            if slow or name == "lapack":
                continue
            if function.startswith("clEnqueue") and "Map" not in function:
                for call in self.chosen(count, 2 * few):
                    add("dropped", function, call)
            if re.match("clEnqueue(Read|Write)Buffer", function):
                for call in self.chosen(count, 2 * few):
                    for bits in (1, 64) if not self.quick else (64,):
                        add("flipped", function, call, code=bits)
            if name.startswith("solve") and function in (WAITS if name in THOROUGH else ["clFinish"]):
                add("hang", function, (count + 1) // 2)
        if name == "bench" and not self.quick:
            add("hang", "clFinish", calls["clFinish"] - 2)
        return {kind: faults for kind, faults in found.items() if faults}

    def broken_rules(self, name, done, place, hangs):
        """What is wrong about the end of a run; empty if nothing."""
        if done is None:
            return "it did not end"
        if done.returncode < 0:
            return f"signal {signal.Signals(-done.returncode).name}"
        if done.returncode not in range(6) or (hangs and done.returncode != 1):
            return f"exit status {done.returncode}: {done.stderr}"
        x = place / "x.npy"
        if done.returncode == 0 and (name.startswith("solve") or name in ("lapack", "python")):
            if error := self.error_of(name, x):
                return error
        if done.returncode != 0 and x.exists():
            return f"x although status {done.returncode}"
        lines = [line for line in done.stderr.splitlines()
                 if not line.startswith(("lugpu: warning: ", "lugpu: note: "))]
        if name == "python" and done.returncode != 0:
            return "" if re.match(r"lugpu\.\w+: ", lines[-1]) else f"stderr is {done.stderr!r}"
        is_log = lines and "do not build" in lines[0]
        if done.returncode != 0 and name != "lapack" and not is_log and not self.has_bad_row(place):
            if len(lines) != 1 or not lines[0].startswith("lugpu: "):
                return f"stderr is {done.stderr!r}"
        return self.invalid_json(place)

    @staticmethod
    def error_of(name, path):
        """What is wrong about an x; A is well-conditioned, its true x one of ones."""
        if not path.exists():
            return "no x although status 0"
        error = np.abs(np.load(path) - 1).max()
        return f"wrong x: off by {error:.2g}" if not error < 1e-6 else ""

    @staticmethod
    def has_bad_row(place):
        """Whether the table of a sweep has said it."""
        try:
            rows = json.loads((place / "r.json").read_text(encoding="utf-8")).get("results", [])
        except (OSError, ValueError):
            return False
        return any(row.get("status") in ("error", "failed") for row in rows)

    @staticmethod
    def invalid_json(place):
        path = place / "r.json"
        if not path.exists():
            return ""
        try:
            VALIDATOR.validate(json.loads(path.read_text(encoding="utf-8"), parse_constant=refuse_constant))
        except Exception as error:  # of any kind: the file is not what it should be
            return f"r.json: {str(error).splitlines()[0]}"
        return ""

    def try_one(self, name, arguments, fault):
        hangs = fault["OPENCL_FAULT_KIND"] == "hang"
        if hangs or name.startswith("solve"):  # threads of a kernel may wait for what was dropped
            arguments = [*arguments, "--timeout", str(TIMEOUT if hangs else SECONDS // 4)]
        done, folder = self.run(arguments, fault)
        with folder:
            wrong = self.broken_rules(name, done, Path(folder.name), hangs)
        if wrong:
            words = [f"{key}={value}" for key, value in fault.items()]
            self.problems += 1
            print(f"{name}: {wrong}\n   {' '.join(words)} lugpu {' '.join(arguments)}", flush=True)
        return "wrong" if wrong else "right" if done.returncode == 0 else "refused"

    def sweep(self, name, arguments, pool):
        calls = OF_VERIFY if name == "verify" else self.calls(arguments)
        for kind, faults in self.faults(name, calls).items():
            start = time.monotonic()
            ends = list(pool.map(lambda fault: self.try_one(name, arguments, fault), faults))
            self.runs += len(ends)
            print(f"{name:24} {kind:14} {len(faults):4} runs: {ends.count('right'):4} done right, "
                  f"{ends.count('refused'):4} refused, {ends.count('wrong'):3} WRONG "
                  f"({time.monotonic() - start:.0f} s)", flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program", type=os.path.abspath)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--only", default="")
    parser.add_argument("--python", default="")
    given = parser.parse_args()
    faults = Faults(given.program, given.quick)
    quick = ("devices", "solve lu-blocked partial", "bench")
    start = time.monotonic()
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for name, arguments in commands(Path(given.program).parent / "liblugpu_lapack.so", given.python).items():
            if given.only in name and (not given.quick or name in quick):
                faults.sweep(name, arguments, pool)
    what = f"{faults.problems} BROKE A RULE" if faults.problems else "all as expected"
    print(f"{faults.runs} runs: {what} ({time.monotonic() - start:.0f} s)")
    sys.exit(1 if faults.problems else 0)


if __name__ == "__main__":
    main()
