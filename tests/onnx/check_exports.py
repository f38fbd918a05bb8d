#!/usr/bin/env python3
"""Checks exported models with ONNX's checker and compares their values in its reference evaluator.

    check_exports.py FOLDER

FOLDER has files X.onnx and, for each call, X.0.safetensors, ... with the inputs and the outputs that are expected; the
test OnnxExport writes them.  PYTHONPATH must lead to PyPI's onnx, which scripts/setup onnx installs in .onnx."""
import json
import pathlib
import sys

import ml_dtypes
import numpy as np
import onnx
from onnx.reference import ReferenceEvaluator

DTYPES = {"F64": "<f8", "F32": "<f4", "F16": "<f2", "I64": "<i8", "I32": "<i4", "I16": "<i2", "I8": "i1", "U8": "u1", "BOOL": "?",
          "BF16": ml_dtypes.bfloat16}


def read_safetensors(path):
    data = path.read_bytes()
    size = int.from_bytes(data[:8], "little")
    tensors = {}
    for name, entry in json.loads(data[8:8 + size]).items():
        if name == "__metadata__":
            continue
        begin, end = entry["data_offsets"]
        flat = np.frombuffer(data[8 + size + begin:8 + size + end], DTYPES[entry["dtype"]])
        tensors[name] = flat.reshape(entry["shape"])
    return tensors


def check(path):
    """Returns the number of outputs that were compared."""
    model = onnx.load(path)
    onnx.checker.check_model(model, full_check=True)
    evaluator = ReferenceEvaluator(model)
    compared = 0
    for call in sorted(path.parent.glob(path.stem + ".*.safetensors")):
        stored = read_safetensors(call)
        inputs = {name: value for name, value in stored.items() if name.startswith("input_")}
        outputs = evaluator.run(None, inputs)
        for output, value in zip(model.graph.output, outputs, strict=True):
            expected = stored[output.name]
            if value.dtype != expected.dtype or value.shape != expected.shape:
                raise AssertionError(f"{call.name}: {output.name} is {value.dtype}{value.shape}, not {expected.dtype}{expected.shape}")
            # A few units in the last place of bfloat16 and float16, which have 8 and 11 bits.
            rtol = {"bfloat16": 2e-2, "float16": 4e-3}.get(str(value.dtype), 1e-3)
            np.testing.assert_allclose(value.astype("f8"), expected.astype("f8"), rtol=rtol, atol=1e-5,
                                       err_msg=f"{call.name}: {output.name}")
            compared += 1
    return compared


def main():
    models = sorted(pathlib.Path(sys.argv[1]).glob("*.onnx"))
    counts = {path.stem: check(path) for path in models}
    print(", ".join(f"{name}: {count} outputs" for name, count in counts.items()))
    return 0 if models and all(counts.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
