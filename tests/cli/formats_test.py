#!/usr/bin/python3
"""Files that other programs write, and standard input, give the same numbers; what is malformed
costs one sentence."""

import gzip
import io
import struct
import subprocess
import unittest

import numpy as np
import scipy.io
import scipy.sparse

from program import CommandLine, main, measures, random_matrix

try:
    import h5py
except ImportError:
    h5py = None


class FormatsTest(CommandLine):
    def setUp(self):
        super().setUp()
        self.write("one.csv", np.eye(4))
        self.a = random_matrix(4, 4)
        self.topic = self.lugpu("help", "formats").stdout

    def has(self, library):
        return f"built without {library}" not in self.topic

    def matrix_in(self, name, **streams):
        """As lugpu reads it: what solves the system whose matrix is one."""
        done = subprocess.run([self.program, "solve", "one.csv", *name.split(), "-q", "-o", "x.npy", "--force"],
                              cwd=self.folder, env=self.environment(None), timeout=60,
                              capture_output=True, **streams)
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        return np.load(self.folder / "x.npy")

    def assert_reads(self, name, a, **streams):
        np.testing.assert_array_equal(self.matrix_in(name, **streams), a)

    def test_numpy_archives(self):
        if not self.has("libzip"):
            self.skipTest("built without libzip")
        a = self.a
        path = self.folder / "a.npz"
        for save in (np.savez, np.savez_compressed):
            save(path, a)
            self.assert_reads("a.npz", a)
            save(path, c=a, fortran=np.asfortranarray(a), swapped=a.astype(">f8"))
            for name in ("c", "fortran", "swapped"):
                self.assert_reads(f"a.npz:{name}", a)
            self.refused("solve", "a.npz", words=["a.npz: ", "'c', 'fortran', 'swapped'", "FILE:NAME"])
            self.refused("solve", "a.npz:d", words=["a.npz:d: ", "'c', 'fortran', 'swapped'"])
        for kind in ("f4", "i1", "u2", "i8", "?"):
            b = (a * 100).astype(kind)
            np.savez_compressed(path, b)
            self.assert_reads("a.npz", b.astype(float))
        np.savez(path, 1j * a)
        self.refused("solve", "a.npz", words=["a.npz:arr_0: ", "complex"])

    def test_matlab(self):
        a = self.a
        path = self.folder / "a.mat"
        for compressed in (False, True):
            for b in (a, a.astype("f4"), *((a * 50).astype(kind) for kind in ("i1", "u2", "i4", "i8", "?"))):
                scipy.io.savemat(path, {"b": b, "text": "abc"}, do_compression=compressed)
                self.assert_reads("a.mat", b.astype(float))
            sparse = scipy.sparse.csc_matrix(np.where(abs(a) > 0.5, a, 0))
            scipy.io.savemat(path, {"a": a, "sparse": sparse}, do_compression=compressed)
            self.assert_reads("a.mat:sparse", sparse.toarray())
            self.refused("solve", "a.mat", words=["a.mat: ", "'a', 'sparse'", "FILE:NAME"])
            scipy.io.savemat(path, {"a": 1j * a}, do_compression=compressed)
            self.refused("solve", "a.mat", words=["a.mat: ", "complex"])
        scipy.io.savemat(path, {"a": np.ones((2, 2, 2))})
        self.refused("solve", "a.mat", words=["3 dimensions"])

    def test_matlab_sparse_with_too_few_values(self):
        """As many indices as the columns say, and one value less."""
        path = self.folder / "a.mat"
        scipy.io.savemat(path, {"a": scipy.sparse.eye(4, format="csc")})
        data = bytearray(path.read_bytes())
        values = len(data) - 4 * 8  # behind the number of their bytes
        for place in (132, values - 4):  # of the variable, of its values
            size, = struct.unpack_from("<I", data, place)
            struct.pack_into("<I", data, place, size - 8)
        path.write_bytes(data[:-8])
        self.refused("solve", "a.mat", words=["a.mat: ", "the entries of a sparse matrix are incomplete"])

    def write_mat73(self, name, padding):
        """MATLAB's version 7.3 as h5py writes it, with strings of this kind."""
        with h5py.File(self.folder / name, "w", userblock_size=512) as file:
            data = file.create_dataset("a", data=np.ascontiguousarray(self.a.T))
            kind = h5py.h5t.C_S1.copy()
            kind.set_size(len("double"))
            kind.set_strpad(padding)
            space = h5py.h5s.create(h5py.h5s.SCALAR)
            h5py.h5a.create(data.id, b"MATLAB_class", kind, space).write(np.array(b"double"), mtype=kind)
        with open(self.folder / name, "r+b") as file:
            file.write(b"MATLAB 7.3 MAT-file".ljust(124) + b"\x00\x02IM")

    @unittest.skipUnless(h5py, "there is no h5py")
    def test_matlab_of_h5py(self):
        if not self.has("libmatio"):
            self.skipTest("built without libmatio")
        self.write_mat73("a.mat", h5py.h5t.STR_NULLTERM)
        self.assert_reads("a.mat", self.a)
        self.write_mat73("b.mat", h5py.h5t.STR_NULLPAD)
        self.refused("solve", "b.mat", words=["b.mat: ", "MATLAB_class", "null-terminated"])

    def test_sparse_files_stay_sparse(self):
        """The same matrix in every format is solved alike."""
        a = scipy.sparse.csc_matrix(np.diag(np.arange(1.0, 9)) + np.diag(np.full(7, 0.1), 1))
        scipy.io.mmwrite(self.folder / "a.mtx", a, precision=17)
        (self.folder / "b.mtx.gz").write_bytes(gzip.compress((self.folder / "a.mtx").read_bytes()))
        scipy.io.hb_write(self.folder / "c.hb", a)
        scipy.io.savemat(self.folder / "d.mat", {"a": a})
        wanted = self.lugpu("solve", "a.mtx", "--method", "banded").stdout
        self.assertIn("15 entries", wanted)
        for name in ("b.mtx.gz", "c.hb", "d.mat"):
            with self.subTest(name=name):
                self.assertIn("15 entries", self.lugpu("solve", name, "--method", "banded").stdout)

    def test_text(self):
        np.savetxt(self.folder / "a.txt", self.a, fmt="%.17g")
        np.savetxt(self.folder / "a.tsv", self.a, fmt="%.17g", delimiter="\t")
        self.assert_reads("a.txt", self.a)
        self.assert_reads("a.tsv", self.a)
        for name, separator in (("x.txt", " "), ("x.tsv", "\t")):
            self.lugpu("solve", "one.csv", "a.txt", "-o", name)
            np.testing.assert_array_equal(np.loadtxt(self.folder / name, delimiter=separator), self.a)

    def test_standard_input(self):
        """Through a pipe and from a file, as A or as B."""
        array = io.BytesIO()
        np.save(array, self.a)
        market = io.BytesIO()
        scipy.io.mmwrite(market, self.a, precision=17)
        for kind, content in (("npy", array.getvalue()), ("mtx", market.getvalue()),
                              ("mtx.gz", gzip.compress(market.getvalue()))):
            self.assert_reads(f"- --format {kind}", self.a, input=content)
            with open(self.folder / self.write("in", content), "rb") as file:
                self.assert_reads(f"- --format {kind}", self.a, stdin=file)
        done = subprocess.run([self.program, "solve", "-", "--format", "csv"], input=b"2,0\n0,4\n", cwd=self.folder,
                              env=self.environment(None), capture_output=True, timeout=60)
        self.assertEqual(done.returncode, 0)
        self.assertIn(b"standard input, 2 x 2", done.stdout)

    def test_standard_input_is_refused(self):
        def refused(content, *arguments):
            done = subprocess.run([self.program, *arguments], input=content, cwd=self.folder,
                                  env=self.environment(None), capture_output=True, timeout=60)
            self.assertEqual(done.returncode, 2)
            return done.stderr.decode()

        for command in ("solve", "advise"):
            self.assertIn("standard input:2: ", refused(b"1,2\n3\n", command, "-", "--format", "csv"))
            self.assertIn("empty", refused(b"", command, "-", "--format", "csv"))
            self.assertIn("not both", refused(b"1", command, "-", "-", "--format", "csv"))
            self.assertIn("--format", refused(b"1", command, "-"))
            self.assertIn("is for standard input", refused(b"1", command, "one.csv", "--format", "csv"))
            self.assertIn(".npy", refused(b"\x93NUMPY", command, "-", "--format", "csv"))

    @measures
    def test_bombs(self):
        """A small file of much text costs little memory."""
        with gzip.open(self.folder / "bomb.mtx.gz", "wb", compresslevel=1) as file:
            file.write(b"%%MatrixMarket matrix array real general\n")
            for _ in range(160):  # what this process takes would count as lugpu's
                file.write(b"\n" * 2**20)
        status, _, memory = self.cost_of("solve", "bomb.mtx.gz")
        self.assertEqual(status, 2)
        self.assertLess(memory, 2**27)

    def test_help(self):
        """All formats, and what is missing in this program."""
        for extension in (".mtx", ".mtx.gz", ".npy", ".npz", ".csv", ".tsv", ".txt", ".mat", ".hb", ".rua", ".rb"):
            self.assertIn(f" {extension}", self.topic)
        self.assertRegex(self.topic, r"(by|built without) libzip")


if __name__ == "__main__":
    main()
