#!/usr/bin/python3
"""Kernels from a folder, drivers that fail, and the folder of PoCL's compiled kernels."""

import os
import re
import shutil
from pathlib import Path

from program import (BLOCKED, METHODS, ROOT, UNOPTIMIZED, CommandLine, main, parse_report, random_matrix,
                     small)


class KernelDirTest(CommandLine):
    def setUp(self):
        super().setUp()
        self.write("a.csv", random_matrix(5, 5))
        shutil.copytree(ROOT / "kernels", self.folder / "kernels")

    def test_copy_of_the_kernels_works(self):
        self.lugpu("solve", "a.csv", "--kernel-dir", "kernels")

    def test_folder_that_does_not_exist(self):
        for command in (["solve", "a.csv", "-o", "x.csv"], [*small(), "--json", "r.json"]):
            with self.subTest(command=command):
                self.refused(*command, "--kernel-dir", "none", words=["none", "--kernel-dir"])

    def break_kernel(self, name):
        """Puts a syntax error at the end of a kernel file; returns its place."""
        source = self.folder / "kernels" / name
        text = source.read_text(encoding="utf-8") + "\n"
        source.write_text(text + "void broken( {\n", encoding="utf-8")
        return f"{name}:{len(text.splitlines()) + 1}:"

    def edit_kernel(self, name, old, new):
        source = self.folder / "kernels" / name
        text = source.read_text(encoding="utf-8")
        self.assertIn(old, text)
        source.write_text(text.replace(old, new), encoding="utf-8")

    def test_driver_that_ends_loops_early(self):
        """What needs long loops on a CPU is refused, and what does not is possible."""
        if self.device_type("a.csv") != "cpu":
            self.skipTest("only kernels for CPUs have long loops")
        self.edit_kernel("common/loops.cl", "i < iterations", "i < min(iterations, 65535)")
        for method in ("auto", BLOCKED, *METHODS):
            self.refused("solve", "a.csv", "--method", method, "--kernel-dir", "kernels",
                         words=["loops", "--schedule paper"])
        self.lugpu("solve", "a.csv", "--method", "lu", "--schedule", "paper", "--kernel-dir", "kernels")
        row, = self.results(*small(), "--kernel-dir", "kernels")
        self.assertEqual(row["status"], "unsupported")

    def test_driver_that_computes_wrong_pivots(self):
        """Status 1, and nothing is read or written in a row outside the matrix."""
        self.edit_kernel("dense/pivot_search.clh", "places[k] = (int2)(row[0], column[0])",
                         "places[k] = (int2)(row[0] + n, column[0])")
        self.refused("solve", "a.csv", "--method", "lu", "--schedule", "paper", "--kernel-dir",
                     "kernels", status=1, words=["Pivot 1 of", "computes incorrectly"])

    def test_syntax_error(self):
        """Status 1; the file and the line are named; no X."""
        for name in ("common/transfer.cl", "common/surface.clh"):
            with self.subTest(name=name):
                place = self.break_kernel(name)
                done = self.lugpu("solve", "a.csv", "-o", "x.csv", "--kernel-dir", "kernels",
                                  status=1)
                # In the log of the compiler, whose lines stay lines.
                self.assertTrue(any(place in line for line in done.stderr.splitlines()[1:]),
                                done.stderr)
                self.assertFalse((self.folder / "x.csv").exists())

    def test_syntax_error_in_a_sweep(self):
        """Cases whose kernels do not build are rows of status error, with the reason."""
        place = self.break_kernel("common/transfer.cl")
        row, = self.results(*small(), "--kernel-dir", "kernels", status=1)
        self.assertEqual((row["status"], row["gflops"]), ("error", None))
        self.assertIn(place, row["reason"])

    def test_errors_and_failed_checks_in_a_sweep(self):
        """Status 1, whichever comes first."""
        self.break_kernel("dense/fused.cl")
        for schedules, statuses in (("fused,paper", ["error", "failed"]),
                                    ("paper,fused", ["failed", "error"])):
            with self.subTest(schedules=schedules):
                rows = self.results(*small(matrix="singular", schedule=schedules), "--kernel-dir",
                                    "kernels", status=1)
                self.assertEqual([row["status"] for row in rows], statuses)


class FaultTest(CommandLine):
    """Calls of OpenCL that fail, by tests/opencl_faults.cpp."""

    CASES = small(pivot="none,partial", warmup=0)

    def run_with_fault(self, function, call, code, *arguments):
        """The finished process, and how many calls failed in it; with code 0 all are counted."""
        log = self.folder / "faults.log"
        log.write_bytes(b"")
        done = self.run_lugpu(*arguments, env=self.with_fault(function, call, code)
                              | {"OPENCL_FAULT_LOG": str(log)})
        return done, len(log.read_text(encoding="utf-8").splitlines())

    def test_a_wait_that_fails_costs_one_row(self):
        """Whichever wait of the last case fails, including the one for the profile."""
        _, calls = self.run_with_fault("clFinish", "1+", 0, *self.CASES)
        self.assertGreater(calls, 20)
        tried = 0
        for call in range(calls - 15, calls + 1):
            with self.subTest(call=call):
                done, failed = self.run_with_fault("clFinish", call, -36, *self.CASES, "--json",
                                                   "-")
                if failed == 0:  # a faster run, which waits less often
                    continue
                tried += 1
                self.assertEqual(done.returncode, 1, done.stderr)
                statuses = [row["status"] for row in parse_report(done.stdout)]
                self.assertEqual(sorted(statuses), ["error", "ok"])
        self.assertGreater(tried, 8)

    def test_a_program_that_does_not_build(self):
        """The error of clBuildProgram, not that of what is asked for afterwards."""
        self.write("a.csv", [[2.0]])
        for code, name in ((-11, "CL_BUILD_PROGRAM_FAILURE"), (-36, "CL_INVALID_COMMAND_QUEUE"),
                           (-44, "CL_INVALID_PROGRAM"), (-9999, "OpenCL error")):
            with self.subTest(code=code):
                done, _ = self.run_with_fault("clBuildProgram", "1+", code, "solve", "a.csv")
                self.assertEqual(done.returncode, 1, done.stderr)
                self.assertRegex(done.stderr, r"\Alugpu: The kernels of [^\n]+ do not build on [^\n]+: "
                                 rf"clBuildProgram failed with {name} \(?{code}\)?(, no log\.|: )")

    def test_a_download_that_fails_while_it_runs(self):
        """What is on its way does not arrive in memory that is gone."""
        for call in (1, 2, 10, 28):
            with self.subTest(call=call):
                done, failed = self.run_with_fault("clFlush", call, -5, *self.CASES)
                self.assertEqual((done.returncode, failed), (1, 1), done.stderr)

    def test_a_device_that_fails_among_several(self):
        """Whether the matrix is shared or in windows: one sentence, no X."""
        self.write("a.npy", random_matrix(700, 700))
        solve = ["solve", "a.npy", "--method", BLOCKED, "--nb", "64", "-o", "x.npy"]
        for ways in (["-d", "0,0"], ["--device-memory", "5M"]):
            for function in ("clEnqueueNDRangeKernel", "clEnqueueReadBuffer"):
                with self.subTest(ways=ways, function=function):
                    _, calls = self.run_with_fault(function, "1+", 0, *solve, *ways)
                    (self.folder / "x.npy").unlink()
                    done, failed = self.run_with_fault(function, calls // 2, -36, *solve, *ways)
                    self.assertEqual((done.returncode, failed), (1, 1), done.stderr)
                    self.assertRegex(done.stderr, rf"\Alugpu: [^\n]*{function}[^\n]*\n\Z")
                    self.assertFalse((self.folder / "x.npy").exists())

    def test_a_device_that_hangs(self):
        """solve ends at --timeout, with one sentence and no X, whichever call does not return."""
        self.write("a.csv", random_matrix(5, 5))
        for function in ("clCreateContext", "clBuildProgram", "clFinish", "clEnqueueReadBuffer"):
            with self.subTest(function=function):
                error = self.refused("solve", "a.csv", "-o", "x.csv", "--timeout", "3", status=1,
                                     env=self.with_fault(function, 1, 0, "hang"))
                self.assertIn("a.csv is not solved", error)
                self.assertIn("--timeout 3 s", error)

    def test_a_timeout_that_is_not_reached(self):
        self.write("a.csv", random_matrix(5, 5))
        self.lugpu("solve", "a.csv", "-o", "x.csv", "--timeout", "50")
        self.assertTrue((self.folder / "x.csv").exists())

    def test_a_place_that_came_to_the_device_wrong(self):
        """A flipped bit in what says where rows go is no reason to read outside of them."""
        self.write("a.csv", random_matrix(40, 40))
        _, calls = self.run_with_fault("clEnqueueWriteBuffer", "1+", 0, "solve", "a.csv")
        self.assertGreater(calls, 10)
        for call in range(1, calls + 1):
            with self.subTest(call=call):
                done = self.run_lugpu("solve", "a.csv",
                                      env=self.with_fault("clEnqueueWriteBuffer", call, 64, "flip"))
                self.assertIn(done.returncode, (0, 1, 3, 4), done.stderr)

    def test_what_cannot_be_released(self):
        """It ends no process by a signal."""
        for function in ("clReleaseMemObject", "clReleaseEvent", "clReleaseKernel",
                         "clReleaseProgram", "clReleaseCommandQueue", "clReleaseContext"):
            with self.subTest(function=function):
                done, failed = self.run_with_fault(function, "1+", -36, *self.CASES)
                self.assertGreater(failed, 0)
                self.assertIn(done.returncode, (0, 1), done.stderr)


class PoclCacheTest(CommandLine):
    """Where PoCL cannot write its compiled kernels."""
    UNWRITABLE = "/dev/null"  # for root too

    def setUp(self):
        super().setUp()
        if "Portable Computing Language" not in self.lugpu("devices").stdout:
            self.skipTest("PoCL is not there")
        self.write("a.csv", [[2.0]])
        # Whose kernels compile soonest.
        self.solve = ["solve", "a.csv", "-p", "Portable", "--method", "lu", "--pivot", "none", "--schedule", "paper"]
        self.env = UNOPTIMIZED | {"HOME": self.UNWRITABLE, "XDG_CACHE_HOME": "", "POCL_CACHE_DIR": "",
                                  "TMPDIR": str(self.folder)}
        self.private = self.folder / f"lugpu-cache-{os.geteuid()}"

    def assert_cached(self):
        self.assertEqual(self.private.stat().st_mode & 0o7777, 0o700)
        self.assertGreater(len(list(self.private.iterdir())), 0)

    def test_it_gets_a_private_folder(self):
        """As many devices as ever, a note for -v, and compiled kernels in the folder."""
        for _ in range(2):  # it is there the second time
            self.assertEqual(self.lugpu("devices", env=self.env).stdout, self.lugpu("devices").stdout)
            done = self.lugpu(*self.solve, "-v", env=self.env)
            note, = [line for line in done.stderr.splitlines() if "note: " in line]
            self.assertIn(str(self.private), note)
            self.assert_cached()
        self.assertEqual(self.lugpu(*self.solve, env=self.env).stderr, "")
        self.assertEqual(self.file_names(), ["a.csv", self.private.name])

    def test_every_variable_that_names_it(self):
        for names in ({"XDG_CACHE_HOME": self.UNWRITABLE, "HOME": str(self.folder)},
                      {"XDG_CACHE_HOME": self.UNWRITABLE + "/below"},
                      {"POCL_KERNEL_CACHE": "0"}):
            with self.subTest(names=names):
                self.lugpu(*self.solve, env=self.env | names)
                self.assert_cached()
                shutil.rmtree(self.private)

    def test_a_folder_that_can_be_written_stays(self):
        for names in ({"HOME": str(self.folder)}, {"XDG_CACHE_HOME": str(self.folder / "xdg")},
                      {"POCL_CACHE_DIR": str(self.folder / "pocl")}):
            with self.subTest(names=names):
                done = self.lugpu(*self.solve, "-v", env=self.env | names)
                self.assertNotIn("note: ", done.stderr)
                self.assertFalse(self.private.exists())

    def test_no_folder_at_all(self):
        """Status 5 and the folders that cannot be written, not the advice to install a driver."""
        if len(re.findall("(?m)^   platform ", self.lugpu("devices").stdout)) > 1:
            self.skipTest("there are other devices")
        def shared_folder(path):
            path.mkdir()
            path.chmod(0o755)
        for names, place in (({"POCL_CACHE_DIR": "/dev/null/x"}, "/dev/null/x"), ({"TMPDIR": "/proc"}, "/proc")):
            self.refused_without_cache(self.env | names, place)
        for number, make in enumerate((shared_folder, Path.touch, lambda path: path.symlink_to(self.folder))):
            with self.subTest(number=number):
                temporary = self.folder / str(number)
                temporary.mkdir()
                make(temporary / self.private.name)
                self.refused_without_cache(self.env | {"TMPDIR": str(temporary)},
                                           str(temporary / self.private.name))

    def refused_without_cache(self, env, place):
        for command in (["devices"], ["solve", "a.csv"], ["verify"]):
            error = self.refused(*command, status=5, env=env, words=[place, "set POCL_CACHE_DIR"])
            self.assertNotIn("install", error)


if __name__ == "__main__":
    main()
