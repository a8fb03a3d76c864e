#!/usr/bin/python3
"""Every kernel under oclgrind, which watches every access to memory, at the smallest sizes: it must find nothing.

    tests/oclgrind_test.py PATH_TO_LUGPU

A kernel that no run here reaches fails the test, unless EXCEPTIONS names it.
"""

import concurrent.futures
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import numpy as np
import scipy.io
import scipy.sparse

PROGRAM = Path(sys.argv.pop(1) if len(sys.argv) > 1 else "build-dev/lugpu").absolute()
KERNELS = Path(__file__).resolve().parent.parent / "kernels"
SECONDS = 300
# "gpu", what oclgrind says it is, or "cpu"; and the arguments of lugpu, or a program of GoogleTest and its filter.
# "plain": kernels as the compiler reads them. Its optimizer leaves calls (llvm.experimental.noalias.scope.decl) and
# instructions (freeze) in some that oclgrind 21.10 does not know. The longest first.
RUNS = [line.split() for line in """
gpu       small_kernels_test -*ConductivityOf*:*PushedBubbles:*OfLargerMembers:*InBands
gpu       large_index_blocked_test *OfSolutions.*/single_326
gpu       large_index_blocked_test *OnGpus.Panels*/single_326
gpu       gpu_panel_test *InfoIsTheFirstZeroPivot/single_none
gpu       distributed_test RowMoves.*
gpu       gpu_panel_test *ProductsOfTheColumnsBefore/single_partial_narrow
cpu       simulate bubbles --scene cells --inclusions 1 --grid 4 --steps 1 --frames frames --every 1
cpu plain simulate bubbles --grid 4 --steps 1 --iterations 1 --method cg
cpu plain simulate fluid --scene cavity --confinement 1 --grid 4 --steps 1 --iterations 1 --method multigrid-cg
cpu plain simulate wave --grid 4 --steps 1 --iterations 1 --method gauss-seidel
cpu plain simulate wave --grid 4 --steps 1 --iterations 1 --method jacobi
cpu plain simulate wave --grid 4 --steps 1 --iterations 1 --method cg
gpu       large_index_dense_test */single_326
gpu plain small_kernels_test *ConductivityOf*:*PushedBubbles:*OfLargerMembers
cpu       large_index_operators_test *_326:-*VectorsAndGrids*
gpu       large_index_operators_test *_326:-*VectorsAndGrids*
cpu       large_index_steps_test */single_326
gpu       resident_lu_test *NoNaN*/single
cpu plain simulate fluid --scene obstacle --semi-lagrangian --grid 4 --steps 1 --iterations 1 --method jacobi
gpu       solve a.npy --method lu --pivot rook
cpu       large_index_blocked_test *OfPanels.*/single_326:*.Last*/single_326
cpu       solve wide.mtx b.npy --method banded
cpu       solve wide.mtx --method banded
gpu       solve band.mtx --method banded
cpu       solve band.mtx --method banded
cpu       solve a40.npy --method lu-blocked --nb 8 --storage image
cpu       solve a40.npy --method lu-blocked --nb 8
cpu       solve a.npy --method lu-blocked --pivot none
cpu       solve a.npy --method lu --pivot rook
cpu       solve a.npy --method lu --pivot none
cpu       solve a.npy --method gauss-jordan
cpu       solve a.npy --method gauss-jordan --pivot none
gpu       solve a.npy --method lu
gpu       solve a.npy --method lu --pivot none --precision single --texel rgba
gpu       solve a.npy --method lu --pivot full --storage image
gpu       solve a.npy --method lu --pivot full --schedule paper
gpu       solve a.npy --method lu --pivot rook --storage image --schedule paper
gpu       solve a.npy --method lu --pivot scaled --storage image
gpu       solve a.npy --method gauss-jordan
gpu       solve a.npy --method gauss-jordan --schedule paper
gpu       solve a.npy --method gauss-jordan --pivot full
gpu       solve a.npy --method gauss-jordan --pivot none --storage image
cpu       solve batch.npy
gpu       solve batch.npy
gpu       solve batch.npy --pivot full
gpu       solve band.mtx --method cg
gpu       solve band.mtx --method jacobi
gpu       solve arrow.mtx --method gauss-seidel --storage image
""".strip().split("\n")]
# By file and name.
EXCEPTIONS = {
    "common/clock.cl read_clock": "reads a clock of NVIDIA's or of an extension, which oclgrind lacks",
    "nvidia/rows_by_halves.cl split_triangle": "is of instructions of NVIDIA's GPUs",
    "nvidia/rows_by_halves.cl compute_rows_by_halves": "is of instructions of NVIDIA's GPUs",
    "nvidia/split_operands.cl split_operands": "is of instructions of NVIDIA's GPUs",
    "nvidia/subtract_halves.cl subtract_halves": "is of instructions of NVIDIA's GPUs",
}
# Their work-groups wait for what others have written, or for all of them. That orders their accesses; for oclgrind
# nothing but the end of the kernel does.
WAITING = {"factor_columns", "reduce", "solve_few", "solve_waiting"}


def all_kernels():
    """As opencl_watch names them."""
    return {f"{file.relative_to(KERNELS)} {name}" for file in KERNELS.rglob("*.cl*")
            for name in re.findall(r"__kernel\b[^;{}]*? void (\w+)\(", file.read_text(encoding="utf-8"))}


def is_between_groups(error):
    """Whether it is a race of two work-groups of a kernel whose work-groups wait."""
    kernel = re.search(r"data race.*\n\tKernel: (\w+)", error)
    groups = re.findall(r"entity: .* Group(\(.*\))", error)
    return kernel is not None and kernel[1] in WAITING and len(set(groups)) == 2


class Oclgrind(unittest.TestCase):
    def kernels(self, run, number):
        """The kernels that it ran, nothing having been found."""
        device, *rest = run
        plain = rest[0] == "plain"
        line = rest[1:] if plain else rest
        is_test = line[0].endswith("_test")
        log, ran = self.folder / f"log{number}", self.folder / f"ran{number}"
        env = os.environ | {
            "OCL_ICD_VENDORS": str(self.folder), "OPENCL_LAYERS": str(PROGRAM.parent / "tests/libopencl_watch.so"),
            "OPENCL_WATCH_LOG": str(ran), "OCLGRIND_LOG": str(log), "OCLGRIND_DATA_RACES": "1",
            "OCLGRIND_MAX_ERRORS": "100000", "OCLGRIND_NUM_THREADS": "1", "OCLGRIND_LOCAL_MEM_SIZE": "65536",
            "OCLGRIND_GLOBAL_MEM_SIZE": "300000000",  # without the large ones of large_index_*_test
            "XDG_CACHE_HOME": str(self.folder / f"cache{number}")}
        if plain:
            env["OCLGRIND_BUILD_OPTIONS"] = "-disable-llvm-passes"
        if device == "cpu":
            env["OPENCL_WATCH_AS_CPU"] = "1"
        command = ([PROGRAM.parent / "tests" / line[0], f"--gtest_filter={line[1]}"] if is_test
                   else [PROGRAM, *line, "-q"])
        done = subprocess.run(command, cwd=self.folder, env=env, stdin=subprocess.DEVNULL, capture_output=True,
                              encoding="utf-8", errors="replace", timeout=SECONDS, check=False)
        text = log.read_text(encoding="utf-8", errors="replace") if log.exists() else ""
        errors = [error for error in re.split(r"\n(?=\S)", text) if error.strip() and not is_between_groups(error)]
        # oclgrind is gone before the contexts of GoogleTest's programs, which then abort.
        passed = re.search(r"\[  PASSED  \] [1-9]\d* tests?\.", done.stdout) and "[  FAILED  ]" not in done.stdout
        self.assertTrue(passed if is_test else done.returncode == 0, (run, done.stdout[-2000:], done.stderr[-2000:]))
        self.assertEqual(errors[:3], [], run)
        return set(ran.read_text(encoding="utf-8").splitlines())

    def write_matrices(self):
        random = np.random.default_rng(1)
        dense = random.standard_normal((40, 40)) + 40 * np.eye(40)
        np.save(self.folder / "a.npy", dense[:3, :3])
        np.save(self.folder / "a40.npy", dense)
        np.save(self.folder / "batch.npy", np.stack([dense[:3, :3], dense[3:6, 3:6]]))
        np.save(self.folder / "b.npy", random.standard_normal((150, 9)))
        arrow = 80 * np.eye(40)
        arrow[0, 1:] = arrow[1:, 0] = 1
        for name, matrix in (("arrow", scipy.sparse.csr_matrix(arrow)),
                             ("band", scipy.sparse.diags([-1.0, 3, -1], [-1, 0, 1], (9, 9))),
                             ("wide", scipy.sparse.diags([1.0, -1, 40, -1, 1], [-70, -1, 0, 1, 60], (150, 150)))):
            scipy.io.mmwrite(self.folder / f"{name}.mtx", matrix)

    def test_every_kernel(self):
        oclgrind = shutil.which("oclgrind")
        if not oclgrind:
            self.skipTest("oclgrind is not installed")
        with tempfile.TemporaryDirectory() as folder:
            self.folder = Path(folder)
            library = Path(oclgrind).resolve().parent.parent / "lib/oclgrind/liboclgrind-rt-icd.so"
            (self.folder / "oclgrind.icd").write_text(f"{library}\n", encoding="utf-8")
            self.write_matrices()
            with concurrent.futures.ThreadPoolExecutor(2) as pool:
                ran = set().union(*pool.map(self.kernels, RUNS, range(len(RUNS))))
        self.assertEqual(sorted(all_kernels() - set(EXCEPTIONS) - ran), [], "no run of RUNS reaches these")
        self.assertEqual(sorted(ran & set(EXCEPTIONS)), [], "these are no exceptions")
        self.assertEqual(sorted(set(EXCEPTIONS) - all_kernels() | ran - all_kernels()), [], "there are none of these")


if __name__ == "__main__":
    unittest.main()
