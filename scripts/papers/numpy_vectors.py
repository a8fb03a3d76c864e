#!/usr/bin/python3
"""Time NumPy's operations on vectors, one thread of the host, as `lugpu probe` times the device's.

Vectors have n x n elements in single precision; products with a full matrix have orders of their
own. Writes the JSON that reproduce.py reads.
"""

import argparse
import json
import os
import statistics
import sys
import time

os.environ |= {name: "1" for name in ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS",
                                      "OMP_NUM_THREADS", "BLIS_NUM_THREADS")}

import numpy  # noqa: E402

REPEAT_S = 0.02  # of a sample, so that the clock's steps do not count
SAMPLES = 7


def sample(operation):
    """Seconds of one call: the mean over calls for REPEAT_S."""
    calls, start = 0, time.perf_counter()
    while (elapsed := time.perf_counter() - start) < REPEAT_S:
        operation()
        calls += 1
    return elapsed / calls


def timed(name, n, operation):
    """A probe."""
    sample(operation)  # touches the memory
    times = [sample(operation) for _ in range(SAMPLES)]
    return {"name": name, "precision": "single", "storage": "host", "n": n,
            "median_s": statistics.median(times), "times_s": times}


def full_product(n):
    """The product of a full matrix of order n with a vector."""
    a, x = (numpy.random.default_rng(1).random(shape, dtype=numpy.float32) for shape in ((n, n), n))
    y = numpy.empty_like(x)
    return timed("columns product", n, lambda: numpy.dot(a, x, out=y))


def probes(n):
    """The operations on vectors of n x n elements. None of them uses a second thread."""
    x, y = (numpy.random.default_rng(seed).random(n * n, dtype=numpy.float32) for seed in (1, 2))
    z = numpy.empty_like(x)
    operations = {"add": lambda: numpy.add(x, y, out=z), "sum": x.sum,
                  "multiply": lambda: numpy.multiply(x, y, out=z)}
    for name, operation in operations.items():
        yield timed(name, n, operation)


def main():
    """The program."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-n", "--sizes", required=True, metavar="N,...",
                        help="square roots of the numbers of elements")
    parser.add_argument("--orders", default="", metavar="N,...", help="of full matrices")
    parser.add_argument("--json", required=True, metavar="FILE", help="the results")
    parser.add_argument("-q", "--quiet", action="store_true", help="taken and ignored")
    arguments = parser.parse_args()
    sizes, orders = ([int(word) for word in text.split(",") if word]
                     for text in (arguments.sizes, arguments.orders))
    record = {"schema_version": 1, "tool": {"argv": sys.argv, "numpy": numpy.__version__},
              "devices": [], "results": [],
              "probes": [probe for n in sizes for probe in probes(n)]
              + [full_product(n) for n in orders]}
    with open(arguments.json, "w", encoding="utf-8") as file:
        json.dump(record, file, indent=1)
        file.write("\n")


if __name__ == "__main__":
    main()
