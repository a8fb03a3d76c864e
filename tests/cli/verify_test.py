#!/usr/bin/python3
"""`lugpu verify`, and what other commands make of its records."""

import contextlib
import itertools
import json
import os
import re
import shutil
import signal
import subprocess
import threading
import time
from pathlib import Path

from program import (BLOCKED, BLOCKED_PIVOTS, METHODS, PIVOTS, PRECISIONS, ROOT, VALIDATOR,
                     CommandLine, main, parse_report, refuse_constant, small)


def fnv(text):
    """FNV-1a of 64 bits, in hexadecimal."""
    value = 0xcbf29ce484222325
    for byte in text.encode("utf-8"):
        value = (value ^ byte) * 0x100000001b3 % 2**64
    return f"{value:016x}"


class VerifyTest(CommandLine):
    """Every kernel path of the device; wrong ones are kept for later runs."""
    SECONDS = 300  # with every kernel to be compiled
    CELLS = r"(?:[0-9.]+|-|\?|WRONG|ERROR)"

    def setUp(self):
        super().setUp()
        self.generate("random", 20)

    def verify(self, *arguments, status, env=None):
        done = self.run_lugpu("verify", *arguments, env=env, seconds=self.SECONDS)
        self.assertEqual(done.returncode, status, (done.stdout, done.stderr))
        return done

    def on_a_small_device(self):
        """Environment in which a run has a quarter of the paths, on one core."""
        return self.without("images", "double") | {"POCL_MAX_PTHREAD_COUNT": "1"}

    def records(self):
        return list(self.cache.glob("lugpu/*"))

    def automatic(self, *arguments):
        """What solve takes by itself, and what it says on stderr."""
        done = self.lugpu("solve", "a.mtx", "--json", "-", *arguments)
        return parse_report(done.stdout)[0]["routine"], done.stderr

    def record(self, kernels, *paths):
        """Keeps these paths as wrong with these kernels, as verify would."""
        device, = json.loads(self.lugpu("solve", "a.mtx", "--json", "-").stdout)["devices"]
        files = sorted(str(path) for path in kernels.rglob("*.*") if path.suffix in (".cl", ".clh", ".h"))
        text = "".join(Path(file).read_text(encoding="utf-8") for file in files)
        head = (f"wrong by lugpu verify\nplatform {device['platform']}\ndevice {device['name']}\n"
                f"driver {device['driver_version']}\nkernels {fnv(text)}\n")
        folder = self.cache / "lugpu"
        folder.mkdir(parents=True)
        (folder / f"failed-paths-{fnv(head)}.txt").write_text(
            head + "".join(path + "\n" for path in paths) + "end\n", encoding="utf-8")

    def test_quiet_has_no_note(self):
        self.record(ROOT / "kernels", f"{BLOCKED} partial double buffer r")
        self.assertIn("note: ", self.automatic()[1])
        self.assertEqual(self.automatic("-q"), ("lu", ""))

    def test_a_right_device(self):
        """Status 0, a number or a dash for every path; what was kept about it is forgotten."""
        self.record(ROOT / "kernels", f"{BLOCKED} partial double buffer r")
        routine, note = self.automatic()
        self.assertEqual(routine, "lu")
        self.assertRegex(note, rf"\Alugpu: note: [^\n]*{BLOCKED} partial double buffer r [^\n]+\n\Z")
        self.assertEqual(self.automatic("--precision", "single")[0], BLOCKED)
        self.assertEqual(self.automatic("--method", BLOCKED)[0], BLOCKED)

        done = self.verify("--json", "r.json", status=0)
        self.assertEqual(done.stderr, "")
        self.assertEqual(self.records(), [])
        self.assertEqual(self.automatic(), (BLOCKED, ""))
        self.assert_narrow(done.stdout)
        rows = re.findall(rf"(?m)^(\S+) +(\w+)((?: +{self.CELLS}){{8}})$", done.stdout)
        self.assertEqual({row[:2] for row in rows},
                         {(method + star, pivot) for method in METHODS for pivot in PIVOTS
                          for star in ("", "*")} | {(BLOCKED, pivot) for pivot in BLOCKED_PIVOTS}
                         | {("lu", "rook"), ("lu*", "rook")})
        mixed = re.findall(rf"(?m)^{BLOCKED}\+ +(\w+) {{28}}((?: +{self.CELLS}){{4}})$", done.stdout)
        self.assertEqual([row[0] for row in mixed], BLOCKED_PIVOTS)
        for row in [*rows, *mixed]:
            self.assertNotRegex(row[-1], "WRONG|ERROR")
            self.assertRegex(row[-1].split()[0], r"\d")

        report = json.loads((self.folder / "r.json").read_text(encoding="utf-8"),
                            parse_constant=refuse_constant)
        VALIDATOR.validate(report)
        self.assertEqual(report["results"], [])
        # Its processes share the cores.
        self.assertEqual(report["context"]["environment"]["POCL_AFFINITY"], os.environ.get("POCL_AFFINITY", "0"))
        ok = [path for path in report["paths"] if path["status"] == "ok"]
        self.assertEqual({path["routine"] for path in ok}, {*METHODS, BLOCKED})
        for path in ok:
            self.assertGreater(path["systems"], 0)
            self.assertEqual((path["wrong"], path["reason"]), (0, ""))

    def test_a_driver_that_is_wrong(self):
        """Status 4; the paths are named, in the text and in the JSON; auto avoids them."""
        shutil.copytree(ROOT / "kernels", self.folder / "kernels")
        source = self.folder / "kernels/cpu/lu_blocked.cl"
        source.write_text(source.read_text(encoding="utf-8").replace("if (p != k + j)", "if (0)"),
                          encoding="utf-8")
        if self.device_type("a.mtx") != "cpu":
            self.skipTest("the kernel is for CPUs")
        done = self.verify("--kernel-dir", "kernels", "--json", "-", status=4)
        report = json.loads(done.stdout)
        VALIDATOR.validate(report)
        wrong = [path for path in report["paths"] if path["status"] == "failed"]
        surfaces = [("buffer", "r"), ("image", "r"), ("image", "rgba")]
        broken = [(BLOCKED, "partial", precision, *surface)
                  for precision, surface in itertools.product(PRECISIONS, surfaces)]
        named = [tuple(path[key] for key in ("routine", "pivot", "precision", "storage", "texel"))
                 for path in wrong]
        self.assertEqual(named[:len(broken)], broken)
        # Mixed precision uses the same kernels; its refinement may make up for them.
        self.assertLessEqual({path[:3] for path in named[len(broken):]}, {(BLOCKED, "partial", "mixed")})
        self.assertEqual(len(report["results"]), sum(path["wrong"] for path in wrong))
        for path in named:
            self.assertRegex(done.stderr, rf"(?m)^lugpu: {' '.join(path)}: "
                                          r"\d+ of \d+ systems [^\n]+ is not under 30$")
        self.assertEqual(done.stderr.count("\n"), len(named))

        self.assertEqual(len(self.records()), 1)
        routine, note = self.automatic("--kernel-dir", "kernels")
        self.assertEqual(routine, "lu")
        self.assertIn(f"{BLOCKED} partial single buffer r and {len(named) - 1} more", note)
        self.assertEqual(self.automatic(), (BLOCKED, ""))
        bench = self.lugpu(*small(method="auto", pivot="partial"), "--kernel-dir", "kernels",
                           "--json", "-")
        self.assertEqual([row["routine"] for row in parse_report(bench.stdout)], ["lu"])
        self.assertIn("note: ", bench.stderr)

    def test_a_driver_that_crashes(self):
        """Status 1; the path is named, auto avoids it, and what does not share its process is verified."""
        shutil.copytree(ROOT / "kernels", self.folder / "kernels")
        source = self.folder / "kernels/cpu/lu_blocked.cl"
        crash = "if (p != k + j) *(volatile __global int*)16 = 0;"
        source.write_text(source.read_text(encoding="utf-8").replace("if (p != k + j)", crash + " if (1)"),
                          encoding="utf-8")
        if self.device_type("a.mtx") != "cpu":
            self.skipTest("the kernel is for CPUs")
        unhandled = {"ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") + ":handle_segv=0"}
        done = self.verify("--kernel-dir", "kernels", status=1, env=unhandled | self.without("double"))
        self.assertRegex(done.stderr, rf"(?m)^lugpu: {BLOCKED} partial single buffer r: 1 of \d+ systems "
                                      r"[^\n]+ the driver ended the process: Segmentation fault\.$")
        self.assertRegex(done.stdout, r"(?m)^lu +full +\?")  # it came after that
        self.assertRegex(done.stdout, r"(?m)^lu +full +\S+ +[0-9.]+ ")
        routine, note = self.automatic("--precision", "single", "--kernel-dir", "kernels")
        self.assertEqual(routine, "lu")
        self.assertIn(f"{BLOCKED} partial single buffer r and 2 more", note)

    def test_kernels_that_do_not_build(self):
        """Status 1, as elsewhere; every path is named."""
        (self.folder / "empty").mkdir()
        done = self.verify("--kernel-dir", "empty", status=1, env=self.on_a_small_device())
        self.assertRegex(done.stderr, r"(?m)^lugpu: lu none [^\n]+ kernel file empty/")
        self.assertIn("ERROR", done.stdout)
        self.assert_narrow(done.stdout)

    def start(self, *arguments):
        """A run of verify on its way, with pipes."""
        process = subprocess.Popen([self.program, "verify", *arguments], cwd=self.folder,
                                   env=self.environment(self.on_a_small_device()), stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8")
        timer = threading.Timer(self.SECONDS, process.kill)
        timer.start()
        self.addCleanup(timer.cancel)
        return process

    def children(self, process):
        """The processes that it started and that have not ended."""
        tasks = Path(f"/proc/{process.pid}/task")
        try:
            return [int(child) for task in tasks.iterdir()
                    for child in (task / "children").read_text(encoding="utf-8").split()]
        except OSError:
            return []

    def threads(self, pid):
        try:
            return len(list(Path(f"/proc/{pid}/task").iterdir()))
        except OSError:
            return 0

    def test_a_process_that_was_killed_is_tried_again(self):
        """A kill is no verdict: what it was at is verified alone, and nothing is recorded."""
        process = self.start("--json", "r.json")
        victim = None
        while victim is None and process.poll() is None:
            time.sleep(0.05)
            victim = next((child for child in self.children(process) if self.threads(child) > 1), None)
        os.kill(victim, signal.SIGKILL)
        text, errors = process.communicate()
        self.assertEqual((process.returncode, errors), (0, ""), text)
        report = json.loads((self.folder / "r.json").read_text(encoding="utf-8"))
        VALIDATOR.validate(report)
        self.assertEqual({path["status"] for path in report["paths"]} - {"unsupported"}, {"ok"})
        self.assertEqual(self.records(), [])

    def test_when_every_process_is_killed_nothing_is_known(self):
        """Status 1, one sentence, and a status of its own; what was recorded stays."""
        recorded = [f"{BLOCKED} partial double buffer r"]
        self.record(ROOT / "kernels", *recorded)
        process = self.start("--json", "r.json")
        killed = set()
        while process.poll() is None:
            for child in self.children(process):
                if child in killed or self.threads(child) > 1:
                    killed.add(child)
                    with contextlib.suppress(ProcessLookupError):  # it has ended meanwhile
                        os.kill(child, signal.SIGKILL)
            time.sleep(0.01)
        text, errors = process.communicate()
        self.assertEqual(process.returncode, 1, errors)
        self.assertGreater(len(killed), 0)
        self.assertRegex(errors, r"\Alugpu: [^\n]+ and \d+ more could not be verified; "
                                 r"[^\n]+: Killed\.\n\Z")
        more = int(re.search(r"(\d+) more", errors)[1])
        self.assertRegex(text, r"(?m)^lu +full +\?")
        self.assertRegex(text, r"\?:\s+not\s+known")
        self.assertNotRegex(text, "WRONG|ERROR")
        report = json.loads((self.folder / "r.json").read_text(encoding="utf-8"))
        VALIDATOR.validate(report)
        self.assertEqual([path["status"] for path in report["paths"]].count("unknown"), more + 1)
        self.assertEqual(report["results"], [])
        record, = self.records()
        self.assertEqual(record.read_text(encoding="utf-8").splitlines()[5:-1], recorded)

    def test_a_program_that_did_not_build_once(self):
        """The third program of every process does not build; alone it does."""
        env = self.on_a_small_device() | self.with_fault("clBuildProgram", 3, -11)
        self.assertEqual(self.verify(status=0, env=env).stderr, "")
        self.assertEqual(self.records(), [])

    def test_programs_that_never_build(self):
        """Status 1, the error's own name, and nothing recorded."""
        for function, code, name in (("clBuildProgram", -11, "CL_BUILD_PROGRAM_FAILURE (-11)"),
                                     ("clCreateBuffer", -4, "CL_MEM_OBJECT_ALLOCATION_FAILURE (-4)")):
            with self.subTest(function=function):
                done = self.verify(status=1, env=self.with_fault(function, "1+", code))
                self.assertIn(f"{function} failed with {name}", done.stderr)
                self.assertEqual(done.stderr.count("\n"), 1)
                self.assertNotRegex(done.stdout, "WRONG|ERROR")
                self.assertEqual(self.records(), [])

    def test_records_are_listed_and_forgotten(self):
        """By text that names device, driver, kernels and paths; auto takes a path again."""
        paths = [f"{BLOCKED} partial double buffer r", "lu full single image rgba fused"]
        self.assertIn("No wrong paths", self.verify("--list", status=0).stdout)
        self.assertNotIn("   wrong ", self.lugpu("devices").stdout)
        self.record(ROOT / "kernels", *paths)
        listed = self.verify("--list", status=0).stdout
        device, = json.loads(self.lugpu("solve", "a.mtx", "--json", "-").stdout)["devices"]
        for words in (device["name"], device["platform"], device["driver_version"],
                      "of this program", *paths):
            self.assertIn(words, " ".join(listed.split()))
        self.assert_narrow(listed)
        self.assertRegex(self.lugpu("devices").stdout,
                         rf"(?m)^   wrong +{paths[0]} and 1 more \(`lugpu verify\s+--list`\)")
        self.assertEqual(self.verify("--list", "-d", "0", status=0).stdout, listed)

        self.assertEqual(len(self.records()), 1)
        self.assertEqual(self.automatic()[0], "lu")
        self.assertIn("2 wrong paths", self.verify("--forget", "-d", "0", status=0).stdout)
        self.assertEqual(self.records(), [])
        self.assertEqual(self.automatic(), (BLOCKED, ""))
        self.assertIn("No wrong paths", self.verify("--forget", status=0).stdout)

    def test_records_of_a_device_that_is_gone(self):
        """-d leaves them alone; without it they are forgotten too, and nothing else is."""
        folder = self.cache / "lugpu"
        folder.mkdir(parents=True)
        head = "wrong by lugpu verify\nplatform P\ndevice Ada\ndriver 1\nkernels 0123456789abcdef\n"
        (folder / f"failed-paths-{fnv(head)}.txt").write_text(head + "lu none\nend\n", encoding="utf-8")
        (folder / "else.txt").write_text(head + "lu none\nend\n", encoding="utf-8")
        self.assertRegex(self.verify("--list", status=0).stdout, r"Ada \(P\)(.|\n)+others(.|\n)+lu none")
        for arguments in (["--list", "-d", "0"], ["--forget", "-d", "0"]):
            self.assertIn("No wrong paths", self.verify(*arguments, status=0).stdout)
        self.assertEqual(len(self.records()), 2)
        self.assertEqual(self.verify("--forget", status=0).stdout,
                         "Forgot 1 wrong path of Ada (P), driver 1.\n")
        self.assertEqual([path.name for path in self.records()], ["else.txt"])

    def test_one_thing_at_a_time(self):
        for arguments in (["--list", "--forget"], ["--list", "--full"], ["--forget", "--json", "-"]):
            self.refused("verify", *arguments, words=[arguments[0]])

    def test_what_is_no_record(self):
        """Garbage in place of what was kept means nothing, and breaks nothing."""
        self.record(ROOT / "kernels", f"{BLOCKED} partial double buffer r")
        record, = self.records()
        whole = record.read_bytes()
        self.assertEqual(self.automatic()[0], "lu")
        for content in (b"", whole[:-1], whole[:60], b"\0" * 5000, b"\xff\xfe\n", whole + b"x"):
            with self.subTest(content=content[:80]):
                record.write_bytes(content)
                self.assertEqual(self.automatic(), (BLOCKED, ""))


if __name__ == "__main__":
    main()
