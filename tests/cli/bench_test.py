#!/usr/bin/python3
"""`lugpu bench`: rows, table, unsupported cases, rivals and the timeout."""

import csv
import io
import itertools
import json
import re
import statistics
import time
from pathlib import Path

from program import (BLOCKED, BLOCKED_PIVOTS, METHODS, PIVOTS, RIVALS, ROOT, SCHEDULES,
                     SECONDS, STORAGES, TEXELS, UNOPTIMIZED, CommandLine, case_of, main,
                     parse_report, small, table_rows)


def rounding(text):
    """Half a unit of the last digit of a number as printed, and a little for the last bit."""
    return 0.5001 * 10.0 ** -len(text.partition(".")[2])


class BenchReport(CommandLine):
    def report(self, name="r.json"):
        return parse_report((self.folder / name).read_text(encoding="utf-8"))


class BenchTest(BenchReport):
    def test_statistics_follow_from_the_samples(self):
        for row in self.results(*small(baseline="getrf", runs=4)):
            times = row["times_s"]
            self.assertGreaterEqual(len(times), 4)
            self.assertAlmostEqual(row["median_s"], statistics.median(times), delta=1e-12)
            self.assertEqual(row["min_s"], min(times))
            deviation = statistics.stdev(times) / statistics.mean(times)
            self.assertAlmostEqual(row["rel_stdev"], deviation, delta=1e-9)
            self.assertAlmostEqual(row["gflops"] * row["median_s"], 2 / 3 * 8**3 * 1e-9,
                                   delta=1e-15)
            deviations = [abs(time - row["median_s"]) for time in times]
            mad = statistics.median(deviations)
            self.assertAlmostEqual(row["rel_mad"], mad / row["median_s"], delta=1e-9)
            self.assertEqual(row["outliers"], sum(one > 5 * 1.4826 * mad for one in deviations))
            low, high = row["median_interval_s"]
            self.assertLessEqual(min(times), low)
            self.assertLessEqual(low, row["median_s"])
            self.assertLessEqual(row["median_s"], high)
            self.assertLessEqual(high, max(times))

    def test_max_time_ends_a_case(self):
        """Though --runs, --min-time and --noise ask for more; but there is one run."""
        row, = self.results(*small(runs=1000, min_time=3600, noise="0.01%"), "--max-time", "0")
        self.assertEqual(len(row["times_s"]), 1)

    def test_noise_goes_on_until_the_median_is_known(self):
        """To the fraction given, or to --max-time."""
        row, = self.results(*small(sizes=64, runs=5, noise="10%", max_time=5))
        low, high = row["median_interval_s"]
        self.assertGreaterEqual(len(row["times_s"]), 5)
        self.assertTrue((high - low) / 2 <= 0.1 * row["median_s"] or sum(row["times_s"]) > 0.1, row)

    def test_noise_is_said_below_the_table(self):
        """In one sentence that says what to do: medians that are uncertain by more than 5 %, many outliers,
        other programs."""
        for runs in (1, 2, 50):
            with self.subTest(runs=runs):
                done = self.lugpu(*small(sizes="8,64", runs=runs, baseline="getrf"), "--json", "r.json",
                                  "--force")
                intervals = [(row["median_interval_s"], row["median_s"]) for row in self.report()]
                noisy = sum(bool(ends) and (ends[1] - ends[0]) / 2 / median > 0.05
                            for ends, median in intervals)
                scattered = sum(10 * row["outliers"] >= len(row["times_s"]) and row["rel_stdev"] > 0.1
                                for row in self.report())
                load = max(row["other_load"] or 0 for row in self.report())
                found = [words for words, told in ((r"(\d+ medians are|one median is) uncertain by more than 5 %",
                                                    noisy),
                                                   (r"(\d+ rows have|one row has) outliers for a tenth .*",
                                                    scattered),
                                                   (rf"other programs had up to {100 * load:.0f} % of the "
                                                    "processors", load >= 0.1)) if told]
                footer = " ".join(done.stdout.split()).partition("which pass under 30.")[2]
                self.assertEqual(bool(found), "Noise: " in footer, (found, footer))
                if found:
                    self.assertRegex(footer, f"^ Noise: {', '.join(found)}; stop other programs"
                                     + (", or add --noise" if noisy else r"\."))

    def test_noise_of_one_case_is_said(self):
        """Of one whose kernels last up to three times as long as they need."""
        done = self.lugpu(*small(runs=8), "--json", "r.json", env=self.with_pace(1, noise=100))
        row, = self.report()
        low, high = row["median_interval_s"]
        self.assertGreater((high - low) / 2 / row["median_s"], 0.05)
        footer = " ".join(done.stdout.split())
        self.assertIn("Noise: one median is uncertain by more than 5 %", footer)
        self.assertIn("or add --noise", footer)

    def test_noise_has_a_default(self):
        """A case goes on beyond --min-time where its median is uncertain, up to five times that."""
        for row in self.results(*small(sizes=64, runs=2, min_time=0.002, baseline="getrf")):
            low, high = row["median_interval_s"]
            total = sum(row["times_s"])
            self.assertTrue((high - low) / 2 <= 0.02 * row["median_s"] or total > 0.0099, (low, high, total))
        row, = self.results(*small(sizes=64, runs=3))
        self.assertEqual(len(row["times_s"]), 3)

    def test_footer_explains_what_is_shown(self):
        """And nothing else, at any width."""
        for width, shown in ((60, ""), (80, "GFLOP/s check"), (140, "GFLOP/s check dev. prod. GF/J")):
            done = self.lugpu(*small(), env={"COLUMNS": str(width)})
            footer = " ".join(done.stdout.partition("\n\n")[2].partition("\n\n")[2].split())
            for word in ("GFLOP/s", "check", "dev.", "prod.", "GF/J"):
                self.assertEqual(f"{word}: " in footer or f"{word}, copy: " in footer, word in shown.split(),
                                 (width, word, footer))
            self.assertNotIn("paper", footer)
        self.assertIn("*: the schedule", self.lugpu(*small(schedule="paper")).stdout)

    def test_rates_follow_from_the_counters(self):
        """And lu-blocked beyond two blocks says how fast its products are alone."""
        self.lugpu(*small(method=f"{BLOCKED},lu", sizes="8,200", pivot="partial", storage="buffer", texel="r",
                          nb="64", baseline="getrf"), "--json", "r.json")
        for row in self.report():
            rates = row["rates"]
            if row["implementation"] != "lugpu":
                self.assertIsNone(rates)
                continue
            for rate, counter in (("bytes_model_per_s", "bytes_model"),
                                  ("bytes_counted_per_s", "bytes_counted"),
                                  ("multiply_adds_per_s", "elements_updated")):
                self.assertAlmostEqual(rates[rate] * row["median_s"] / row["counters"][counter], 1)
            ceilings = self.ceilings()["product_multiply_adds_per_s"]["single"]
            self.assertAlmostEqual(rates["share_of_product"] * ceilings / rates["multiply_adds_per_s"], 1)
            product = rates.get("product_multiply_adds_per_s")
            self.assertEqual(product is not None, row["routine"] == BLOCKED and row["n"] == 200)
            if product is not None:
                self.assertAlmostEqual(rates["multiply_adds_over_product"] * product
                                       / rates["multiply_adds_per_s"], 1)

    def ceilings(self):
        return json.loads((self.folder / "r.json").read_text(encoding="utf-8"))["devices"][0]["ceilings"]

    def test_trace_shows_every_launch(self):
        """Each factorization is a process, whose kernels add up to the record's phases."""
        self.lugpu("bench", "-n", "50,300", "--method", f"{BLOCKED},lu", "--pivot", "partial",
                   "--baseline", "getrf", "--runs", "1", "--min-time", "0",
                   "--json", "r.json", "--trace", "t.json")
        events = self.trace_events()
        titles = {event["pid"]: event["args"]["name"] for event in events
                  if event["name"] == "process_name"}
        rows = [row for row in self.report() if row["implementation"] == "lugpu"]
        self.assertEqual(len(titles), len(rows))
        for row in rows:
            process, = [pid for pid, title in titles.items()
                        if title.startswith(f"{row['routine']}, partial, single, ")
                        and f"n = {row['n']}," in title]
            ran = [event for event in events if event["pid"] == process and event["ph"] == "X"]
            kernels = [event for event in ran if event["name"] != "transfer"]
            self.assertEqual(len(kernels), row["counters"]["kernel_launches"])
            names = {event["name"] for event in kernels}
            self.assertTrue(names <= self.kernel_names(), names)
            self.assertEqual(min(event["ts"] for event in ran), 0)
            for phase in ("pivot_search", "interchange", "panel", "update"):
                seconds = sum(event["dur"] for event in ran if event["cat"] == phase) * 1e-6
                self.assertAlmostEqual(seconds, row["phases_s"].get(phase, 0), delta=1e-9)
            end = max(event["ts"] + event["dur"] for event in ran)
            self.assertAlmostEqual(end * 1e-6, row["device_times_s"][0], delta=1e-9)

    def trace_events(self):
        return json.loads((self.folder / "t.json").read_text(encoding="utf-8"))["traceEvents"]

    def test_trace_is_valid_after_each_case(self):
        """A sweep that was killed leaves what it had."""
        process = self.start_lugpu("bench", "-n", "8:64:8", "--method", "lu", "--baseline", "none",
                                   "--runs", "2", "--min-time", "0.05", "--trace", "t.json")
        path, cases = self.folder / "t.json", 8 * 3
        while not path.exists() or path.read_text(encoding="utf-8").count("process_name") < 3:
            self.assertIsNone(process.poll(), "the sweep ended too early")
            time.sleep(0.001)
        process.kill()
        process.wait(SECONDS)
        titles = [event["pid"] for event in self.trace_events() if event["name"] == "process_name"]
        self.assertEqual(titles, list(range(1, len(titles) + 1)))
        self.assertGreaterEqual(len(titles), 3)
        self.assertLess(len(titles), cases)

    def test_trace_is_a_file(self):
        done = self.lugpu("bench", "--trace", "-", status=2)
        self.assertIn("--trace -", done.stderr)

    def kernel_names(self):
        """All functions of the kernel files."""
        text = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "kernels").rglob("*.cl*"))
        return set(re.findall(r"void (\w+)\(", text))

    def test_trace_is_of_dense_systems(self):
        done = self.lugpu("bench", "--problem", "poisson2d", "--trace", "t.json", status=2)
        self.assertIn("--trace", done.stderr)

    def test_table_shows_the_medians(self):
        """Milliseconds, GFLOP/s and the speed-up over the rival that pivots as much."""
        done = self.lugpu("bench", "-n", "100", "--method", "lu", "--runs", "2", "--min-time", "0",
                          "--json", "r.json")
        rows = {case_of(row): row for row in self.report()}
        table = table_rows(done.stdout)
        self.assertEqual(set(table), set(rows))
        rivals = {row["pivot"]: row["median_s"] for row in rows.values()
                  if row["storage"] == "host"}
        for case, shown in table.items():
            median = rows[case]["median_s"]
            rival = rivals["full" if case[1] == "full" else "partial"]
            for key, value in (("ms", 1e3 * median), ("gflops", rows[case]["gflops"]),
                               ("speedup", rival / median)):
                self.assertAlmostEqual(float(shown[key]), value, delta=rounding(shown[key]))

    def test_table_fits_80_columns(self):
        """Rows with times, failed and unsupported ones, the longest names, the largest n."""
        for arguments in (small(method="gauss-jordan", pivot="partial", baseline="getrf"),
                          small(matrix="singular"), small(sizes=2**20)):
            with self.subTest(arguments=arguments):
                self.assert_narrow(self.run_lugpu(*arguments).stdout)

    def test_footer_says_what_speedups_are_over(self):
        footer = " ".join(self.lugpu(*small()).stdout.split())
        self.assertIn("speedup: over getrf of the same n and precision (mixed: double), "
                      "for lu-blocked", footer)
        self.assertIn("for full pivoting over getc2", footer)

    def test_default_matrices(self):
        """`dominant` without pivoting, which random matrices would need; `random` with it."""
        rows = self.results("bench", "-n", "8", "--method", "lu", "--runs", "1", "--min-time", "0")
        kinds = {(row["routine"], row["pivot"]): row["matrix"] for row in rows}
        self.assertEqual(kinds.pop(("lu", "none")), "dominant")
        self.assertEqual(set(kinds.values()), {"random"})
        self.assertEqual(len(kinds), 4)

    def test_sizes(self):
        """Lists and ranges, inclusive, in the order given, each size once."""
        for sizes, expected in (("16,8", [16, 8]), ("8:24:8", [8, 16, 24]),
                                ("8:40:*2", [8, 16, 32]), ("8,8:16:8,8", [8, 16])):
            with self.subTest(sizes=sizes):
                rows = self.results(*small(sizes=sizes))
                self.assertEqual([row["n"] for row in rows], expected)

    def test_automatic_method(self):
        """For every variant the fastest one that has it."""
        rows = self.results(*small(method="auto", pivot="partial,full", storage="buffer",
                                   texel="r", schedule="fused,paper", nb="64,128"))
        self.assertEqual([(row["routine"], row["pivot"], row["schedule"], row["nb"])
                          for row in rows],
                         [(BLOCKED, "partial", None, 64), (BLOCKED, "partial", None, 128),
                          ("lu", "partial", "paper", None), ("lu", "full", "fused", None),
                          ("lu", "full", "paper", None)])

    def test_schedules_are_of_the_methods_of_the_paper(self):
        """A star in the table is the paper's schedule; lu-blocked has neither, and one row."""
        done = self.lugpu(*small(method=f"{BLOCKED},lu", pivot="partial", schedule="paper,fused"))
        names = [line.split()[1] for line in done.stdout.splitlines() if line.startswith("     8 ")]
        self.assertEqual(names, [BLOCKED, "lu*", "lu"])

    def test_rook_pivoting(self):
        """A row of lu's; the other methods have none."""
        done = self.lugpu(*small(method=f"lu,gauss-jordan,{BLOCKED}", pivot="rook"))
        self.assertEqual([case[:2] for case in table_rows(done.stdout)], [("lu", "rook")])

    def test_pivotings_that_no_method_has(self):
        """Nothing to run is bad usage, and the message lists what is possible; a rival alone is a sweep."""
        selection = small(method="gauss-jordan", pivot="rook", json="r.json")
        self.refused(*selection, words=["--pivot rook", "gauss-jordan has none, partial, scaled, full"])
        self.refused(*selection, "--resume", words=["--pivot rook"])
        self.lugpu(*small(method="gauss-jordan", pivot="rook", baseline="getrf"))

    def test_repeated_names_run_once(self):
        rows = self.results(*small(method="lu,lu", pivot="full,complete"))
        self.assertEqual([case_of(row)[:2] for row in rows], [("lu", "full")])

    def test_parameters_reach_the_record(self):
        rows = self.results(*small(baseline="getrf", nrhs=3, seed=7, threads=1))
        for row in rows:
            self.assertEqual((row["nrhs"], row["seed"]), (3, 7))
        self.assertEqual([row["threads"] for row in rows], [1, None])

    def test_best_number_of_threads(self):
        """Of those tried, unless it is given; --resume and compare know the case by any."""
        flags = small(sizes="8,300", baseline="getrf,getc2")
        self.lugpu(*flags, "--json", "r.json")
        for row in self.report():
            if row["routine"] == "getrf" and (tried := row["threads_tried"]):
                self.assertIn(row["threads"], tried)
                self.assertEqual(tried, sorted(set(tried)))
            else:
                self.assertIsNone(row["threads_tried"])
        self.lugpu(*flags, "--json", "r.json", "--resume")
        self.assertEqual(len(self.report()), 6)
        for row in self.results(*small(baseline="getrf"), "--threads", "2"):
            self.assertIsNone(row["threads_tried"])
            self.assertIn(row["threads"], (2, None))

    def test_numbers_of_cores_are_a_sweep(self):
        """The rival's threads follow, unless they are given; the table has a column for them."""
        if self.run_lugpu(*small(units=1)).returncode != 0:
            self.skipTest("the device cannot be partitioned")
        units = int(re.search(r"(\d+) compute units", self.lugpu("devices").stdout).group(1))
        flags = small(baseline="getrf,getc2", units=f"{units},1")
        rows = self.results(*flags)
        both = sorted({1, units})
        self.assertEqual([row["threads"] for row in rows if row["routine"] == "getrf"], both)
        self.assertEqual([row["compute_units"] for row in rows if row["device"]], both)
        self.assertEqual([row["threads"] for row in rows if row["routine"] == "getc2"], [None])
        rows = self.results(*flags, "--threads", "1")
        self.assertEqual([row["threads"] for row in rows if row["routine"] == "getrf"], [1])
        table = self.lugpu(*flags).stdout.split("\n     n ")[1].split("\n\n")[0]
        head, *lines = table.splitlines()
        self.assertIn(" cores ", head)
        self.assertEqual(len(lines), len(both) + 1 + len(both))

    def test_quiet_and_json_on_stdout(self):
        self.assertEqual(self.lugpu(*small(), "-q").stdout, "")
        self.assertEqual(len(self.results(*small())), 1)
        self.assertEqual(len(self.results(*small(), "-q")), 1)

    def test_no_progress_outside_a_terminal(self):
        self.assertNotRegex(self.lugpu(*small()).stderr, r"[\r\033]")

    def test_breakdown_is_failed(self):
        """Too small a pivot without pivoting: the reason, no speed, status 4."""
        arguments = ["bench", "--matrix", "tiny-pivot", "--precision", "single", "-n", "64",
                     "--baseline", "none", "--runs", "1", "--min-time", "0", "--json", "r.json"]
        done = self.lugpu(*arguments, "--pivot", "none", status=4)
        methods = {*METHODS, BLOCKED}
        self.assertEqual(done.stdout.count("failed: "), len(methods))
        self.assertEqual(table_rows(done.stdout), {})
        self.assertEqual({row["routine"] for row in self.report()}, methods)
        for row in self.report():
            self.assertEqual((row["status"], row["gflops"]), ("failed", None))
            self.assertIn("--pivot partial", row["reason"])
            if row["routine"] != "gauss-jordan":  # which leaves no factors to see growth in
                self.assertRegex(row["reason"], r"growth [0-9.]+e\+")
        self.lugpu(*arguments, "--pivot", "partial", "--force")
        self.assertEqual({row["status"] for row in self.report()}, {"ok"})

    def test_singular_is_failed(self):
        """The pivot is named, for the rivals too."""
        rows = self.results("bench", "--matrix", "singular", "-n", "8", "--runs", "1",
                            "--min-time", "0", status=4)
        for row in rows:
            self.assertEqual((row["status"], row["checks"]["info"]), ("failed", 8), row)
            self.assertIn("pivot 8 ", row["reason"])

    def test_unknown_numbers_do_not_break_the_file(self):
        """A matrix whose checks are not finite still gives JSON, without NaN."""
        self.results("bench", "-n", "8,150", "--matrix", "wilkinson", "--method", "lu",
                     "--precision", "single", "--runs", "1", "--min-time", "0", status=4)


class PathsTest(BenchReport):
    SOME_PIVOTS = ["partial", "full"]
    EVERYTHING = ["bench", "-n", "8", "--method", ",".join(METHODS),
                  "--pivot", ",".join(SOME_PIVOTS), "--precision", "single",
                  "--storage", ",".join(STORAGES), "--texel", ",".join(TEXELS),
                  "--schedule", ",".join(SCHEDULES), "--baseline", "getrf,getc2",
                  "--matrix", "dominant", "--runs", "2", "--min-time", "0"]

    def test_everything(self):
        """Every combination has one row, which is ok; text and file say the same.

        In one precision and with two pivotings, as kernels take minutes to build; solvers_test has all.
        """
        done = self.lugpu(*self.EVERYTHING, "--json", "r.json", env=UNOPTIMIZED)
        rows = {case_of(row): row["status"] for row in self.report()}
        lugpu = set(itertools.product(METHODS, self.SOME_PIVOTS, ["single"], STORAGES, TEXELS, SCHEDULES, [8]))
        rivals = {(*rival, "single", "host", None, None, 8)
                  for rival in (("getrf", "partial"), ("getc2", "full"))}
        self.assertEqual(set(rows), lugpu | rivals)
        self.assertEqual(len(self.report()), len(lugpu | rivals))
        for case, status in rows.items():
            self.assertEqual(status, "ok", case)
        self.assertEqual(set(table_rows(done.stdout)), set(rows))
        self.assertNotIn("\033", done.stdout)

    def test_several_problems_or_simulations(self):
        """One table for all of them, which says which is which."""
        for problems, count in (("poisson2d,poisson3d", 2), ("fluid2d,wave2d", 4)):
            done = self.lugpu("bench", "--problem", problems, "--grid", "8", "--method", "cg", "--baseline", "none",
                              "--runs", "2", "--min-time", "0", "--format", "csv", env=UNOPTIMIZED)
            rows = list(csv.DictReader(io.StringIO(done.stdout)))
            self.assertEqual(len(rows), count, done.stdout)
            self.assertEqual({row["problem"] for row in rows}, set(problems.split(",")))
            for row in rows:
                self.assertGreater(float(row["median_s"] or 0), 0, row)


class FormatTest(CommandLine):
    """--format: one table for people, spreadsheets, web pages and programs."""
    SWEEP = small(sizes="8,20", method="lu", pivot="partial", baseline="getrf", runs=3)

    def table(self, form, *arguments, env=None):
        return self.lugpu(*(arguments or self.SWEEP), "--format", form, env=env).stdout

    def test_csv(self):
        """A line of names, then one for each case, whose numbers are those of the record."""
        done = self.lugpu(*self.SWEEP, "--format", "csv", "--json", "r.json")
        rows = list(csv.DictReader(io.StringIO(done.stdout)))
        report = parse_report((self.folder / "r.json").read_text(encoding="utf-8"))
        self.assertEqual(len(rows), 4)
        for row, record in zip(rows, report):
            for field in ("routine", "pivot", "precision", "status"):
                self.assertEqual(row[field], record[field])
            for field in ("n", "median_s", "min_s", "gflops"):
                self.assertAlmostEqual(float(row[field]) / record[field], 1, 6)
            self.assertAlmostEqual(float(row["rel_mad"]), record["rel_mad"], 6)

    def test_csv_has_reasons(self):
        """With commas and quotes, and empty cells instead of numbers."""
        text = self.lugpu(*small(matrix="singular", pivot="partial"), "--format", "csv", status=4).stdout
        row, = csv.DictReader(io.StringIO(text))
        self.assertEqual((row["status"], row["median_s"], row["gflops"]), ("failed", "", ""))
        self.assertIn("pivot 8 ", row["reason"])

    def test_markdown(self):
        lines = self.table("markdown").splitlines()
        self.assertEqual(len(lines), 2 + 4)
        self.assertEqual({line.count("|") for line in lines}, {lines[1].count("|")})

    def test_json(self):
        """The same as --json -, also beside a file."""
        self.assertEqual(len(parse_report(self.table("json"))), 4)
        self.assertEqual(len(parse_report(self.table("json", *self.SWEEP, "--json", "r.json"))), 4)
        self.assertEqual(len(parse_report((self.folder / "r.json").read_text(encoding="utf-8"))), 4)

    def test_of_problems_and_simulations(self):
        """A row says which it is of."""
        flags = ["--grid", "8", "--method", "cg", "--baseline", "none", "--runs", "2", "--min-time", "0",
                 "--timeout", "200"]
        for problem, count in (("poisson2d", 1), ("fluid2d", 2)):
            text = self.table("csv", "bench", "--problem", problem, *flags, env=UNOPTIMIZED)
            rows = list(csv.DictReader(io.StringIO(text)))
            self.assertEqual([row["problem"] for row in rows], [problem] * count, text)
            for row in rows:
                self.assertGreater(float(row["median_s"] or 0), 0, row)

    def test_devices(self):
        device, *_ = csv.DictReader(io.StringIO(self.table("csv", "devices")))
        report = json.loads(self.table("json", "devices"))
        self.assertEqual(device["name"], report["devices"][0]["name"])
        self.assertEqual(int(device["compute_units"]), report["devices"][0]["compute_units"])

    def test_tables_follow_the_terminal(self):
        """What matters least goes first, what a case is and its time never."""
        columns = {}
        for width in (60, 80, 120, 250):
            for flags in (self.SWEEP, ["bench", "--problem", "poisson2d", "--grid", "8", "--method", "cg",
                                       "--baseline", "none", "--runs", "2", "--min-time", "0"]):
                text = self.lugpu(*flags, env={"COLUMNS": str(width)}).stdout
                self.assertLessEqual(max(map(len, text.splitlines())), width, text)
                head = next(line for line in text.splitlines() if "method" in line)
                for title in ("method", "prec.", "ms"):
                    self.assertIn(title, head)
                self.assertNotIn("problem", head)  # of CSV alone
                columns.setdefault(flags[1], []).append(len(head.split()))
        for counts in columns.values():
            self.assertLess(counts[0], counts[-1])
            self.assertEqual(counts, sorted(counts))

    def test_unknown_format(self):
        self.refused(*self.SWEEP, "--format", "xml", words=["--format", "csv"])


class UnsupportedTest(CommandLine):
    def largest_image(self):
        text = " ".join(self.lugpu("devices").stdout.split())
        return int(re.search(r"single: [^(]*\(method lu \d+, on images (\d+)\)", text).group(1))

    def test_image_too_large(self):
        """Said with the reason, before the matrix is made; not a failure."""
        n = self.largest_image() + 1
        status, seconds, memory = self.cost_of("bench", "-n", str(n), "--storage", "image",
                                               "--method", ",".join(METHODS),
                                               "--pivot", ",".join(PIVOTS),
                                               "--baseline", "none", "--json", "r.json")
        self.assertEqual(status, 0)
        self.assertLess(seconds, 20)
        rows = parse_report((self.folder / "r.json").read_text(encoding="utf-8"))
        self.assertEqual(len(rows), len(METHODS) * len(PIVOTS))
        for row in rows:
            self.assertEqual((row["status"], row["gflops"]), ("unsupported", None))
            self.assertIn(str(n), row["reason"])
        self.assertLess(memory, 8 * n * n)

    def test_blocked_on_an_image(self):
        """A row for each storage and texel; packed buffers are unsupported, with the reason."""
        rows = self.results(*small(method=BLOCKED, storage=",".join(STORAGES),
                                   texel=",".join(TEXELS), pivot=",".join(BLOCKED_PIVOTS)))
        self.assertEqual(len(rows), len(STORAGES) * len(TEXELS) * len(BLOCKED_PIVOTS))
        for row in rows:
            if (row["storage"], row["texel"]) == ("buffer", "rgba"):
                self.assertEqual(row["status"], "unsupported")
                self.assertIn("--texel r", row["reason"])
            else:
                self.assertEqual(row["status"], "ok")
                self.assertGreater(row["counters"]["bytes_counted"], 0)

    def test_matrix_too_large_for_any_memory(self):
        """The largest n that -n takes; the table says so, also for the rivals."""
        done = self.lugpu("bench", "-n", str(2**20), "--method", "lu")
        self.assertEqual(done.stdout.count("unsupported: "), 5)


class RivalsTest(CommandLine):
    """Rivals on the device. tests/cuda_stub.cpp stands in for CUDA and its device."""

    def bench(self, device=None, status=0):
        """The results of all rivals, where CUDA's device has this name; absent: there is none."""
        folder = Path(self.program).parent / "tests/cuda_stub"
        self.assertTrue(folder.is_dir(), folder)
        env = {"LD_LIBRARY_PATH": str(folder)}
        env |= {"LUGPU_CUDA_STUB": device} if device else {}
        done = self.lugpu(*small(sizes="8,300", pivot="partial", baseline=",".join(RIVALS)),
                          "--json", "r.json", status=status, env=env)
        self.assert_narrow(done.stdout)
        return parse_report((self.folder / "r.json").read_text(encoding="utf-8"))

    def device(self):
        return parse_report(self.lugpu(*small(), "--json", "-").stdout)[0]["device"]

    def test_unsupported_with_a_reason(self):
        """Of all rows, those of cuSOLVER alone; the others go on."""
        rows = self.bench()
        self.assertEqual(len(rows), 2 * (len(RIVALS) + 1))
        for row in rows:
            if row["implementation"].startswith("cusolver"):
                self.assertEqual((row["status"], row["gflops"]), ("unsupported", None))
                self.assertIn("no CUDA device", row["reason"])
            elif row["implementation"] != "viennacl":
                self.assertEqual(row["status"], "ok", row["reason"])

    def test_quiet_has_no_warning(self):
        """That OpenBLAS does not know the processor."""
        for flags, said in (([], "lugpu: warning: OpenBLAS does not know this processor"), (["-q"], "")):
            done = self.lugpu(*small(baseline="getrf"), *flags, env={"OPENBLAS_CORETYPE": "Prescott"})
            self.assertEqual(done.stderr[:len(said) or None], said)

    def test_another_device(self):
        for row in self.bench("Testcard"):
            if row["implementation"].startswith("cusolver"):
                self.assertEqual(row["status"], "unsupported")
                self.assertRegex(row["reason"], f"^{re.escape(row['device'])} is not a CUDA device.*"
                                                r"Testcard\.$")

    def test_on_the_device(self):
        """Timed and checked as a row of the device, with the routine and the library that ran."""
        device = self.device()
        for row in self.bench(device):
            if row["implementation"] == "cusolver":
                self.assertEqual((row["status"], row["device"], row["storage"], row["texel"]),
                                 ("ok", device, "buffer", None), row["reason"])
                self.assertIn(row["variant"], ("cusolverDnSgetrf", "cusolverDnXgetrf"))
                self.assertEqual(len(row["device_times_s"]), 1)
            elif row["implementation"] in ("cusolver-mg", "cusolver-mp"):
                self.assertEqual((row["status"], row["devices_used"]), ("ok", None), row["reason"])
                self.assertEqual(row["checks"]["factor_ratio"], None)
        report = json.loads((self.folder / "r.json").read_text(encoding="utf-8"))
        self.assertEqual(report["libraries"]["cusolver"]["version"], "1.2.3")

    def test_viennacl_runs_where_it_is_built_in(self):
        report = json.loads(self.lugpu(*small(baseline="viennacl"), "--json", "-").stdout)
        row = report["results"][0]
        built_in = "viennacl" in report["libraries"]
        self.assertEqual(row["status"], "ok" if built_in else "unsupported", row["reason"])
        if not built_in:
            self.assertIn("libviennacl-dev", row["reason"])


class TimeoutTest(CommandLine):
    SLOW = ["bench", "-n", "512", "--method", "lu", "--pivot", "none", "--baseline", "getc2",
            "--json", "r.json", "--runs", "1", "--min-time", "0"]

    def statuses(self):
        rows = parse_report((self.folder / "r.json").read_text(encoding="utf-8"))
        return {(row["routine"], row["n"]): row["status"] for row in rows}

    def test_skipped(self):
        """What takes too long is skipped, with the reason, without a speed; status 0."""
        rows = self.results(*self.SLOW[:-6], "--timeout", "0.001")
        self.assertEqual(len(rows), 2)
        for row in rows:
            self.assertEqual((row["status"], row["gflops"]), ("skipped", None))
            self.assertIn("--timeout 0.001", row["reason"])

    def test_only_what_is_slow_is_skipped(self):
        """A case has its own time, however long the one before it took."""
        self.lugpu("bench", "-n", "2048,4", "--method", "lu", "--pivot", "none,partial",
                   "--baseline", "none", "--timeout", "0.5", "--json", "r.json")
        self.assertEqual(self.statuses()["lu", 4], "ok")

    def test_resume_runs_skipped_cases_again(self):
        self.lugpu(*self.SLOW, "--timeout", "0.001")
        self.lugpu(*self.SLOW, "--resume")
        self.assertEqual(self.statuses(), {("getc2", 512): "ok", ("lu", 512): "ok"})


class DryRunTest(CommandLine):
    SWEEP = ["bench", "-n", "100,20000", "--method", "lu-blocked,lu", "--pivot", "partial", "--baseline", "getrf",
             "--device-memory", "100M", "--dry-run"]

    def test_table(self):
        """Every case with its memory, whether it fits, and up to which n it would; nothing is run or written."""
        done = self.lugpu(*self.SWEEP, "--json", "r.json")
        self.assertEqual((done.stderr, self.file_names()), ("", []))
        self.assert_narrow(done.stdout)
        lines = [line.split() for line in done.stdout.splitlines()]
        self.assertEqual(lines[0][-3:], ["host", "device", "fits"])
        rows = [line for line in lines if line and line[0] in ("100", "20000")]
        self.assertEqual([row[1] for row in rows], ["getrf", "lu-blocked", "lu"] * 2)
        for row in rows[:3]:
            self.assertEqual(row[-1], "yes")
        self.assertRegex(" ".join(rows[5]), r" GB n <= [1-9]\d{3}$")
        self.assertRegex(" ".join(done.stdout.split()), r"take up to [0-9.]+ GB of [0-9.]+ GB on the host at a time")

    def test_csv(self):
        """The same in bytes, with the reason."""
        rows = list(csv.DictReader(io.StringIO(self.lugpu(*self.SWEEP, "--format", "csv").stdout)))
        self.assertEqual(len(rows), 6)
        getrf, blocked, lu = rows[3:]
        self.assertEqual(getrf["device_bytes"], "")
        self.assertGreater(float(getrf["host_bytes"]), 4 * 8 * 20000**2 - 1)
        self.assertLessEqual(float(blocked["device_bytes"]), 100e6 * 1.05)  # the rest is on the host
        self.assertGreater(float(lu["device_bytes"]), 2 * 4 * 20000**2)
        self.assertEqual(lu["status"], "unsupported")
        largest = re.search(r"; the largest n that fits is (\d+)\.$", lu["reason"])[1]
        self.assertEqual(lu["fits"], f"n <= {largest}")
        self.assertIn("does not fit on", lu["reason"])

    def test_what_cannot_run_at_all(self):
        text = self.lugpu("bench", "-n", "100", "--method", "gauss-jordan", "--pivot", "partial", "--precision", "mixed",
                          "--baseline", "none", "--dry-run").stdout
        self.assertIn("unsupported: gauss-jordan keeps no factors", " ".join(text.split()))

    def test_where_it_is_not(self):
        self.refused("bench", "--dry-run", "--problem", "poisson2d", words=["--dry-run"])
        self.refused("bench", "--dry-run", "--batch", "10", words=["--dry-run"])
        self.refused("bench", "--dry-run", "--format", "json", words=["--dry-run"])


if __name__ == "__main__":
    main()
