#!/usr/bin/env python3
"""Writes the models of tests/io/models with the official packages: types.gguf with values and tensors of each type, and
shards/, a safetensors model in two files with its index, as Hugging Face's libraries write it.

    scripts/make_model_fixtures.py [--out FOLDER]

Needs gguf, safetensors and numpy, which the tests do not. Element k of each tensor of numbers is k - 3; quantised
tensors are those of numbers k / 64 - 1, or bytes k % 251 where gguf can't quantise."""
import argparse
import json
import pathlib

import gguf
import numpy as np
from gguf.constants import GGML_QUANT_SIZES
from safetensors.numpy import save_file

ROOT = pathlib.Path(__file__).resolve().parent.parent
Q = gguf.GGMLQuantizationType


def numbers(shape, dtype):
    return (np.arange(np.prod(shape, dtype=int)) - 3).reshape(shape).astype(dtype)


def write_gguf(path):
    out = gguf.GGUFWriter(path, "test")
    out.add_uint8("u8", 200)
    out.add_int8("i8", -100)
    out.add_uint16("u16", 60000)
    out.add_int16("i16", -30000)
    out.add_uint32("u32", 4000000000)
    out.add_int32("i32", -2000000000)
    out.add_uint64("u64", 2**63 + 1)
    out.add_int64("i64", -(2**62))
    out.add_float32("f32", 0.5)
    out.add_float64("f64", 0.1)
    out.add_bool("bool", True)
    out.add_string("text", "Grüße")
    out.add_array("texts", ["a", "", "bc"])
    out.add_array("integers", [1, -2, 3])
    out.add_array("numbers", [0.5, -1.5])
    for dtype in (np.float32, np.float16, np.float64, np.int8, np.int16, np.int32, np.int64):
        out.add_tensor(np.dtype(dtype).name, numbers((2, 3, 4), dtype))
    halves = (numbers((5,), np.float32).view(np.uint32) >> 16).astype(np.uint16)
    out.add_tensor("bfloat16", halves.view(np.uint8), raw_dtype=Q.BF16)
    for quantised in (Q.Q8_0, Q.Q4_0):
        values = (np.arange(3 * 64, dtype=np.float32) / 64 - 1).reshape(3, 64)
        out.add_tensor(quantised.name, gguf.quants.quantize(values, quantised), raw_dtype=quantised)
    blocks = 2 * GGML_QUANT_SIZES[Q.Q4_K][1]
    out.add_tensor("Q4_K", (np.arange(3 * blocks) % 251).astype(np.uint8).reshape(3, blocks), raw_dtype=Q.Q4_K)
    out.write_header_to_file()
    out.write_kv_data_to_file()
    out.write_tensors_to_file()
    out.close()


def write_shards(folder):
    shards = [{"a.weight": numbers((2, 3), np.float32), "a.bias": numbers((2,), np.float16)},
              {"b.weight": numbers((4,), np.int64)}]
    weight_map, size = {}, 0
    for number, tensors in enumerate(shards, 1):
        name = f"model-{number:05}-of-{len(shards):05}.safetensors"
        save_file(tensors, folder / name, metadata={"format": "pt"})
        weight_map.update(dict.fromkeys(tensors, name))
        size += sum(t.nbytes for t in tensors.values())
    index = {"metadata": {"total_size": size}, "weight_map": weight_map}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index, indent=2, sort_keys=True) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "tests/io/models")
    out = parser.parse_args().out
    (out / "shards").mkdir(parents=True, exist_ok=True)
    write_gguf(out / "types.gguf")
    write_shards(out / "shards")


if __name__ == "__main__":
    main()
