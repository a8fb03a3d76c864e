#!/usr/bin/python3
"""Kernels under oclgrind, which watches every access to memory, at the smallest sizes: it must find nothing.

    tests/oclgrind_test.py PATH_TO_LUGPU

What takes minutes there, or what oclgrind cannot do, is named in docs/reliability.md.
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
SECONDS = 300
DENSE = ["partial", "none --precision single --texel rgba", "full", "full --storage image", "full --schedule paper",
         "rook", "rook --storage image --texel rgba", "rook --storage image --schedule paper", "scaled --storage image"]
COMMANDS = [
    *(["solve", "a.npy", "--method", "lu", "--pivot", *options.split()] for options in DENSE),
    *(["solve", "a.npy", "--method", "gauss-jordan", "--pivot", *options.split()]
      for options in ("partial --schedule paper", "full", "none --storage image")),
    *(["solve", "s.mtx", "--method", method] for method in ("banded", "cg", "gauss-seidel", "jacobi")),
]
TESTS = [["gpu_panel_test", "--gtest_filter=*InfoIsTheFirstZeroPivot/single_*"],
         ["rows_of_u_test", "--gtest_filter=*OneTile*"]]
# Kernels that must have been among those that ran, so that no command has come to take another way.
EXPECTED = {"apply", "apply_and_factor", "back_block", "cg_direction", "cg_update", "compute_rows",
            "eliminate_column", "export_columns", "factor_columns", "forward_block", "gather_rows",
            "gauss_jordan_step_full", "gauss_jordan_step_none", "import_columns", "invert_blocks", "reduce",
            "relax_colour", "search_candidates", "update_and_factor", "update_trailing"}


class Oclgrind(unittest.TestCase):
    def kernels(self, line, number):
        """The kernels that a command ran, nothing having been found."""
        log = self.folder / f"log{number}"
        env = os.environ | {"XDG_CACHE_HOME": str(self.folder / f"cache{number}")}
        done = subprocess.run(["oclgrind", "--data-races", "--inst-counts", "--local-mem-size", "65536", "--log", log,
                               *line], cwd=self.folder, env=env, stdin=subprocess.DEVNULL, capture_output=True,
                              encoding="utf-8", errors="replace", timeout=SECONDS, check=False)
        found = log.read_text(encoding="utf-8", errors="replace").strip() if log.exists() else ""
        # oclgrind is gone before the contexts of GoogleTest's programs, which then abort.
        right = done.returncode == 0 if line[0] == PROGRAM else "[  PASSED  ] 2 tests" in done.stdout
        self.assertEqual((right, found), (True, ""), (line, done.stdout[-2000:], done.stderr[-2000:]))
        return set(re.findall(r"kernel '(\w+)'", done.stdout + done.stderr))

    def test_finds_nothing(self):
        if not shutil.which("oclgrind"):
            self.skipTest("oclgrind is not installed")
        with tempfile.TemporaryDirectory() as folder:
            self.folder = Path(folder)
            np.save(self.folder / "a.npy", np.random.default_rng(1).standard_normal((3, 3)) + 6 * np.eye(3))
            scipy.io.mmwrite(self.folder / "s.mtx", scipy.sparse.diags([-1.0, 3, -1], [-1, 0, 1], (9, 9)))
            lines = [*([PROGRAM.parent / "tests" / name, *options] for name, *options in TESTS),
                     *([PROGRAM, *line, "-q"] for line in COMMANDS)]
            with concurrent.futures.ThreadPoolExecutor(2) as pool:
                ran = set().union(*pool.map(self.kernels, lines, range(len(lines))))
        self.assertLessEqual(EXPECTED, ran)


if __name__ == "__main__":
    unittest.main()
