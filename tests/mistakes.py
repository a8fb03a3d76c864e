#!/usr/bin/python3
"""Puts one mistake after another into the sources, and says which test catches it. Run by hand: it takes hours.

    tests/mistakes.py [--count 150] [--area WORD] [--from NUMBER] [--build-dir FOLDER] [--list]

A mistake is one changed line: a comparison or a sign turned round, a bound off by one, a condition left out, a call
left out. They are drawn from the sources by a fixed seed, evenly from the areas below, so that a number always means
the same mistake in the same sources. The sources are a copy of the last commit, outside this checkout. For each
mistake what its area names is built, and its tests are run one after the other until one fails. Prints a line a
mistake: its number, its place, the change, and what caught it (`compiler`, a test, `hang`) or SURVIVES.
"""

import argparse
import os
import random
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SECONDS = 600  # of a test
KERNELS = "--kernel-dir kernels"
# Area: the files, the targets to build, the commands in the order in which they are tried. $B: the build.
AREAS = {
    "kernels, dense": ("kernels/common/*.cl* kernels/dense/*.cl* kernels/cpu/*.cl*", "", [
                           f"$B/lugpu solve a.npy -q {KERNELS}", f"$B/lugpu solve a.npy -q --method lu {KERNELS}",
                           f"$B/lugpu solve a.npy -q --precision mixed --inverse i.npy {KERNELS}",
                           f"$B/lugpu verify {KERNELS}"]),
    "kernels, grids": ("kernels/grid/*.cl* kernels/iterative/*.cl* kernels/sparse/*.cl*", "", [
        f"$B/lugpu bench --problem poisson2d,poisson3d --grid 12,33 --baseline none --runs 1 --min-time 0 {KERNELS}",
        f"$B/lugpu solve tests/data/good/west0067.mtx -q {KERNELS}"]),
    "kernels, simulation": ("kernels/simulation/*.cl*", "wave_test fluid_test bubbles_test staggered_test", [
        "$B/tests/staggered_test", "$B/tests/wave_test", "$B/tests/fluid_test", "$B/tests/bubbles_test"]),
    "dense": ("src/dense/*.cpp", "lu_blocked_test solvers_test banded_lu_test", [
        "$B/tests/solvers_test", "$B/tests/lu_blocked_test", "$B/tests/banded_lu_test"]),
    "iterative": ("src/iterative/*.cpp src/operators/*.cpp", "iterative_test multigrid_test operators_test "
                  "sparse_operator_test residual_test",
                  ["$B/tests/iterative_test", "$B/tests/operators_test", "$B/tests/sparse_operator_test",
                   "$B/tests/residual_test", "$B/tests/multigrid_test"]),
    "accuracy": ("src/accuracy/*.cpp src/solve/*.cpp",
                 "accuracy_test checks_test device_solve_test error_bounds_test", [
        "$B/tests/checks_test", "$B/tests/accuracy_test", "$B/tests/device_solve_test", "$B/tests/error_bounds_test"]),
    "readers": ("src/formats/*.cpp", "formats_test other_formats_test fuzz_corpus_test", [
        "$B/tests/formats_test", "$B/tests/other_formats_test", "$B/tests/fuzz_corpus_test"]),
    "bench": ("src/bench/*.cpp src/base/*.cpp", "sweep_test resume_test comparison_test statistics_test samples_test "
              "verify_test measure_test lugpu", [
                  *(f"$B/tests/{name}_test" for name in ("resume", "comparison", "statistics", "samples", "sweep",
                                                         "measure", "verify")),
                  *(f"/usr/bin/python3 tests/cli/{name}_test.py $B/lugpu" for name in ("resume", "bench", "output"))]),
    "simulation": ("src/simulation/*.cpp", "wave_test fluid_test bubbles_test staggered_test", [
        "$B/tests/staggered_test", "$B/tests/wave_test", "$B/tests/fluid_test", "$B/tests/bubbles_test"]),
    "drop-in": ("src/lapack/*.cpp", "lugpu_lapack lugpu_liblapack xerbla_stub", [
        "/usr/bin/python3 tests/lapack_test.py $B/liblugpu_lapack.so.0 $B/liblugpu_liblapack.so.3 "
        "$B/tests/libxerbla_stub.so"]),
    "command line": ("cli/*.cpp", "lugpu", [f"/usr/bin/python3 tests/cli/{name}_test.py $B/lugpu" for name in (
        "usage", "input", "solve", "output", "bench", "compare", "help", "sparse", "simulate")]),
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


def mistakes_of(path):
    """(path, number of the line, new line) for all changes of a file."""
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines()):
        code = line.split("//")[0].rstrip()
        if not code.strip() or code.lstrip().startswith(("#", "static_assert", "template", "*", "/*")) or '"' in code:
            continue
        for pattern, new in CHANGES:
            if not (found := re.search(pattern, code)):
                continue
            changed = code[:found.start()] + found.expand(new) + code[found.end():]
            if new == "if (!(":
                if not code.rstrip().endswith((") {", ";")) or code.count("(") != code.count(")"):
                    continue
                rest = found.end()
                depth = 1
                while depth and rest < len(code):
                    depth += {"(": 1, ")": -1}.get(code[rest], 0)
                    rest += 1
                changed = code[:found.start()] + "if (!(" + code[found.end():rest] + ")" + code[rest:]
            yield path.relative_to(ROOT), number, changed


def drawn(count):
    """The mistakes, by their numbers, with their areas."""
    chance = random.Random(2005)
    each = -(-count // len(AREAS))
    found = []
    for area, (globs, _, _) in AREAS.items():
        files = sorted({path for one in globs.split() for path in ROOT.glob(one)})
        every = [mistake for path in files for mistake in mistakes_of(path)]
        found += [(area, *one) for one in chance.sample(every, min(each, len(every)))]
    chance.shuffle(found)
    return found[:count]


class Copy:
    """The last commit in a folder, with its own build."""

    def __init__(self, folder):
        self.folder = folder
        self.folder.mkdir(parents=True, exist_ok=True)
        tree = subprocess.run(["git", "archive", "HEAD"], cwd=ROOT, stdout=subprocess.PIPE, check=True).stdout
        subprocess.run(["tar", "x"], cwd=folder, input=tree, check=True)
        self.build = folder / "build-dev"
        subprocess.run(["cmake", "--preset", "dev"], cwd=folder, stdout=subprocess.DEVNULL, check=True)
        import numpy as np  # pylint: disable=import-outside-toplevel
        np.save(folder / "a.npy", np.random.default_rng(1).standard_normal((200, 200)))

    def make(self, targets):
        if not targets:
            return True
        return subprocess.run(["cmake", "--build", self.build, "--target", *targets.split()], cwd=self.folder,
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False).returncode == 0

    def fails(self, command):
        """Why the command is not content; empty if it is."""
        env = os.environ | {"B": str(self.build), "XDG_CACHE_HOME": str(self.folder / "cache")}
        process = subprocess.Popen(["sh", "-c", f"exec {command}"], cwd=self.folder, env=env, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
        try:
            status = process.wait(SECONDS)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, 9)
            process.wait()
            return "hang"
        return f"status {status}" if status else ""

    def caught_by(self, area, path, number, line):
        """The first test that fails; empty if none does."""
        _, targets, commands = AREAS[area]
        whole = (self.folder / path).read_text(encoding="utf-8")
        lines = whole.split("\n")
        lines[number] = line
        (self.folder / path).write_text("\n".join(lines), encoding="utf-8")
        try:
            if not self.make(targets):
                return "compiler"
            for command in commands:
                if why := self.fails(command):
                    name = re.sub(r"\$B/(tests/)?|/usr/bin/python3 |--kernel-dir kernels| -q", "", command).strip()
                    return f"{name} ({why})"
            return ""
        finally:
            (self.folder / path).write_text(whole, encoding="utf-8")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, default=150)
    parser.add_argument("--area", default="", help="only areas with this word")
    parser.add_argument("--from", type=int, default=0, dest="first", help="the first number")
    parser.add_argument("--build-dir", type=Path, default=Path(tempfile.gettempdir()) / "lugpu-mistakes")
    parser.add_argument("--list", action="store_true", help="print the mistakes and do nothing")
    given = parser.parse_args()
    chosen = [(i, one) for i, one in enumerate(drawn(given.count)) if i >= given.first and given.area in one[0]]
    if given.list:
        for i, (area, path, number, line) in chosen:
            print(f"{i:4} {area:20} {path}:{number + 1}: {line.strip()}")
        return
    copy = Copy(given.build_dir)
    targets = {AREAS[one[0]][1] for _, one in chosen}
    if not copy.make(" ".join(["lugpu", *targets])):
        sys.exit("the sources do not build")
    for area in sorted({one[0] for _, one in chosen}):
        for command in AREAS[area][2]:
            if why := copy.fails(command):
                sys.exit(f"{command} fails without a mistake: {why}")
    caught = 0
    for i, (area, path, number, line) in chosen:
        start = time.monotonic()
        by = copy.caught_by(area, path, number, line)
        caught += bool(by)
        print(f"{i:4} {area:20} {path}:{number + 1}: {line.strip()}\n     {by or 'SURVIVES'} "
              f"({time.monotonic() - start:.0f} s)", flush=True)
    print(f"{caught} of {len(chosen)} caught")


if __name__ == "__main__":
    main()
