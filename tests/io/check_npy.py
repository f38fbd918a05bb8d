#!/usr/bin/env python3
"""Reads the arrays that the test Npy.WritesFilesForNumPy wrote by NumPy and compares them.

    check_npy.py FOLDER

PYTHONPATH must lead to NumPy, which scripts/setup onnx installs in .onnx."""
import pathlib
import sys

import numpy as np

DTYPES = {"f32": "float32", "f64": "float64", "f16": "float16", "i64": "int64", "i32": "int32", "i16": "int16", "i8": "int8",
          "u8": "uint8", "bool": "bool"}


def check(name, found):
    expected = np.arange(12).reshape(3, 4).astype(DTYPES[name])
    assert found.dtype == expected.dtype and found.shape == expected.shape, (name, found.dtype, found.shape)
    assert (found == expected).all(), (name, found)


def main():
    folder = pathlib.Path(sys.argv[1])
    for name in DTYPES:
        check(name, np.load(folder / f"{name}.npy"))
    for archive in ("stored.npz", "deflated.npz"):
        with np.load(folder / archive) as arrays:
            assert sorted(arrays) == sorted(DTYPES), sorted(arrays)
            for name in DTYPES:
                check(name, arrays[name])
    print(f"{len(DTYPES)} arrays, 2 archives")


if __name__ == "__main__":
    main()
