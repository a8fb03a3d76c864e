#!/usr/bin/python3
"""`lugpu generate`."""

import re

import numpy as np

from program import FORMATS, KINDS, CommandLine, main, read_matrix

WITHOUT_SEED = {"wilkinson", "hilbert", "kahan", "diagonal"}


class GenerateTest(CommandLine):
    def kinds(self):
        """The kinds that the help lists."""
        listed = self.lugpu("generate", "--help").stdout.partition("\nKinds:\n")[2].partition("\n\n")[0]
        return re.findall(r"(?m)^  (\S+)", listed)

    def content(self, kind, name, seed=1):
        self.generate(kind, 64, name, seed)
        return (self.folder / name).read_bytes()

    def test_every_kind_in_every_format(self):
        """The same numbers, bit for bit, whichever format carries them."""
        kinds = self.kinds()
        self.assertGreaterEqual(set(kinds), set(KINDS))
        for kind in kinds:
            with self.subTest(kind=kind):
                files = [self.folder / self.generate(kind, 5, "a" + end) for end in FORMATS]
                a, *others = [read_matrix(path) for path in files]
                self.assertEqual((a.shape, a.dtype), ((5, 5), np.float64))
                for other in others:
                    np.testing.assert_array_equal(a, other)

    def test_round_trip(self):
        """lugpu reads what it writes: X is the same for every format of A."""
        for kind in ("random", "hilbert", "graded"):
            with self.subTest(kind=kind):
                solutions = []
                for end in FORMATS:
                    self.lugpu("solve", self.generate(kind, 5, "a" + end), "-o", "x.npy")
                    solutions.append(np.load(self.folder / "x.npy"))
                np.testing.assert_array_equal(solutions[0], solutions[1])
                np.testing.assert_array_equal(solutions[0], solutions[2])

    def test_seed(self):
        """The same seed gives the same bytes; another seed gives others, for random kinds."""
        for kind in self.kinds():
            with self.subTest(kind=kind):
                first = self.content(kind, "a.mtx")
                self.assertEqual(self.content(kind, "b.mtx"), first)
                differs = self.content(kind, "c.mtx", seed=2) != first
                self.assertEqual(differs, kind not in WITHOUT_SEED)

    def test_kinds_are_what_they_say(self):
        for kind, fits in {
                "random": lambda a: abs(a).max() <= 0.5,
                "dominant": lambda a: (2 * abs(a.diagonal()) > abs(a).sum(axis=1)).all(),
                "tiny-pivot": lambda a: a[0, 0] == 1e-10,
                "hilbert": lambda a: a[1, 2] == 1 / 4,
                "singular": lambda a: (a[0] == a[-1]).all(),
                "wilkinson": lambda a: a[4].tolist() == [-1, -1, -1, -1, 1]}.items():
            with self.subTest(kind=kind):
                a = read_matrix(self.folder / self.generate(kind, 5, "a.npy"))
                self.assertTrue(fits(a), a)

    def test_prints_nothing(self):
        done = self.lugpu("generate", "random", "1", "-o", "a.csv")
        self.assertEqual(done.stdout + done.stderr, "")
        self.assertEqual(self.file_names(), ["a.csv"])


if __name__ == "__main__":
    main()
