#!/usr/bin/python3
"""`lugpu devices`, the choice of a device, and how much of it is used."""

import json
import os
import re
import subprocess
import time
from pathlib import Path

import numpy as np

from program import (BLOCKED, SECONDS, CommandLine, dominant_matrix, main, random_matrix, read_matrix,
                     small)


class DevicesTest(CommandLine):
    LABELS = ["platform", "driver", "type", "memory", "doubles", "images", "largest n"]

    def test_every_device_has_every_label(self):
        """Each device is an index and a name, then a line for every label; 80 columns."""
        text = self.lugpu("devices").stdout
        devices = re.split(r"(?m)^(?=\d+  \S)", text)[1:]
        self.assertGreater(len(devices), 0, text)
        for index, device in enumerate(devices):
            self.assertTrue(device.startswith(f"{index}  "), device)
            for label in self.LABELS:
                self.assertRegex(device, rf"(?m)^   {label} +\S")
        self.assert_narrow(text)

    def test_no_device(self):
        """Without an OpenCL driver: status 5 and a sentence that says what to install."""
        (self.folder / "no-drivers").mkdir()
        self.write("a.csv", [[2.0]])
        env = {"OCL_ICD_VENDORS": str(self.folder / "no-drivers")}
        for command in (["devices"], ["solve", "a.csv", "-o", "x.csv"], small(), ["probe"],
                        ["tune"], ["verify"], ["advise", "a.csv"]):
            with self.subTest(command=command):
                self.refused(*command, status=5, env=env, words=["No OpenCL device", "install"])


class DeviceChoiceTest(CommandLine):
    def setUp(self):
        super().setUp()
        self.write("a.csv", [[2.0]])
        self.first = self.lugpu("devices").stdout.splitlines()[0].partition("  ")[2]

    def test_by_index_and_by_part_of_the_name(self):
        for name in ("0", self.first, self.first[1:-1].upper()):
            for chosen in ({"env": {"LUGPU_DEVICE": name}}, {}):
                flags = [] if chosen else ["-d", name]
                with self.subTest(name=name, flags=flags):
                    row, = self.results("solve", "a.csv", *flags, **chosen)
                    self.assertEqual(row["device"], self.first)

    def test_a_list_in_the_environment(self):
        """Devices that share for solve; what uses one device refuses it, and what uses none does not mind."""
        env = {"LUGPU_DEVICE": "0,0"}
        row, = self.results("solve", "a.csv", "--method", "lu-blocked", env=env)
        self.assertEqual(row["devices_used"], 2)
        self.refused("verify", words=['"0,0" has a comma'], env=env)
        self.lugpu("generate", "random", "3", "-o", "b.csv", env=env)

    def test_flag_goes_before_environment(self):
        self.lugpu("solve", "a.csv", "-d", "0", env={"LUGPU_DEVICE": "none-such"})

    def test_unknown_device(self):
        """Status 5; the message repeats what was asked for and lists what is available."""
        for name in ("99", "none-such"):
            for command in (["solve", "a.csv", "-o", "x.csv"], small()):
                with self.subTest(name=name, command=command):
                    words = [f'"{name}"', self.first]
                    self.refused(*command, "-d", name, status=5, words=words)
                    self.refused(*command, status=5, words=words, env={"LUGPU_DEVICE": name})

    def test_platforms_are_named(self):
        """Where no platform is given, the existing ones; where one is, its devices."""
        platform = re.search("platform +(.*?),", self.lugpu("devices").stdout)[1]
        self.refused("solve", "a.csv", "-p", "nosuch", status=5, words=[
            'no OpenCL platform "nosuch"', f'"{platform}"'])
        self.refused("solve", "a.csv", "-p", platform, "-d", "99", status=5, words=[
            '"99"', f'"{platform}"', self.first])

    def test_lists(self):
        """An entry that is empty or names the same device again has status 2, and so have several devices
        for one run, but for solve, where they share the work."""
        twice = ["0,0", f"0,{self.first[1:-1]}"]
        for command in (["solve", "a.csv"], small(), ["probe"], ["verify"], ["advise", "a.csv"]):
            for devices in [",", "0,", ",0", "", "0,,0"] + twice * (command[0] != "solve"):
                with self.subTest(command=command, devices=devices):
                    words = ["--device", f'"{devices}"' if devices and command[0] != "bench" else devices]
                    self.refused(*command, "-d", devices, words=words)
                    if devices:
                        self.refused(*command, words=words, env={"LUGPU_DEVICE": devices})
        self.refused("solve", "a.csv", "-p", "", words=["--platform"])

    def test_devices_share_the_work(self):
        """Any number of devices, one named again and again too, have the same X."""
        a, b = random_matrix(300, 300), random_matrix(300, 2, seed=2)
        self.write("a.npy", a)
        self.write("b.npy", b)
        solve = ["solve", "a.npy", "b.npy", "--method", BLOCKED, "--nb", "64"]
        for devices in ("0,0", "0,0,0"):
            row, = self.results(*solve, "-d", devices, "-o", f"x{devices}.npy")
            self.assertEqual(row["devices_used"], len(devices.split(",")))
            self.assertLess(row["checks"]["solve_ratio"], 30)
            self.assertGreater(row["checks"]["rcond"], 0)
        x, other = (read_matrix(self.folder / f"x{devices}.npy") for devices in ("0,0", "0,0,0"))
        np.testing.assert_array_equal(x, other)
        np.testing.assert_allclose(x, np.linalg.solve(a, b), rtol=1e-8)
        for flags in (["--precision", "mixed"], ["--pivot", "none"], ["--inverse", "i.npy"], ["--equilibrate"]):
            with self.subTest(flags=flags):
                self.write("d.npy", dominant_matrix(200))
                self.lugpu("solve", "d.npy", "-d", "0,0", *flags)
        self.lugpu("solve", "a.npy", "-d", "all")
        self.refused("solve", "a.npy", "-d", "0,0", "--method", "lu",
                     words=["one device", "--method " + BLOCKED])
        self.refused("solve", "a.npy", "-d", "0,0", "--pivot", "full", words=["full"])

    def test_a_matrix_larger_than_the_devices_memory(self):
        """In windows, by itself; X is the same bits however many there are."""
        a, b = random_matrix(1200, 1200), random_matrix(1200, 2, seed=2)
        self.write("a.npy", a)
        self.write("b.npy", b)
        solve = ["solve", "a.npy", "b.npy", "--nb", "64"]
        windows = set()
        for number, flags in enumerate((["-d", "0,0"], ["--device-memory", "14M"], ["--device-memory", "9000K"],
                                        ["--device-memory", "20M", "-d", "0,0"])):
            row, = self.results(*solve, *flags, "-o", f"x{number}.npy")
            self.assertEqual(row["status"], "ok", row["reason"])
            self.assertEqual(row["device_memory"] is None, number == 0)
            windows.add(row["windows"])
            np.testing.assert_array_equal(read_matrix(self.folder / f"x{number}.npy"),
                                          read_matrix(self.folder / "x0.npy"))
        np.testing.assert_allclose(read_matrix(self.folder / "x0.npy"), np.linalg.solve(a, b), rtol=1e-7)
        self.assertEqual(min(windows), 1)
        self.assertGreaterEqual(len(windows), 3)
        self.assertIn("out of core", self.lugpu(*solve, "--device-memory", "14M").stdout)
        self.write("d.npy", dominant_matrix(1200))
        for flags in (["--precision", "mixed"], ["--precision", "single", "--pivot", "none"], ["--inverse", "i.npy"],
                      ["--equilibrate"]):
            with self.subTest(flags=flags):
                row, = self.results("solve", "d.npy", "--device-memory", "12M", *flags)
                self.assertEqual(row["status"], "ok", row["reason"])
        self.refused("solve", "a.npy", "--device-memory", "3M", words=["does not fit", "3.0 MiB"])
        for size in ("", "0", "-1", "2T", "G", "1.5G", "10000000000000G"):
            self.refused("solve", "a.npy", "--device-memory", size, words=["--device-memory"])

    def test_a_matrix_that_stays_in_its_file(self):
        """Where its elements are as in memory; the answer is that of one that is read."""
        a, b = random_matrix(700, 700), random_matrix(700, 2, seed=2)
        self.write("b.npy", b)
        for name, array in (("rows", a), ("columns", np.asfortranarray(a)), ("single", a.astype(np.float32)),
                            ("other", a.astype(">f8"))):
            np.save(self.folder / "a.npy", array)
            for rhs in ([], ["b.npy"]):
                solve = ["solve", "a.npy", *rhs, "--nb", "64", "-o", "x.npy"]
                self.lugpu(*solve, "-d", "0,0")
                x = read_matrix(self.folder / "x.npy")
                row, = self.results(*solve, "--device-memory", "5M")
                self.assertGreater(row["windows"], 1)
                np.testing.assert_array_equal(read_matrix(self.folder / "x.npy"), x, name)
        a[2, 4] = np.nan
        np.save(self.folder / "a.npy", a)
        self.refused("solve", "a.npy", "--device-memory", "5M", words=["a.npy: element (3, 5)", "finite"])
        (self.folder / "a.npy").write_bytes((self.folder / "a.npy").read_bytes()[:-8])
        self.refused("solve", "a.npy", "--device-memory", "5M", words=["a.npy: ", "bytes of data"])

    def test_a_file_that_becomes_shorter(self):
        np.save(self.folder / "a.npy", random_matrix(1500, 1500))
        process = self.start_lugpu("solve", "a.npy", "--device-memory", "12M", "-o", "x.npy", stderr=subprocess.PIPE)
        while "a.npy" not in (Path("/proc") / str(process.pid) / "maps").read_text(encoding="utf-8"):
            self.assertIsNone(process.poll())
            time.sleep(0.001)
        os.truncate(self.folder / "a.npy", 4096)
        with process.stderr as stream:
            errors = stream.read()
        self.assertEqual(process.wait(SECONDS), 1)
        self.assertRegex(errors, b"^lugpu: a.npy.*(shorter|bytes of data).*\\.\n$")
        self.assertFalse((self.folder / "x.npy").exists())

    def test_limited_memory_is_a_case_of_a_sweep(self):
        sweep = {"method": BLOCKED, "pivot": "partial", "sizes": 1200, "nb": 64, "precision": "double"}
        row, = self.results(*small(**sweep, device_memory="12M"))
        self.assertEqual((row["status"], row["device_memory"]), ("ok", 12 << 20))
        self.assertGreater(row["windows"], 1)
        self.assertIn("windows", row["variant"])
        row, = self.results(*small(**sweep, device_memory="3M"))
        self.assertEqual(row["status"], "unsupported")

    def test_devices_that_share_are_a_case_of_a_sweep(self):
        sweep = small(method=BLOCKED, pivot="partial", sizes=200, nb=64)
        rows = self.results(*sweep, "-d", "0,0+0,0+0+0")
        self.assertEqual([row["devices_used"] for row in rows], [None, 2, 3])
        for row in rows:
            self.assertEqual(row["status"], "ok", row["reason"])
        self.assertIn(BLOCKED + " x3", self.lugpu(*sweep, "-d", "0+0+0").stdout)
        self.refused(*sweep, "-d", "0+", words=["+"])

    def test_unknown_platform(self):
        self.refused("solve", "a.csv", "-p", "none-such", status=5, words=["none-such"])

    def test_two_devices_of_one_name_both_run(self):
        """A machine with two equal devices: each that -d names has its row."""
        env = {"POCL_DEVICES": "pthread pthread"}
        listed = self.lugpu("devices", env=env).stdout
        if len(re.findall(r"(?m)^\d+  ", listed)) != 2:
            self.skipTest("only PoCL can pretend to be two equal devices")
        self.assertEqual(len(self.results(*small(), "-d", "0,1", env=env)), 2)


class AffinityTest(CommandLine):
    """Whether PoCL keeps its threads on cores; the user has the last word."""

    def affinity(self, *arguments, env=None):
        """What the record says of it; None: nothing."""
        report = json.loads(self.lugpu(*arguments, "--json", "-", env=env).stdout)
        return report["context"]["environment"].get("POCL_AFFINITY")

    def setUp(self):
        super().setUp()
        if "POCL_AFFINITY" in os.environ:
            self.skipTest("POCL_AFFINITY is set")
        cores = os.sched_getaffinity(0)
        if len(cores) < 2 or len(cores) < os.cpu_count():
            self.skipTest("not all cores are ours, or there is but one")
        self.addCleanup(os.sched_setaffinity, 0, cores)

    def test_threads_stay_on_cores(self):
        self.assertEqual(self.affinity(*small()), "1")

    def test_user_decides(self):
        self.assertEqual(self.affinity(*small(), env={"POCL_AFFINITY": "0"}), "0")

    def test_some_cores_are_not_ours(self):
        os.sched_setaffinity(0, {0})
        self.assertIsNone(self.affinity(*small()))


class CoresTest(CommandLine):
    def test_a_process_that_may_use_one_core(self):
        """PoCL gets as many threads as there are usable cores, and the record says so."""
        cores = os.sched_getaffinity(0)
        if "Portable Computing Language" not in self.lugpu("devices").stdout:
            self.skipTest("only PoCL is told")
        if len(cores) < 2 or {"POCL_MAX_PTHREAD_COUNT", "POCL_CPU_MAX_CU_COUNT"} & set(os.environ):
            self.skipTest("there is one core, or the number of threads is set")
        self.addCleanup(os.sched_setaffinity, 0, cores)
        os.sched_setaffinity(0, {max(cores)})
        self.assertIn("1 of", self.lugpu("devices").stdout)
        report = json.loads(self.lugpu(*small(), "--json", "-").stdout)
        self.assertEqual(report["context"]["cores"], 1)
        self.assertEqual(report["devices"][0]["compute_units"], 1)
        env = {"POCL_MAX_PTHREAD_COUNT": "2"}
        report = json.loads(self.lugpu(*small(), "--json", "-", env=env).stdout)
        self.assertEqual(report["devices"][0]["compute_units"], 2)


class UnitsTest(CommandLine):
    def setUp(self):
        super().setUp()
        self.write("a.csv", [[2.0]])
        self.units = int(re.search(r"(\d+) compute units", self.lugpu("devices").stdout).group(1))

    def compute_units(self, *flags):
        text = self.lugpu("solve", "a.csv", "--json", "-", *flags).stdout
        return json.loads(text)["devices"][0]["compute_units"]

    def test_fewer_units(self):
        """The record says how many were used; one where the device can be partitioned."""
        self.assertEqual(self.compute_units(), self.units)
        if self.run_lugpu("solve", "a.csv", "--units", "1").returncode == 0:
            self.assertEqual(self.compute_units("--units", "1"), 1)

    def test_more_units_than_there_are(self):
        self.refused("solve", "a.csv", "-o", "x.csv", "--units", str(self.units + 1),
                     words=[str(self.units + 1) + " compute units", str(self.units)])


if __name__ == "__main__":
    main()
