#!/usr/bin/python3
"""`lugpu advise`."""

import itertools
import json
import re

from program import (PIVOTS, PRECISIONS, VALIDATOR, CommandLine, dominant_matrix, main,
                     random_matrix, refuse_constant)


class AdviseTest(CommandLine):
    """One system in every way, and which of them is enough."""

    def advise(self, *arguments, status=0):
        """Its results by pivoting and precision, the recommended one, and the advice."""
        report = json.loads(self.lugpu("advise", *arguments, "--json", "-", status=status).stdout,
                            parse_constant=refuse_constant)
        VALIDATOR.validate(report)
        rows = {(row["pivot"], row["precision"]): row for row in report["results"]}
        self.assertEqual(set(rows), set(itertools.product([*PIVOTS, "rook"],
                                                          [*PRECISIONS, "mixed"])))
        best = report["advice"]["best"]
        return rows, None if best is None else report["results"][best], report["advice"]

    def test_table_and_sentence(self):
        """A row for each run, one of them marked; 80 columns, whatever is in them."""
        for kind in ("random", "tiny-pivot", "near-overflow-double"):
            text = self.lugpu("advise", self.generate(kind, 50)).stdout
            self.assert_narrow(text)
            rows = re.findall(r"(?m)^[> ] (\w+) +(single|double|mixed)\*? +(lu\S*) ", text)
            self.assertEqual(len(rows), 3 * len([*PIVOTS, "rook"]))
            self.assertEqual("mixed* " in text,
                             "*: factored in double after all" in " ".join(text.split()))
            marked, = re.findall(r"(?m)^> (\w+) +(\w+) ", text)
            self.assertIn(f"Use --pivot {marked[0]} --precision {marked[1]}: it guarantees", text)

    def test_easy(self):
        """Every run is stable, and the safest one is recommended; the sentence names the alternatives."""
        self.write("a.npy", dominant_matrix(60))
        rows, best, advice = self.advise("a.npy")
        self.assertEqual({row["status"] for row in rows.values()}, {"ok"})
        self.assertEqual((best["pivot"], best["precision"]), ("partial", "double"))
        self.assertIn("would not need pivoting", advice["sentence"])
        self.assertRegex(advice["sentence"], "single precision guarantees [1-6] digits")

    def test_same_advice_each_time(self):
        """Noise, which a busy machine has plenty of, decides nothing."""
        for kind, n in (("random", 100), ("graded", 60), ("hilbert", 12)):
            self.generate(kind, n)
            advice = [self.advise("a.mtx")[2] for _ in range(3)]
            self.assertEqual(advice, advice[:1] * 3)

    def test_no_pivoting_that_is_worse(self):
        """A graded matrix: its backward error is 300 times that of partial pivoting."""
        rows, best, advice = self.advise(self.generate("graded", 100))
        self.assertGreater(rows["none", "double"]["checks"]["hpl_residual"],
                           10 * rows["partial", "double"]["checks"]["hpl_residual"])
        self.assertEqual((best["pivot"], best["precision"]), ("partial", "double"))
        self.assertIn("without pivoting the backward error is", advice["sentence"])

    def test_digits(self):
        """Single precision is enough for few digits, and no run for too many."""
        self.generate("random", 100)
        _, best, advice = self.advise("a.mtx")
        self.assertEqual((best["pivot"], best["precision"]), ("partial", "double"))
        _, best, few = self.advise("a.mtx", "--digits", "1")
        self.assertEqual((best["pivot"], best["precision"]), ("partial", "single"))
        self.assertIn("(1 wanted)", few["sentence"])
        self.assertEqual(few["digits"], 1)
        _, best, _ = self.advise("a.mtx", "--digits", str(advice["digits"]))
        self.assertEqual((best["pivot"], best["precision"]), ("partial", "double"))
        _, best, many = self.advise("a.mtx", "--digits", "15", status=4)
        self.assertIsNone(best)
        self.assertIn("No run guarantees 15 digits", many["sentence"])

    def test_nothing_finishes(self):
        """Nothing about stability; a failure while running."""
        self.generate("random", 1000, "a.npy")
        rows, best, advice = self.advise("a.npy", "--timeout", "0.001", status=1)
        self.assertEqual({row["status"] for row in rows.values()}, {"skipped"})
        self.assertIsNone(best)
        self.assertIn("No run finished within the timeout", advice["sentence"])
        self.assertNotIn("stable", advice["sentence"])

    def test_growth(self):
        """Neither without pivoting nor with partial pivoting."""
        rows, best, _ = self.advise(self.generate("wilkinson", 100))
        for precision in PRECISIONS:
            self.assertEqual(rows["none", precision]["status"], "failed")
            self.assertEqual(rows["partial", precision]["status"], "failed")
        self.assertIn(best["pivot"], ("rook", "full"))

    def test_ill_conditioned(self):
        """Double, since single would leave no digit."""
        _, best, advice = self.advise(self.generate("ill-conditioned", 60))
        self.assertEqual(best["precision"], "double")
        self.assertIn("single precision guarantees no digit", advice["sentence"])

    def test_singular(self):
        """Status 3, and the same sentence on stderr."""
        self.generate("singular", 20)
        _, best, advice = self.advise("a.mtx", status=3)
        self.assertIsNone(best)
        self.assertTrue(advice["singular"])
        done = self.lugpu("advise", "a.mtx", "-q", status=3)
        self.assertEqual((done.stdout, done.stderr), ("", "lugpu: a.mtx: A is singular: every "
                                                          "pivoting ends at a zero pivot.\n"))

    def test_right_hand_side(self):
        a = self.write("a.csv", random_matrix(5, 5))
        rows, _, _ = self.advise(a, self.write("b.csv", random_matrix(5, 3, seed=2)))
        self.assertEqual({row["nrhs"] for row in rows.values()}, {3})

    def test_bad_input(self):
        self.write("a.csv", [[1.0, 2.0]])
        self.write("b.csv", [[1.0]])
        for arguments in ([], ["none.mtx"], ["a.csv"], ["b.csv", "a.csv", "b.csv"], [""],
                          ["b.csv", "--timeout", "0"], ["b.csv", "--digits", "0"],
                          ["b.csv", "--digits", "16"], ["b.csv", "--digits", "many"],
                          ["b.csv", "--digits", "0x3"]):
            with self.subTest(arguments=arguments):
                self.refused("advise", *arguments)


if __name__ == "__main__":
    main()
