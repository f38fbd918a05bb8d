#!/usr/bin/env python3
"""Writes tests/follow/pytorch.safetensors: what PyTorch makes of the models of tests/follow.

    scripts/make_pytorch_fixture.py [--data DIR] [--out FILE]

Needs torch and numpy, which the tests do not. Images of Fashion-MNIST's training set (Debian:
dataset-fashion-mnist), weights by formula. Each model is trained twice, in f32 and in f64 from the same
f32 weights and pixels. The file holds

    images u8 [N, 1, 28, 28], labels i32 [N], batch_sizes i32 [steps]
    <model>.losses.<f32, f64>                [steps], each before its update
    <model>.gradient.<parameter>.<f32, f64>  [n], of step 1, at most SAMPLES: number k stands at k * size / n
    <model>.largest.<parameter>.<f32, f64>   [1]: the largest absolute entry"""
import argparse
import gzip
import json
import pathlib
import struct

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

ROOT = pathlib.Path(__file__).resolve().parent.parent
STEPS = 20
FIRST = 720 # image; from here on no activation lies so near a kink that rounding decides on which side
BATCH_SIZES = [(8, 16, 12)[step % 3] for step in range(STEPS)]
SAMPLES = 1000


def read_idx(path):
    data = gzip.decompress(path.read_bytes())
    sizes = struct.unpack(f">{data[3]}I", data[4 : 4 + 4 * data[3]])
    return np.frombuffer(data, np.uint8, offset=4 + 4 * data[3]).reshape(sizes)


def mix(x):
    """lowbias32 of github.com/skeeto/hash-prospector: u32 -> u32"""
    x = (x ^ (x >> np.uint32(16))) * np.uint32(0x7FEB352D)
    x = (x ^ (x >> np.uint32(15))) * np.uint32(0x846CA68B)
    return x ^ (x >> np.uint32(16))


def weights(parameter, shape, fan_in):
    """U(-1, 1) / sqrt(fan_in), PyTorch's default: 24 bits make an exact f32, then one product is rounded."""
    size = int(np.prod(shape))
    bits = mix(np.arange(size, dtype=np.uint32) + np.uint32(parameter << 24)) >> np.uint32(8)
    unit = (bits.astype(np.int32) - (1 << 23)).astype(np.float32) * np.float32(2.0**-23)
    return torch.from_numpy((unit * np.float32(1 / np.sqrt(float(fan_in)))).reshape(shape))


def set_weights(model):
    fan_in = 0
    with torch.no_grad():
        for number, p in enumerate(model.parameters()):
            if p.dim() > 1:
                fan_in = p[0].numel() # a bias follows its weight
            p.copy_(weights(number, tuple(p.shape), fan_in))


class CNN(nn.Module): # that of train_cnn_b128_adam in bench/torch_bench.py
    def __init__(self):
        super().__init__()
        self.c1 = nn.Conv2d(1, 32, 3, padding=1)
        self.c2 = nn.Conv2d(32, 64, 3, padding=1)
        self.f1 = nn.Linear(3136, 128)
        self.f2 = nn.Linear(128, 10)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.c1(x)), 2)
        x = F.max_pool2d(F.relu(self.c2(x)), 2)
        return self.f2(F.relu(self.f1(x.flatten(1))))


class MLP(nn.Module): # that of train_mlp_b128_sgd
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(784, 512)
        self.b = nn.Linear(512, 512)
        self.c = nn.Linear(512, 10)

    def forward(self, x):
        return self.c(F.relu(self.b(F.relu(self.a(x.flatten(1))))))


class Block(nn.Module): # that of train_gptmini_b16_adamw in small
    def __init__(self):
        super().__init__()
        self.ln1 = nn.LayerNorm(32)
        self.qkv = nn.Linear(32, 96)
        self.proj = nn.Linear(32, 32)
        self.ln2 = nn.LayerNorm(32)
        self.up = nn.Linear(32, 128)
        self.down = nn.Linear(128, 32)

    def forward(self, x):
        b, t, d = x.shape
        q, k, v = self.qkv(self.ln1(x)).view(b, t, 3, 2, d // 2).permute(2, 0, 3, 1, 4)
        a = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.proj(a.transpose(1, 2).reshape(b, t, d))
        return x + self.down(F.gelu(self.up(self.ln2(x)), approximate="tanh"))


class GPT(nn.Module): # two rows of the image as 54 tokens: an odd number of texels
    def __init__(self):
        super().__init__()
        self.tok = nn.Embedding(16, 32)
        self.pos = nn.Embedding(60, 32)
        self.blocks = nn.ModuleList([Block(), Block()])
        self.lnf = nn.LayerNorm(32)
        self.head = nn.Linear(32, 10, bias=False)

    def forward(self, x):
        i = (x[:, :, 13:15] * 15).round().to(torch.int32).flatten(1)[:, :54]
        x = self.tok(i) + self.pos.weight[:54]
        for block in self.blocks:
            x = block(x)
        return self.head(self.lnf(x)).mean(1)


MODELS = {
    "cnn": (CNN, lambda p: torch.optim.SGD(p, lr=0.07, momentum=0.9)),
    "mlp_sgd": (MLP, lambda p: torch.optim.SGD(p, lr=0.05, momentum=0.9)),
    "mlp_adam": (MLP, lambda p: torch.optim.Adam(p, lr=1e-3)),
    "gpt_adamw": (GPT, lambda p: torch.optim.AdamW(p, lr=1e-3)),
}


def train(name, dtype, x, y):
    """Losses, and the gradients of step 1 by parameter."""
    make, optimizer_of = MODELS[name]
    model = make()
    set_weights(model)
    model.to(dtype)
    optimizer = optimizer_of(model.parameters())
    losses, first, at = [], {}, 0
    for size in BATCH_SIZES:
        loss = F.cross_entropy(model(x[at : at + size].to(dtype)), y[at : at + size])
        optimizer.zero_grad()
        loss.backward()
        first = first or {n: p.grad.detach().flatten().numpy().copy() for n, p in model.named_parameters()}
        optimizer.step()
        losses.append(loss.item())
        at += size
    return np.array(losses, np.float32 if dtype == torch.float32 else np.float64), first


def save(path, tensors, metadata):
    names = {"float32": "F32", "float64": "F64", "uint8": "U8", "int32": "I32"}
    header, at = {"__metadata__": metadata}, 0
    for name, a in tensors.items():
        header[name] = {"dtype": names[a.dtype.name], "shape": a.shape, "data_offsets": [at, at + a.nbytes]}
        at += a.nbytes
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(struct.pack("<Q", len(text)) + text + b"".join(a.tobytes() for a in tensors.values()))


def main():
    plain = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=plain)
    parser.add_argument("--data", type=pathlib.Path, default="/usr/share/datasets/fashion-mnist")
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "tests/follow/pytorch.safetensors")
    args = parser.parse_args()
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)

    count = sum(BATCH_SIZES)
    chosen = slice(FIRST, FIRST + count)
    images = read_idx(args.data / "train-images-idx3-ubyte.gz")[chosen].reshape(count, 1, 28, 28)
    labels = read_idx(args.data / "train-labels-idx1-ubyte.gz")[chosen].astype(np.int32)
    tensors = {"images": images, "labels": labels, "batch_sizes": np.array(BATCH_SIZES, np.int32)}
    x = torch.from_numpy(images.astype(np.float32) / np.float32(255))
    y = torch.from_numpy(labels.astype(np.int64))
    for name in MODELS:
        results = {"f32": train(name, torch.float32, x, y), "f64": train(name, torch.float64, x, y)}
        for kind, (losses, gradients) in results.items():
            tensors[f"{name}.losses.{kind}"] = losses
            for parameter, g in gradients.items():
                n = min(SAMPLES, g.size)
                tensors[f"{name}.gradient.{parameter}.{kind}"] = g[np.arange(n) * g.size // n]
                tensors[f"{name}.largest.{parameter}.{kind}"] = np.abs(g).max(keepdims=True)
        (a, g32), (b, g64) = results["f32"], results["f64"]
        error = max(np.abs(g32[p] - g64[p]).max() / np.abs(g64[p]).max() for p in g64)
        print(f"{name}: losses {b[0]:.4f} to {b[-1]:.4f}; f32 from f64: losses {np.abs(a - b).max():.1e}, "
              f"gradients {error:.1e} of the largest entry")
    metadata = {
        "made by": f"scripts/make_pytorch_fixture.py, PyTorch {torch.__version__}",
        "images": f"{FIRST} to {FIRST + count - 1} of the training set of Fashion-MNIST",
        "images' licence": "(c) 2017 Zalando SE, MIT",
    }
    save(args.out, tensors, metadata)
    print(f"{args.out}: {args.out.stat().st_size} bytes")


if __name__ == "__main__":
    main()
