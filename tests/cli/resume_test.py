#!/usr/bin/python3
"""`lugpu bench --resume`: sweeps that were stopped, and files that are refused."""

import json
import shutil
import signal
import time

from program import ROOT, SECONDS, CommandLine, case_of, main, parse_report, small, table_rows

SWEEP = ["bench", "-n", "8:32:8", "--method", "lu", "--baseline", "getrf", "--runs", "2",
         "--min-time", "0.02", "--json", "sweep.json"]
SWEEP_ROWS = 4 * (1 + 3)


class SweepFile(CommandLine):
    """sweep.json, at any time."""

    def rows(self):
        path = self.folder / "sweep.json"
        return parse_report(path.read_text(encoding="utf-8")) if path.exists() else []

    def unfinished(self):
        """Of each routine, the samples in the file that have no row yet; the file is valid at any time."""
        path = self.folder / "sweep.json"
        if not path.exists():
            return {}
        self.rows()
        report = json.loads(path.read_text(encoding="utf-8"))
        return {one["routine"]: one["times_s"] for one in report.get("unfinished", [])}


class ResumeTest(SweepFile):
    def interrupt(self, how, after):
        """Stops a sweep once it has this many rows; the file is valid at any time."""
        process = self.start_lugpu(*SWEEP)
        while len(self.rows()) < after:
            self.assertIsNone(process.poll(), "the sweep ended too early")
            time.sleep(0.01)
        process.send_signal(how)
        self.assertIn(process.wait(SECONDS), (-how, 128 + how))
        rows = self.rows()
        self.assertGreaterEqual(len(rows), after)
        self.assertLess(len(rows), SWEEP_ROWS)
        return rows

    def assert_complete(self, earlier):
        rows = self.rows()
        self.assertEqual(rows[:len(earlier)], earlier)
        self.assertEqual(len(rows), SWEEP_ROWS)
        self.assertEqual(len({case_of(row) for row in rows}), SWEEP_ROWS)
        self.assertEqual({row["status"] for row in rows}, {"ok"})

    def test_killed_sweep_is_resumed(self):
        """Nothing that was measured is lost or measured again."""
        earlier = self.interrupt(signal.SIGKILL, after=5)
        self.lugpu(*SWEEP, "--resume")
        self.assert_complete(earlier)

    def test_samples_of_other_cases_stay(self):
        """A sweep of something else goes on from its own samples alone."""
        self.lugpu(*small(json="sweep.json"))
        row, = self.rows()
        path = self.folder / "sweep.json"
        report = json.loads(path.read_text(encoding="utf-8"))
        left = {key: row[key] for key in row if key not in ("checks", "phases_s", "rates")}
        report["unfinished"] = [left | {"n": 16, "times_s": [3.0, 4.0], "samples": 7},
                                left | {"n": 24, "times_s": [5.0], "samples": 1}]
        self.write("sweep.json", json.dumps(report).encode())
        self.lugpu(*small(sizes=24, json="sweep.json", runs=2), "--resume")
        self.assertEqual([one["n"] for one in json.loads(path.read_text(encoding="utf-8"))["unfinished"]], [16])
        self.assertEqual(self.rows()[1]["times_s"][0], 5.0)
        self.assertEqual(len(self.rows()[1]["times_s"]), 2)
        self.lugpu(*small(sizes=16, json="sweep.json", runs=7), "--resume")
        self.assertEqual(self.rows()[2]["times_s"], [3.0, 4.0])
        self.assertEqual(self.unfinished(), {})

    def test_rival_whose_samples_are_all_there(self):
        """It is factored once more, for its checks."""
        sweep = ("bench", "-n", "16", "--method", "lu", "--pivot", "partial", "--baseline", "getrf", "--threads", "1",
                 "--runs", "2", "--min-time", "0", "--warmup", "0", "--json", "sweep.json")
        self.lugpu(*sweep)
        path = self.folder / "sweep.json"
        report = json.loads(path.read_text(encoding="utf-8"))
        rival, = [row for row in report["results"] if row["implementation"] != "lugpu"]
        report["results"].remove(rival)
        left = {key: rival[key] for key in rival if key not in ("checks", "phases_s", "rates")}
        report["unfinished"] = [left | {"samples": len(rival["times_s"])}]
        self.write("sweep.json", json.dumps(report).encode())
        self.lugpu(*sweep, "--resume")
        again, = [row for row in self.rows() if row["implementation"] != "lugpu"]
        self.assertEqual((again["status"], again["times_s"]), ("ok", rival["times_s"]))

    def test_interrupted_sweep_is_resumed(self):
        earlier = self.interrupt(signal.SIGINT, after=3)
        self.lugpu(*SWEEP, "--resume")
        self.assert_complete(earlier)
        self.assertEqual(self.file_names(), ["sweep.json"])

    def test_quick_case_does_not_wait_for_a_slow_one(self):
        """It is in the file while the slow one is measured, and after it in the end."""
        # Two samples each in turn, the second one of lu-blocked first: it is done first at any speed.
        slow_first = ("--method", "lu-blocked", "--pivot", "partial", "--baseline", "getc2", "--runs", "2",
                      "--min-time", "0", "--timeout", "1000")
        process = self.start_lugpu("bench", "-n", "800", *slow_first, "--json", "sweep.json")
        while not self.rows():
            self.assertIsNone(process.poll(), "there was no file until the end")
            time.sleep(0.01)  # leaves the cores to lugpu
        self.assertEqual([row["routine"] for row in self.rows()], ["lu-blocked"])
        self.assertEqual(process.wait(SECONDS), 0)
        self.assertEqual([row["routine"] for row in self.rows()], ["getc2", "lu-blocked"])
        table = self.lugpu("bench", "-n", "300", *slow_first).stdout
        self.assertLess(table.index("   300 getc2"), table.index("   300 lu-blocked"))

    def test_complete_sweep_is_left_alone(self):
        self.lugpu(*small(), "--json", "sweep.json")
        before = self.rows()
        self.lugpu(*small(), "--json", "sweep.json", "--resume")
        self.assertEqual(self.rows(), before)

    def test_with_force_the_file_is_new(self):
        self.lugpu(*small(), "--json", "sweep.json")
        self.lugpu(*small(sizes=16), "--json", "sweep.json", "--force")
        self.assertEqual([row["n"] for row in self.rows()], [16])

    def test_resume_adds_what_is_new(self):
        self.lugpu(*small(), "--json", "sweep.json")
        before = self.rows()
        self.lugpu(*small(sizes="8,16"), "--json", "sweep.json", "--resume")
        self.assertEqual(self.rows()[:1], before)
        self.assertEqual([row["n"] for row in self.rows()], [8, 16])

    def test_resume_knows_the_rivals_of_the_file(self):
        """A new row shows its speed-up over a baseline that ran before."""
        start = ["bench", "-n", "64", "--method", "lu", "--baseline", "getrf",
                 "--json", "sweep.json", "--runs", "2", "--min-time", "0"]
        self.lugpu(*start, "--pivot", "none")
        done = self.lugpu(*start, "--pivot", "none,partial", "--resume")
        row, = [shown for case, shown in table_rows(done.stdout).items() if case[1] == "partial"]
        self.assertNotEqual(row["speedup"], "-")

    def test_resumed_sweep_with_failed_rows_ends_as_before(self):
        """Status 4, though no row is measured again, or only others are."""
        failing = small(matrix="singular", json="sweep.json")
        self.lugpu(*failing, status=4)
        before = self.rows()
        self.assertEqual([row["status"] for row in before], ["failed"])
        self.lugpu(*failing, "--resume", status=4)
        self.assertEqual(self.rows(), before)
        self.lugpu(*small(json="sweep.json"), "--resume", status=4)
        self.assertEqual(self.rows()[:1], before)
        self.assertEqual([row["status"] for row in self.rows()], ["failed", "ok"])

    def test_resumed_sweep_runs_error_rows_again(self):
        """Status 1 for as long as they end in errors."""
        shutil.copytree(ROOT / "kernels", self.folder / "kernels")
        (self.folder / "kernels/common/transfer.cl").write_text("no kernel", encoding="utf-8")
        broken = small(json="sweep.json", kernel_dir="kernels")
        self.lugpu(*broken, status=1)
        self.change_row(reason="clFinish: out of resources.")
        self.lugpu(*broken, "--resume", status=1)
        row, = self.rows()
        self.assertEqual(row["status"], "error")
        self.assertNotIn("out of resources", row["reason"])

        self.lugpu(*small(json="sweep.json"), "--force")
        self.change_row(status="error", reason="clFinish: out of resources.")
        self.lugpu(*small(json="sweep.json"), "--resume")
        row, = self.rows()
        self.assertEqual((row["status"], row["reason"]), ("ok", ""))

    def change_row(self, **fields):
        """Writes these into the only row of the file."""
        report = json.loads((self.folder / "sweep.json").read_text(encoding="utf-8"))
        row, = report["results"]
        row.update(fields)
        self.write("sweep.json", json.dumps(report).encode())

    def test_resume_needs_a_file(self):
        for flags in ([], ["--json", "-"]):
            with self.subTest(flags=flags):
                self.refused(*small(), "--resume", *flags, words=["--resume", "--json FILE"])

    def test_resume_refuses_what_lugpu_did_not_write(self):
        """The file is named and stays as it is."""
        (self.folder / "folder.json").mkdir()
        self.refused(*small(), "--resume", "--json", "folder.json", words=["folder.json"])
        for content in (b"", b"x", b"[]", b"{}", b'{"schema_version": 2, "results": []}',
                        b'{"schema_version": "1", "results": []}',
                        b'{"schema_version": 1, "results": {}}',
                        b'{"schema_version": 1, "results": [1]}',
                        b'{"schema_version": 1, "results": [{"status": null}]}'):
            with self.subTest(content=content):
                self.write("sweep.json", content)
                self.refused(*small(), "--resume", "--json", "sweep.json", words=["sweep.json"])
                self.assertEqual((self.folder / "sweep.json").read_bytes(), content)

    def change(self, change):
        """Changes the report in sweep.json, and returns its bytes then."""
        path = self.folder / "sweep.json"
        report = json.loads(path.read_text(encoding="utf-8"))
        change(report)
        return self.write("sweep.json", json.dumps(report).encode()) and path.read_bytes()

    def assert_not_resumed(self, content, words):
        """With a sentence that has these words; the file stays as it is."""
        self.refused(*small(sizes="8,16"), "--resume", "--json", "sweep.json",
                     words=["sweep.json", *words])
        self.assertEqual((self.folder / "sweep.json").read_bytes(), content)

    def test_resume_refuses_another_environment(self):
        """Another host, build or driver: what differs is named, there and here."""
        def other(place, key):
            def change(report):
                part = report["devices"][0] if place == "device" else report[place]
                part[key] = "nonesuch"
            return change
        for place, key, words in (("context", "host", "host"), ("tool", "git_rev", "revision"),
                                  ("device", "driver_version", "driver"),
                                  ("device", "name", "device")):
            with self.subTest(key=key):
                self.lugpu(*small(), "--json", "fresh.json")
                (self.folder / "fresh.json").rename(self.folder / "sweep.json")
                self.assert_not_resumed(self.change(other(place, key)),
                                        [words, '"nonesuch" there'])

    def test_resume_refuses_other_kernels(self):
        self.lugpu(*small(), "--json", "sweep.json")
        shutil.copytree(ROOT / "kernels", self.folder / "kernels")
        kernels = ("--kernel-dir", "kernels")
        self.lugpu(*small(sizes="8,16"), "--json", "sweep.json", "--resume", *kernels)
        with open(self.folder / "kernels/dense/fused.cl", "a", encoding="utf-8") as stream:
            stream.write("// a change")
        self.refused(*small(sizes="8,16"), "--resume", "--json", "sweep.json", *kernels,
                     words=["sweep.json", "kernels"])

    def test_resume_refuses_rows_that_are_none(self):
        """File, row and field are named."""
        self.lugpu(*small(), "--json", "sweep.json")
        self.assert_not_resumed(self.change(lambda report: report["results"][0].update(n="64")),
                                ['results[0].n is "64", not a whole number'])

    def test_resume_keeps_what_it_does_not_run_again(self):
        """A skipped case that is not in this sweep."""
        self.lugpu(*small(sizes=512, baseline="getc2"), "--timeout", "0.001", "--json", "sweep.json")
        before = self.rows()
        self.assertEqual({row["status"] for row in before}, {"skipped"})
        self.lugpu(*small(sizes=16), "--json", "sweep.json", "--resume")
        self.assertEqual(self.rows()[:2], before)
        self.assertEqual([row["n"] for row in self.rows()], [512, 512, 16])


class TimesTest(SweepFile):
    """It has the cores to itself."""

    def test_samples_of_unfinished_cases_are_kept(self):
        """After kill -9 in the first order all but the last sample of each case are there, and none is taken
        again."""
        sweep = ("bench", "-n", "600", "--method", "lu", "--pivot", "full", "--baseline", "getc2", "--runs",
                 "7", "--min-time", "0", "--warmup", "0", "--timeout", "1000", "--json", "sweep.json")
        process = self.start_lugpu(*sweep)
        while len(self.unfinished()) < 2:
            self.assertIsNone(process.poll(), "no sample was in the file before the first row")
            time.sleep(0.01)
        seen = time.monotonic(), sum(map(sum, self.unfinished().values()))
        while sum(map(len, self.unfinished().values())) < 6:
            self.assertIsNone(process.poll())
            time.sleep(0.01)
        process.kill()
        process.wait(SECONDS)
        seconds = time.monotonic() - seen[0]
        kept = self.unfinished()
        lost = seconds - (sum(map(sum, kept.values())) - seen[1])
        self.assertLess(lost, 2 * sum(map(max, kept.values())))
        self.assertEqual(self.rows(), [])
        self.refused(*sweep, words=["sweep.json", "--resume"])
        self.lugpu(*sweep, "--resume")
        self.assertEqual(self.unfinished(), {})
        for row in self.rows():
            self.assertEqual(row["times_s"][:len(kept[row["routine"]])], kept[row["routine"]])
            self.assertEqual(len(row["times_s"]), 7)


if __name__ == "__main__":
    main()
