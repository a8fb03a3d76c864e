#!/usr/bin/env python3
"""Time lugpu.solve of Python against the same call of the C++ library and numpy.linalg.solve, in double
precision with one right-hand side.

All take turns in one run, the C++ call in a process of its own that waits between its turns. The table has
the medians of the times, and of the ratios to the C++ call of the same round. Needs the module, e.g. in a virtual environment with Debian's NumPy, and an
installed or built library with its headers:

  python3 -m venv --system-site-packages venv && venv/bin/pip install .
  venv/bin/python scripts/time_python.py --library build --json results/FILE.json
"""

import argparse
import json
import os
import pathlib
import platform
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np

import lugpu

SOURCE = pathlib.Path(__file__).resolve().parent
PAUSE_S = 0.1  # before each turn: the threads of OpenBLAS wait busily for a while


class Cpp:
    """The C++ library's call, in a process of its own."""

    def __init__(self, program, system, order, check):
        self.process = subprocess.Popen([program, str(order), system, str(int(check))], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True)

    def seconds(self):
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line or float(line) < 0:
            sys.exit("time_python.py: the C++ program found no solution.")
        return float(line)

    def end(self):
        self.process.stdin.close()
        self.process.wait()


def timed(call):
    def seconds():
        start = time.perf_counter()
        call()
        return time.perf_counter() - start
    return seconds


def compile_cpp(prefix, folder):
    """The C++ program, built against the library of a build folder or a prefix."""
    prefix = pathlib.Path(prefix).resolve()
    found = sorted(prefix.glob("**/liblugpu.so.*"))
    if not found:
        sys.exit(f"time_python.py: {prefix} holds no liblugpu.so.")
    program = f"{folder}/time_solve"
    subprocess.run([os.environ.get("CXX", "g++"), "-std=c++20", "-O2", f"-I{SOURCE.parent}/include",
                    f"{SOURCE}/time_solve.cpp", str(found[0]), f"-Wl,-rpath,{found[0].parent}", "-o", program],
                   check=True)
    return program


def measure(order, runs, program, folder):
    """One row for each implementation; the first turns are not timed."""
    random = np.random.default_rng(order)
    a, b = np.asfortranarray(random.standard_normal((order, order))), random.standard_normal(order)
    system = f"{folder}/system"
    with open(system, "wb") as file:
        file.write(a.tobytes("F") + b.tobytes())
    by_rows = np.ascontiguousarray(a)
    np.testing.assert_allclose(lugpu.solve(a, b), np.linalg.solve(a, b), rtol=1e-6)
    cpp = {check: Cpp(program, system, order, check) for check in (True, False)}
    turns = {
        "C++": cpp[True].seconds,
        "Python": timed(lambda: lugpu.solve(a, b)),
        "Python, A by rows": timed(lambda: lugpu.solve(by_rows, b)),
        "C++, unchecked": cpp[False].seconds,
        "Python, unchecked": timed(lambda: lugpu.solve(a, b, check=False)),
        "NumPy": timed(lambda: np.linalg.solve(a, b)),
        "NumPy, A by rows": timed(lambda: np.linalg.solve(by_rows, b)),
    }
    times = {name: [] for name in turns}
    names = list(turns)
    for run in range(runs + 1):
        for name in names:
            time.sleep(PAUSE_S)
            sample = turns[name]()
            if run:
                times[name].append(sample)
        names = names[1:] + names[:1]  # so that nobody always follows the same one
    for process in cpp.values():
        process.end()
    rows = []
    for name, samples in times.items():
        base = times["C++, unchecked" if "unchecked" in name else "C++"]
        rows.append({"implementation": name, "n": order, "times_s": samples,
                     "median_s": statistics.median(samples),
                     "over_cpp": statistics.median(mine / other for mine, other in zip(samples, base))})
    return rows


def table(rows):
    lines = ["     n  implementation         ms, median  over C++"]
    lines += [f"{row['n']:6}  {row['implementation']:20} {row['median_s'] * 1e3:12.2f} {row['over_cpp']:9.3f}"
              for row in rows]
    return "\n".join(lines)


def blas():
    """The library that numpy.linalg runs on."""
    with open("/proc/self/maps", encoding="utf-8") as file:
        paths = {line.split()[-1] for line in file if "/" in line}
    return sorted(path for path in paths if "blas" in path or "lapack" in path)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--library", dest="prefix", required=True, help="a build folder or an installation with liblugpu.so")
    parser.add_argument("--orders", default="2048", help="separated by commas (default: %(default)s)")
    parser.add_argument("--runs", type=int, default=15, help="timed runs of each (default: %(default)s)")
    parser.add_argument("--json", metavar="FILE", help="write every sample to it")
    given = parser.parse_args()
    if given.runs < 1:
        parser.error("--runs must be at least 1")
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        program = compile_cpp(given.prefix, folder)
        for order in map(int, given.orders.split(",")):
            rows += measure(order, given.runs, program, folder)
    print(table(rows))
    if given.json:
        head = {"argv": sys.argv, "cpus": os.cpu_count(), "python": platform.python_version(),
                "numpy": np.__version__, "blas": blas(), "device": lugpu.devices()[0].name}
        with open(given.json, "w", encoding="utf-8") as file:
            json.dump(head | {"results": rows}, file, indent=1)


if __name__ == "__main__":
    main()
