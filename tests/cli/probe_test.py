#!/usr/bin/python3
"""`lugpu probe`."""

import json
import re

from program import VALIDATOR, CommandLine, main, refuse_constant


class ProbeTest(CommandLine):
    PROBE = ["probe", "-n", "16", "--runs", "1"]

    def probes(self, text):
        report = json.loads(text, parse_constant=refuse_constant)
        VALIDATOR.validate(report)
        self.assertEqual(report["results"], [])
        return report["probes"]

    def test_text_and_json(self):
        """One line and one entry for every measurement."""
        done = self.lugpu(*self.PROBE, "--json", "p.json")
        self.assert_narrow(done.stdout)
        probes = self.probes((self.folder / "p.json").read_text(encoding="utf-8"))
        self.assertEqual({probe["n"] for probe in probes if "n" in probe}, {16})
        for probe in probes:
            self.assertRegex(done.stdout, rf"(?m)^ *(16 )?{re.escape(probe['name'])} ")

    def test_samples(self):
        """Every run, so that readers can judge the medians."""
        done = self.lugpu("probe", "-n", "8", "--runs", "3", "--storage", "buffer", "--json", "-")
        timed = [probe for probe in self.probes(done.stdout) if "median_s" in probe]
        self.assertEqual(len(timed), 13)
        for probe in timed:
            self.assertEqual(len(probe["times_s"]), 3)
            self.assertEqual(sorted(probe["times_s"])[1], probe["median_s"])

    def test_groups(self):
        for group, names in (("passes", {"index", "cache"}),
                             ("vectors", {"add", "multiply", "sum", "dot", "grid product",
                                          "jacobi", "gauss-seidel", "cg", "full product",
                                          "ten diagonals"})):
            with self.subTest(group=group):
                done = self.lugpu("probe", "-n", "16", "--runs", "1", "--probes", group, "--json", "-")
                self.assertEqual({probe["name"] for probe in self.probes(done.stdout)
                                  if "n" in probe}, names)

    def test_json_on_stdout_and_quiet(self):
        self.assertGreater(len(self.probes(self.lugpu(*self.PROBE, "--json", "-").stdout)), 0)
        self.assertEqual(self.lugpu(*self.PROBE, "-q").stdout, "")

    def test_bad_usage(self):
        for flags in (["-n", "0"], ["-n", "abc"], ["--runs", "0"], ["--precision", "half"],
                      ["--storage", "tape"], ["--probes", "all"], ["--frobnicate"]):
            with self.subTest(flags=flags):
                self.refused("probe", *flags, "--json", "p.json", words=[flags[-1]])


if __name__ == "__main__":
    main()
