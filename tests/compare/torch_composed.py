"""Functions that are made of other ops, as PyTorch calls; see torch_ops.py."""
import math

import torch
import torch.nn.functional as F


def i32(x):
    return x.to(torch.int32)


def both(pair):
    return [pair[0], i32(pair[1])]


def floats(x):
    return x if x.is_floating_point() else x.float()


def over_relu(x):
    return torch.nan_to_num(1.0 / torch.relu(x) if x.is_floating_point() else x, 0.5, 7) * 0.5


ELEMENTS = {
    "exp2": torch.exp2, "frac": torch.frac, "sinc": torch.sinc, "deg2rad": torch.deg2rad,
    "rad2deg": torch.rad2deg, "tanhshrink": lambda x: F.tanhshrink(floats(x)),
    "softshrink": lambda x: F.softshrink(x, 0.7), "hardshrink": F.hardshrink,
    "threshold": lambda x: F.threshold(floats(x), 0.5, -2.0), "logit": torch.logit,
    "logit_clamped": lambda x: torch.logit(floats(x), 0.2), "nan_to_num": over_relu,
    "signbit": torch.signbit, "copysign": torch.copysign, "xlogy": torch.xlogy,
    "hypot": lambda a, b: torch.hypot(a, b.to(a.dtype)),
    "logaddexp": lambda a, b: torch.logaddexp(a, b.to(a.dtype)),
    "logaddexp2": lambda a, b: torch.logaddexp2(a, b.to(a.dtype)),
    "fmax": torch.fmax, "fmin": torch.fmin,
    "isclose": lambda a, b: torch.isclose(a, b.to(a.dtype), 0.1, 0.2, True),
    "heaviside": lambda i, v: [torch.heaviside(i.to(v.dtype), v), torch.heaviside(i, i + 5)],
}


def extrema(x, dim):
    return [*both(torch.cummax(x, dim)), *both(torch.cummin(x, dim))]


def scan_options(f):
    """Exclusive, reversed, and both."""
    def call(x):
        first = torch.full_like(x.narrow(1, 0, min(x.shape[1], 1)), 1.0 if f is torch.cumprod else 0.0)
        row = torch.full_like(x.narrow(0, 0, min(x.shape[0], 1)), 1.0 if f is torch.cumprod else 0.0)
        n, m = x.shape[1], x.shape[0]
        shifted = torch.cat([first, f(x, 1)], 1).narrow(1, 0, n)
        back = f(x.flip(0), 0)
        return [shifted, f(x.flip(1), 1).flip(1), torch.cat([row, back], 0).narrow(0, 0, m).flip(0)]
    return call


def with_nan(x):
    y = torch.where(x.abs() < 0.5, math.nan, x)
    return [y.nansum(1), y.nansum(), y.nanmean(1, True), i32(i32(x).sum(0))]


RUNNING = {
    "running_extremum": {
        "the largest": lambda x: torch.cummax(x, 1)[0], "the least": lambda x: torch.cummin(x, 1)[0],
        "integers": lambda x: torch.cummin(x, 1)[0]},
    "cummax_cummin": {"inner": lambda x: extrema(x, -1), "outer": lambda x: extrema(x, 0),
                      "ties of integers and truth": lambda x, t: [*extrema(x, 1), *extrema(t, 0)]},
    "logcumsumexp": {"inner": lambda x: torch.logcumsumexp(x, 1),
                     "outer, far apart": lambda x: torch.logcumsumexp(x * 100, 0)},
    "diff": {"once and twice": lambda x: [x.diff(), x.diff(n=2, dim=0), x.diff(n=7), x.clone()],
             "truth": lambda x: x.diff()},
    "trapezoid": lambda y, x, z: [torch.trapezoid(y), torch.trapezoid(y, dx=0.5, dim=0), torch.trapezoid(y, x),
                                  torch.trapezoid(y, z, dim=-2)],
    "nansum_nanmean": with_nan,
    "aminmax": lambda x: [*torch.aminmax(x, dim=1, keepdim=True), *torch.aminmax(x)],
}


def reduced(call, sums):
    """What each reduction makes of it, with the input and without."""
    kinds = (["sum"] if sums else []) + ["prod", "mean", "amax", "amin"]
    return lambda x, i, s: [call(x, i.long(), s, kind, own) for own in (True, False) for kind in kinds]


def scatter(x, i, s, kind, own):
    return x.scatter_reduce(1, i, s[:, :i.shape[1]], kind, include_self=own)


def quantiles(x):
    kinds = ["linear", "lower", "higher", "nearest", "midpoint"]
    return [x.quantile(0.3), x.quantile(1.0, 0)] + [x.quantile(0.37, 1, True, interpolation=k) for k in kinds]


def searched(lines, values):
    lines, values = torch.round(lines.mul(2).sort()[0]), values.to(lines.dtype)
    return [i32(torch.searchsorted(lines, values)), i32(torch.searchsorted(lines, values, right=True))]


def bucketed(line, values):
    line = line.sort()[0]
    return [i32(torch.searchsorted(line, values)), i32(torch.bucketize(values, line, right=True))]


PLACES = {
    "scatter_reduce": reduced(scatter, True),
    "index_reduce": reduced(lambda x, i, s, kind, own: x.index_reduce(-1, i, s, kind, include_self=own), False),
    "index_fill": {"rows and columns": lambda x, i: [x.index_fill(1, i.long(), 0.5), x.index_fill(-1, i.long(), -2)]
                   if i.max() < 3 else [x.index_fill(1, i.long(), 0.5), x.index_fill(-1, i[i < 3].long(), -2)],
                   "integers": lambda x, i: x.index_fill(1, i.long(), 7)},
    "index_copy": {"along the middle": lambda x, i, s: copied(x, i, s), "nothing": lambda x, i, s: x.clone()},
    "negative_indices": {
        "from the end": lambda x, i, j: [x.index_select(1, i % 4), x.gather(1, j.long() % 4)],
        "of all": lambda x, i: torch.take(x, i.long())},
    "quantile": quantiles,
    "searchsorted": {"one sequence": bucketed, "a sequence of unknown size for each line": searched},
    "histc": lambda x: [torch.histc(x, 5, -1, 1), torch.histc(x, 4)],
    "triangle_indices": lambda: [i32(t) for t in (torch.tril_indices(3, 4), torch.tril_indices(4, 3, -1),
                                                  torch.triu_indices(3, 4, 1), torch.triu_indices(2, 2, -5))],
}


def copied(x, index, source):
    """Of several rows for one place the last."""
    for k, i in enumerate(index.tolist()):
        x = x.index_copy(1, torch.tensor([i]), source.narrow(1, k, 1))
    return x


def sampled(mode="bilinear", padding="zeros", corners=False):
    return lambda x, g: F.grid_sample(x, g, mode, padding, corners)


def grids(a, b):
    n = a.shape[0]
    return [F.affine_grid(a, (n, 1, 3, 4), False), F.affine_grid(a, (n, 2, 1, 4), True),
            F.affine_grid(b, (n, 1, 2, 3, 2), True)]


def unpooled(x, y, z):
    a, at = F.max_pool1d(x, 2, return_indices=True)
    b, bt = F.max_pool2d(y, 2, return_indices=True)
    c, ct = F.max_pool3d(z, 2, return_indices=True)
    return [F.max_unpool1d(a * 2, at, 2), F.max_unpool2d(b, bt, 2), F.max_unpool3d(c, ct, 2)]


def unpooled_to(x):
    y, at = F.max_pool2d(x, 2, (2, 3), return_indices=True)
    return F.max_unpool2d(y, at, 2, (2, 3), output_size=(5, 7))


def pooled(x, y):
    at = F.max_pool2d(x.float(), 3, padding=1, return_indices=True)
    return [at[0].to(x.dtype), i32(at[1]), F.max_pool1d(y.float(), 2).to(y.dtype),
            F.adaptive_max_pool2d(x.float(), 2).to(x.dtype)]


def padded(*all):
    out = []
    for mode in ("reflect", "replicate", "circular"):
        for x, amounts in zip(all, ((2, 1, 1, 2), (3, -1), (0, 1))):
            y = x.float() if x.dim() > 2 or len(amounts) == 2 else x.float()[None]
            out.append(F.pad(y, amounts, mode).reshape(*x.shape[:x.dim() - len(amounts) // 2],
                                                       *F.pad(y, amounts, mode).shape[-(len(amounts) // 2):])
                       .to(x.dtype))
    return out


def average(x, kernel, stride=None, padding=0, dilation=1, ceil=False, count_padding=True, divisor=None):
    """By windows of one channel; PyTorch has no average over dilated ones."""
    n = x.dim() - 2
    kernel, padding, dilation = ((v,) * n if isinstance(v, int) else v for v in (kernel, padding, dilation))
    stride = kernel if stride is None else ((stride,) * n if isinstance(stride, int) else stride)
    ones, around = torch.ones(1, 1, *kernel, dtype=x.dtype), [p for q in padding[::-1] for p in (q, q)]
    behind = []
    for s, k, t, p, d in list(zip(x.shape[2:], kernel, stride, padding, dilation))[::-1]:
        last = s + 2 * p - d * (k - 1) - 1
        count = min(-(-last // t), (s + p - 1) // t) if ceil else last // t
        behind += [0, max(count * t - last, 0)]
    conv = (F.conv1d, F.conv2d, F.conv3d)[n - 1]
    def sums(y, value):
        y = F.pad(F.pad(y, around, value=value), behind)
        return conv(y.reshape(-1, 1, *y.shape[2:]), ones, stride=stride, dilation=dilation)
    total = sums(x, 0.0)
    counts = divisor or sums(torch.ones(1, 1, *x.shape[2:], dtype=x.dtype), 1.0 if count_padding else 0.0)
    return (total / counts).reshape(*x.shape[:2], *total.shape[2:])


AVERAGES = {
    "planes": lambda x: [average(x, (3, 2), (2, 1), (1, 1), (2, 3)),
                         average(x, 2, (2, 3), 1, 2, count_padding=False),
                         average(x, 2, 3, 0, (3, 1), True, divisor=3), average(x, 2, (3, 2), 1, (3, 2), True)],
    "lines and volumes": lambda x, y: [average(x, 2, dilation=3), average(y, 2, 1, dilation=(2, 1, 3))],
    "a line of unknown length": lambda x: average(x, 2, 2, 1, 2),
}


def norms(x, y):
    return [F.local_response_norm(x, 3), F.local_response_norm(x, 2, 0.5, 0.6, 2), F.local_response_norm(y, 5, 0.1)]


def diagonals(x, y, z):
    return [x.diag(), x.diag(-2), y.diag(1), z.diag_embed(1), z.diag_embed(-1), y.diagflat()]


SAMPLED = {
    "grid_sample": {
        "bilinear": sampled(), "bilinear, corners": sampled(corners=True),
        "bilinear, border": sampled(padding="border"), "bilinear, reflection": sampled(padding="reflection"),
        "bilinear, reflection, corners": sampled(padding="reflection", corners=True),
        "nearest": sampled("nearest"), "nearest, border": sampled("nearest", "border"),
        "bicubic": sampled("bicubic"), "bicubic, border": sampled("bicubic", "border", True),
        "bicubic, reflection": sampled("bicubic", "reflection"), "volumes": sampled(),
        "volumes, nearest": sampled("nearest", "border"), "an image of unknown size": sampled()},
    "affine_grid": {"planes and volumes": grids,
                    "of unknown size": lambda a, x: [F.affine_grid(a, (2, 1, x.shape[0], 3), False),
                                                     F.affine_grid(a, (2, 1, x.shape[0], 3), True)]},
    "max_unpool": {"of one to three dimensions": unpooled, "of a given size": unpooled_to},
    "avg_pool_dilated": AVERAGES, "max_pool_of_integers": pooled, "pad_of_integers": padded,
    "channel_shuffle": lambda x: [F.channel_shuffle(x, 2), F.channel_shuffle(x, 6)],
    "local_response_norm": norms,
    "normalize": lambda x: [F.normalize(x), F.normalize(x, 1, -1), F.normalize(x, 3, 0, 2)],
    "pairwise_distance": lambda a, b: [F.pairwise_distance(a, b), F.pairwise_distance(a, b, 1, 0.1, True)],
    "cdist": lambda a, b: [torch.cdist(a, b), torch.cdist(a, b, 1), torch.cdist(a, b, math.inf)],
    "tensordot": lambda a, b, c: [torch.tensordot(a, b), torch.tensordot(a, c, ([2, 0], [0, 1])),
                                  torch.tensordot(a, c, 0), torch.tensordot(a, c, 1)],
    "kron": lambda a, b, c: [torch.kron(a, b), torch.kron(c, a), torch.kron(a, c)],
    "diag": diagonals,
    "cross": lambda a, b, c, d: [torch.linalg.cross(a, b[None]), torch.linalg.cross(c, d, dim=0)],
}

def space_to_depth(x):
    deep = x.reshape(x.shape[0], 2, 2, 3, 2, 2, 2).permute(0, 2, 4, 6, 5, 3, 1)
    return [deep, deep * deep, deep.sum((1, 3, 5)), deep.amax((1, 3)), deep.softmax(3)]


def in_reverse(x, y):
    back = x.permute(7, 6, 5, 4, 3, 2, 1, 0)
    return [back + y, torch.cat([back, back], 1), back @ back.transpose(-1, -2)]


def of_every_dtype(*all):
    turned = [t.permute(6, 5, 4, 3, 2, 1, 0) for t in all]
    return [part for t in turned for part in (t, t.float(), t.narrow(0, 1, 2))]


def matrix_norms(x):
    return [torch.linalg.matrix_norm(x), torch.linalg.matrix_norm(x, 1), torch.linalg.matrix_norm(x, -math.inf, (1, 2), True),
            torch.linalg.vector_norm(x, 3, 0), torch.linalg.norm(x, math.inf, -1)]


def converted_first(x):
    f = torch.float32
    return [x.sum(1, True, dtype=f), x.mean(1, dtype=f), x.prod(0, dtype=f), x.softmax(1, dtype=f), x.log_softmax(1, dtype=f),
            x.cumsum(0, dtype=f), x.cumprod(1, dtype=torch.int16)]


NAMED = {
    "many_dimensions": {
        "tiles along each of four": lambda x: [x.tile(2, 3, 2, 2), x.repeat(2, 1, 2, 1, 3, 2)],
        "space to depth": space_to_depth, "eight in reverse beside one that is repeated": in_reverse,
        "of every dtype": of_every_dtype},
    "masked_fill_tensor": torch.masked_fill,
    "unfold_along": {"windows that overlap": lambda x: x.unfold(1, 3, 1), "of unknown size": lambda x: x.unfold(0, 2, 2) * 2},
    "diagonal_of_zeros": lambda x: [(x * 1).fill_diagonal_(2), (x * 2).fill_diagonal_(3, True)],
    "integers_with_numbers": lambda x: [x & 5, x | 8, x ^ 3, x << 2, x >> 1, x.div(2, rounding_mode="floor"),
                                        x.div(2, rounding_mode="trunc")],
    "linalg_norms": matrix_norms,
    "converted_first": converted_first,
}

COMPOSED = {**ELEMENTS, **RUNNING, **PLACES, **SAMPLED, **NAMED}
