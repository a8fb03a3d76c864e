"""solve, inv and slogdet of NumPy, as any program calls them: numpy_lu.py N RUNS

Prints the version, the seconds of every run but an untimed first, and what scripts/time_languages.py checks.
"""

import sys
import time

import numpy as np

n, runs = int(sys.argv[1]), int(sys.argv[2])
random = np.random.default_rng(1)
a, b = random.uniform(-1, 1, (n, n)), random.uniform(-1, 1, n)


def measure(name, operation):
    """The result of an operation, whose times it prints."""
    result, seconds = operation(), []
    for _ in range(runs):
        start = time.perf_counter()
        operation()
        seconds.append(time.perf_counter() - start)
    print(name, *seconds)
    return result


def norm(v):
    return np.linalg.norm(v, np.inf)


print("version", np.__version__)
x = measure("solve", lambda: np.linalg.solve(a, b))
inverse = measure("inv", lambda: np.linalg.inv(a))
sign, logarithm = measure("det", lambda: np.linalg.slogdet(a))
unit = n * 2.0**-53
print("solve_ratio", norm(a @ x - b) / (norm(a) * norm(x) * unit))
print("inv_ratio", norm(a @ inverse - np.eye(n)) / (norm(a) * norm(inverse) * unit))
print("sign", sign)
print("log_abs_det", logarithm)
