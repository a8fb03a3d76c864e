#!/usr/bin/python3
"""`lugpu compare`: its rows, its summary, the exit status, and files that are refused."""

import collections
import csv
import io
import json
import random

from program import VALIDATOR, CommandLine, main, measures, small


class Comparison(CommandLine):
    """Of a.json and b.json."""

    def compare(self, *arguments, status=0, env=None):
        return self.lugpu("compare", "a.json", "b.json", *arguments, status=status, env=env).stdout

    def record(self, *arguments, status=0):
        report = json.loads(self.compare(*arguments, "--json", "-", status=status))
        VALIDATOR.validate(report)
        return report["comparison"]


class CompareTest(Comparison):
    sweep = b""  # of eight cases, run once

    def setUp(self):
        super().setUp()
        if not CompareTest.sweep:
            self.lugpu(*small(sizes="8,16", pivot="none,partial", precision="single,double"),
                       "--json", "a.json")
            CompareTest.sweep = (self.folder / "a.json").read_bytes()
        self.write("a.json", CompareTest.sweep)
        self.give_times(1)

    def change(self, change, name="b.json"):
        """Writes b.json, which is a.json after a change."""
        report = json.loads((self.folder / "a.json").read_text(encoding="utf-8"))
        change(report)
        return self.write(name, json.dumps(report).encode())

    def give_times(self, factor, name="a.json", noise=0.01, wanted=lambda row: True):
        """A file with so many seconds in each row that is wanted, and one in the others."""
        draw = random.Random(name).uniform

        def change(report):
            for row in report["results"]:
                seconds = factor if wanted(row) else 1
                row["other_load"] = None  # of the machine that runs the tests
                row["times_s"] = [seconds * (1 + draw(-noise, noise)) for _ in range(100)]
        return self.change(change, name)

    @staticmethod
    def is_16(row):
        return row["n"] == 16

    def test_same(self):
        self.give_times(1, "b.json")
        text = self.compare()
        self.assertIn("\nB is      same 8, faster 0, slower 0, unclear 0\n", text)
        self.assertEqual(text.count("  same\n"), 8)
        self.assertNotIn("differ in", text)

    def test_slower_and_faster(self):
        """The text, the Markdown and the record say the same."""
        self.give_times(2, "b.json", wanted=self.is_16)
        record = self.record()
        self.assertEqual([row["change"] for row in record["cases"]],
                         ["slower" if row["case"]["n"] == 16 else "same" for row in record["cases"]])
        self.assertEqual(record["counts"], {"same": 4, "faster": 0, "slower": 4, "unclear": 0, "no longer ok": 0,
                                            "only in A": 0, "only in B": 0, "not comparable": 0})
        self.assertAlmostEqual(record["geometric_mean"], 2**-0.5, delta=0.01)
        self.assertAlmostEqual(record["lowest_ratio"], 0.5, delta=0.01)
        for row in record["cases"]:
            self.assertAlmostEqual(row["ratio"], row["median_a_s"] / row["median_b_s"], delta=1e-12)
            low, high = row["ratio_interval"]
            self.assertTrue(low <= row["ratio"] <= high)
        text = self.compare()
        self.assertEqual((text.count("  slower\n"), text.count("  same\n")), (4, 4))
        self.assertIn("same 4, faster 0, slower 4, unclear 0", text)
        self.assertIn("geometric mean 0.71, worst 0.5", text)
        markdown = self.compare("--markdown")
        self.assertEqual((markdown.count("| slower |  |\n"), markdown.count("| same |  |\n")), (4, 4))
        bars = {line.count("|") for line in markdown.splitlines() if line.startswith("|")}
        self.assertEqual(len(bars), 1)
        self.assertEqual(self.compare("--format", "markdown"), markdown)
        rows = list(csv.DictReader(io.StringIO(self.compare("--format", "csv"))))
        self.assertEqual([row["B is"] for row in rows], [row["change"] for row in record["cases"]])
        for row, one in zip(rows, record["cases"]):
            self.assertAlmostEqual(float(row["ratio"]), one["ratio"], 6)
        (self.folder / "b.json").rename(self.folder / "c.json")
        turned = self.lugpu("compare", "c.json", "a.json").stdout
        self.assertIn("same 4, faster 4, slower 0, unclear 0", turned)

    def test_threshold(self):
        self.give_times(1.1, "b.json")
        self.assertEqual(self.record()["counts"]["slower"], 8)
        for threshold in ("20%", "0.2"):
            self.assertEqual(self.record("--threshold", threshold)["counts"]["same"], 8)
        for wrong in ("100%", "-1%", "5 %", "x", ""):
            with self.subTest(wrong=wrong):
                self.refused("compare", "a.json", "b.json", "--threshold", wrong,
                             words=["--threshold", "0%..99%"])

    def test_fail_slower(self):
        """Status 6 if a case is slower, and by more than that."""
        self.give_times(1.3, "b.json", wanted=self.is_16)
        self.compare("--fail-slower", "30%")
        self.assertIn("  slower\n", self.compare("--fail-slower", "5%", status=6))
        self.assertEqual(self.compare("-q", "--fail-slower", "0%", status=6), "")
        self.record("--fail-slower", "5%", status=6)
        self.compare("--fail-slower", "5%", "--threshold", "50%")
        self.give_times(0.5, "b.json")
        self.compare("--fail-slower", "0%")

    def test_fail_slower_counts_what_is_no_longer_ok(self):
        """Of whatever status; and what was not ok before is not worse."""
        for status in ("failed", "skipped", "unsupported", "error"):
            with self.subTest(status=status):
                change = lambda report: report["results"][0].update(status=status, reason="It is so.")
                self.change(change)
                record = self.record("--fail-slower", "50%", status=6)
                self.assertEqual((record["counts"]["no longer ok"], record["cases"][0]["change"]),
                                 (1, "no longer ok"))
                self.assertIn("no longer ok 1", self.compare())
                self.lugpu("compare", "b.json", "a.json", "--fail-slower", "0%")

    def test_what_one_file_has(self):
        """And what did not end well; the heading says what differs between the runs."""
        def change(report):
            report["tool"]["version"] = "9.9"
            report["devices"][0]["driver_version"] = "old"
            del report["results"][0]
            report["results"][0] |= {"status": "failed", "reason": "A check failed."}
            report["results"][1]["seed"] = 7
        self.change(change)
        text = " ".join(self.compare().split())
        self.assertRegex(text, 'differ in .*"9.9" in B')
        self.assertIn('"old" in B', text)
        self.assertIn("no longer ok: failed in B: A check failed.", text)
        self.assertIn("same 5, faster 0, slower 0, unclear 0, no longer ok 1, only in A 2, only in B 1",
                      text)

    def test_another_device(self):
        """Stands for the one of the other file, and the heading says so."""
        def change(report):
            report["devices"][0]["name"] = "Testcard"
            for row in report["results"]:
                row["device"] = "Testcard"
        self.change(change)
        text = " ".join(self.compare().split())
        self.assertIn('device ("Testcard" in B, not in A)', text)
        self.assertIn("same 8", text)

    def test_fits_the_terminal(self):
        """In 60, 80 and 120 columns; where a row is too long, its case has a line of its own."""
        def change(report):
            report["context"]["host"] = "a" * 30
            for row in report["results"][:4]:
                row |= {"status": "skipped", "reason": "It did not end " + "within the time " * 9 + "."}
                row["matrix"] = "a-long-name-of-a-kind"
        self.change(lambda report: change(report) or self.change(change, "a.json"))
        self.give_times(1.5, "c.json")
        for width in (60, 80, 120):
            for names in (("a.json", "b.json"), ("c.json", "b.json")):
                with self.subTest(width=width, names=names):
                    text = self.lugpu("compare", *names, env={"COLUMNS": str(width)}).stdout
                    self.assertLessEqual(max(map(len, text.splitlines())), width, text)

    def test_one_row(self):
        """All that is known of it is above the table."""
        one = lambda report: report["results"].__delitem__(slice(1, None))
        self.change(one, "a.json")
        self.change(one)
        text = self.compare()
        self.assertIn("all have  n 8, method lu, pivot none, prec. single", text)
        self.assertRegex(text, r"(?m)^ +\S+ m?s +\S+ m?s +1\.00 .* same$")

    def test_real_runs(self):
        """Of the same program: whatever the load, each row has one of the answers."""
        self.lugpu(*small(sizes="8,64", runs=20, baseline="getrf"), "--json", "c.json")
        self.lugpu(*small(sizes="8,64", runs=20, baseline="getrf"), "--json", "d.json")
        self.lugpu("compare", "c.json", "d.json", "--json", "e.json")
        counts = json.loads((self.folder / "e.json").read_text(encoding="utf-8"))["comparison"]["counts"]
        self.assertEqual(sum(counts.values()), 4)
        self.assertEqual(counts["only in A"] + counts["only in B"] + counts["not comparable"], 0)
        self.refused("compare", "c.json", "e.json", words=["e.json", "comparison", "lugpu bench --json"])
        self.refused("compare", "c.json", "d.json", "--json", "d.json", words=["d.json", "--force"])

    def test_bad_input(self):
        """One sentence: which file, what is wrong with it, what to give."""
        self.refused("compare", "a.json", "a.json", words=["a.json", "same file", "two runs"])
        self.refused("compare", "a.json", "./a.json", words=["same file"])
        self.refused("compare", "a.json", "none.json", words=["Cannot read none.json", "lugpu bench --json"])
        self.refused("compare", "a.json", ".", words=["Cannot read ."])
        self.refused("compare", "a.json", words=["b is required"])
        for content, words in ((b"", "not a result file"), (b"{}", "not a result file"),
                               (b'{"schema_version": 2, "results": []}', "schema version 2"),
                               (b'{"schema_version": 1, "results": []}', "what ran where")):
            with self.subTest(content=content):
                self.write("b.json", content)
                self.refused("compare", "a.json", "b.json", words=["b.json", words])
        self.change(lambda report: report["results"][0].update(n="8"))
        self.refused("compare", "a.json", "b.json", words=['b.json: results[0].n is "8"', "compare needs"])
        self.change(lambda report: [row.update(seed=7) for row in report["results"]])
        self.refused("compare", "a.json", "b.json", words=["no case in common", "same options"])


class PaceTest(Comparison):
    """On a device of a known pace."""

    def bench_at_a_pace(self, name, **pace):
        """A file of three methods of two orders, whose kernels take 8 ms, or longer as the pace says."""
        self.lugpu(*small(sizes="32,48", method="lu-blocked,lu,gauss-jordan", pivot="partial", runs=15),
                   "--json", name, "--force", env=self.with_pace(8, **pace))
        report = json.loads((self.folder / name).read_text(encoding="utf-8"))
        for row in report["results"]:
            row["other_load"] = None
        self.write(name, json.dumps(report).encode())

    def changes_at_a_pace(self, **pace):
        """Those of a bench at this pace over one without: (method, change) -> how many."""
        self.bench_at_a_pace("b.json", **pace)
        return collections.Counter((row["case"]["routine"], row["change"]) for row in self.record()["cases"])

    @measures
    def test_two_runs(self):
        """Of the same bench: all is the same. With one method slowed by 20 %, that one is flagged and no other;
        with noise of 3 %, none."""
        self.bench_at_a_pace("a.json")
        same = {(method, "same"): 2 for method in ("lu-blocked", "lu", "gauss-jordan")}
        self.assertEqual(self.changes_at_a_pace(), same)
        slowed = self.changes_at_a_pace(kernels=["factor_panels", "factor_columns", "update"], longer=20)
        del same["lu-blocked", "same"]
        self.assertEqual(slowed, same | {("lu-blocked", "slower"): 2})
        self.assertFalse({change for _, change in self.changes_at_a_pace(noise=3)} & {"slower", "faster"})


if __name__ == "__main__":
    main()
