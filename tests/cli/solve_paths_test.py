#!/usr/bin/python3
"""`lugpu solve` with every method, pivoting and precision, on every path."""

import itertools

import numpy as np

from program import (BLOCKED, BLOCKED_PIVOTS, METHODS, PIVOTS, PRECISIONS, UNOPTIMIZED, CommandLine,
                     case_of, dominant_matrix, main, random_matrix)


class OnPaths(CommandLine):
    # The surfaces of the paper, and those that may be the fastest on a device.
    PATHS = [("image", "r", "paper"), ("image", "rgba", "paper"), ("image", "rgba", "fused"),
             ("buffer", "r", "fused"), ("buffer", "rgba", "fused")]

    def environment(self, env):
        return super().environment(UNOPTIMIZED | (env or {}))


class EveryPathTest(OnPaths):
    def test_every_method_pivoting_and_precision_on_every_path(self):
        a, b = dominant_matrix(40), random_matrix(40, 2, seed=2)
        self.write("a.npy", a)
        self.write("b.npy", b)
        flags = ["--method", "--pivot", "--precision", "--storage", "--texel", "--schedule"]
        for method, pivot, precision, path in itertools.product(METHODS, PIVOTS, PRECISIONS,
                                                                self.PATHS):
            case = (method, pivot, precision, *path)
            with self.subTest(case=case):
                chosen = itertools.chain.from_iterable(zip(flags, case))
                row, = self.results("solve", "a.npy", "b.npy", "-o", "x.npy", *chosen)
                self.assertEqual(case_of(row), (*case, 40))
                x = np.load(self.folder / "x.npy")
                tolerance = 1e-12 if precision == "double" else 1e-5
                np.testing.assert_allclose(x, np.linalg.solve(a, b), atol=tolerance)


class SolvePathsTest(OnPaths):
    def test_blocked_with_every_pivoting_precision_and_block_size(self):
        """What auto is: panels that are narrower, as wide and wider than the matrix."""
        a, b = dominant_matrix(70), random_matrix(70, 2, seed=2)
        self.write("a.npy", a)
        self.write("b.npy", b)
        for pivot, precision, nb in itertools.product(BLOCKED_PIVOTS, PRECISIONS, [64, 128, 256]):
            with self.subTest(pivot=pivot, precision=precision, nb=nb):
                row, = self.results("solve", "a.npy", "b.npy", "-o", "x.npy", "--pivot", pivot,
                                    "--precision", precision, "--nb", str(nb))
                self.assertEqual(case_of(row),
                                 (BLOCKED, pivot, precision, "buffer", "r", None, 70))
                self.assertEqual(row["nb"], nb)
                tolerance = 1e-12 if precision == "double" else 1e-5
                np.testing.assert_allclose(np.load(self.folder / "x.npy"), np.linalg.solve(a, b),
                                           atol=tolerance)

    def test_rook_pivoting(self):
        """On every path of lu, where partial pivoting fails."""
        self.generate("wilkinson", 100)
        for precision, path in itertools.product(PRECISIONS, self.PATHS):
            with self.subTest(precision=precision, path=path):
                flags = zip(["--precision", "--storage", "--texel", "--schedule"],
                            [precision, *path])
                row, = self.results("solve", "a.mtx", "--pivot", "rook",
                                    *itertools.chain.from_iterable(flags))
                self.assertEqual(case_of(row), ("lu", "rook", precision, *path, 100))
                self.assertLessEqual(row["checks"]["growth"], 4)
        self.lugpu("solve", "a.mtx", "--pivot", "partial", status=4)


if __name__ == "__main__":
    main()
