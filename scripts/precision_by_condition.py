#!/usr/bin/python3
"""How single, mixed and double precision fare with matrices of condition 1 to 1e16: a table in Markdown.

    scripts/precision_by_condition.py build/lugpu [-n ORDER] [--seed SEED] [ARGUMENTS OF lugpu solve ...]

A = U D V with random orthogonal U and V and D from 1 to 1 / condition, geometrically; B is random. Backward
errors are max |b - A x| / (||A|| max |x| + max |b|) in the infinity norm, forward errors max |x - exact| /
max |exact|, where exact is a solution in long double.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np


def conditioned(n, condition, rng):
    u, v = (np.linalg.qr(rng.standard_normal((n, n)))[0] for _ in range(2))
    return (u * np.logspace(0, -np.log10(condition), n)) @ v


def exact_solution(a, b):
    """By elimination with partial pivoting in long double."""
    n = len(a)
    work = np.column_stack([a, b]).astype(np.longdouble)
    for k in range(n):
        pivot = k + np.argmax(np.abs(work[k:, k]))
        work[[k, pivot]] = work[[pivot, k]]
        others = np.arange(n) != k
        work[others, k:] -= np.outer(work[others, k] / work[k, k], work[k, k:])
    return work[:, n] / np.diag(work)


def solve(program, precision, options, folder):
    """The record of `lugpu solve`, and X; none where it is singular."""
    line = [program, "solve", "a.npy", "b.npy", "--precision", precision, "-o", "x.npy", "--json", "-", "-q",
            "--force", *options]
    done = subprocess.run(line, cwd=folder, capture_output=True, encoding="utf-8", check=False)
    if done.returncode not in (0, 3, 4):
        sys.exit(done.stderr)
    row, = json.loads(done.stdout)["results"]
    return row, np.load(folder / "x.npy").ravel() if done.returncode != 3 else None


def errors(a, b, x, exact):
    if x is None:
        return "-", "-"
    residual = np.abs(b - a @ x.astype(np.longdouble)).max()
    size = np.abs(a).sum(axis=1).max() * np.abs(x).max() + np.abs(b).max()
    return f"{residual / size:.1e}", f"{np.abs(x - exact).max() / np.abs(exact).max():.1e}"


def line_of(given, condition, folder):
    rng = np.random.default_rng(given.seed)
    a, b = conditioned(given.n, condition, rng), rng.standard_normal(given.n)
    np.save(folder / "a.npy", a)
    np.save(folder / "b.npy", b[:, None])
    exact = exact_solution(a, b)
    cells = [f"1e{round(np.log10(condition))}"]
    for precision in ("single", "mixed", "double"):
        row, x = solve(given.program, precision, given.options, folder)
        if precision == "mixed":
            refinement, bound = row["refinement"], row["checks"]["ferr"]
            cells += [refinement["factors"], str(refinement["steps"])]
        cells += errors(a, b, x, exact)
        if precision == "mixed":
            cells.append(f"{bound[0]:.1e}" if bound and bound[0] is not None else "none")
    return cells


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=lambda path: str(Path(path).resolve()))
    parser.add_argument("-n", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    given, given.options = parser.parse_known_args()
    print("| condition | single: backward | forward | mixed: factors | steps | backward | forward | bound "
          "| double: backward | forward |\n|" + "---|" * 10)
    with tempfile.TemporaryDirectory() as folder:
        for order in range(17):
            print("|", " | ".join(line_of(given, 10.0**order, Path(folder))), "|", flush=True)


if __name__ == "__main__":
    main()
