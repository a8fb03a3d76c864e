#!/usr/bin/python3
"""scripts/check_includes.py on small trees of files."""

import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree as ElementTree
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SCRIPT = ROOT / "scripts/check_includes.py"
sys.dont_write_bytecode = True
sys.path.insert(0, str(SCRIPT.parent))
import check_includes  # noqa: E402

SVG = "{http://www.w3.org/2000/svg}"
# A right tree: downwards, in its own room, by a path from its own folder, and what is not ours.
TREE = {
    "include/lugpu/view.hpp": "#include <vector>\n",
    "src/base/error.hpp": "#include <lugpu/view.hpp>\n#include <string>\n",
    "src/base/error.cpp": '#include "error.hpp"\n',
    "src/matrix/matrix.hpp": '#include "base/error.hpp"\n#include <nlohmann/json.hpp>\n',
    "src/matrix/generate/random.cpp": '#include "../matrix.hpp"\n',
    "cli/main.cpp": '#include "main.hpp"\n  #  include "matrix/matrix.hpp"\n',
    "cli/main.hpp": "// #include \"nothing.hpp\"\n",
}


class CheckIncludesTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)

    def check(self, files, *arguments):
        """The finished check of a tree that also has these files."""
        for name, text in (TREE | files).items():
            (self.root / name).parent.mkdir(parents=True, exist_ok=True)
            (self.root / name).write_text(text, encoding="utf-8")
        return subprocess.run(["/usr/bin/python3", str(SCRIPT), "--root", str(self.root), *arguments],
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8",
                              timeout=60, check=False)

    def assert_refused(self, files, *sentences):
        """These sentences and no others."""
        done = self.check(files)
        self.assertEqual((done.returncode, sorted(done.stdout.splitlines())), (1, sorted(sentences)))

    def test_a_right_tree(self):
        done = self.check({})
        self.assertEqual((done.returncode, done.stdout), (0, ""))

    def test_upwards(self):
        self.assert_refused(
            {"src/base/text.hpp": '#include <string>\n#include "matrix/matrix.hpp"\n',
             "src/matrix/print.cpp": '#include "../../cli/main.hpp"\n'},
            "src/base/text.hpp:2: src/base may not use src/matrix (src/matrix/matrix.hpp).",
            "src/matrix/print.cpp:1: src/matrix may not use cli (cli/main.hpp).")

    def test_downwards_but_not_in_the_table(self):
        self.assert_refused(
            {"src/formats/csv.hpp": "", "src/dense/lu.cpp": '#include "formats/csv.hpp"\n'},
            "src/dense/lu.cpp:1: src/dense may not use src/formats (src/formats/csv.hpp).")

    def test_python_uses_the_public_interface_alone(self):
        self.assert_refused(
            {"python/module.cpp": '#include "lugpu/view.hpp"\n#include "matrix/matrix.hpp"\n'},
            "python/module.cpp:2: python may not use src/matrix (src/matrix/matrix.hpp).")

    def test_unknown_rooms(self):
        sentence = "is not a room; scripts/check_includes.py lists them."
        self.assert_refused({"src/utils/trim.hpp": "", "src/error.hpp": "", "include/other.hpp": "",
                             "src/base/a.cpp": '#include "utils/trim.hpp"\n'},
                            f"src/utils/trim.hpp: src/utils {sentence}",
                            f"src/error.hpp: src {sentence}", f"include/other.hpp: include {sentence}",
                            "src/base/a.cpp:1: src/base may not use src/utils (src/utils/trim.hpp).")

    def test_circle(self):
        done = self.check({"src/base/a.hpp": '#include "base/b.hpp"\n',
                           "src/base/b.hpp": '#include "c.hpp"\n',
                           "src/base/c.hpp": '#include "base/a.hpp"\n'})
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stdout, r"\AA circle of includes: [^\n]+\n\Z")
        for name in "abc":
            self.assertIn(f"src/base/{name}.hpp", done.stdout)

    def test_missing_file(self):
        self.assert_refused({"src/base/a.cpp": '#include "base/none.hpp"\n'},
                            'src/base/a.cpp:1: there is no "base/none.hpp".')

    def test_public_headers(self):
        self.assert_refused(
            {"include/lugpu/a.hpp": "#include <CL/opencl.hpp>\n#include <base/error.hpp>\n"},
            "include/lugpu/a.hpp:1: public headers use the standard library alone, not <CL/opencl.hpp>.",
            "include/lugpu/a.hpp:2: include/lugpu may not use src/base (src/base/error.hpp).")

    def test_an_empty_folder(self):
        (self.root / "empty").mkdir()
        done = subprocess.run(["/usr/bin/python3", str(SCRIPT), "--root", str(self.root / "empty")],
                              stderr=subprocess.PIPE, encoding="utf-8", check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn("no includes", done.stderr)

    def test_the_table(self):
        """Its arrows go downwards; one that does not is named."""
        self.assertEqual(check_includes.check_table(), [])
        rooms = check_includes.ROOMS["src/base"]
        self.addCleanup(rooms.remove, "cli")
        rooms.append("cli")
        self.assertEqual(check_includes.check_table(), ["src/base may not use cli, which is not below it."])

    def test_picture(self):
        """A box for every room that is there, above what it includes, and an arrow or a word for each of
        these; an arrow only where there is no longer way."""
        picture = self.root / "rooms.svg"
        done = self.check({"cli/solve.cpp": '#include "matrix/matrix.hpp"\n#include "base/error.hpp"\n'},
                          "--picture", str(picture))
        self.assertEqual((done.returncode, done.stdout), (0, ""))
        drawing = ElementTree.parse(picture)
        texts = [(text.text, float(text.get("y"))) for text in drawing.iter(SVG + "text")]
        heights = {text: y for text, y in texts if not text.startswith("also ")}
        self.assertEqual(sorted(heights, key=heights.get), ["cli", "src/matrix", "src/base", "include/lugpu"])
        self.assertEqual([text for text, y in texts if text.startswith("also ")
                          and heights["cli"] < y < heights["src/matrix"]], ["also base"])
        self.assertEqual(len(list(drawing.find(SVG + "g"))), 3)

    def test_boxes_do_not_overlap(self):
        """Nor does one leave the picture, in one of the rooms that there are."""
        includes, _ = check_includes.read_includes(ROOT)
        drawing = ElementTree.fromstring(check_includes.draw(includes))
        boxes = [[float(box.get(name)) for name in ("x", "y", "width", "height")]
                 for box in drawing.iter(SVG + "rect") if box.get("x")]
        self.assertGreater(len(boxes), 10)
        for i, (x, y, width, height) in enumerate(boxes):
            self.assertTrue(0 < x < x + width < float(drawing.get("width")))
            self.assertTrue(0 < y < y + height < float(drawing.get("height")))
            for x2, y2, width2, height2 in boxes[:i]:
                self.assertTrue(x + width < x2 or x2 + width2 < x or y + height < y2 or y2 + height2 < y)

    def test_a_stored_picture(self):
        """Another file of a known arrow leaves it as it is; a new arrow does not."""
        picture = self.root / "rooms.svg"
        check = ("--check-picture", str(picture))
        fault = (1, f"{picture} does not show these includes; scripts/check_includes.py --picture {picture} "
                    "draws it anew.\n")
        done = self.check({}, *check)
        self.assertEqual((done.returncode, done.stdout), fault)
        self.check({}, "--picture", str(picture))
        done = self.check({"src/matrix/print.cpp": '#include "base/error.hpp"\n'}, *check)
        self.assertEqual((done.returncode, done.stdout), (0, ""))
        done = self.check({"src/matrix/print.cpp": "#include <lugpu/view.hpp>\n"}, *check)
        self.assertEqual((done.returncode, done.stdout), fault)

    def test_a_picture_of_what_is_wrong_is_not_drawn(self):
        picture = self.root / "rooms.svg"
        done = self.check({"src/base/a.cpp": '#include "matrix/matrix.hpp"\n'}, "--picture", str(picture))
        self.assertEqual(done.returncode, 1)
        self.assertFalse(picture.exists())


if __name__ == "__main__":
    unittest.main()
