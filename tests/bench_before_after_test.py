#!/usr/bin/python3
"""scripts/bench-before-after, with programs that only say how long they took, and with lugpu twice.

Run it as: /usr/bin/python3 tests/bench_before_after_test.py PATH_TO_LUGPU [arguments of unittest]
"""

import json
import os
import statistics
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SCRIPT = ROOT / "scripts/bench-before-after"
PROGRAM = ""  # set from the command line

# Logs its name and command; bench takes the next of its times in turn, its method's status is `status`.
FAKE = """#!/usr/bin/python3
import json, os, sys
with open({log!r}, "a+") as log:
    print({name!r}, *sys.argv[1:], file=log)
    log.seek(0)
    earlier = sum(line.startswith({name!r} + " bench") for line in log)
if sys.argv[1] == "bench":
    print(json.dumps({{"results": [{{"status": {status!r}, "reason": "no room", "precision": precision,
                       "min_s": {times!r}[earlier % {count}]}} for precision in ("single", "double")]}}))
"""


class BenchBeforeAfterTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.log = self.folder / "log"

    def fake(self, name, times, status="ok"):
        path = self.folder / name
        path.write_text(FAKE.format(name=name, log=str(self.log), times=times, count=len(times),
                                    status=status), encoding="utf-8")
        path.chmod(0o755)
        return path

    def compare(self, old, new, *arguments):
        return subprocess.run(
            ["/usr/bin/python3", str(SCRIPT), str(old), str(new), "--json", str(self.folder / "r.json"),
             *arguments], cwd=self.folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, encoding="utf-8", timeout=600, check=False)

    def record(self, done):
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return json.loads((self.folder / "r.json").read_text(encoding="utf-8"))

    def test_ratios(self):
        """Of pairs, not of what each program took over all."""
        old, new = self.fake("old", [1.0, 2.0, 4.0, 8.0]), self.fake("new", [0.5, 1.0, 3.0, 4.0])
        done = self.compare(old, new, "--sizes", "8", "--solve-sizes", "", "--rounds", "4")
        record = self.record(done)
        self.assertEqual(len(record["cases"]), 6)
        for case in record["cases"]:
            self.assertEqual(sorted(case["old_s"]), [1.0, 2.0, 4.0, 8.0])
            self.assertEqual((case["ratio"], case["ratio_of_minima"]), (0.5, 0.5))
            self.assertEqual(case["quartiles"], [0.5, 0.5625])
        self.assertAlmostEqual(record["geometric_mean"], 0.5)
        self.assertIn("Geometric mean 0.500, of the minima 0.500; worst 0.500: bench ", done.stdout)
        for case in record["cases"]:
            self.assertRegex(done.stdout, rf"(?m)^{case['case']} +3000 +2000 +0\.500 +0\.500 - 0\.56[23]  0\.500$")

    def test_worst(self):
        """The mean is that of logarithms."""
        fast, slow = self.fake("fast", [1.0]), self.fake("slow", [4.0])
        record = self.record(self.compare(fast, slow, "--sizes", "8", "--solve-sizes", "", "--rounds", "1"))
        self.assertAlmostEqual(record["geometric_mean"], 4)
        self.assertEqual(record["worst_ratio"], 4)
        self.assertIn(record["worst"], [case["case"] for case in record["cases"]])

    def test_order(self):
        """Pairs of the same command, whose first program alternates; the first pair is not counted."""
        old, new = self.fake("old", [1.0]), self.fake("new", [1.0])
        record = self.record(self.compare(old, new, "--sizes", "8", "--solve-sizes", "16", "--rounds", "3"))
        self.assertEqual({len(case["old_s"]) for case in record["cases"]}, {3})
        lines = [line.split() for line in self.log.read_text(encoding="utf-8").splitlines()]
        for command, methods in (("bench", 3), ("solve", 1)):
            names = [line[0] for line in lines if line[1] == command]
            self.assertEqual(names, ["new", "old", "old", "new"] * 2 * methods)
            rest = [line[1:] for line in lines if line[1] == command]
            self.assertEqual(rest[::2], rest[1::2])

    def test_what_fails(self):
        """One sentence with the program and the reason; no record."""
        good, bad = self.fake("good", [1.0]), self.fake("bad", [1.0], status="unsupported")
        for arguments, words in (((good, bad, "--sizes", "8"), [str(bad), "unsupported: no room"]),
                                 ((good, "/bin/false", "--sizes", "8"), ["/bin/false", "status 1"]),
                                 ((good, "no-such-revision"), ["no-such-revision", "status 128"]),
                                 ((good, good, "--rounds", "0"), ["nothing to measure"]),
                                 ((good, good, "--sizes", "8,x"), ["8,x"])):
            with self.subTest(words=words):
                done = self.compare(*arguments)
                self.assertNotEqual(done.returncode, 0)
                for word in words:
                    self.assertIn(word, done.stderr.splitlines()[-1])
                self.assertFalse((self.folder / "r.json").exists())

    def test_a_program_against_itself(self):
        done = self.compare(PROGRAM, PROGRAM, "--sizes", "8", "--solve-sizes", "8", "--rounds", "1",
                            "--min-time", "0")
        record = self.record(done)
        self.assertEqual({case["case"] for case in record["cases"]},
                         {f"bench {method} {precision} 8" for method in ("lu-blocked", "lu", "gauss-jordan")
                          for precision in ("single", "double")} | {"solve wall 8", "solve cpu 8"})
        self.assertEqual(record["old"]["version"], record["new"]["version"])
        for case in record["cases"]:
            ratios = [new / old for old, new in zip(case["old_s"], case["new_s"])]
            self.assertAlmostEqual(case["ratio"], statistics.median(ratios))


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    PROGRAM = os.path.abspath(sys.argv.pop(1))
    unittest.main()
