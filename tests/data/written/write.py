#!/usr/bin/python3
"""Writes the files of this folder anew: one 3 x 3 matrix in every format that is read, by other
programs. v73.mat has the attributes that MATLAB gives its matrices."""

import gzip
from pathlib import Path

import h5py
import numpy as np
import scipy.io
import scipy.sparse

HERE = Path(__file__).resolve().parent
DENSE = np.array([[1.5, -2, 0], [0, 3.25, 1e-30], [4, 0, 0.1]])
SPARSE = scipy.sparse.csc_matrix(DENSE)


def write_attribute(item, name, value):
    """A text as MATLAB writes it, which ends with its length."""
    kind = h5py.h5t.C_S1.copy()
    kind.set_size(len(value))
    kind.set_strpad(h5py.h5t.STR_NULLTERM)
    attribute = h5py.h5a.create(item.id, name, kind, h5py.h5s.create(h5py.h5s.SCALAR))
    attribute.write(np.array(value), mtype=kind)


def write_v73(path):
    with h5py.File(path, "w", userblock_size=512) as file:
        write_attribute(file.create_dataset("D", data=DENSE.T), b"MATLAB_class", b"double")
        group = file.create_group("S")
        write_attribute(group, b"MATLAB_class", b"double")
        group.attrs["MATLAB_sparse"] = np.uint64(3)
        group["data"] = SPARSE.data
        group["ir"] = SPARSE.indices.astype(np.uint64)
        group["jc"] = SPARSE.indptr.astype(np.uint64)
    with open(path, "r+b") as file:
        file.write(b"MATLAB 7.3 MAT-file, Platform: GLNXA64".ljust(116) + bytes(8) + b"\0\2IM")


def main():
    scipy.io.mmwrite(HERE / "coordinate.mtx", SPARSE, precision=17)
    (HERE / "coordinate.mtx.gz").write_bytes(
        gzip.compress((HERE / "coordinate.mtx").read_bytes(), mtime=0))
    (HERE / "coordinate.mtx").unlink()
    np.savez(HERE / "stored.npz", D=DENSE)
    np.savez_compressed(HERE / "deflated.npz", D=np.asfortranarray(DENSE), F=DENSE.astype("f4"))
    np.savetxt(HERE / "rows.txt", DENSE)
    np.savetxt(HERE / "rows.tsv", DENSE, delimiter="\t")
    scipy.io.savemat(HERE / "v5.mat", {"D": DENSE, "S": SPARSE, "text": "abc"})
    scipy.io.savemat(HERE / "v7.mat", {"D": DENSE, "S": SPARSE, "Problem": {"A": SPARSE}},
                     do_compression=True)
    write_v73(HERE / "v73.mat")
    scipy.io.hb_write(HERE / "matrix.rua", SPARSE)


if __name__ == "__main__":
    main()
