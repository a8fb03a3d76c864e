#!/usr/bin/python3
"""scripts/measure_results: that its table is that of the stored results, what it refuses, what it runs."""

import collections
import contextlib
import importlib.machinery
import importlib.util
import io
import json
import re
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LOADER = importlib.machinery.SourceFileLoader("measure_results", str(ROOT / "scripts/measure_results"))
measure_results = importlib.util.module_from_spec(importlib.util.spec_from_loader("measure_results", LOADER))
sys.dont_write_bytecode = True
LOADER.exec_module(measure_results)
RESULTS = ROOT / "results"

PROGRAM = """#!/bin/sh
case "$1" in
--version) echo "lugpu 1.2.3"; echo "revision      {revision}";;
bench) echo "$0 $*" > "$(echo "$*" | sed 's/.*--json \\([^ ]*\\) .*/\\1/')"; echo "$OPENBLAS_CORETYPE" > seen; exit {status};;
esac
"""


def words_of(argv):
    """Those that say what was measured."""
    words = list(argv)
    while "--json" in words:
        del words[words.index("--json"):words.index("--json") + 2]
    # implicit2d was wave2d once.
    return collections.Counter(word.replace("implicit2d", "wave2d") for word in words
                               if word not in ("--force", "--resume", "-q"))


class MeasureResultsTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def program(self, revision="0123456789ab", status=0):
        path = self.folder / "lugpu"
        path.write_text(PROGRAM.format(revision=revision, status=status), encoding="utf-8")
        path.chmod(0o755)
        return path

    def rows(self):
        return {name: command for machine in measure_results.machines().values()
                for name, command in machine.commands.items()}

    def test_every_file_has_its_command(self):
        """And every command its file or folder."""
        files = [*RESULTS.glob("*.json"), *RESULTS.glob("simulations-*/*.json")]
        names = {str(path.relative_to(RESULTS).with_suffix("")) for path in files}
        folders = {f"{path.parent.relative_to(RESULTS)}/" for path in RESULTS.glob("reproduction-*/**/README.md")}
        self.assertEqual(set(self.rows()), names | folders)

    def test_records_have_their_commands(self):
        """What a file says that made it is what the table has."""
        for name, command in self.rows().items():
            launcher, lugpu, words = f" {command}".partition(" lugpu ")
            if lugpu:
                with self.subTest(name=name):
                    self.assertIn(launcher.split()[:1], ([], ["mpirun"]))
                    report = json.loads((RESULTS / f"{name}.json").read_text(encoding="utf-8"))
                    self.assertEqual(words_of(report["tool"]["argv"][1:]), words_of(words.split()))

    def test_readme_has_the_tables(self):
        readme = (RESULTS / "README.md").read_text(encoding="utf-8")
        self.assertIn(measure_results.tables(), readme)

    def test_scripts_are_there(self):
        for command in self.rows().values():
            if " lugpu " not in f" {command}":
                self.assertTrue((ROOT / command.split()[0]).is_file(), command)

    def refused(self, program):
        with contextlib.redirect_stderr(io.StringIO()) as text, self.assertRaises(SystemExit) as end:
            measure_results.require_committed(str(program))
        self.assertEqual(end.exception.code, 2)
        return text.getvalue()

    def test_needs_a_program_of_a_commit(self):
        self.assertIn("not built from a commit", self.refused(self.program("0123456789ab-dirty")))
        self.assertIn("not built from a commit", self.refused(self.folder / "none"))
        if measure_results.output_of("git", "rev-parse", "HEAD"):
            self.assertRegex(self.refused(self.program()), "built from 0123456789ab, but HEAD is [0-9a-f]{12}")

    def test_runs_each_command(self):
        """A failed check is a result; names of paths stay relative."""
        rows = {"a": "lugpu bench -n 8", "folder/b": "lugpu bench -n 16 --problem laplacian-1024.mtx"}
        measure_results.write_laplacian, write = lambda path: path.write_text("x"), measure_results.write_laplacian
        self.addCleanup(setattr, measure_results, "write_laplacian", write)
        out = self.folder / "out"
        for status, failed in ((0, []), (4, []), (1, ["a", "folder/b"])):
            self.program(status=status)
            with contextlib.redirect_stderr(io.StringIO()):
                self.assertEqual(measure_results.measure(rows, {"OPENBLAS_CORETYPE": "X", "PATH": "/usr/bin:/bin"},
                                                         self.folder, out), failed)
            self.assertRegex((out / "folder/b.json").read_text(), r"bench -n 16 .* --json b\.json --force -q")
            self.assertEqual((out / "seen").read_text(), "X\n")
            self.assertFalse((out / "folder/laplacian-1024.mtx").exists())

    def test_laplacian(self):
        path = self.folder / "a.mtx"
        measure_results.write_laplacian(path, 3)
        lines = path.read_text().splitlines()
        self.assertEqual(lines[1], "9 9 21")
        self.assertEqual(len(lines) - 2, 21)
        self.assertNotIn("4 3 -1", lines)
        self.assertTrue({"4 1 -1", "2 1 -1", "9 8 -1", "9 6 -1"} <= set(lines))

    def test_names(self):
        machine = measure_results.machines()["pocl"]
        self.assertEqual(list(measure_results.chosen(machine, ["pocl"])), ["pocl"])
        found = measure_results.chosen(machine, ["simulations-pocl"])
        self.assertTrue(found and all(re.match("simulations-pocl/", name) for name in found))
        with contextlib.redirect_stderr(io.StringIO()) as text, self.assertRaises(SystemExit) as end:
            measure_results.chosen(machine, ["nothing"])
        self.assertEqual(end.exception.code, 2)
        self.assertIn("there is no nothing", text.getvalue())


if __name__ == "__main__":
    unittest.main()
