#!/usr/bin/python3
"""Puts one mistake after another into the sources, and says which test catches it. Run by hand: it takes hours.

    tests/mistakes.py [--area WORD] [--from NUMBER] [--only NUMBER...] [--quick] [--asan] [--build-dir FOLDER] [--list]

A mistake is one changed line: a comparison or a sign turned round, a bound off by one, a condition left out, a call
left out. They are drawn from the sources by a fixed seed, so many from each of the areas below, so that a number always
means the same mistake in the same sources. The sources are a copy of the last commit, outside this checkout. Of each
area a few quick tests are built and run one after the other, those first whose names are most like the file's, until
one fails; with them those whose names have all of the file's. Kernels are tried by commands first, which read them
from disk; with --quick by these alone. Prints a line a mistake: its number, its place, the change, and what caught it
(`compiler`, a test, `hang`) or SURVIVES.
"""

import argparse
import io
import os
import random
import re
import subprocess
import sys
import tarfile
import tempfile
import time
from pathlib import Path

import numpy as np
import scipy.io
import scipy.sparse

ROOT = Path(__file__).resolve().parent.parent
SECONDS = 60  # of a test; ten times what it takes without a mistake is enough
# Compiles soonest, and so that ccache, where it is the launcher, knows the sources again.
CMAKE = ["cmake", "-DCMAKE_CXX_FLAGS_RELWITHDEBINFO=-O1 -DNDEBUG", "-DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON", "--preset"]
PROBLEMS = "bench --baseline none --runs 1 --min-time 0 -q --problem "
# Area: how many mistakes, the files, and what should catch them: arguments of lugpu, names of tests of ctest.
AREAS = {
    "kernels, dense": (13, "kernels/common/*.cl* kernels/dense/*.cl*", [
        "solve a.npy -q --method lu", "solve a.npy -q --method lu --pivot full",
        "solve a.npy -q --method gauss-jordan --schedule paper --texel rgba --precision single",
        "solve a.npy -q --method lu --pivot rook --storage image", "solve a.npy -q --inverse i.npy", "verify -q",
        PROBLEMS + "poisson2d --grid 12", "kernels", "surface", "operators",
        "solvers", "iterative_sparse"]),
    "kernels, CPU": (12, "kernels/cpu/*.cl*", [
        "solve a.npy -q", "solve a.npy -q --precision single --storage image",
        "solve a.npy -q --refine --inverse i.npy", PROBLEMS + "poisson2d,poisson3d --grid 12",
        "solve b.mtx -q --method banded", "verify -q", "lu_blocked", "banded_lu", "residual",
        "fast_diagonal", "iterative", "batch_lu"]),
    "kernels, GPU": (10, "kernels/gpu/*.cl*", [
        "batch_lu", "gpu_panel", "lu_none", "residual", "resident_lu", "rows_of_u", "fast_diagonal",
        "batch_lu_slow", "resident_full_slow", "lu_blocked_slow", "banded_lu_slow"]),
    "kernels, grids": (10, "kernels/grid/*.cl* kernels/iterative/*.cl* kernels/sparse/*.cl*",
                       [PROBLEMS + "poisson2d,poisson3d --grid 12",
                        PROBLEMS + "bubbles --grid 12 --method multigrid-cg,cg", "solve b.mtx -q --method cg",
                        "solve b.mtx -q --method gauss-seidel", "sparse_operator", "operators", "multigrid",
                        "iterative_sparse", "iterative"]),
    "kernels, simulation": (6, "kernels/simulation/*.cl*", ["wave", "staggered", "bubbles", "fluid",
        "picture", "cli_simulate"]),
    "dense": (12, "src/dense/*.cpp", ["lu_blocked", "banded_lu", "fast_diagonal", "kernels",
        "solvers", "batch_lu", "lu_blocked_slow"]),
    "iterative": (10, "src/iterative/*.cpp src/operators/*.cpp", ["multigrid", "sparse_operator", "residual",
        "operators", "iterative_sparse", "iterative"]),
    "accuracy": (10, "src/accuracy/*.cpp src/solve/*.cpp", ["checks", "sparse_library", "library", "accuracy",
        "device_solve", "problem", "verify", "mixed", "error_bounds", "lapack"]),
    "matrices": (4, "src/matrix/*.cpp", ["grid", "sparse", "generate", "checks"]),
    "readers": (10, "src/formats/*.cpp", ["fuzz_corpus", "sparse", "other_formats", "formats", "cli_formats"]),
    "bench": (12, "src/bench/*.cpp src/base/*.cpp", ["cores", "printable", "processes", "other_load", "advice",
        "crossover", "tune", "samples", "statistics", "comparison", "resume", "sweep", "verify", "problem",
        "cli_output"]),
    "report": (3, "src/report/*.cpp", ["report", "cli_report"]),
    "simulation": (6, "src/simulation/*.cpp", ["wave", "staggered", "simulation_library", "bubbles", "fluid"]),
    "library": (4, "src/library/*.cpp", ["library", "sparse_library", "simulation_library",
        "batch_library"]),
    "opencl": (6, "src/opencl/*.cpp", ["staging", "patched_program", "part_times", "surface", "opencl_error",
        "library"]),
    "distributed": (5, "src/distributed/*.cpp", ["distributed", "shared_processes"]),
    "baselines": (5, "src/baselines/*.cpp", ["rivals", "system_rivals", "plain_fluid"]),
    "drop-in": (5, "src/lapack/*.cpp", ["lapack_threads", "lapack"]),
    "scalapack": (2, "src/scalapack/*.cpp", ["scalapack"]),
    "command line": (9, "cli/*.cpp", ["cli_help", "cli_usage", "cli_input", "cli_formats", "cli_bench",
        "cli_terminal", "cli_simulate", "cli_sparse", "cli_solve"]),
}
# What tests in Python need, where that is not the program.
TARGETS = {
    "lapack": "lugpu_manual lugpu_library lugpu_lapack lugpu_liblapack lugpu_mpi lugpu_scalapack xerbla_stub",
    "scalapack": "lugpu_scalapack",
}
# What is changed, into what.
CHANGES = [
    (r" < ", " <= "), (r" <= ", " < "), (r" > ", " >= "), (r" >= ", " > "), (r" == ", " != "), (r" != ", " == "),
    (r" \+ 1\b", ""), (r" - 1\b", ""), (r" \+ ", " - "), (r" - ", " + "), (r" \* ", " + "), (r" && ", " || "),
    (r" \|\| ", " && "), (r" \+= ", " -= "), (r" -= ", " += "), (r"std::max\(", "std::min("),
    (r"std::min\(", "std::max("), (r"\btrue\b", "false"), (r"\bfalse\b", "true"), (r"\b0\b", "1"), (r"\b1\b", "2"),
    (r"if \((?!constexpr)", "if (!("),
    (r"^(\s+)(?!return|throw|break|continue|using|const|auto)[a-z][\w.>-]*\([^{}]*\);$", r"\1;"),
]


def is_nvidia(line):
    return "NVIDIA" in line or "WGMMA" in line


def mistakes_of(path):
    """(path, number of the line, new line) for all changes of a file."""
    branches = []  # of #if: whether what is there is for NVIDIA's compiler alone
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines()):
        if line.startswith("#if"):
            branches.append(is_nvidia(line) and not line.startswith("#ifndef"))
            opposite = is_nvidia(line) and line.startswith("#ifndef")
        elif line.startswith("#el") and branches:
            branches[-1] = opposite and line.startswith("#else")
        elif line.startswith("#endif") and branches:
            branches.pop()
        code = line.split("//")[0].rstrip()
        if any(branches) or not code.strip() or '"' in code:
            continue
        if code.lstrip().startswith(("#", "static_assert", "template", "*", "/*")):
            continue
        for pattern, new in CHANGES:
            if not (found := re.search(pattern, code)):
                continue
            changed = code[:found.start()] + found.expand(new) + code[found.end():]
            if new == "if (!(":
                if not code.rstrip().endswith((") {", ";")) or code.count("(") != code.count(")"):
                    continue
                if re.search(r"[^=!<>]=[^=]", code[found.end():]) or ";" in code[found.end():-1]:
                    continue  # declares something, or is not one condition alone
                rest = found.end()
                depth = 1
                while depth and rest < len(code):
                    depth += {"(": 1, ")": -1}.get(code[rest], 0)
                    rest += 1
                changed = code[:found.start()] + "if (!(" + code[found.end():rest] + ")" + code[rest:]
            yield path.relative_to(ROOT), number, changed


def drawn():
    """The mistakes, by their numbers, with their areas."""
    found = []
    for area, (count, globs, _) in AREAS.items():
        files = sorted({path for one in globs.split() for path in ROOT.glob(one)})
        every = [mistake for path in files for mistake in mistakes_of(path)]
        found += [(area, *one) for one in random.Random(area).sample(every, count)]
    random.Random(2005).shuffle(found)
    return found


class Copy:
    """The last commit in a folder, with its own build."""

    def __init__(self, folder, preset):
        self.folder, self.build = folder, folder / f"build-{preset}"
        # Without what PoCL and its compiler do to the sanitizer, as in scripts/sanitize.sh.
        self.options = {"ASAN_OPTIONS": "use_sigaltstack=0:detect_leaks=0"} if preset == "asan" else {}
        tree = subprocess.run(["git", "archive", "HEAD"], cwd=ROOT, stdout=subprocess.PIPE, check=True).stdout
        with tarfile.open(fileobj=io.BytesIO(tree)) as archive:
            for member in filter(tarfile.TarInfo.isfile, archive):
                self.write(folder / member.name, archive.extractfile(member).read(), member.mode)
        subprocess.run([*CMAKE, preset], cwd=folder, stdout=subprocess.DEVNULL, check=True)
        shown = (self.build / "tests/CTestTestfile.cmake").read_text(encoding="utf-8")  # ctest knows only what is built
        self.commands = {name: re.findall(r'"([^"]*)"', line)
                         for name, line in re.findall(r"(?m)^add_test\(\[=\[(\w+)_test\]=\] (.*)\)$", shown)}
        self.seconds = {}  # of tests that have been built and run without a mistake; 0: they fail
        (folder / "pocl").mkdir(exist_ok=True)
        a = np.random.default_rng(1).standard_normal((200, 200))
        np.save(folder / "a.npy", a)
        scipy.io.mmwrite(folder / "b.mtx", scipy.sparse.diags([-1.0, -1, 4.5, -1, -1], [-9, -1, 0, 1, 9], (300, 300)))

    @staticmethod
    def write(path, content, mode=0o644):
        """So that what has not changed is not built again."""
        if not path.exists() or path.read_bytes() != content:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
            path.chmod(mode)

    def line_of(self, test):
        """The command of a test: arguments of lugpu where there are several words."""
        if " " in test:
            return [str(self.build / "lugpu"), *test.split(), "--kernel-dir", "kernels"]
        command = self.commands[test]
        return [*command, "-f"] if command[0].endswith("python3") else command

    def make(self, test):
        program = Path(self.line_of(test)[0])
        targets = program.name if program.is_relative_to(self.build) else TARGETS.get(test, "lugpu")
        return subprocess.run(["cmake", "--build", self.build, "--target", *targets.split()], cwd=self.folder,
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False).returncode == 0

    def fails(self, test, timeout):
        """Why the test is not content; empty if it is."""
        with tempfile.TemporaryDirectory() as cache:
            env = os.environ | self.options | {
                "XDG_CACHE_HOME": cache, "POCL_CACHE_DIR": str(self.folder / "pocl"), "GTEST_FAIL_FAST": "1"}
            process = subprocess.Popen(self.line_of(test), cwd=self.folder, env=env, stdin=subprocess.DEVNULL,
                                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
            try:
                status = process.wait(timeout)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, 9)
                process.wait()
                return "hang"
        return f"status {status}" if status else ""

    def is_right(self, test):
        """Builds and runs what is needed, once, without a mistake."""
        if test not in self.seconds:
            if not self.make(test):
                sys.exit(f"{test} does not build")
            start = time.monotonic()
            why = self.fails(test, None)
            self.seconds[test] = 0 if why else time.monotonic() - start
            if why:
                print(f"{test} is left out, as it fails without a mistake: {why}", flush=True)
        return self.seconds[test] > 0

    def caught_by(self, tests, path, number, line):
        """The first test that fails; empty if none does."""
        whole = (self.folder / path).read_text(encoding="utf-8")
        lines = whole.split("\n")
        lines[number] = line
        for test in filter(self.is_right, tests):
            (self.folder / path).write_text("\n".join(lines), encoding="utf-8")
            try:
                if " " not in test and not self.make(test):
                    return "compiler"
                if why := self.fails(test, max(SECONDS, 10 * self.seconds[test])):
                    return f"{test} ({why})"
            finally:
                (self.folder / path).write_text(whole, encoding="utf-8")
        return ""


def tests_of(area, path, known):
    """Those of the area and those with all words of the file in their names, the likeliest first."""
    words = set(path.stem.split("_"))
    namesakes = [test for test in known if words <= set(test.split("_")) and "threads" not in test and
                 test not in AREAS[area][2]]
    return sorted(AREAS[area][2] + namesakes,
                  key=lambda test: (" " not in test, -len(words & set(test.split("_"))), "slow" in test))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--area", default="", help="only areas with this word")
    parser.add_argument("--from", type=int, default=0, dest="first", help="the first number")
    parser.add_argument("--only", type=int, nargs="+", help="these numbers alone")
    parser.add_argument("--quick", action="store_true", help="kernels alone, by commands")
    parser.add_argument("--asan", action="store_true", help="build with sanitizers, which may see what no result shows")
    parser.add_argument("--build-dir", type=Path, default=Path(tempfile.gettempdir()) / "lugpu-mistakes")
    parser.add_argument("--list", action="store_true", help="print the mistakes and do nothing")
    given = parser.parse_args()
    chosen = [(i, one) for i, one in enumerate(drawn()) if i >= given.first and given.area in one[0] and
              (not given.only or i in given.only) and (not given.quick or " " in AREAS[one[0]][2][0])]
    if given.list:
        for i, (area, path, number, line) in chosen:
            print(f"{i:4} {area:20} {path}:{number + 1}: {line.strip()}")
        return
    copy = Copy(given.build_dir, "asan" if given.asan else "dev")
    caught = 0
    for i, (area, path, number, line) in chosen:
        start = time.monotonic()
        tests = [test for test in tests_of(area, path, copy.commands) if " " in test or not given.quick]
        by = copy.caught_by(tests, path, number, line)
        caught += bool(by)
        print(f"{i:4} {area:20} {path}:{number + 1}: {line.strip()}\n     {by or 'SURVIVES'} "
              f"({time.monotonic() - start:.0f} s)", flush=True)
    print(f"{caught} of {len(chosen)} caught")


if __name__ == "__main__":
    main()
