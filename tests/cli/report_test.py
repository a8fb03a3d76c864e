#!/usr/bin/python3
"""`lugpu report`: pages that are well-formed, say what the file says, and show what it has; files that
are refused, and files that are damaged."""

import copy
import json
import random
import re
import xml.etree.ElementTree as ElementTree
from html.parser import HTMLParser

from program import ROOT, CommandLine, main, small

RESULTS = sorted((ROOT / "results").glob("*.json"))


def row_of(order, routine, seconds, **more):
    """A result of a dense matrix that passed, with its noise."""
    rival = routine.startswith("get")
    return {"implementation": "openblas" if rival else "lugpu", "routine": routine, "pivot": "partial",
            "precision": "double", "storage": "host" if rival else "buffer",
            "texel": None if rival else "r", "schedule": None, "device": None if rival else "Testcard",
            "n": order, "nrhs": 1, "nb": None, "threads": 2 if rival else None, "seed": 1,
            "matrix": "random", "times_s": [seconds * (1 + 0.001 * i) for i in range(-5, 6)],
            "device_times_s": [], "median_s": seconds, "min_s": seconds * 0.995, "rel_stdev": 0.003,
            "gflops": 2 / 3 * order**3 / seconds * 1e-9, "flop_formula": "2/3 n^3", "phases_s": {},
            "counters": {}, "checks": {"factor_ratio": None, "solve_ratio": 2.5, "hpl_residual": None,
                                       "growth": None, "rcond": None, "info": 0},
            "status": "ok", "reason": "", "warnings": []} | more


def file_of(rows, **context):
    """A file of a benchmark."""
    return {"schema_version": 1,
            "tool": {"version": "1.2.3", "git_rev": "abc", "compiler": "g++", "build_type": "Release",
                     "argv": ["lugpu", "bench"]},
            "context": {"time_utc": "2005-11-12T09:30:00Z", "host": "h", "kernel": "k", "cpu": "c",
                        "cores": 8, "memory_bytes": 1, "load_1min": 0, "environment": {}} | context,
            "libraries": {}, "devices": [{"name": "Testcard", "driver_version": "4.5"}],
            "results": rows}


class Checker(HTMLParser):
    """Every element is closed, in its order."""

    EMPTY = {"meta", "br"}

    def __init__(self):
        super().__init__()
        self.open = []

    def handle_starttag(self, tag, attrs):
        if tag not in self.EMPTY:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        pass

    def handle_endtag(self, tag):
        assert self.open.pop() == tag, tag


class ReportTest(CommandLine):
    def page(self, *files):
        """The page of these files as XML, parsed as HTML too."""
        for index, file in enumerate(files):
            if isinstance(file, dict):
                self.write(f"f{index}.json", json.dumps(file).encode())
        names = [f"f{index}.json" if isinstance(file, dict) else str(file)
                 for index, file in enumerate(files)]
        self.lugpu("report", *names, "-o", "page.html", "--force")
        return self.parsed((self.folder / "page.html").read_text(encoding="utf-8"))

    def parsed(self, text):
        checker = Checker()
        checker.feed(text)
        self.assertEqual(checker.open, [])
        self.assertTrue(text.startswith("<!DOCTYPE html>\n"))
        self.assertNotRegex(text, r"<script|https?:|url\(|@import|src=|\bnan\b|\binf\b")
        page = ElementTree.fromstring(text.partition("\n")[2])
        ids = [one.get("id") for one in page.iter() if one.get("id")]
        self.assertEqual(len(ids), len(set(ids)))
        for svg in page.iter("svg"):
            if svg.get("role") == "img":
                self.assertLessEqual(set(svg.get("aria-labelledby").split()), set(ids))
                self.assertTrue(all(svg.find(name).text for name in ("title", "desc")))
            else:
                self.assertEqual(svg.get("aria-hidden"), "true")
        for table in page.iter("table"):
            self.assertTrue("".join(table.find("caption").itertext()))
        for link in page.iter("a"):
            self.assertIn(link.get("href").removeprefix("#"), ids)
        return page

    @staticmethod
    def figures(page):
        return [figure.find("figcaption/b").text for figure in page.iter("figure")]

    @staticmethod
    def table(page, caption):
        """The rows of the first table whose caption begins so: lists of cells."""
        for table in page.iter("table"):
            if "".join(table.find("caption").itertext()).startswith(caption):
                return [list(row) for row in table.findall("tbody/tr") if not row.get("class") == "group"]
        return None

    @staticmethod
    def values(cells):
        """The exact numbers of cells, and None for a dash."""
        found = []
        for cell in cells:
            exact = [float(data.get("value")) for data in cell.iter("data")]
            found.append(exact[0] if len(exact) == 1 else exact or None)
        return found

    def test_numbers_are_those_of_the_file(self):
        rows = [row_of(8, "lu", 1.25e-3), row_of(16, "lu", 0.0123456789012345,
                                                 median_interval_s=[0.012, 0.0125])]
        page = self.page(file_of(rows))
        found = [self.values(cells) for cells in self.table(page, "Results: partial pivoting, double")]
        self.assertEqual(found[0][:2] + found[0][3:5], [8, 1.25e-3, rows[0]["gflops"], 2.5])
        low, high = found[0][2]
        self.assertTrue(rows[0]["times_s"][0] <= low <= 1.25e-3 <= high <= rows[0]["times_s"][-1])
        self.assertEqual(found[1][:5], [16, 0.0123456789012345, [0.012, 0.0125], rows[1]["gflops"], 2.5])
        text = "".join(page.itertext())
        for words in ("1.25 ms", "Testcard", "driver 4.5", "1.2.3", "commit abc", "lugpu bench",
                      "2005-11-12T09:30:00Z"):
            self.assertIn(words, text)
        self.assertNotIn("Warnings", text)

    def test_rivals(self):
        """The ratio at each size, its geometric mean, the worst and the best."""
        page = self.page(file_of([row_of(8, "lu", 2e-3), row_of(8, "getrf", 1e-3),
                                  row_of(16, "lu", 1e-3), row_of(16, "getrf", 8e-3)]))
        [cells] = self.table(page, "Time of each rival")
        mean, worst, best = self.values(cells[1:4])
        self.assertAlmostEqual(mean, 2)
        self.assertAlmostEqual(worst, 0.5)
        self.assertAlmostEqual(best, 8)
        self.assertEqual(cells[4].text, "1 : 1")  # faster, slower
        self.assertEqual([["".join(cell.itertext()) for cell in row][:2]
                          for row in self.table(page, "The fastest")], [["getrf", "8"], ["lu", "16"]])
        self.assertIn("Against each rival", self.figures(page))

    def test_best_threads(self):
        """A rival with the best number of threads at each size is one rival."""
        rows = [row_of(8, "lu", 2e-3), row_of(8, "getrf", 1e-3), row_of(16, "lu", 1e-3), row_of(16, "getrf", 8e-3)]
        rows[1]["threads"] = 1
        self.assertEqual(len(self.table(self.page(file_of(rows)), "Time of each rival")), 2)
        for row in rows[1::2]:
            row["threads_tried"] = [1, 2]
        self.assertEqual(len(self.table(self.page(file_of(rows)), "Time of each rival")), 1)

    def test_figures_by_data(self):
        """A figure is there where there is something to draw, and only there."""
        rows = [row_of(8, "lu", 1e-3), row_of(16, "lu", 2e-3)]
        self.assertEqual(self.figures(self.page(file_of(rows))), ["Speed", "Residual of the solution"])
        more = copy.deepcopy(rows)
        more[0]["phases_s"] = {"upload": 1, "factor": 2, "panel": 1, "update": 1}
        self.assertEqual(self.figures(self.page(file_of(more)))[1:3],
                         ["Inside the factorization", "From host to host"])
        more = copy.deepcopy(rows)
        more[0]["checks"] |= {"growth": 3, "factor_ratio": 0.1}
        more[0]["rates"] = {"multiply_adds_over_peak": 0.5}
        self.assertEqual(self.figures(self.page(file_of(more)))[1:],
                         ["Share of the arithmetic ceiling", "Residual of the factors",
                          "Residual of the solution", "Growth of the elements"])
        more = rows + [row_of(8, "lu", 0.5e-3, pivot="none")]
        self.assertEqual(self.figures(self.page(file_of(more)))[-1], "Cost of pivoting, double precision")

    def test_failed(self):
        """Is there with its reason and its checks, and without any time or speed."""
        failed = row_of(8, "lu", 1e-3, status="failed", reason="solve_ratio 45 is not under 30.",
                        median_s=None, gflops=None)
        failed["checks"]["solve_ratio"] = 45
        for odd in ({}, {"median_s": 1e-3, "gflops": 777.0}):
            page = self.page(file_of([failed | odd, row_of(16, "lu", 1e-3)]))
            cells = self.table(page, "Results: ")[0]
            self.assertEqual(self.values(cells)[:5], [8, None, None, None, 45])
            self.assertIn("failed: solve_ratio 45 is not under 30.", "".join(cells[-1].itertext()))
            text = "".join(page.itertext())
            self.assertIn("1 passed, 1 failed", text)
            self.assertNotIn("777", text)
        page = self.page(file_of([failed]))
        self.assertEqual(self.figures(page), ["Residual of the solution"])
        self.assertIsNone(self.table(page, "The fastest"))

    def test_warnings(self):
        rows = [row_of(8, "lu", 1e-3, other_load=0.5, warnings=["Doubt & co."], times_s=[1e-3, 3e-3] * 9)]
        file = file_of(rows, load_1min=7.5)
        file["tool"] |= {"git_rev": "abc-dirty", "build_type": "Debug"}
        text = "".join(self.page(file).itertext())
        for words in ("busy at the start: a load of 7.5 on 8 cores", "changed tree (-dirty)", "as Debug",
                      "more than 5\u00a0%: 1.", "other programs", "Doubt & co."):
            self.assertIn(words, text)

    def test_text_from_files_is_escaped(self):
        """Wherever it is from; parsed() would see a tag, and there is no other script."""
        evil = "</title></style><b onclick='x'>\"&amp;\x1b\u0085"
        file = file_of([row_of(8, "lu" + evil, 1e-3, matrix=evil, device=evil, warnings=[evil]),
                        row_of(8, "lu" + evil, 1e-3, status="failed", reason=evil)])
        file["context"] |= {"host": evil, "environment": {evil: evil}}
        file["tool"] |= {"argv": [evil], "version": evil}
        file["devices"] = [{"name": evil, "driver_version": evil}]
        page = self.page(file)
        shown = evil.replace("\x1b", "\\x1B").replace("\u0085", "\\x85")
        text = "".join(page.itertext()).replace("\\x1b", "\\x1B")
        self.assertGreaterEqual(text.count("</title></style><b onclick='x'>\"&amp;"), 9, shown)
        self.assertNotRegex(text, "[\x00-\x09\x0b-\x1f\x7f-\x9f]")
        self.write("a<b&.json", json.dumps(file).encode())
        self.page("a<b&.json")

    def test_results_of_the_repository(self):
        """Each file that a benchmark wrote, and some together; the others get one sentence."""
        refused = set()
        for path in RESULTS:
            with self.subTest(path=path.name):
                file = json.loads(path.read_text(encoding="utf-8"))
                if file.get("results") and file.get("schema_version") == 1:
                    page = self.page(path)
                    self.assertIn(f"{len(file['results'])} results:", "".join(page.itertext()))
                    rows = sum(len(table.findall("tbody/tr/td[@class='status']") +
                                   table.findall("tbody/tr/td[@class='status bad']")) for table in page.iter("table")
                               if "".join(table.find("caption").itertext()).startswith("Results:"))
                    self.assertEqual(rows, len(file["results"]))
                    self.assertTrue(self.figures(page))
                    (self.folder / "page.html").unlink()
                else:
                    refused.add(path.name)
                    self.refused("report", str(path), "-o", "page.html", words=[path.name])
        self.assertEqual(refused, {"h200-languages.json", "h200-lapack.json", "h200-vectors.json",
                                   "pocl-before-after.json", "pocl-python.json", "pocl-vectors.json"})
        folder = ROOT / "results"
        figures = self.figures(self.page(folder / "h200-blocked.json", folder / "h100-blocked.json",
                                         folder / "pocl-poisson2d.json", folder / "pocl-fluid2d.json"))
        for name in ("Speed", "Against each rival", "Inside the factorization, NVIDIA H100 80GB HBM3",
                     "Convergence", "Time to the tolerance", "Frames a second"):
            self.assertIn(name, figures)

    def test_this_program(self):
        """A benchmark and a simulation that it runs; standard output; what is not overwritten."""
        self.lugpu(*small(sizes="8,16", runs=3, baseline="getrf"), "--json", "a.json")
        self.lugpu("simulate", "wave", "--grid", "16", "--steps", "3", "-q", "--json", "b.json")
        page = self.parsed(self.lugpu("report", "a.json", "b.json", "-o", "-").stdout)
        self.assertIn("Frames a second", self.figures(page))
        self.refused("report", "a.json", "-o", "a.json", words=["-o a.json", "--force"])
        self.refused("report", "a.json", "./a.json", "-o", "c.html", words=["same file"])
        self.refused("report", "a.json", words=["--output is required"])
        self.refused("report", "a.json", "-o", "none/c.html", status=1, words=["none/c.html"])

    def test_bad_input(self):
        """One sentence: which file, what is wrong with it."""
        for content, words in ((b"", "not a result file"), (b"[]", "not a result file"),
                               (b'{"schema_version": 2, "results": []}', "schema version 2"),
                               (json.dumps(file_of([])).encode(), "no results"),
                               (json.dumps(file_of([{}])).encode(), "results[0] has no"),
                               (json.dumps(file_of([row_of(8, "lu", 1, n="8")])).encode(), 'results[0].n is "8"'),
                               (json.dumps(file_of([row_of(8, "lu", 1) | {"n": None}])).replace(
                                   '"n": null', '"n": ' + "[" * 99999 + "]" * 99999).encode(), "results[0].n")):
            with self.subTest(content=content[:60]):
                self.write("a.json", content)
                self.refused("report", "a.json", "-o", "c.html", words=["a.json", words])
        self.refused("report", "none.json", "-o", "c.html", words=["Cannot read none.json"])
        self.refused("report", ".", "-o", "c.html", words=["Cannot read ."])
        with open(self.folder / "huge.json", "wb") as file:
            file.truncate(300 << 20)
        self.refused("report", "huge.json", "-o", "c.html", words=["huge.json", "256 MiB"])

    def test_damaged_files(self):
        """Values of real files exchanged for others: a page, or one sentence."""
        draw = random.Random(1)
        odd = [None, True, 0, -1, 1, 1e308, 5e-324, 2**64, "", "x", [], {}, [None], [[1]], {"a": 1}, -1e308]
        sources = [json.loads((ROOT / "results" / name).read_text(encoding="utf-8")) for name in (
            "h200-32768.json", "pocl-8192.json", "h200-viennacl-stored.json", "pocl-mixed.json")]
        sources.append(json.loads((ROOT / "results/pocl-fluid3d.json").read_text(encoding="utf-8")))
        sources[-1]["results"] = sources[-1]["results"][:4]

        def places(value, depth=0):
            found = []
            keys = value if isinstance(value, dict) else range(min(len(value), 3))
            for key in keys:
                found.append((value, key))
                if isinstance(value[key], (dict, list)) and depth < 6:
                    found += places(value[key], depth + 1)
            return found
        pages = 0
        for _ in range(60):
            file = copy.deepcopy(draw.choice(sources))
            for _ in range(draw.choice((1, 1, 3))):
                holder, key = draw.choice(places(file))
                if isinstance(holder, dict) and draw.random() < 0.2:
                    del holder[key]
                else:
                    holder[key] = draw.choice(odd)
            self.write("a.json", json.dumps(file).encode())
            done = self.run_lugpu("report", "a.json", "-o", "-")
            self.assertIn(done.returncode, (0, 2), done.stderr)
            if done.returncode == 2:
                self.assertRegex(done.stderr, r"\Alugpu: [^\n]+\n\Z")
            else:
                self.parsed(re.sub("https?:", "", done.stdout))
                pages += 1
        self.assertGreater(pages, 10)


if __name__ == "__main__":
    main()
