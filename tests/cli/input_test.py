#!/usr/bin/python3
"""Files that are read: malformed ones, and those of other projects in tests/data."""

import gzip
import os

import numpy as np

from program import FORMATS, ROOT, CommandLine, main, random_matrix


class BadMatrixTest(CommandLine):
    BANNER = b"%%MatrixMarket matrix array real general\n"
    NPY = b"\x93NUMPY\x01\x00"

    def test_malformed_text(self):
        """The line that is wrong is named."""
        for name, content, line in [
                ("word.mtx", self.BANNER + b"2 2\n1\n2\nx\n4\n", 5),
                ("index.mtx", self.BANNER.replace(b"array", b"coordinate") + b"2 2 1\n3 1 1\n", 3),
                ("more.mtx", self.BANNER + b"1 1\n1\n2\n", 4),
                ("no_banner.mtx", b"2 2\n1\n2\n3\n4\n", 1),
                ("no_size.mtx", self.BANNER + b"two two\n", 2),
                ("ragged.csv", b"1,2\n3\n", 2),
                ("word.csv", b"1,2\n3,4x\n", 2),
                ("hole.csv", b"1,2\n3,\n", 2),
                ("nan.csv", b"1,2\n3,nan\n", 2),
                ("nan.mtx", self.BANNER + b"1 1\nnan\n", 3),
                ("infinite.csv", b"1,2\n1e999,4\n", 2)]:
            with self.subTest(name=name):
                self.write(name, content)
                self.refused("solve", name, "-o", "x.mtx", words=[f"{name}:{line}: "])

    def test_truncated(self):
        whole = (self.folder / self.write("whole.npy", random_matrix(4, 4))).read_bytes()
        for name, content in [("data.npy", whole[:-8]), ("header.npy", whole[:40]),
                              ("magic.npy", whole[:7]),
                              ("array.mtx", self.BANNER + b"2 2\n1.5\n2.5\n3.5\n"),
                              ("size.mtx", self.BANNER)]:
            with self.subTest(name=name):
                self.write(name, content)
                self.refused("solve", name, "-o", "x.mtx", words=[name])

    def test_complex_or_otherwise_no_real_matrix(self):
        i = 1j * np.eye(2)
        for name, content in [("complex.mtx", i), ("complex.npy", i),
                              ("four.npy", np.ones((2, 2, 2, 2))),
                              ("text.npy", np.array([["a", "b"], ["c", "d"]])),
                              ("nan.npy", [[1.0, np.nan], [0.0, 1.0]])]:
            with self.subTest(name=name):
                self.write(name, content)
                self.refused("solve", name, "-o", "x.mtx", words=[name])

    def test_wrong_shape(self):
        for name, content, shape in [("wide.csv", [[1.0, 2.0]], "1 x 2"),
                                     ("high.mtx", [[1.0], [2.0]], "2 x 1"),
                                     ("none.mtx", self.BANNER + b"0 0\n", "0 x 0"),
                                     ("none.npy", np.zeros((0, 0)), "0 x 0")]:
            with self.subTest(name=name):
                self.write(name, content)
                self.refused("solve", name, "-o", "x.mtx", words=[name, shape])

    def test_no_file(self):
        (self.folder / "folder.mtx").mkdir()
        os.mkfifo(self.folder / "pipe.mtx")
        for name in ("missing.mtx", "folder.mtx", "pipe.mtx", "folder.mtx/a.mtx"):
            with self.subTest(name=name):
                self.refused("solve", name, "-o", "x.mtx", words=[name])

    def test_empty_file(self):
        for extension in FORMATS:
            name = self.write("empty" + extension, b"")
            with self.subTest(name=name):
                self.refused("solve", name, "-o", "x.mtx", words=[name, "empty"])

    def test_unknown_extension(self):
        self.write("a.csv", [[1.0]])
        self.write("a.dat", b"1\n")
        for arguments in (["a.dat"], ["a.csv", "a.dat"], ["a.csv", "-o", "x.dat"],
                          ["a.csv", "-o", "x.mat"], ["a.csv", "-o", "x"]):
            with self.subTest(arguments=arguments):
                self.refused("solve", *arguments, words=FORMATS)

    def test_right_hand_side(self):
        """B needs as many rows as A; any fault of its file names that file."""
        self.write("a.csv", np.eye(3))
        for name, content, words in [("short.csv", [[1.0], [2.0]], ["2 x 1", "3"]),
                                     ("row.csv", [[1.0, 2.0, 3.0]], ["1 x 3", "3"]),
                                     ("nan.csv", b"1\nnan\n3\n", ["nan.csv:2: "]),
                                     ("empty.csv", b"", ["empty"])]:
            with self.subTest(name=name):
                self.write(name, content)
                self.refused("solve", "a.csv", name, "-o", "x.csv", words=[name, *words])

    def test_value_too_large_for_single_precision(self):
        """A short message that says where and what helps."""
        self.write("a.csv", [[1e300, 0.0], [0.0, 1.0]])
        message = self.refused("solve", "a.csv", "--precision", "single", "-o", "x.csv",
                               words=["a.csv", "single", "--precision double"])
        self.assertLess(len(message), 200)
        self.lugpu("solve", "a.csv", "--precision", "double")

    def test_boundless_sizes_cost_nothing(self):
        """A header that claims 2^40 rows is refused at once, before memory is taken."""
        coordinate = self.BANNER.replace(b"array", b"coordinate")
        npy = (b"{'descr': '<f8', 'fortran_order': False, 'shape': (%d, %d), }" % (2**40, 2**40))
        for name, content in [
                ("array.mtx", self.BANNER + b"%d %d\n1\n" % (2**40, 2**40)),
                ("million.mtx", self.BANNER + b"%d %d\n1\n" % (2**20, 2**20)),
                ("entries.mtx", coordinate + b"%d %d 1\n1 1 1\n" % (2**40, 2**40)),
                ("count.mtx", coordinate + b"9 9 %d\n1 1 1\n" % 2**40),
                ("huge.npy", self.NPY + len(npy).to_bytes(2, "little") + npy)]:
            with self.subTest(name=name):
                self.write(name, content)
                status, seconds, memory = self.cost_of("solve", name)
                self.assertEqual(status, 2)
                self.assertLess(seconds, 5)
                self.assertLess(memory, 2**29)

    def test_what_no_system_can_be_costs_nothing(self):
        """A is refused from its header if it is not square or a large one with empty rows, B if it
        has other rows than A; the text of a CSV is not kept."""
        coordinate = self.BANNER.replace(b"array", b"coordinate")
        self.write("a.csv", np.eye(3))
        self.write("rows.mtx", coordinate + b"15000 15000 1\n1 1 1\n")
        self.write("flat.mtx", coordinate + b"15000 14999 1\n1 1 1\n")
        header = b"{'descr': '<f8', 'fortran_order': False, 'shape': (4, 30000000), }"
        self.write("flat.npy", self.NPY + len(header).to_bytes(2, "little") + header)
        os.truncate(self.folder / "flat.npy", 10 + len(header) + 8 * 4 * 30000000)
        self.write("line.csv", b"1" + b",1" * 20000000)
        for arguments, words in [
                (["rows.mtx"], ["rows.mtx:2: ", "1 entry", "singular"]),
                (["flat.mtx"], ["flat.mtx:2: ", "15000 x 14999", "square"]),
                (["flat.npy"], ["flat.npy: ", "4 x 30000000", "square"]),
                (["line.csv"], ["line.csv:1: ", "no room", "square"]),
                (["a.csv", "flat.mtx"], ["flat.mtx:2: ", "15000 x 14999", "3 rows"]),
                (["a.csv", "flat.npy"], ["flat.npy: ", "4 x 30000000", "3 rows"]),
                (["a.csv", "line.csv"], ["line.csv:1: ", "no room"])]:
            for command in ("solve", "advise"):
                with self.subTest(command=command, arguments=arguments):
                    self.refused(command, *arguments, words=words)
                    _, seconds, memory = self.cost_of(command, *arguments)
                    self.assertLess(seconds, 5)
                    self.assertLess(memory, 2**29)
        self.write("small.mtx", coordinate + b"50 50 1\n1 1 1\n")
        self.lugpu("solve", "small.mtx", status=3)

    def test_compressed_and_misnamed_files(self):
        """The message says what they are and what to do."""
        array = self.folder / self.write("a.npy", np.eye(2))
        for name, content, words in [
                ("a.mtx", gzip.compress(self.BANNER), ["gzip", "gunzip", ".mtx.gz"]),
                ("a.npy.gz", gzip.compress(self.BANNER), [".gz", "gzip", "gunzip"]),
                ("b.mtx", array.read_bytes(), [".npy"]),
                ("b.csv", self.BANNER, [".mtx"]),
                ("b.npy", b"1,2\n3,4\n", [".csv"])]:
            with self.subTest(name=name):
                self.write(name, content)
                self.refused("solve", name, "-o", "x.csv", words=[f"lugpu: {name}: ", *words])


class DataTest(CommandLine):
    """The files of other projects in tests/data, and what each group stands for."""

    def files(self, group):
        found = sorted((ROOT / "tests/data" / group).iterdir())
        self.assertGreater(len(found), 0)
        return found

    def test_good(self):
        for path in self.files("good"):
            with self.subTest(file=path.name):
                row, = self.results("solve", str(path))
                self.assertLess(row["checks"]["hpl_residual"], 16)

    def test_singular(self):
        """Status 3, or 0 with a warning where rounding hides the zero pivot."""
        for path in self.files("singular"):
            with self.subTest(file=path.name):
                done = self.run_lugpu("solve", str(path))
                self.assertIn(done.returncode, (0, 3))
                self.assertRegex(done.stderr, r"pivot \d+ is")

    def test_bad(self):
        for path in self.files("bad"):
            with self.subTest(file=path.name):
                self.refused("solve", str(path), "-o", "x.mtx", words=[str(path)])

    def test_either(self):
        """Read or refused, never a crash."""
        for path in self.files("either"):
            with self.subTest(file=path.name):
                self.assertIn(self.run_lugpu("solve", str(path)).returncode, (0, 2, 3))


if __name__ == "__main__":
    main()
