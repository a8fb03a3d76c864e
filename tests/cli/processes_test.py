#!/usr/bin/python3
"""`lugpu solve` and `bench` in several processes of mpirun, which share a system."""

import ctypes.util
import json
import os
import shutil
import signal
import subprocess
import time
import unittest
from pathlib import Path

import numpy as np

from program import (BLOCKED, SECONDS, CommandLine, dominant_matrix, main, parse_report,
                     random_matrix, read_matrix, small)

AS_ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
SWEEP = {"method": BLOCKED, "pivot": "partial", "sizes": 200, "nb": 64}


class MissingPlugInTest(CommandLine):
    def test_a_sentence(self):
        """Without the plug-in only the first process says what is missing."""
        (self.folder / "bin").mkdir()
        alone = shutil.copy(self.program, self.folder / "bin/lugpu")
        for rank, words in (("0", "Open MPI"), ("1", "")):
            env = {"OMPI_COMM_WORLD_RANK": rank, "OMPI_COMM_WORLD_SIZE": "2"}
            done = subprocess.run([alone, *small(**SWEEP)], env=self.environment(env),
                                  capture_output=True, encoding="utf-8", timeout=SECONDS, check=False)
            self.assertEqual((done.returncode, done.stdout), (1, ""))
            self.assertIn(words, done.stderr)
            self.assertEqual(done.stderr.count("\n"), len(words) > 0)


class ProcessesTest(CommandLine):
    def setUp(self):
        super().setUp()
        if not shutil.which("mpirun"):
            self.skipTest("there is no mpirun")
        if not (Path(self.program).parent / "liblugpu_mpi.so").exists():
            self.skipTest("this build found no Open MPI")

    def command(self, count, *arguments):
        return ["mpirun", "--oversubscribe", "-n", str(count), self.program, *arguments]

    def mpirun(self, count, *arguments, status=0):
        done = subprocess.run(self.command(count, *arguments), cwd=self.folder,
                              env=self.environment(AS_ROOT), stdin=subprocess.DEVNULL,
                              capture_output=True, encoding="utf-8", timeout=SECONDS, check=False)
        self.assertEqual(done.returncode, status, (arguments, done.stdout, done.stderr))
        self.assertNotIn("\033", done.stdout)  # mpirun gives processes a terminal, whatever its own output is
        return done

    def own_lines(self, done):
        """What lugpu itself said on stderr; mpirun adds its own text."""
        return [line for line in done.stderr.splitlines() if line.startswith("lugpu: ")]

    def test_solve_has_the_same_x(self):
        a, b = random_matrix(300, 300), random_matrix(300, 2, seed=2)
        self.write("a.npy", a)
        self.write("b.npy", b)
        solve = ["solve", "a.npy", "b.npy", "--method", BLOCKED, "--nb", "64"]
        self.lugpu(*solve, "-d", "0,0", "-o", "x.npy")
        x = read_matrix(self.folder / "x.npy")
        np.testing.assert_allclose(x, np.linalg.solve(a, b), rtol=1e-8)
        for count, devices in ((2, "0"), (2, "0,0"), (3, "0")):
            text = self.mpirun(count, *solve, "-d", devices, "-o", "y.npy", "--json", "-").stdout
            row, = parse_report(text)
            self.assertEqual(row["processes"], count)
            self.assertEqual(row["devices_used"], count * len(devices.split(",")))
            np.testing.assert_array_equal(read_matrix(self.folder / "y.npy"), x)

    def test_scalapack(self):
        """The rival that takes several processes, beside a method that shares the system too."""
        flags = small(**SWEEP | {"sizes": "1,64,200"}, precision="single,double", baseline="scalapack")
        if not ctypes.util.find_library("scalapack-openmpi"):
            self.skipTest("there is no libscalapack-openmpi")
        for count, grid in ((2, "1 x 2"), (4, "2 x 2")):
            rows = parse_report(self.mpirun(count, *flags, "--json", "-").stdout)
            rivals = [row for row in rows if row["routine"] == "scalapack"]
            self.assertEqual([row["n"] for row in rivals], [1, 1, 64, 64, 200, 200])
            for row in rows:
                self.assertEqual(row["status"], "ok", row["reason"])
            for row in rivals:
                self.assertEqual(row["variant"], f"{grid} processes")
                self.assertIsNotNone(row["checks"]["factor_ratio"])
        row = parse_report(self.lugpu(*flags, "--json", "-").stdout)[0]
        self.assertEqual(row["status"], "unsupported")
        self.assertIn("mpirun -n", row["reason"])

    def test_only_the_first_prints(self):
        self.write("d.npy", dominant_matrix(200))
        lines = self.lugpu("solve", "d.npy", "-d", "0,0").stdout.splitlines()
        done = self.mpirun(2, "solve", "d.npy")
        self.assertLessEqual(len(done.stdout.splitlines()), len(lines))
        for flags in (["--precision", "mixed"], ["--pivot", "none"], ["--inverse", "i.npy"],
                      ["--equilibrate", "--det"]):
            with self.subTest(flags=flags):
                self.mpirun(2, "solve", "d.npy", *flags)

    def test_mixed_precision_that_falls_back(self):
        n = 150
        a = random_matrix(n, n)
        a[:, 0] *= 1e-60  # nothing in single precision
        self.write("a.npy", a)
        self.mpirun(2, "solve", "a.npy", "--precision", "mixed")

    def test_errors_are_said_once(self):
        self.write("d.npy", dominant_matrix(10))
        self.write("singular.npy", np.ones((100, 100)))
        for arguments, status in ((["solve", "none.npy"], 2), (["solve", "d.npy", "-d", "99"], 5),
                                  (["solve", "d.npy", "--nosuch"], 2),
                                  (["solve", "d.npy", "--method", "lu"], 2),
                                  (["solve", "d.npy", "--nb", "50"], 2),
                                  (["solve", "singular.npy"], 3),
                                  (["bench", "--problem", "poisson2d"], 2)):
            with self.subTest(arguments=arguments):
                self.assertEqual(len(self.own_lines(self.mpirun(2, *arguments, status=status))), 1)

    def test_bench(self):
        sweep = small(**SWEEP | {"baseline": "getrf", "precision": "single,double,mixed"})
        rows = parse_report(self.mpirun(2, *sweep, "-d", "0,0+0", "--json", "-").stdout)
        self.assertEqual([(row["devices_used"], row["processes"]) for row in rows],
                         ([(None, None)] + [(2, 2), (4, 2)]) * 2 + [(2, 2), (4, 2)])
        for row in rows:
            self.assertEqual(row["status"], "ok", row["reason"])
        self.assertIn(BLOCKED + " x2", self.mpirun(2, *small(**SWEEP)).stdout)

    def test_a_process_that_fails_in_the_middle(self):
        """One sentence, status 1, and the cases that were done."""
        shim = self.with_fault("clEnqueueNDRangeKernel", 200, -4)
        faulty = ["env", *(f"{name}={value}" for name, value in shim.items())]
        sweep = small(**SWEEP | {"sizes": "64:6400:64"}) + ["--json", "r.json"]
        done = subprocess.run(
            ["mpirun", "--oversubscribe", "-n", "1", self.program, *sweep, ":", "-n", "1", *faulty,
             self.program, *sweep], cwd=self.folder, env=self.environment(AS_ROOT),
            capture_output=True, encoding="utf-8", timeout=SECONDS, check=False)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertEqual(len(self.own_lines(done)), 1, done.stderr)
        self.assertIn("process 1 on ", self.own_lines(done)[0])
        rows = parse_report((self.folder / "r.json").read_text())
        self.assertGreater(len(rows), 0)

    def test_a_process_that_dies(self):
        """mpirun ends the others; the file has the cases that were done."""
        path = self.folder / "r.json"
        run = subprocess.Popen(self.command(2, *small(**SWEEP | {"sizes": "64:64000:64"}), "--json", "r.json"),
                               cwd=self.folder, env=self.environment(AS_ROOT), stdin=subprocess.DEVNULL,
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(run.kill)
        end = time.monotonic() + SECONDS
        while not (path.exists() and json.loads(path.read_text())["results"]):
            self.assertLess(time.monotonic(), end)
            time.sleep(0.1)
        os.kill(self.child(run.pid, "1"), signal.SIGKILL)
        self.assertNotEqual(run.wait(SECONDS), 0)
        self.assertGreater(len(parse_report(path.read_text())), 0)
        self.assertEqual(self.file_names(), ["r.json"])

    def child(self, parent, rank):
        """The process of mpirun that has this rank."""
        for folder in Path("/proc").glob("[0-9]*"):
            try:
                status = (folder / "stat").read_text().rsplit(")", 1)[1].split()
                environment = (folder / "environ").read_text().split("\0")
            except OSError:
                continue
            if int(status[1]) == parent and f"OMPI_COMM_WORLD_RANK={rank}" in environment:
                return int(folder.name)
        raise unittest.SkipTest("mpirun's processes are not to be found")


if __name__ == "__main__":
    main()
