"""The program `lugpu`: advice and benchmarks."""

from __future__ import annotations

import json
import pathlib
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from lugpu._arrays import real_type, square
from lugpu._devices import Device, device_text
from lugpu._errors import Error, InputError, Kind
from lugpu._sparse import SparseMatrix, compressed, is_sparse

Record = dict[str, Any]

_KINDS: dict[int, Kind] = {2: "bad_input", 5: "no_device"}  # by exit status


def program() -> str:
    """The path of the program: the package's, or the one on PATH."""
    own = pathlib.Path(__file__).with_name("bin") / "lugpu"
    found = str(own) if own.exists() else shutil.which("lugpu")
    if found is None:
        raise Error("failure", "The program lugpu is neither in this package nor on PATH.")
    return found


def _run(arguments: list[str], folder: str | None = None) -> dict[str, Any]:
    """What a subcommand writes as JSON, whatever it found out."""
    done = subprocess.run(
        [program(), *arguments, "--quiet", "--json", "-"],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    try:
        output: dict[str, Any] = json.loads(done.stdout)
    except json.JSONDecodeError:
        kind = _KINDS.get(done.returncode, "failure")
        lines = done.stderr.strip().removeprefix("lugpu: ").splitlines()
        reason = lines[0] if lines else f"The program lugpu ended with status {done.returncode}."
        raise (InputError if kind == "bad_input" else Error)(kind, reason) from None
    return output


def _flat(record: dict[str, Any]) -> Record:
    """The record with objects inside it as columns `object.member`, as pandas names them.

    >>> _flat({"n": 4, "checks": {"info": 0, "berr": [1e-16]}})
    {'n': 4, 'checks.info': 0, 'checks.berr': [1e-16]}
    """
    flat: Record = {}
    for name, value in record.items():
        if isinstance(value, dict):
            flat |= {f"{name}.{member}": inner for member, inner in _flat(value).items()}
        else:
            flat[name] = value
    return flat


def _save(folder: str, a: npt.ArrayLike | SparseMatrix) -> str:
    """Writes A into the folder; the name of the file."""
    if is_sparse(a):
        rows = compressed(a)
        n = len(rows.row_begin) - 1
        numbers = np.repeat(np.arange(n), np.diff(rows.row_begin)) + 1
        with open(f"{folder}/a.mtx", "w", encoding="ascii") as file:
            file.write(f"%%MatrixMarket matrix coordinate real general\n{n} {n} {len(numbers)}\n")
            entries = np.column_stack([numbers, rows.columns + 1, rows.values])
            np.savetxt(file, entries, fmt=("%d", "%d", "%.17g"))
        return "a.mtx"
    dense = square(np.asarray(a))
    np.save(f"{folder}/a.npy", dense.astype(real_type(dense), copy=False))
    return "a.npy"


def advise(
    a: npt.ArrayLike | SparseMatrix,
    b: npt.ArrayLike | None = None,
    digits: int | None = None,
    device: int | str | Device | None = None,
    timeout: float | None = None,
) -> dict[str, Any]:
    """Tries every pivoting and precision on one system, and says which it needs; of a sparse one,
    every method that it can be solved by.

    a: an array, or a SciPy sparse matrix, which goes through a file. b: default: A times a vector
    of ones. digits: that X must have guaranteed, 1 to 15; default: as many as double precision with
    partial pivoting guarantees; for sparse matrices, ||b - A x|| / ||b|| <= 10^-digits. timeout: of
    a run, in seconds.
    Returns `sentence`, `singular`, `digits`, `results` (a record for each run) and `best`, that of
    the run that is advised, or None.

    >>> import lugpu
    >>> advice = lugpu.advise([[3.0, 1.0], [1.0, 2.0]])
    >>> advice["singular"], advice["best"]["status"]
    (False, 'ok')
    """
    arguments = [] if b is None else ["b.npy"]
    arguments += _device_arguments(device)
    arguments += [] if digits is None else ["--digits", str(digits)]
    arguments += [] if timeout is None else ["--timeout", str(timeout)]
    with tempfile.TemporaryDirectory(prefix="lugpu-") as folder:
        name = _save(folder, a)
        if b is not None:
            right = np.asarray(b)
            np.save(f"{folder}/b.npy", right.astype(real_type(right), copy=False))
        output = _run(["advise", name, *arguments], folder)
    advice: dict[str, Any] = output["advice"]
    results = [_flat(result) for result in output["results"]]
    best = advice["best"]
    return advice | {
        "sentence": re.sub(r"--([a-z]+) ([a-z]+(?:-[a-z]+)*)", r'\1="\2"', advice["sentence"]),
        "best": None if best is None else results[best],
        "results": results,
    }


def bench(
    sizes: int | str | Iterable[int] | None = None,
    device: int | str | Device | None = None,
    **options: bool | float | str | Iterable[Any] | None,
) -> list[Record]:
    """Times the methods against LAPACK and other rivals; one record for each case.

    sizes: the orders, numbers or e.g. "256:4096:*2". options: the others of `lugpu bench`, with
    underscores for hyphens: lists as lists, switches as True. A case that did not work has a
    `status` other than "ok" and a `reason`. pandas.DataFrame takes the list as it is.

    >>> import lugpu
    >>> rows = lugpu.bench([16, 32], method="lu", pivot="full", baseline="getrf", min_time=0)
    >>> [(row["routine"], row["n"], row["status"]) for row in rows]
    [('getrf', 16, 'ok'), ('lu', 16, 'ok'), ('getrf', 32, 'ok'), ('lu', 32, 'ok')]
    """
    arguments = ["bench", *_device_arguments(device)]
    for name, value in ({"sizes": sizes} | options).items():
        flag = "--" + name.replace("_", "-")
        if value is True:
            arguments.append(flag)
        elif value is not None and value is not False:
            values = [value] if isinstance(value, str) or not isinstance(value, Iterable) else value
            arguments += [flag, ",".join(map(str, values))]
    return [_flat(row) for row in _run(arguments)["results"]]


def _device_arguments(device: int | str | Device | None) -> list[str]:
    text = device_text(device)
    return ["--device", text] if text else []
