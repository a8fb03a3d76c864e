#!/usr/bin/python3
"""What the machine does: full disks, closed pipes, signals, other processes, limits, languages, memory."""

import os
import re
import resource
import signal
import subprocess
import time
from pathlib import Path

import numpy as np
from program import (SECONDS, UNOPTIMIZED, CommandLine, dominant_matrix, main, measures, parse_report,
                     small)

SENTENCE = r"\Alugpu: [^\n]+\n\Z"


def own_mounts():
    """A command line that runs a shell whose mounts nobody else sees; None where that cannot be had."""
    line = ["unshare", "--mount"] if os.geteuid() == 0 else ["unshare", "--map-root-user", "--mount"]
    trial = subprocess.run([*line, "mount", "-t", "tmpfs", "trial", "/mnt"], capture_output=True, check=False)
    return line if trial.returncode == 0 else None


class MachineTest(CommandLine):
    def setUp(self):
        super().setUp()
        self.write("a.npy", dominant_matrix(60))

    def in_shell(self, script, env=None):
        """A script in which $L is the program."""
        return subprocess.run(["sh", "-c", script], cwd=self.folder, env=self.environment(env) | {"L": self.program},
                              stdin=subprocess.DEVNULL, capture_output=True, encoding="utf-8", timeout=SECONDS,
                              check=False)

    def with_mounts(self, script, env=None):
        line = own_mounts()
        if line is None:
            self.skipTest("mounts of one's own need a privilege or user namespaces")
        return subprocess.run([*line, "sh", "-c", script], cwd=self.folder, capture_output=True, encoding="utf-8",
                              env=self.environment(env) | {"TMPDIR": str(self.folder), "L": self.program},
                              timeout=SECONDS, check=False)

    def test_full_disk(self):
        """What does not fit is kept elsewhere, and the sentence says where; nothing is left on the disk."""
        self.write("large.npy", dominant_matrix(400))
        (self.folder / "disk").mkdir()
        done = self.with_mounts("mount -t tmpfs -o size=64k disk disk && $L solve large.npy -q --inverse disk/x.npy; "
                                "echo $? $(ls disk)")
        self.assertEqual(done.stdout.split(), ["1"])
        self.assertRegex(done.stderr, SENTENCE)
        place = re.search(r"its content is in (\S+)\.\n", done.stderr)[1]
        np.testing.assert_allclose(np.load(place) @ dominant_matrix(400), np.eye(400), atol=1e-9)

    def test_disk_that_fills_during_a_sweep(self):
        """The rows go on in another file."""
        (self.folder / "disk").mkdir()
        sweep = " ".join(small(sizes="8:160:8", json="disk/r.json"))
        done = self.with_mounts(f"mount -t tmpfs -o size=24k disk disk && $L {sweep}; echo status $?; "
                                "cat disk/r.json > last.json")
        self.assertIn("status 1", done.stdout)
        self.assertRegex(done.stderr, SENTENCE)
        kept = parse_report((self.folder / "last.json").read_text(encoding="utf-8"))
        place = re.search(r"its content is in (\S+)\.\n", done.stderr)[1]
        rows = parse_report(Path(place).read_text(encoding="utf-8"))
        self.assertEqual(rows[:len(kept)], kept)
        self.assertEqual(len(rows), 20)

    def test_folder_that_cannot_be_written(self):
        """It is known before anything is computed."""
        (self.folder / "disk").mkdir()
        done = self.with_mounts("mount -t tmpfs -o ro disk disk && for o in '-o disk/x.npy' '--json disk/r.json'; do "
                                "$L solve a.npy $o; echo $?; done")
        self.assertEqual(done.stdout.split(), ["1", "1"])
        self.assertEqual(len(re.findall(r"(?m)^lugpu: .*disk/", done.stderr)), 2)

    def test_cache_that_cannot_be_written(self):
        """Nor read: the answer is the same."""
        (self.folder / "disk").mkdir()
        done = self.with_mounts("mount -t tmpfs -o ro disk disk && XDG_CACHE_HOME=disk POCL_CACHE_DIR=$PWD/kernels "
                                "$L solve a.npy -q -o x.npy; echo $?", UNOPTIMIZED)
        self.assertEqual(done.stdout.split(), ["0"], done.stderr)

    def test_closed_pipes(self):
        """A reader that goes away, and no standard output at all."""
        sweep = " ".join(small(sizes="8:32:8"))
        done = self.in_shell(f"($L {sweep}; echo $? > status) | head -n 1")
        self.assertIn((self.folder / "status").read_text().strip(), ("1", "141"), done.stderr)
        done = self.in_shell("$L solve a.npy >&-; echo $? > status")
        self.assertEqual((self.folder / "status").read_text().strip(), "1")
        self.assertRegex(done.stderr, SENTENCE)
        self.assertEqual(self.in_shell("$L solve a.npy -q 2>&- -o x.npy").returncode, 0)

    def test_signals_leave_nothing_behind(self):
        for how in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            with self.subTest(how=how):
                process = self.start_lugpu("bench", "-n", "64:512:8", "--method", "lu", "--baseline", "none",
                                           "--device-memory", "100M", "--json", "r.json", "--force")
                while not (self.folder / "r.json").exists():
                    self.assertIsNone(process.poll())
                    time.sleep(0.01)
                process.send_signal(how)
                self.assertIn(process.wait(SECONDS), (-how, 128 + how))
                self.assertEqual(self.file_names(), ["a.npy", "r.json"])
                parse_report((self.folder / "r.json").read_text(encoding="utf-8"))
                (self.folder / "r.json").unlink()

    def test_the_clock_is_set_meanwhile(self):
        """Times and deadlines are of a clock that only runs."""
        env = {"LD_PRELOAD": str(Path(self.program).parent / "tests/libclock_steps.so")}
        self.lugpu(*small(runs=5, json="r.json"), env=env)
        (row,) = parse_report((self.folder / "r.json").read_text(encoding="utf-8"))
        self.assertEqual(row["status"], "ok")
        self.assertTrue(all(0 < seconds < SECONDS for seconds in row["times_s"]), row["times_s"])
        done = self.lugpu("solve", "a.npy", "--timeout", "50", env=env)
        self.assertIn("passed", done.stdout)

    def test_four_processes_with_a_cold_cache(self):
        """On one device, at once: none of them finds compiled kernels."""
        count = 4
        cache = UNOPTIMIZED | {"POCL_CACHE_DIR": str(self.new_folder()), "XDG_CACHE_HOME": str(self.new_folder())}
        processes = [subprocess.Popen([self.program, "solve", "a.npy", "-o", f"x{i}.npy", "-q"], cwd=self.folder,
                                      env=self.environment(cache), stderr=subprocess.PIPE, encoding="utf-8")
                     for i in range(count)]
        for process in processes:
            errors = process.communicate(timeout=3 * SECONDS)[1]
            self.assertEqual((process.returncode, errors), (0, ""))
        for i in range(count):
            np.testing.assert_allclose(np.load(self.folder / f"x{i}.npy"), 1, rtol=1e-10)

    def test_language_with_decimal_commas(self):
        made = subprocess.run(["localedef", "-i", "de_DE", "-f", "UTF-8", str(self.folder / "de")],
                              capture_output=True, check=False)
        if made.returncode not in (0, 1) or not (self.folder / "de").is_dir():
            self.skipTest("localedef has no sources of languages (Debian: locales)")
        german = {"LOCPATH": str(self.folder), "LC_ALL": "de", "LANG": "de"}
        self.write("a.csv", dominant_matrix(6))
        plain, here = (self.lugpu("solve", "a.csv", "-o", "x.csv", "--json", "-", env=env).stdout
                       for env in (None, german))
        self.assertEqual([row["checks"] for row in parse_report(here)], [row["checks"] for row in parse_report(plain)])
        np.testing.assert_allclose(np.loadtxt(self.folder / "x.csv", delimiter=",", ndmin=2), 1, rtol=1e-12)

    def test_without_a_home(self):
        env = {name: value for name, value in self.environment(None).items()
               if name not in ("HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "USER", "LOGNAME")}
        for command in (["solve", "a.npy", "-q"], small(), ["devices"]):
            done = subprocess.run([self.program, *command], cwd=self.folder, env=env, capture_output=True,
                                  timeout=SECONDS, check=False)
            self.assertEqual((done.returncode, done.stderr), (0, b""), command)

    def test_one_processor(self):
        every = os.sched_getaffinity(0)
        os.sched_setaffinity(0, {min(every)})
        try:
            self.lugpu("solve", "a.npy", "-o", "x.npy", "-q")
        finally:
            os.sched_setaffinity(0, every)
        np.testing.assert_allclose(np.load(self.folder / "x.npy"), 1, rtol=1e-10)

    @measures
    def test_limits_that_are_too_low(self):
        """One sentence at once: the libraries would crash, or wait without end."""
        for flag, kilobytes in (("-s", 64), ("-v", 200000), ("-d", 20000), ("-d", 100000)):
            with self.subTest(flag=flag, kilobytes=kilobytes):
                done = self.in_shell(f"ulimit {flag} {kilobytes}; exec timeout 20 $L solve a.npy -q")
                self.assertEqual(done.returncode, 1)
                self.assertRegex(done.stderr, SENTENCE)
                self.assertIn(f"ulimit {flag}", done.stderr)

    def test_few_files_and_no_core(self):
        done = self.in_shell("ulimit -n 16; ulimit -c 0; $L solve a.npy -q -o x.npy")
        self.assertIn(done.returncode, (0, 1, 5))
        if done.returncode != 0:
            self.assertRegex(done.stderr, SENTENCE)


class OnTwoProcessors(CommandLine):
    """Each thread takes some memory too."""

    def setUp(self):
        super().setUp()
        every = os.sched_getaffinity(0)
        os.sched_setaffinity(0, sorted(every)[:2])
        self.addCleanup(os.sched_setaffinity, 0, every)

    def cgroup(self, limit):
        """What makes a process join a cgroup that may have so many bytes."""
        groups = Path("/sys/fs/cgroup/memory")
        own = groups / f"lugpu-{os.getpid()}"
        try:
            own.mkdir()
            self.addCleanup(own.rmdir)
            (own / "memory.limit_in_bytes").write_text(str(limit))
        except OSError as error:
            self.skipTest(f"no cgroup of its own for memory ({error})")
        join = lambda: (own / "cgroup.procs").write_text(str(os.getpid()))
        shown = subprocess.run(["cat", "/proc/self/cgroup"], preexec_fn=join, capture_output=True, encoding="utf-8",
                               check=False).stdout
        if own.name not in shown:
            self.skipTest("/proc/self/cgroup does not show what a process joins")
        return join


@measures
class MemoryTest(OnTwoProcessors):
    """What `solve` takes, and what it says before."""

    def predicted(self, *arguments, limit=None):
        """Bytes, and the largest n that fits."""
        line = [self.program, "solve", "a.npy", *arguments, "--dry-run"]
        done = subprocess.run(line, cwd=self.folder, env=self.environment({"COLUMNS": "200"}), capture_output=True,
                              encoding="utf-8", preexec_fn=limit, timeout=SECONDS, check=False)
        text = " ".join(done.stdout.split())
        found = re.search(r"memory ([0-9.e+]+) GB of .*largest n that fits is (\d+)", text)
        self.assertIsNotNone(found, done)
        return float(found[1]) * 1e9, int(found[2])

    def on_cpu(self):
        if self.device_type("a.npy") != "cpu":
            self.skipTest("the memory of a device of its own is not the host's")

    def test_prediction_is_what_it_takes(self):
        """Within 20 %."""
        self.write("small.npy", dominant_matrix(1000))
        self.write("a.npy", dominant_matrix(2000))
        self.on_cpu()
        for options in ([], ["--inverse", "i.npy"], ["--precision", "single"], ["--precision", "mixed"],
                        ["--method", "lu", "--pivot", "none"], ["--equilibrate"]):
            with self.subTest(options=options):
                if options == ["--equilibrate"]:  # which copies a matrix that needs it
                    self.write("a.npy", dominant_matrix(2000) * np.logspace(-6, 6, 2000)[:, None])
                self.lugpu("solve", "small.npy", *options, "-q")  # compiling the kernels takes memory of its own
                expected, _ = self.predicted(*options)
                # Threads of PoCL release a buffer when they come to it, before or after the peak.
                for _ in range(3):
                    status, _, taken = self.cost_of("solve", "a.npy", *options, "-q")
                    self.assertEqual(status, 0)
                    if abs(taken / expected - 1) < 0.2:
                        break
                self.assertLess(abs(taken / expected - 1), 0.2, f"{taken / 1e6} MB, predicted {expected / 1e6}")

    def test_dry_run_writes_nothing(self):
        self.write("a.npy", dominant_matrix(50))
        self.lugpu("solve", "a.npy", "--dry-run", "-o", "x.npy", "--json", "r.json")
        self.assertEqual(self.file_names(), ["a.npy"])

    def test_what_does_not_fit_is_refused(self):
        """In one sentence, with the largest n that does; and that does."""
        self.write("a.npy", dominant_matrix(3000))
        self.on_cpu()
        limit = 300 << 20

        def limited():
            resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))

        line = [self.program, "solve", "a.npy", "-q", "-o", "x.npy"]
        run = lambda: subprocess.run(line, cwd=self.folder, env=self.environment(None), preexec_fn=limited,
                                     capture_output=True, encoding="utf-8", timeout=SECONDS, check=False)
        done = run()
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertRegex(done.stderr, SENTENCE)
        largest = int(re.search(r"the largest n that fits is (\d+)", done.stderr)[1])
        self.assertFalse((self.folder / "x.npy").exists())
        self.assertGreater(largest, 500)
        self.write("a.npy", dominant_matrix(int(0.9 * largest)))
        self.assertEqual((run().returncode, run().stderr), (0, ""))

    def test_limit_of_a_cgroup(self):
        self.write("a.npy", dominant_matrix(5000))
        done = subprocess.run([self.program, "solve", "a.npy", "-q"], cwd=self.folder, env=self.environment(None),
                              preexec_fn=self.cgroup(200 << 20), capture_output=True, encoding="utf-8",
                              timeout=SECONDS, check=False)
        self.assertEqual(done.returncode, 2)
        self.assertRegex(done.stderr, SENTENCE)
        self.assertIn("the largest n that fits is", done.stderr)


@measures
class BenchMemoryTest(OnTwoProcessors):
    """The same of `bench`, whose cases are checked on the host."""

    def setUp(self):
        super().setUp()
        self.write("a.npy", dominant_matrix(10))
        if self.device_type("a.npy") != "cpu":
            self.skipTest("the memory of a device of its own is not the host's")

    def limited(self, arguments, limit, status=0):
        """A run in which the process may have so many bytes of data, or that `limit` prepares."""
        def of_data():
            resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
        done = subprocess.run([self.program, *arguments, "-q"], cwd=self.folder, env=self.environment(None),
                              preexec_fn=limit if callable(limit) else of_data, capture_output=True, encoding="utf-8",
                              timeout=SECONDS, check=False)
        self.assertEqual((done.returncode, done.stderr), (status, ""), done)
        return done

    def rows(self):
        return parse_report((self.folder / "r.json").read_text(encoding="utf-8"))

    def sweep(self, **options):
        return small(**{"method": "lu-blocked", "pivot": "partial", "sizes": "2800", "warmup": 0} | options)

    def test_prediction_is_what_it_takes(self):
        """Within 20 %, of cases alone and of several that are measured in turn."""
        for options in ({"precision": "double"}, {"precision": "single"}, {"precision": "mixed"},
                        {"baseline": "getrf", "precision": "single,double", "sizes": 2200}):
            with self.subTest(options=options):
                sweep = self.sweep(**options)
                text = " ".join(self.lugpu(*sweep, "--dry-run").stdout.split())
                expected = 1e9 * float(re.search(r"take up to ([0-9.e+]+) GB of", text)[1])
                # Compiling the kernels takes memory of its own.
                self.lugpu(*self.sweep(**options | {"sizes": 1000}), "-q")
                status, _, taken = self.cost_of(*sweep)
                self.assertEqual(status, 0)
                self.assertLess(abs(taken / expected - 1), 0.2, f"{taken / 1e6} MB, predicted {expected / 1e6}")

    def check_refusals(self, limit):
        """The large order is refused with the largest that fits, which does; --resume does not try it again."""
        sweep = self.sweep(sizes="200,9000,100", baseline="getrf")
        self.limited([*sweep, "--json", "r.json"], limit)
        rows = self.rows()
        self.assertEqual([(row["n"], row["status"]) for row in rows],
                         [(n, "unsupported" if n == 9000 else "ok") for n in (200, 9000, 100) for _ in range(2)])
        refused = [row for row in rows if row["n"] == 9000]
        for row in refused:
            self.assertRegex(row["reason"], r"\AA system of order 9000 with its checks takes [0-9.]+ GB of .*; "
                                            r"the largest n that fits is \d+\.\Z")
        self.limited([*sweep, "--json", "r.json", "--resume"], limit)
        self.assertEqual(self.rows(), rows)
        largest = min(int(re.search(r"fits is (\d+)", row["reason"])[1]) for row in refused)
        self.assertGreater(largest, 1000)
        self.limited([*self.sweep(sizes=int(0.9 * largest), baseline="getrf"), "--json", "s.json"], limit)
        for row in parse_report((self.folder / "s.json").read_text(encoding="utf-8")):
            self.assertEqual(row["status"], "ok", row["reason"])

    def test_limit_of_data(self):
        self.check_refusals(700 << 20)

    def test_limit_of_addresses(self):
        """Those that are reserved but not used count too."""
        sweep = self.sweep(sizes="200,60000,100", baseline="getrf", json="r.json")
        def of_addresses():
            resource.setrlimit(resource.RLIMIT_AS, (8 << 30, 8 << 30))
        self.limited(sweep, of_addresses)
        self.assertEqual([row["status"] for row in self.rows()], ["ok"] * 2 + ["unsupported"] * 2 + ["ok"] * 2)

    def test_limit_of_a_cgroup(self):
        self.check_refusals(self.cgroup(500 << 20))


if __name__ == "__main__":
    main()
