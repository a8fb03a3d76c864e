#!/usr/bin/python3
"""`lugpu bench --problem`: methods and rivals on grids, to one tolerance."""

import json

import scipy.io
import scipy.sparse

from program import CommandLine, main, parse_report

DIRECT = ["fast-diagonal", "banded", "lu-blocked"]
ITERATIVE = ["multigrid-cg", "cg", "gauss-seidel", "jacobi"]
PLAIN = ["plain-jacobi", "plain-gauss-seidel", "plain-cg", "gbtrf"]


class ProblemTest(CommandLine):
    BENCH = ["bench", "--problem", "poisson2d", "--grid", "8", "--runs", "1", "--min-time", "0"]

    def rows(self, *arguments, status=0):
        done = self.lugpu(*self.BENCH, *arguments, "--json", "r.json", "--force", status=status)
        return done.stdout, parse_report((self.folder / "r.json").read_text(encoding="utf-8"))

    def test_table_answer_and_json(self):
        """Every method and rival once, each checked; then the fastest one."""
        text, rows = self.rows("--baseline", ",".join(PLAIN))
        self.assert_narrow(text)
        self.assertEqual([row["routine"] for row in rows if row["implementation"] == "lugpu"],
                         DIRECT + ITERATIVE)
        self.assertEqual({row["routine"] for row in rows if row["implementation"] != "lugpu"},
                         set(PLAIN))
        for row in rows:
            with self.subTest(routine=row["routine"]):
                self.assertEqual((row["status"], row["n"], row["grid"]), ("ok", 64, 8))
                self.assertLessEqual(row["checks"]["residual"], 1.01e-6)
                self.assertLess(row["checks"]["error"], 0.02)
                self.assertEqual(row["iterations"] is None, row["routine"] in DIRECT + ["gbtrf"])
                self.assertRegex(text, rf"(?m)^8\^2 +{row['routine']} ")
        self.assertIn("Fastest to 1e-06, poisson2d in double precision", text)

    def test_other_load(self):
        """What other programs had of the machine, of a case that lasted long enough; also of simulations."""
        flags = ["--grid", "16", "--method", "cg", "--baseline", "none", "--min-time", "0.3", "--timeout", "300"]
        for problem in ("poisson2d", "fluid2d"):
            for row in self.results("bench", "--problem", problem, *flags):
                self.assertTrue(0 <= row["other_load"] <= 1, row["other_load"])

    def test_tolerance_and_iterations(self):
        flags = ["--baseline", "none", "--method", "jacobi"]
        _, rows = self.rows(*flags, "--tolerance", "1e-3")
        few = rows[0]["iterations"]
        _, rows = self.rows(*flags, "--tolerance", "1e-9")
        self.assertGreater(rows[0]["iterations"], few)
        self.assertEqual(len({len(rows[0]["residuals"]) > 2}), 1)
        text, rows = self.rows(*flags, "--iterations", "3", status=4)
        self.assertEqual((rows[0]["status"], rows[0]["iterations"]), ("failed", 3))
        self.assertIsNone(rows[0]["median_s"])
        self.assertIn("after 3 sweeps", text)

    def test_indefinite(self):
        """What an iteration cannot solve is a failure with its reason; the others go on."""
        text, rows = self.rows("--problem", "helmholtz2d", "--baseline", "none", "--method",
                               "cg,banded", status=4)
        found = {(row["problem"], row["routine"]): row["status"] for row in rows}
        self.assertEqual(found["helmholtz2d", "cg"], "failed")
        self.assertEqual(found["helmholtz2d", "banded"], "ok")
        self.assertIn("not positive definite", text)

    def test_resume(self):
        """Rows that are there are not run again."""
        flags = ["--baseline", "none", "--method", "cg,banded"]
        self.lugpu(*self.BENCH, *flags, "--json", "r.json")
        before = json.loads((self.folder / "r.json").read_text(encoding="utf-8"))["results"]
        self.lugpu(*self.BENCH, "--baseline", "none", "--method", "cg,banded,jacobi", "--json",
                   "r.json", "--resume")
        after = json.loads((self.folder / "r.json").read_text(encoding="utf-8"))["results"]
        self.assertEqual(after[:2], before)
        self.assertEqual([row["routine"] for row in after[2:]], ["jacobi"])

    def files(self):
        """A symmetric matrix and one that is not."""
        line = scipy.sparse.diags([-1.0, 2.0, -1.0], [-1, 0, 1], shape=(20, 20))
        unsymmetric = scipy.sparse.diags([-2.0, 5.0, -1.0], [-3, 0, 1], shape=(300, 300))
        for name, a in (("s.mtx", scipy.sparse.kronsum(line, line)), ("u.mtx", unsymmetric)):
            scipy.io.mmwrite(self.folder / name, scipy.sparse.coo_matrix(a), symmetry="general")
        return ["bench", "--problem", "s.mtx,u.mtx", "--runs", "1", "--min-time", "0"]

    def test_files(self):
        """By every method and rival for stored matrices; the others say why not."""
        bench = self.files()
        text = self.lugpu(*bench, "--json", "r.json").stdout
        self.assert_narrow(text)
        rows = parse_report((self.folder / "r.json").read_text(encoding="utf-8"))
        symmetric = {"banded", "lu-blocked", "cg", "gauss-seidel", "jacobi", "gbtrf"}
        for name, possible in (("s.mtx", symmetric), ("u.mtx", symmetric - {"cg"})):
            own = {row["routine"]: row for row in rows if row["matrix"] == name}
            self.assertEqual(set(own) - {"cholmod", "viennacl-cg", "viennacl-amg-cg"},
                             {*DIRECT, *ITERATIVE, *PLAIN})
            for routine, row in own.items():
                with self.subTest(matrix=name, routine=routine):
                    self.assertIsNone(row["grid"])
                    if routine in possible:
                        self.assertEqual(row["status"], "ok", row["reason"])
                        self.assertLessEqual(row["checks"]["residual"], 1.01e-6)
                        self.assertLess(row["checks"]["error"], 1e-3)
                    elif row["status"] != "ok":
                        self.assertEqual(row["status"], "unsupported")
            self.assertIn(f"Fastest to 1e-06, {name} in double precision", " ".join(text.split()))
        self.lugpu(*bench, "--json", "r.json", "--resume")
        self.assertEqual(parse_report((self.folder / "r.json").read_text(encoding="utf-8")), rows)

    def test_bad_files(self):
        self.files()
        self.write("dense.mtx", [[1.0, 2.0], [3.0, 4.0]])
        self.refused("bench", "--problem", "none.mtx", words=["none.mtx"])
        self.refused("bench", "--problem", "dense.mtx", words=["sparse"])
        self.refused("bench", "--problem", "s.mtx", "--json", "s.mtx", words=["overwrite"])

    def test_bad_usage(self):
        for flags, word in ((["--problem", "poisson4d"], "poisson4d"),
                            (["--problem", "poisson2d", "--grid", "0"], "--grid"),
                            (["--problem", "poisson3d", "--grid", "100000"], "--grid"),
                            (["--problem", "poisson2d", "--tolerance", "0"], "--tolerance"),
                            (["--problem", "poisson2d", "--iterations", "0"], "--iterations"),
                            (["--problem", "poisson2d", "--sizes", "8"], "--sizes"),
                            (["--problem", "poisson2d", "--method", "gauss-jordan"],
                             "gauss-jordan"),
                            (["--problem", "poisson2d", "--baseline", "getrf"], "getrf"),
                            (["--problem", "poisson2d", "--precision", "mixed"], "mixed"),
                            (["--grid", "8"], "--grid"), (["--tolerance", "1e-6"], "--tolerance"),
                            (["--method", "cg"], "cg")):
            with self.subTest(flags=flags):
                self.refused("bench", *flags, "--json", "p.json", words=[word])


if __name__ == "__main__":
    main()
