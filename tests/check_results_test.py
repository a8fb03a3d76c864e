#!/usr/bin/python3
"""scripts/check_results.py: what it refuses."""

import importlib.util
import json
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SPEC = importlib.util.spec_from_file_location("check_results", ROOT / "scripts/check_results.py")
check_results = importlib.util.module_from_spec(SPEC)
sys.dont_write_bytecode = True
SPEC.loader.exec_module(check_results)


class CheckResultsTest(unittest.TestCase):
    COMMITS = ["1234567890ab" + "0" * 28, "abcdefabcdef" + "0" * 28]

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.good = json.loads((ROOT / "results/pocl-2048.json").read_text(encoding="utf-8"))
        self.good["tool"]["git_rev"] = "1234567890ab"

    def faults(self, change=lambda report: None, commits=COMMITS):
        change(self.good)
        (self.folder / "a.json").write_text(json.dumps(self.good), encoding="utf-8")
        return [fault for _, fault in check_results.faulty_files(self.folder, commits)]

    def set_revision(self, revision):
        return lambda report: report["tool"].update(git_rev=revision)

    def test_good_ones(self):
        self.assertEqual(self.faults(), [])
        self.assertEqual(self.faults(self.set_revision("abcdefabcdef")), [])
        (self.folder / "of-another-program.json").write_text('{"times": []}', encoding="utf-8")
        self.assertEqual(self.faults(), [])

    def test_revisions(self):
        """Of changed sources, of none, of others; where there is no history, others are believed."""
        for revision, word in (("1234567890ab-dirty", "changed"), ("", "outside a checkout"),
                               ("000000000000", "history")):
            fault, = self.faults(self.set_revision(revision))
            self.assertIn(word, fault)
        self.assertEqual(self.faults(self.set_revision("000000000000"), []), [])
        self.assertEqual(len(self.faults(self.set_revision("000000000000-dirty"), [])), 1)

    def test_schema(self):
        """The place of what is not valid is named; and a file of half an object."""
        fault, = self.faults(lambda report: report["results"][2].update(n="8"))
        self.assertIn("results/2/n is not valid", fault)
        (self.folder / "b.json").write_text('{"tool": {"version": 1', encoding="utf-8")
        self.assertIn("not JSON", self.faults(lambda report: report["results"][2].update(n=8))[-1])

    def test_history_has_this_commit(self):
        """Where the tests run in a full checkout."""
        commits = check_results.history(ROOT)
        self.assertTrue(all(len(commit) == 40 for commit in commits))
        self.assertEqual(check_results.history(self.folder), [])


if __name__ == "__main__":
    unittest.main()
