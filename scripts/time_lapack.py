#!/usr/bin/python3
"""Time LAPACK's routines as a program meets them, with liblugpu_lapack.so before the host's LAPACK and
without: transfers and copies included.

For every order a process with LD_PRELOAD and one without take turns. Each solves a random system by
getrf, getrs (one right-hand side) and getri, and by gesv; answers are checked as LAPACK's own tests do,
norm1(B - A X) / (norm1(A) norm1(X) n eps) < 30 and norm1(I - A inv(A)) / (norm1(A) norm1(inv(A)) n eps)
< 30. Needs no Python packages.

  scripts/time_lapack.py build/lugpu build/liblugpu_lapack.so --json results/FILE.json
"""

import argparse
import array
import ctypes
import json
import os
import statistics
import struct
import subprocess
import sys
import tempfile
import time
from ctypes import byref, c_char_p, c_int, c_size_t

LIMIT = 30
ROUTINES = ("getrf", "getrs", "getri", "gesv")
TYPES = {"s": ("f", ctypes.c_float, 2.0**-24), "d": ("d", ctypes.c_double, 2.0**-53)}


def read_npy(path):
    """The float64 elements of a NumPy file, as bytes."""
    with open(path, "rb") as file:
        file.read(8)
        file.read(struct.unpack("<H", file.read(2))[0])
        return file.read()


class Lapack:
    """The routines of one precision as a program that links LAPACK finds them."""

    def __init__(self, prefix, order):
        ctypes.CDLL("liblapack.so.3", mode=ctypes.RTLD_GLOBAL)
        self.program = ctypes.CDLL(None)
        self.prefix, self.n = prefix, order
        self.code, self.real, self.eps = TYPES[prefix]

    def vector(self, count, values=b""):
        memory = (self.real * count)()
        if values:
            ctypes.memmove(memory, values, len(values))
        return memory

    def call(self, routine, *arguments):
        """INFO, and the seconds it took."""
        info, lengths = c_int(0), []
        passed = []
        for value in arguments:
            if isinstance(value, str):
                passed.append(c_char_p(value.encode()))
                lengths.append(c_size_t(len(value)))
            else:
                passed.append(byref(c_int(value)) if isinstance(value, int) else value)
        function = getattr(self.program, self.prefix + routine + "_")
        start = time.perf_counter()
        function(*passed, byref(info), *lengths)
        return info.value, time.perf_counter() - start

    def norm(self, matrix, columns):
        function = getattr(self.program, self.prefix + "lange_")
        function.restype = self.real
        n = c_int(self.n)
        return function(c_char_p(b"1"), byref(n), byref(c_int(columns)), matrix, byref(n), None, c_size_t(1))

    def residual(self, a, x, b, columns):
        """norm1(B - A X) / (norm1(A) norm1(X) n eps); b is overwritten."""
        one, minus, n = self.real(1), self.real(-1), c_int(self.n)
        getattr(self.program, self.prefix + "gemm_")(
            c_char_p(b"N"), c_char_p(b"N"), byref(n), byref(c_int(columns)), byref(n), byref(minus), a,
            byref(n), x, byref(n), byref(one), b, byref(n), c_size_t(1), c_size_t(1))
        return self.norm(b, columns) / (self.norm(a, self.n) * self.norm(x, columns) * self.n * self.eps)

    def measure(self, values, runs):
        """The samples of every routine after one untimed run, and the worst ratio."""
        n, worst = self.n, 0.0
        size = n * n * ctypes.sizeof(self.real)
        a, lu, unit = self.vector(n * n, values), self.vector(n * n), self.vector(n * n)
        for i in range(n):
            unit[i * n + i] = 1
        b = self.vector(n, values[:n * ctypes.sizeof(self.real)])
        x, r, pivots = self.vector(n), self.vector(n), (c_int * n)()
        work = self.vector(64 * n)
        times = {routine: [] for routine in ROUTINES}
        for run in range(runs + 1):
            for solve in ("getrs", "gesv"):
                ctypes.memmove(lu, a, size)
                ctypes.memmove(x, b, n * ctypes.sizeof(self.real))
                ctypes.memmove(r, b, n * ctypes.sizeof(self.real))
                if solve == "getrs":
                    steps = [("getrf", (n, n, lu, n, pivots)), ("getrs", ("N", n, 1, lu, n, pivots, x, n))]
                else:
                    steps = [("gesv", (n, 1, lu, n, pivots, x, n))]
                for routine, arguments in steps:
                    info, seconds = self.call(routine, *arguments)
                    if info != 0:
                        sys.exit(f"{self.prefix}{routine} of order {n}: INFO = {info}")
                    times[routine].append(seconds)
                worst = max(worst, self.residual(a, x, r, 1))
                if solve == "getrs":
                    info, seconds = self.call("getri", n, lu, n, pivots, work, 64 * n)
                    times["getri"].append(seconds)
                    if run == runs:
                        worst = max(worst, self.residual(a, lu, unit, n))
        return {routine: samples[1:] for routine, samples in times.items()}, worst


def child(path, runs):
    """One process's part: its measurements as JSON on stdout."""
    values, results = read_npy(path), []
    order = round((len(values) / 8) ** 0.5)
    for prefix, (code, _, _) in TYPES.items():
        elements = values if code == "d" else array.array(code, array.array("d", values)).tobytes()
        times, ratio = Lapack(prefix, order).measure(elements, runs)
        results += [{"routine": prefix + routine, "n": order, "times_s": samples, "ratio": ratio}
                    for routine, samples in times.items()]
    json.dump(results, sys.stdout)


def measure(arguments, order, preload, folder):
    """The rows of one process."""
    matrix = os.path.join(folder, "a.npy")
    environment = dict(os.environ)
    if preload:
        environment |= {"LD_PRELOAD": os.path.abspath(arguments.lapack), "LUGPU_LAPACK_MIN_N": "0",
                        "LUGPU_LAPACK_TRACE": "1"}
    done = subprocess.run([sys.executable, __file__, "--child", matrix, str(arguments.runs)],
                          env=environment, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{os.path.basename(__file__)}: order {order}: {done.stderr.strip().splitlines()[-1:]}")
    rows = json.loads(done.stdout)
    for row in rows:
        traced = [line.split() for line in done.stderr.splitlines() if f": {row['routine']} " in line]
        places = {words[-3] for words in traced}
        row["library"] = "liblugpu_lapack" if preload else "host"
        if preload and (not places or "host" in places):
            sys.exit(f"{os.path.basename(__file__)}: {row['routine']} of order {order} ran on the host.")
        row["median_s"] = statistics.median(row["times_s"])
        if not row["ratio"] < LIMIT:
            sys.exit(f"{os.path.basename(__file__)}: {row['routine']} of order {order} is wrong, "
                     f"ratio {row['ratio']:.3g}.")
    return rows


def table(rows):
    """Milliseconds of both, and their ratio, for the terminal."""
    lines = ["     n  routine     host ms    device ms   ratio"]
    host = {(row["routine"], row["n"]): row["median_s"] for row in rows if row["library"] == "host"}
    for row in rows:
        if row["library"] != "host":
            before = host[row["routine"], row["n"]]
            lines.append(f"{row['n']:6}  {row['routine']:7} {before * 1e3:11.3f} {row['median_s'] * 1e3:12.3f}"
                         f" {before / row['median_s']:7.2f}")
    return "\n".join(lines)


def orders(text):
    """The orders of a list of them."""
    values = [int(order) for order in text.split(",")]
    if min(values) < 1:
        raise ValueError
    return values


def head(lugpu):
    """What begins the JSON: the command, the machine, the libraries and the device."""
    probe = [lugpu, "bench", "-q", "-n", "8", "--method", "lu", "--storage", "buffer", "--precision", "single",
             "--baseline", "none", "--runs", "1", "--min-time", "0", "--json", "-"]
    record = json.loads(subprocess.run(probe, stdout=subprocess.PIPE, text=True, check=True).stdout)
    return {"argv": sys.argv} | {key: record[key] for key in ("context", "libraries", "devices")}


def parse_arguments(description, some_orders, runs):
    """The command line; some_orders, runs: the defaults."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("lugpu", help="the program")
    parser.add_argument("lapack", help="liblugpu_lapack.so")
    parser.add_argument("--orders", type=orders, default=some_orders, help="default: %(default)s")
    parser.add_argument("--runs", type=int, default=runs, help="timed runs of each (default: %(default)s)")
    parser.add_argument("--json", metavar="FILE", help="write every sample to it")
    arguments = parser.parse_args()
    if arguments.runs < 1:
        parser.error("--runs must be at least 1")
    return arguments


def main():
    arguments = parse_arguments(__doc__, "256,512,1024,2048,4096", 5)
    record, rows = head(arguments.lugpu), []
    with tempfile.TemporaryDirectory() as folder:
        for order in arguments.orders:
            subprocess.run([arguments.lugpu, "generate", "random", str(order), "-o",
                            os.path.join(folder, "a.npy")], stdout=subprocess.DEVNULL, check=True)
            for preload in (False, True):
                rows += measure(arguments, order, preload, folder)
    print(table(rows))
    if arguments.json:
        with open(arguments.json, "w", encoding="utf-8") as file:
            json.dump(record | {"results": rows}, file, indent=1)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        child(sys.argv[2], int(sys.argv[3]))
    else:
        try:
            main()
        except (OSError, subprocess.CalledProcessError) as error:
            sys.exit(f"{os.path.basename(__file__)}: {error}")
