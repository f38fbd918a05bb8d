#!/usr/bin/env python3
"""Writes tests/follow/pytorch.safetensors: PyTorch's results for the models of tests/follow.

    scripts/make_pytorch_fixture.py [--data DIR] [--out FILE]

Needs torch, transformers and numpy, which the tests do not. The images are from Fashion-MNIST's training set (Debian:
dataset-fashion-mnist); weights and latents follow from formulas. Each model is trained in f32 and in f64 from
the same f32 weights and inputs, with each of its optimizers. The file contains

    images u8 [N, 1, 28, 28], labels i32 [N], batch_sizes i32 [steps]
    <model>_<optimizer>.losses.<f32, f64>    [steps], each before its update
    <model>.gradient.<parameter>.<f32, f64>  [n], of step 1, n <= SAMPLES: value k has index k * size / n
    <model>.largest.<parameter>.<f32, f64>   [1]: the largest absolute entry
    ....autocast                             the same of AUTOCAST's models, in f32 with torch.autocast("cpu", bfloat16)"""
import argparse
import gzip
import json
import pathlib
import struct

import numpy as np
import torch
import torch.nn.functional as F
import transformers
from torch import nn

ROOT = pathlib.Path(__file__).resolve().parent.parent
STEPS = 20
FIRST = 720 # first image; from here on no activation is so close to a kink that rounding decides its side
BATCH_SIZES = [(8, 16, 12)[step % 3] for step in range(STEPS)]
SAMPLES = 150
DRAWS = 2024 # seed
NEGLIGIBLE = 1e-6 # gradients of at most this size are rounding: softmax does not depend on the bias of a key


def read_idx(path):
    data = gzip.decompress(path.read_bytes())
    sizes = struct.unpack(f">{data[3]}I", data[4 : 4 + 4 * data[3]])
    return np.frombuffer(data, np.uint8, offset=4 + 4 * data[3]).reshape(sizes)


def mix(x):
    """Applies lowbias32 of github.com/skeeto/hash-prospector: u32 -> u32."""
    x = (x ^ (x >> np.uint32(16))) * np.uint32(0x7FEB352D)
    x = (x ^ (x >> np.uint32(15))) * np.uint32(0x846CA68B)
    return x ^ (x >> np.uint32(16))


def numbers(stream, shape):
    """Returns numbers from U(-1, 1): f32 represents 24 bits exactly."""
    size = int(np.prod(shape))
    bits = mix(np.arange(size, dtype=np.uint32) + np.uint32(stream << 24)) >> np.uint32(8)
    return ((bits.astype(np.int32) - (1 << 23)).astype(np.float32) * np.float32(2.0**-23)).reshape(shape)


def weights(parameter, shape, fan_in):
    """Returns numbers from U(-1, 1) / sqrt(fan_in), PyTorch's default, with one rounding of the product."""
    return torch.from_numpy(numbers(parameter, shape) * np.float32(1 / np.sqrt(float(fan_in))))


def set_weights(model):
    fan_in = 0
    with torch.no_grad():
        for number, p in enumerate(model.parameters()):
            if p.dim() > 1:
                fan_in = p[0].numel() # a bias follows its weight
            p.copy_(weights(number, tuple(p.shape), fan_in))
        for name, p in model.named_parameters():
            if name.endswith("LayerNorm.weight"): # those of BERT
                p += 1


class CNN(nn.Module): # as in train_cnn_b128_adam of bench/torch_bench.py
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


class MLP(nn.Module): # as in train_mlp_b128_sgd
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(784, 512)
        self.b = nn.Linear(512, 512)
        self.c = nn.Linear(512, 10)

    def forward(self, x):
        return self.c(F.relu(self.b(F.relu(self.a(x.flatten(1))))))


class Block(nn.Module): # a small version of that in train_gptmini_b16_adamw
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
        self.blocks = nn.ModuleList([Block() for _ in range(4)])
        self.lnf = nn.LayerNorm(32)
        self.head = nn.Linear(32, 10, bias=False)

    def forward(self, x):
        i = (x[:, :, 13:15] * 15).round().to(torch.int32).flatten(1)[:, :54]
        x = self.tok(i) + self.pos.weight[:54]
        for block in self.blocks:
            x = block(x)
        return self.head(self.lnf(x)).mean(1)


class BERT(nn.Module): # transformers' BERT; two rows of the image as a text of 20 to 50 tokens, then padding
    def __init__(self):
        super().__init__()
        self.net = transformers.BertForSequenceClassification(transformers.BertConfig(
            vocab_size=17, hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=96,
            max_position_embeddings=60, hidden_dropout_prob=0, attention_probs_dropout_prob=0, num_labels=10))

    def forward(self, x):
        i = (x[:, :, 13:15] * 15).round().to(torch.int32).flatten(1) + 1
        i = i * (torch.arange(56) < 2 * i[:, 40:41] + 18)
        return self.net(input_ids=i, attention_mask=(i != 0).long()).logits


class Residual(nn.Module):
    def __init__(self, inside, out, stride):
        super().__init__()
        self.c1 = nn.Conv2d(inside, out, 3, stride=stride, padding=1, bias=False)
        self.n1 = nn.BatchNorm2d(out)
        self.c2 = nn.Conv2d(out, out, 3, padding=1, bias=False)
        self.n2 = nn.BatchNorm2d(out)
        self.short = nn.Conv2d(inside, out, 1, stride=stride, bias=False) if stride > 1 else None

    def forward(self, x):
        y = self.n2(self.c2(F.relu(self.n1(self.c1(x)))))
        return F.relu(y + (x if self.short is None else self.short(x)))


class ResNet8(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(1, 8, 3, stride=2, padding=1, bias=False)
        self.norm = nn.BatchNorm2d(8)
        self.blocks = nn.ModuleList([Residual(8, 8, 1), Residual(8, 16, 2), Residual(16, 32, 2)])
        self.head = nn.Linear(32, 10)

    def forward(self, x):
        x = F.relu(self.norm(self.stem(x)))
        for block in self.blocks:
            x = block(x)
        return self.head(x.mean((2, 3)))


class LSTM(nn.Module): # composed of ops; reads 14 rows of the image, one per step
    def __init__(self):
        super().__init__()
        self.input = nn.Linear(28, 64)
        self.state = nn.Linear(16, 64, bias=False)
        self.head = nn.Linear(16, 10)

    def forward(self, x):
        h = c = x.new_zeros(x.shape[0], 16)
        for row in x[:, 0, 7:21].unbind(1):
            i, f, g, o = (self.input(row) + self.state(h)).chunk(4, 1)
            c = f.sigmoid() * c + i.sigmoid() * g.tanh()
            h = o.sigmoid() * c.tanh()
        return self.head(h)


class VideoNet(nn.Module): # for clips [B, 1, 5, 20, 20]
    def __init__(self):
        super().__init__()
        self.c1 = nn.Conv3d(1, 8, 3, stride=(1, 2, 2), padding=1, bias=False)
        self.n1 = nn.BatchNorm3d(8)
        self.c2 = nn.Conv3d(8, 16, 3, stride=2, padding=1)
        self.c3 = nn.Conv3d(16, 16, (3, 1, 1))
        self.head = nn.Linear(16, 10)

    def forward(self, x): # a camera that moves across the image
        x = torch.stack([x[:, :, t : t + 20, 2 * t : 2 * t + 20] for t in range(5)], 2)
        x = F.silu(self.n1(self.c1(x)))
        x = F.silu(self.c3(F.silu(self.c2(x))))
        return self.head(x.mean((2, 3, 4)))


class Denoiser(nn.Module): # predicts the noise in latents [B, 4, size, size]
    def __init__(self, channels, size):
        super().__init__()
        self.size = size
        self.layers = nn.ModuleList([nn.Conv2d(a, b, 3, padding=1) for a, b in zip(channels, channels[1:])])

    def forward(self, x):
        for layer in self.layers[:-1]:
            x = F.silu(layer(x))
        return self.layers[-1](x)


class TimedDenoiser(nn.Module): # also gets the noise level of each latent
    def __init__(self):
        super().__init__()
        self.size = 16
        self.time = nn.Embedding(50, 32)
        self.a = nn.Conv2d(4, 32, 3, padding=1)
        self.b = nn.Conv2d(32, 4, 3, padding=1)

    def forward(self, x, t):
        return self.b(F.silu(self.a(x) + self.time(t)[:, :, None, None]))


def classification(model, step, dtype, x, y):
    at = sum(BATCH_SIZES[:step])
    part = slice(at, at + BATCH_SIZES[step])
    return F.cross_entropy(model(x[part].to(dtype)), y[part])


def latents(step, dtype, size):
    shape = (4, 4, size, size)
    return [torch.from_numpy(numbers(stream + step, shape)).to(dtype) for stream in (100, 150)]


def denoising(model, step, dtype, *_):
    clean, noise = latents(step, dtype, model.size)
    return F.mse_loss(model(clean * 0.75 + noise * 0.5), noise)


def philox(counter, key):
    """Returns 4 words of Philox 4x32-10, as Reprise draws them."""
    word, (c, k) = 2**32, (list(counter), list(key))
    for _ in range(10):
        a, b = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
        c = [b // word ^ c[1] ^ k[0], b % word, a // word ^ c[3] ^ k[1], a % word]
        k = [(k[0] + 0x9E3779B9) % word, (k[1] + 0xBB67AE85) % word]
    return c


def timed_denoising(model, step, dtype, *_):
    """Draws time steps as Reprise's randint(50, {4}) does once per step after manual_seed(DRAWS)."""
    clean, noise = latents(step, dtype, model.size)
    t = torch.tensor([w * 50 >> 32 for w in philox((0, 0, step, 0), (DRAWS, 0))])
    share = (t.to(dtype) / 50)[:, None, None, None]
    return F.mse_loss(model(clean * (1 - share) + noise * share, t), noise)


def sgd(lr):
    return lambda p: torch.optim.SGD(p, lr=lr, momentum=0.9)


def adam(p):
    return torch.optim.Adam(p, lr=1e-3)


MODELS = { # constructor, loss, optimizers
    "cnn": (CNN, classification, {"sgd": sgd(0.07)}),
    "mlp": (MLP, classification, {"sgd": sgd(0.05), "adam": adam}),
    "resnet": (ResNet8, classification, {"sgd": sgd(0.02), "adam": adam}),
    "gpt": (GPT, classification, {"sgd": sgd(0.02), "adamw": lambda p: torch.optim.AdamW(p, lr=1e-3)}),
    "bert": (BERT, classification, {"adamw": lambda p: torch.optim.AdamW(p, lr=5e-5)}),
    "lstm": (LSTM, classification, {"sgd": sgd(0.1), "adam": adam}),
    "video": (VideoNet, classification, {"sgd": sgd(0.1), "adam": adam}),
    "denoiser": (lambda: Denoiser([4, 64, 128, 64, 4], 32), denoising, {"sgd": sgd(0.1), "adam": adam}),
    "plain": (lambda: Denoiser([4, 64, 128, 4], 16), denoising, {"sgd": sgd(0.1), "adam": adam}),
    "timed": (TimedDenoiser, timed_denoising, {"sgd": sgd(0.1), "adam": adam}),
}


AUTOCAST = ["cnn_sgd", "resnet_sgd", "gpt_sgd", "bert_adamw"]


def train(name, optimizer_name, dtype, x, y, autocast=False):
    """Returns the losses, and the gradients of step 1 by parameter."""
    make, loss_of, optimizers = MODELS[name]
    model = make()
    set_weights(model)
    model.to(dtype)
    optimizer = optimizers[optimizer_name](model.parameters())
    losses, first = [], {}
    for step in range(STEPS):
        with torch.autocast("cpu", torch.bfloat16, enabled=autocast):
            loss = loss_of(model, step, dtype, x, y)
        optimizer.zero_grad()
        loss.backward()
        first = first or {n: p.grad.detach().flatten().numpy().copy() for n, p in model.named_parameters()}
        optimizer.step()
        losses.append(loss.item())
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
    for name, optimizer in [(m, o) for m, (_, _, optimizers) in MODELS.items() for o in optimizers]:
        results = {"f32": train(name, optimizer, torch.float32, x, y),
                   "f64": train(name, optimizer, torch.float64, x, y)}
        if f"{name}_{optimizer}" in AUTOCAST:
            results["autocast"] = train(name, optimizer, torch.float32, x, y, autocast=True)
        for kind, (losses, gradients) in results.items():
            tensors[f"{name}_{optimizer}.losses.{kind}"] = losses
            for parameter, g in gradients.items(): # the gradients of step 1 are the same for each optimizer
                n = min(SAMPLES, g.size)
                tensors[f"{name}.gradient.{parameter}.{kind}"] = g[np.arange(n) * g.size // n]
                tensors[f"{name}.largest.{parameter}.{kind}"] = np.abs(g).max(keepdims=True)
        (a, g32), (b, g64) = results["f32"], results["f64"]
        error = max(np.abs(g32[p] - g64[p]).max() / max(np.abs(g64[p]).max(), NEGLIGIBLE) for p in g64)
        print(f"{name} with {optimizer}: losses {b[0]:.4f} to {b[-1]:.4f}; "
              f"f32 from f64: losses {np.abs(a - b).max():.1e}, gradients {error:.1e} of the largest entry")
    metadata = {
        "made by": f"scripts/make_pytorch_fixture.py, PyTorch {torch.__version__}",
        "images": f"{FIRST} to {FIRST + count - 1} of the training set of Fashion-MNIST",
        "images' licence": "(c) 2017 Zalando SE, MIT",
    }
    save(args.out, tensors, metadata)
    print(f"{args.out}: {args.out.stat().st_size} bytes")


if __name__ == "__main__":
    main()
