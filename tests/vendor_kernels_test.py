#!/usr/bin/python3
"""Programs with NVIDIA's instructions are OpenCL C, as clang reads it for NVIDIA's GPUs: no such GPU is needed.

PROGRAMS has the options that src/ builds each file with there. A file with such instructions that is missing fails the
test.
"""
import re
import shutil
import subprocess
import unittest
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

KERNELS = Path(__file__).resolve().parent.parent / "kernels"
BLOCKED = "-DLUGPU_RGBA -DLUGPU_NVIDIA -DNB=64 -DGROUPS_MAX=132"
BATCH = "-DLUGPU_RGBA -DLUGPU_NVIDIA -DUNROLLED -DLUGPU_FREE_SIZE"
DOUBLE = "-DLUGPU_DOUBLE"
PROGRAMS = {
    "common/clock.cl": ["-DLUGPU_PART_TIMES"],
    "common/vectors.cl": [f"-DGROUP_X=32 -DGROUP_Y=8 -DREDUCTION=0 {d}" for d in ("", DOUBLE)],
    "gpu/banded_lu.cl": [f"-DLUGPU_NVIDIA -DNB=32 -DPANEL_ITEMS=128 -DROWS=2 {d}" for d in ("", DOUBLE)],
    "gpu/banded_solve.cl": [f"-DLUGPU_NVIDIA -DNB=32 -DITEMS=64 {d}" for d in ("", DOUBLE)],
    "gpu/batch_blocked.cl": [f"{BATCH} -DORDER={o} -DPIVOT={p} {d}" for o in (
        "48 -DITEMS=32 -DCOLUMNS=48", "48 -DITEMS=32 -DCOLUMNS=48 -DLUGPU_MATRIX_UNITS",
        "96 -DITEMS=32 -DCOLUMNS=32", "96 -DITEMS=32 -DCOLUMNS=32 -DLUGPU_MATRIX_UNITS") for p in ("NONE", "PARTIAL") for d in ("", DOUBLE)] + [
            f"{BATCH} -DLUGPU_MATRIX_UNITS -DORDER=128 -DPIVOT=PARTIAL {o}" for o in (
                "-DITEMS=64 -DCOLUMNS=64", f"-DITEMS=64 -DCOLUMNS=32 {DOUBLE}")],
    "gpu/batch_full.cl": [f"{BATCH} -DORDER={o} -DITEMS={i} -DPIVOT=FULL {d}" for o, i, d in (
        (32, 32, ""), (48, 64, ""), (64, 64, ""), (96, 96, ""), (128, 128, ""),
        (160, 320, ""), (192, 384, ""), (224, 448, ""), (32, 32, DOUBLE), (48, 64, DOUBLE), (64, 64, DOUBLE),
        (96, 96, DOUBLE), (128, 256, DOUBLE), (160, 320, DOUBLE))],
    "gpu/batch_memory.cl": [f"{BATCH} -DORDER=256 -DITEMS=256 -DPIVOT={p} {d}" for p in ("NONE", "PARTIAL")
                            for d in ("", DOUBLE)],
    "gpu/batch_memory_full.cl": [f"{BATCH} -DORDER=256 -DITEMS=512 -DPENDING=4 -DPIVOT=FULL {d}"
                                 for d in ("", DOUBLE)],
    "gpu/batch_small.cl": [f"{BATCH} -DORDER=16 -DITEMS={i} -DMATRICES=8 -DPIVOT={p} {d}"
                           for i, p in ((8, "NONE"), (16, "PARTIAL")) for d in ("", DOUBLE)],
    "gpu/batch_small_full.cl": [f"{BATCH} -DORDER=16 -DITEMS=16 -DMATRICES=8 -DPIVOT=FULL {d}" for d in ("", DOUBLE)],
    "gpu/fast_diagonal.cl": [f"-DLUGPU_RGBA -DLUGPU_NVIDIA {d}" for d in ("", DOUBLE)],
    "gpu/lu_blocked.cl": [f"{BLOCKED} -DPIVOT={p} {o}" for p in (0, 1) for o in (
        "-DLUGPU_PART_TIMES", "-DLUGPU_FREE_SIZE", DOUBLE, f"{DOUBLE} -DBESIDE", "-DLUGPU_WGMMA", "-DLUGPU_WGMMA -DBESIDE",
        "-DLUGPU_WGMMA -DHALVES=1", "-DLUGPU_WGMMA -DHALVES=2")] + [
            f"{BLOCKED} -DPIVOT=1 -DLOCAL_PIVOTS {o}" for o in ("-DLUGPU_FREE_SIZE", DOUBLE, "-DLUGPU_WGMMA -DHALVES=2")],
    "gpu/lu_none.cl": [f"-DLUGPU_RGBA -DLUGPU_NVIDIA -DF={f} {d}" for f in (1, 2) for d in ("", DOUBLE)],
    "gpu/narrow_panel.cl": [f"{BLOCKED.replace('NB=64', 'NB=32')} -DLUGPU_FREE_SIZE {DOUBLE}"],
    "gpu/resident_full.cl": [f"-DLUGPU_NVIDIA -DITEMS=256 {o} {d}" for o in ("", "-DLUGPU_ROOK", "-DLUGPU_RGBA")
                             for d in ("", DOUBLE)],
    "gpu/resident_lu.cl": [f"-DLUGPU_RGBA -DLUGPU_NVIDIA -DUNROLLED -DITEMS=256 -DROWS={r} {d}" for r in (2, 8)
                           for d in ("", DOUBLE)],
    "gpu/rows_of_u.cl": [f"{BLOCKED} {o}" for o in ("", DOUBLE, f"{DOUBLE} -DNARROW_TILES", "-DLUGPU_WGMMA")],
    "gpu/solve.cl": [f"{BLOCKED} {o}" for o in ("", DOUBLE, f"{DOUBLE} -DNARROW_TILES", "-DLUGPU_WGMMA")],
    "nvidia/rows_by_halves.cl": ["-DLUGPU_RGBA -DHALVES=1", "-DLUGPU_RGBA -DHALVES=2"],
    "nvidia/split_operands.cl": ["-DLUGPU_RGBA -DHALVES=1", "-DLUGPU_RGBA -DHALVES=2"],
    "nvidia/subtract_halves.cl": ["-DLUGPU_RGBA -DHALVES=1", "-DLUGPU_RGBA -DHALVES=2"],
}


CLANG = shutil.which("clang-15") or shutil.which("clang")


def errors_of(program):
    """What clang says of a file with some options. NVIDIA's compiler tells users how many warnings it has."""
    file, options = program
    run = subprocess.run(
        [CLANG, "-x", "cl", "-cl-std=CL1.2", "-target", "nvptx64-nvidia-nvcl", "-fsyntax-only", "-Werror",
         "-Wlogical-op-parentheses", "-Wno-ignored-pragmas", "-Xclang", "-finclude-default-header", "-D__OPENCL_VERSION__=120",
         "-D__NV_CL_C_VERSION=120", "-Dasm=__asm__", "-I", KERNELS, "-include", "common/surface.clh",
         *options.split(), KERNELS / file], capture_output=True, text=True, check=False)
    return f"{file} {options}: {run.stderr}" if run.returncode else ""


class VendorKernels(unittest.TestCase):
    def test_are_opencl_c(self):
        self.assertIsNotNone(CLANG, "clang is not installed; Debian 12's PoCL depends on clang-15")
        programs = [(file, options) for file, rows in PROGRAMS.items() for options in rows]
        with ThreadPoolExecutor() as pool:
            wrong = [errors for errors in pool.map(errors_of, programs) if errors]
        self.assertEqual(wrong, [])

    def test_have_no_variadic_macros(self):
        """NVIDIA's compiler refuses them, clang does not."""
        self.assertEqual([path.name for path in KERNELS.rglob("*.cl*") if "__VA_ARGS__" in path.read_text()], [])

    def test_are_all_here(self):
        def reached(file, seen):
            text = (KERNELS / file).read_text(encoding="utf-8")
            for name in re.findall(r'#include "(.*)"', text):
                if name not in seen and (KERNELS / name).exists():
                    text += reached(name, seen | {name})
            return text
        vendor = {path.relative_to(KERNELS).as_posix() for path in KERNELS.rglob("*.cl")
                  if path.parent.name == "nvidia"
                  or re.search(r"LUGPU_NVIDIA|asm volatile", reached(path.relative_to(KERNELS).as_posix(), set()))}
        self.assertEqual(vendor, set(PROGRAMS))


if __name__ == "__main__":
    unittest.main()
