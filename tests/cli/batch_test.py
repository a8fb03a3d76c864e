#!/usr/bin/python3
"""Batches of small systems: `lugpu solve` with a .npy of three dimensions, `lugpu bench --batch`."""

import json
import shutil

import numpy as np

from program import CommandLine, main, parse_report


class BatchSolveTest(CommandLine):
    def save(self, name, array):
        np.save(self.folder / name, array)

    def setUp(self):
        super().setUp()
        random = np.random.default_rng(1)
        self.a = random.standard_normal((5, 4, 4))
        self.b = random.standard_normal((5, 4, 3))
        self.save("A.npy", self.a)
        self.save("B.npy", self.b)

    def record(self, *arguments, status=0):
        done = self.lugpu("solve", *arguments, "--json", "r.json", "--force", status=status)
        return done, parse_report((self.folder / "r.json").read_text(encoding="utf-8"))[0]

    def test_solutions_and_inverses(self):
        done, row = self.record("A.npy", "B.npy", "-o", "X.npy", "--inverse", "I.npy")
        np.testing.assert_allclose(np.load(self.folder / "X.npy"), np.linalg.solve(self.a, self.b))
        np.testing.assert_allclose(np.load(self.folder / "I.npy"), np.linalg.inv(self.a), atol=1e-12)
        self.assertEqual((row["batch"], row["n"], row["nrhs"], row["status"]), (5, 4, 3, "ok"))
        self.assertIn("5 x 4 x 4", done.stdout)
        self.assert_narrow(done.stdout)
        self.save("v.npy", self.b[:, :, 0])
        _, row = self.record("A.npy", "v.npy", "-o", "x.npy", "--pivot", "full", "--precision", "single")
        expected = np.linalg.solve(self.a, self.b)[:, :, 0]
        np.testing.assert_allclose(np.load(self.folder / "x.npy"), expected, atol=1e-4)
        self.assertEqual((row["pivot"], row["precision"]), ("full", "single"))

    def test_members_are_reported_one_by_one(self):
        self.a[2] = 0
        self.a[3, 0, 0] = np.nan
        self.save("S.npy", self.a)
        done, row = self.record("S.npy", "B.npy", "-o", "X.npy", status=3)
        self.assertIn("1 member is singular and 1 member fails its check, of 5", done.stderr)
        self.assertEqual([one["member"] for one in row["members"]], [2, 3])
        self.assertEqual((row["checks"]["singular"], row["checks"]["solve_ratio"]), (1, None))
        x = np.load(self.folder / "X.npy")
        self.assertTrue(np.isnan(x[2]).all())
        np.testing.assert_allclose(x[4], np.linalg.solve(self.a[4], self.b[4]))
        _, row = self.record("S.npy", "--pivot", "none", status=4)

    def test_bad_input(self):
        self.save("F.npy", np.asfortranarray(self.a))
        self.save("R.npy", self.a[:, :3])
        self.save("four.npy", np.zeros((2, 2, 3, 3)))
        for arguments, text in ((["A.npy", "--method", "lu"], "--method is not for batches"),
                                (["A.npy", "--refine"], "--refine is not for batches"),
                                (["A.npy", "--device-memory", "1G"], "--device-memory is not for batches"),
                                (["A.npy", "-d", "0,0"], "one device solves alone"),
                                (["A.npy", "R.npy"], "expected 5 x 4 or 5 x 4 x k"),
                                (["F.npy"], "Fortran order; expected C order"),
                                (["R.npy"], "its members must be square"),
                                (["four.npy"], "has 4 dimensions"),
                                (["A.npy", "-o", "X.csv", "B.npy"], ".npy")):
            with self.subTest(arguments=arguments):
                self.assertIn(text, self.lugpu("solve", *arguments, status=2).stderr)


class BatchBenchTest(CommandLine):
    BENCH = ["bench", "--batch", "20", "--runs", "1", "--min-time", "0", "--json", "r.json"]

    def test_table_json_and_resume(self):
        done = self.lugpu(*self.BENCH, "-n", "3,8", "--precision", "single,double")
        report = (self.folder / "r.json").read_text(encoding="utf-8")
        rows = parse_report(report)
        self.assertEqual(len(rows), 2 * 2 * (3 + 2))
        self.assertEqual({row["status"] for row in rows}, {"ok"})
        self.assertEqual({row["routine"] for row in rows}, {"lu-batch", "getrf", "getc2"})
        for row in rows:
            self.assertLess(row["checks"]["solve_ratio"], 30)
            self.assertEqual(row["bandwidth"] is None, row["implementation"] != "lugpu")
        self.assert_narrow(done.stdout)
        self.lugpu(*self.BENCH, "-n", "3,8,9", "--precision", "single,double", "--resume")
        again = json.loads((self.folder / "r.json").read_text(encoding="utf-8"))["results"]
        self.assertEqual(again[:20], json.loads(report)["results"])
        self.assertEqual(len(again), 30)
        shutil.copy(self.folder / "r.json", self.folder / "s.json")
        done = self.lugpu("compare", "r.json", "s.json", "--json", "c.json")
        compared = json.loads((self.folder / "c.json").read_text(encoding="utf-8"))["comparison"]
        self.assertEqual(len(compared["cases"]), 30)

    def test_bad_input(self):
        for arguments, text in ((["-n", "513"], "at most 512, not 513"),
                                (["--pivot", "rook"], "--pivot rook is not for --batch"),
                                (["--method", "lu"], "--method is not for --batch"),
                                (["--precision", "mixed"], "mixed is not for --batch"),
                                (["--baseline", "cusolver"], "no rival")):
            with self.subTest(arguments=arguments):
                self.assertIn(text, self.lugpu(*self.BENCH, *arguments, status=2).stderr)


if __name__ == "__main__":
    main()
