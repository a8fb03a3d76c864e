#!/usr/bin/python3
"""`lugpu probe`."""

import json
import re

from program import UNOPTIMIZED, VALIDATOR, CommandLine, main, refuse_constant


VECTORS = ["add", "subtract", "multiply", "sum", "product", "max", "min", "magnitude", "dot"]
STORED = [f"{form} {operator}" for form in ("banded", "sparse")
          for operator in ("product", "product - y", "cg")]
PRODUCTS = [f"{form} product{more}" for form in ("columns", "diagonals")
            for more in ("", " - y")] + STORED
GRIDS = ["grid product", "grid product - y", "jacobi", "gauss-seidel", "cg"]
GROUPS = {"passes": ["index", "index", "cache", "cache"], "vectors": VECTORS,
          "products": PRODUCTS, "grids": GRIDS, "cubes": GRIDS}


class Probes(CommandLine):
    def environment(self, env):
        return super().environment(UNOPTIMIZED | (env or {}))

    def probes(self, text):
        report = json.loads(text, parse_constant=refuse_constant)
        VALIDATOR.validate(report)
        self.assertEqual(report["results"], [])
        return report["probes"]

    def check_text_and_json(self, *storage):
        """One line and one entry for every measurement."""
        done = self.lugpu("probe", "-n", "16", "--cubes", "16", "--runs", "1", *storage, "--json", "p.json")
        self.assert_narrow(done.stdout)
        probes = self.probes((self.folder / "p.json").read_text(encoding="utf-8"))
        lines = re.findall(r"(?m)^ *\d+(?:\^3)? \S.* (?:image|buffer) ", done.stdout)
        self.assertEqual(len(lines), sum("n" in probe for probe in probes))
        for probe in probes:
            label = " ".join([probe["name"], *([probe["variant"]] if "variant" in probe else [])])
            size = str(probe.get("n", "")) + ("^3" if len(probe.get("grid", [])) == 3 else "")
            self.assertRegex(done.stdout, rf"(?m)^ *{re.escape(size)} ?{re.escape(label)} "
                             rf"+{probe['precision']} ")


class ProbeTest(Probes):
    def test_text_and_json(self):
        self.check_text_and_json("--storage", "buffer")

    def test_samples(self):
        """Every run, so that readers can judge the medians."""
        done = self.lugpu("probe", "-n", "16", "--cubes", "16", "--runs", "3", "--storage", "buffer",
                          "--json", "-")
        timed = [probe for probe in self.probes(done.stdout) if "n" in probe]
        self.assertEqual(len(timed), sum(map(len, GROUPS.values())))
        for probe in timed:
            self.assertEqual(len(probe["times_s"]), 3)
            self.assertEqual(sorted(probe["times_s"])[1], probe["median_s"])

    def test_what_cannot_be_timed(self):
        """It has a reason, in one line of the record and of the table, and the rest is timed."""
        done = self.lugpu("probe", "-n", "8,1048576", "--runs", "1", "--storage", "buffer", "--probes",
                          "vectors,products", "--json", "p.json")
        probes = [probe for probe in self.probes((self.folder / "p.json").read_text(encoding="utf-8"))
                  if "n" in probe]
        self.assertEqual([(probe["n"], probe["name"]) for probe in probes],
                         [(n, name) for n in (8, 1048576) for name in VECTORS + PRODUCTS])
        for probe in probes:
            left_out = probe["n"] > 8 or probe["name"] in ("banded cg", "sparse cg")
            self.assertEqual("reason" in probe, left_out, probe)
            self.assertEqual("times_s" in probe, not left_out, probe)
            self.assertRegex(done.stdout, rf"(?m)^ *{probe['n']} {probe['name']} .* "
                             rf"{'skipped' if left_out else '[0-9.]+'}$")
        self.assertIn("memory", probes[-1]["reason"])
        self.assert_narrow(done.stdout)

    def test_json_on_stdout_and_quiet(self):
        few = ["probe", "-n", "16", "--runs", "1", "--storage", "buffer", "--probes", "vectors"]
        self.assertGreater(len(self.probes(self.lugpu(*few, "--json", "-").stdout)), 0)
        self.assertEqual(self.lugpu(*few, "-q").stdout, "")

    def test_bad_usage(self):
        for flags in (["-n", "0"], ["-n", "abc"], ["--runs", "0"], ["--precision", "half"],
                      ["--storage", "tape"], ["--cubes", "0"], ["--probes", "all"], ["--frobnicate"]):
            with self.subTest(flags=flags):
                self.refused("probe", *flags, "--json", "p.json", words=[flags[-1]])


class AllProbesTest(Probes):
    def test_text_and_json(self):
        self.check_text_and_json()

    def test_groups(self):
        """Each holds every operator once, of its size."""
        for group, names in GROUPS.items():
            with self.subTest(group=group):
                done = self.lugpu("probe", "-n", "16", "--cubes", "17", "--runs", "1", "--storage",
                                  "buffer", "--probes", group, "--json", "-")
                probes = [probe for probe in self.probes(done.stdout) if "n" in probe]
                self.assertEqual([probe["name"] for probe in probes], names)
                for probe in probes:
                    self.assertEqual(probe["n"], 17 if group == "cubes" else 16)
                    grid = ([17] * 3 if group == "cubes" else
                            [16] * 2 if probe["name"] in STORED + GRIDS else None)
                    self.assertEqual(probe.get("grid"), grid)

    def test_bytes(self):
        """Each element of vectors and of the matrix once."""
        n, cube = 16, 20
        done = self.lugpu("probe", "-n", str(n), "--cubes", str(cube), "--runs", "1", "--storage", "buffer",
                          "--precision", "double", "--json", "-")
        found = {(len(probe.get("grid", [])), probe["name"]): probe["bytes"]
                 for probe in self.probes(done.stdout) if "bytes" in probe}
        word = 8
        self.assertEqual([found[0, name] for name in VECTORS],
                         [word * n * n * words for words in (3, 3, 3, 1, 1, 1, 1, 1, 2)])
        for words, name in ((2, "product"), (3, "product - y"), (10, "cg")):
            if name != "cg":
                for order in ("columns", "diagonals"):
                    self.assertEqual(found[0, f"{order} {name}"], word * (n * n + words * n))
            self.assertEqual(found[2, f"banded {name}"], word * n * n * (words + 5))
            self.assertEqual(found[2, f"sparse {name}"], word * n * n * words + (word + 4) * (5 * n * n - 4 * n))
            grid = name if name == "cg" else f"grid {name}"
            self.assertEqual(found[2, grid], word * n * n * words)
            self.assertEqual(found[3, grid], word * cube**3 * words)


if __name__ == "__main__":
    main()
