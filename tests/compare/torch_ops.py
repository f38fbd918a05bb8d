"""The rows of src/testing/op_info as PyTorch calls.

OPS[row] is a function of the inputs, or a dictionary of them by the sample's name; it gives one tensor or
several, with None for what is not compared.
PARTS[row] says why a row has none."""
import math
import sys

import torch
import torch.nn.functional as F

from torch_composed import COMPOSED, scan_options
from torch_orders import ORDERS
from torch_products import PRODUCTS
from torch_windows import WINDOWS

inf = math.inf


def chain(f):
    """f(x, dim, keepdim) for several dims at once, as reductions of one dim do not."""
    def over(x, dims=None, keepdim=False):
        for d in sorted((d % x.dim() for d in (range(x.dim()) if dims is None else dims)), reverse=True):
            x = f(x, d, keepdim)
        return x
    return over


def reduction(f):
    """The samples that all reductions share; f(x, dims or None, keepdim)."""
    return {
        "all": lambda x: f(x, None, False),
        "all of a vector": lambda x: f(x, None, False),
        "the inner dimension": lambda x: f(x, [1], False),
        "a symbolic inner dimension": lambda x: f(x, [-1], True),
        "the outer dimension": lambda x: f(x, [0], False),
        "inner and outer": lambda x: f(x, [0, 2], True),
        "every other": lambda x: f(x, [1, 3], False),
        "i32": lambda x: [f(x, [0], False), f(x, [1], False)],
    }


def all_dims(x, dims):
    return list(range(x.dim())) if dims is None else dims


def i32(x):
    return x.to(torch.int32)


def scan(f):
    def along(dim):
        return lambda x: f(x, dim)
    return {"along 0": along(0), "along 1": along(1), "along -1": along(-1), "long lines": along(1),
            "exclusive and reversed": scan_options(f),
            "integers and truth": lambda x, t: [i32(f(x, 1)), i32(f(t, 0))]}


def reduced(f):
    """Samples by reduction; f(inputs..., reduction)."""
    names = {"each": "none", "sum": "sum", "mean": "mean"}
    return {what: (lambda *x, r=r: f(*x, r)) for what, r in names.items()}


def long(x):
    return x.long()


def of_narrow(*all):
    out = []
    for x in all:
        out += [x.amax(0), x.amin(1), first_positions(x.int(), 1), x.amin(0)]
    return out


def last_positions(f, x, dim, keepdim=False):
    return i32(x.shape[dim] - 1 - f(x.flip(dim), dim, keepdim))


def first_positions(x, dim, keepdim=False):
    return i32(torch.argmax(x, dim, keepdim))


def slope(f):
    """A parameter that is a tensor here and a number in PyTorch."""
    return lambda x, *numbers: f(x, *(float(n.detach().flatten()[0]) for n in numbers))


# Gradients by parameters that PyTorch takes as numbers come from the formulas.
def leaky_relu(x, a):
    return torch.where(x > 0, x, x * a)


def elu(x, a):
    return torch.where(x < 0, a * torch.expm1(torch.where(x > 0, 0, x)), x)


def celu(x, a):
    return torch.where(x > 0, x, a * torch.expm1(torch.where(x > 0, 0, x) / a))


def hardtanh(x, low, high):
    return torch.minimum(torch.maximum(x, low), high)


def bce(p, t): # of one shape there
    return F.binary_cross_entropy(*torch.broadcast_tensors(p, t), reduction="none")


def bce_with_logits(x, t):
    return F.binary_cross_entropy_with_logits(*torch.broadcast_tensors(x, t), reduction="none")


def weighed_bce(p, t, w, r): # whose weight has a gradient
    return by_reduction(bce(p, t) * w, r)


def weighed_bce_with_logits(x, t, w, v, r):
    losses = (1 - t) * x - ((v - 1) * t + 1) * F.logsigmoid(x)
    return by_reduction(losses * w, r) + by_reduction(bce_with_logits(x, t), r)


def by_reduction(x, r):
    return {"none": lambda: x, "sum": x.sum, "mean": x.mean}[r]()


ELEMENTWISE = {
    "neg": torch.neg, "add": torch.add, "sub": torch.sub, "mul": torch.mul, "div": torch.div,
    "square": torch.square, "reciprocal": torch.reciprocal, "abs": torch.abs, "sign": torch.sign,
    "floor": torch.floor, "ceil": torch.ceil, "round": torch.round, "trunc": torch.trunc,
    "fmod": torch.fmod, "remainder": torch.remainder,
    "floor_divide": lambda a, b: torch.div(a, b, rounding_mode="floor"),
    "trunc_divide": lambda a, b: torch.div(a, b, rounding_mode="trunc"),
    "maximum": torch.maximum, "minimum": torch.minimum, "clamp": torch.clamp,
    "clamp_scalar": torch.clamp,
    "exp": torch.exp, "expm1": torch.expm1, "log": torch.log, "log1p": torch.log1p, "log2": torch.log2,
    "log10": torch.log10, "sqrt": torch.sqrt, "rsqrt": torch.rsqrt, "sin": torch.sin, "cos": torch.cos,
    "tan": torch.tan, "asin": torch.asin, "acos": torch.acos, "atan": torch.atan, "sinh": torch.sinh,
    "cosh": torch.cosh, "asinh": torch.asinh, "acosh": torch.acosh, "atanh": torch.atanh,
    "tanh": torch.tanh, "erf": torch.erf, "atan2": torch.atan2, "pow": torch.pow,
    "less": torch.lt, "less_equal": torch.le, "greater": torch.gt, "greater_equal": torch.ge,
    "eq": torch.eq, "not_equal": torch.ne, "logical_and": torch.logical_and,
    "logical_or": torch.logical_or, "logical_not": torch.logical_not, "logical_xor": torch.logical_xor,
    "isnan": torch.isnan, "isinf": torch.isinf, "isfinite": torch.isfinite, "where": torch.where,
    "bitwise_and": torch.bitwise_and, "bitwise_or": torch.bitwise_or, "bitwise_xor": torch.bitwise_xor,
    "bitwise_not": torch.bitwise_not, "left_shift": torch.bitwise_left_shift,
    "right_shift": torch.bitwise_right_shift, "to_bool": lambda x: x.bool(),
    "relu": F.relu, "leaky_relu": leaky_relu, "elu": elu, "celu": celu, "selu": F.selu,
    "hardtanh": hardtanh, "hardsigmoid": F.hardsigmoid, "hardswish": F.hardswish, "mish": F.mish,
    "sigmoid": torch.sigmoid, "silu": F.silu, "softsign": F.softsign, "gelu_erf": F.gelu,
    "gelu_tanh": lambda x: F.gelu(x, approximate="tanh"), "softplus": F.softplus, "bce": bce,
    "bce_with_logits": bce_with_logits,
}

# With their parameters as numbers, for special values: gradients go to the first input only.
WITH_NUMBERS = {"leaky_relu": slope(F.leaky_relu), "elu": slope(F.elu), "celu": slope(F.celu),
                "hardtanh": slope(F.hardtanh), "clamp_scalar": slope(torch.clamp)}

DTYPES = {"f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16, "f64": torch.float64,
          "i64": torch.int64, "i32": torch.int32, "i16": torch.int16, "i8": torch.int8, "u8": torch.uint8,
          "bool": torch.bool}


class Casts(dict):
    """Samples "<dtype> to <dtype>"."""
    def get(self, what, otherwise=None):
        if " to " not in what or what.split(" to ")[1] not in DTYPES:
            return lambda x: x.clone()
        return lambda x: x.to(DTYPES[what.split(" to ")[1]])


def statistics(f):
    return reduction(lambda x, dims, keep: f(x, all_dims(x, dims), keep))


def norm(p):
    return statistics(lambda x, d, k: torch.linalg.vector_norm(x, p, d, k))


REDUCTIONS = {
    "sum": {**reduction(lambda x, d, k: torch.sum(x, all_dims(x, d), k, dtype=None if x.is_floating_point()
                                                  else torch.int32)),
            "bool counts": lambda x: i32(x.sum(1))},
    "amax": {**statistics(torch.amax), "bool and narrow integers": of_narrow,
             "ties share": lambda x: torch.amax((x > 0).to(x.dtype) + x * 0, [1])},
    "amin": statistics(torch.amin),
    "prod": {**reduction(chain(lambda x, d, k: torch.prod(x, d, k, dtype=None if x.is_floating_point()
                                                          else torch.int32))),
             "factors of 0": lambda i, x: [torch.prod(i.to(x.dtype) * x, 1),
                                           torch.prod(torch.where(i == 0, x * 0, x), 0)]},
    "cumsum": scan(torch.cumsum), "cumprod": scan(torch.cumprod),
    "argmax": {**{f"dimension {d}": (lambda x, d=d: [first_positions(x, d), first_positions(x, d, True)])
                  for d in range(3)},
               "ties: the first": lambda x: first_positions(x.float(), 1),
               "ties: the last": lambda x: [last_positions(torch.argmax, x, 1), last_positions(torch.argmax, x, 0, True),
                                            last_positions(torch.argmin, x, 0)]},
    "mean": statistics(torch.mean),
    "max": lambda x: [x.max(1)[0], x.max(-1, True)[0], i32(x.max(1)[1]), i32(x.max(-1, True)[1]), x.max()],
    "var": statistics(lambda x, d, k: torch.var(x, d, keepdim=k)),
    "std": statistics(lambda x, d, k: torch.std(x, d, correction=0, keepdim=k)),
    "norm": norm(2), "norm_of_order_3": norm(3),
    "logsumexp": statistics(torch.logsumexp),
    "norms": {"of orders 1, infinity, minus infinity and 0.5":
                  lambda x: [torch.linalg.vector_norm(x, 1, [1]), torch.linalg.vector_norm(x, inf, [1]),
                             torch.linalg.vector_norm(x, -inf, [1], True),
                             torch.linalg.vector_norm(x, 0.5, [1])],
              "of order 0": lambda x: torch.linalg.vector_norm(x.float(), 0, [1])},
    "all_any": lambda t, i, x: [t.all(1), t.any(0), i.all(), i.any(1, True), x.all(0),
                                i32(torch.count_nonzero(i, 0))],
    "min_argmin": lambda x: [x.min(1)[0], i32(x.min(1)[1]), x.min(), i32(x.argmin(0)), i32(x.argmin()),
                             i32(x.argmax())],
    "sum_to": lambda x: [x.sum_to_size(3, 1), x.sum(), x.clone()],
}

ACTIVATIONS = {
    "relu6": F.relu6, "swish": F.silu, "logsigmoid": F.logsigmoid,
    "softplus_by_beta": lambda x: F.softplus(x, 2, 3), "affine": lambda x: x * 3 - 0.5,
    # (PyTorch has it for f32 only.)
    "fake_quantize_per_tensor_affine": lambda x: torch.fake_quantize_per_tensor_affine(
        x.float(), 0.125, 3, -8, 12).to(x.dtype),
    "fake_quantize_per_channel_affine": lambda x, s, z: torch.fake_quantize_per_channel_affine(
        x.float(), s.float(), z.int(), 1, -8, 12).to(x.dtype),
    "clamp_one_side": lambda x: torch.clamp(x, min=-1) + torch.clamp(x, max=0.5) * 2,
    "number_operands": lambda x: (torch.pow(2, x) + torch.fmod(x, 5) + torch.remainder(x, -2.5)
        + torch.maximum(x, torch.ones_like(x)) * torch.minimum(x, torch.full_like(x, 1.5))
        + torch.lerp(x, x * x, 0.25) + F.hardtanh(x, 0.8, 1.2) + F.celu(x - 1, 0.7)),
    "prelu": lambda x, w: F.prelu(x, w.reshape(-1)),
    "glu": {"at any size": F.glu, "a dimension of unknown size": lambda x: F.glu(x, 1)},
    "div_rounding": lambda x, i: [
        torch.div(x, torch.full_like(x, -2), rounding_mode="floor"),
        torch.div(x, torch.full_like(x, -2), rounding_mode="trunc"),
        torch.div(i, torch.full_like(i, -2), rounding_mode="floor"),
        torch.div(i, torch.full_like(i, 4), rounding_mode="trunc"), torch.floor_divide(i, 3.0)],
    "bits": lambda a, b, s, t: [a & b, a | b, a ^ b, ~a, s & t, s | t, s ^ t, ~s, s & a,
                                torch.bitwise_left_shift(a, b), torch.bitwise_right_shift(a, b)],
}


def with_weights(x, target, weight, r):
    plain = F.cross_entropy(x, target.long(), ignore_index=7, reduction=r)
    return (plain + F.cross_entropy(x, target.long(), weight, ignore_index=2, reduction=r,
                                    label_smoothing=0.1) * 0.5
            + F.nll_loss(x, target.long(), weight, reduction=r))


def nll(x, target, r="mean"):
    return F.nll_loss(x, target.long(), reduction=r)


def entropy(x, target, r="mean"):
    return F.cross_entropy(x, target.long(), reduction=r)


PIXELS = {what + " of pixels": f for what, f in reduced(entropy).items()}

LOSSES = {
    "softmax": {"rows": lambda x: x.softmax(1), "odd rows": lambda x: x.softmax(-1),
                "a symbolic length": lambda x: x.softmax(1), "columns": lambda x: x.softmax(0)},
    "log_softmax": {"rows": lambda x: x.log_softmax(1), "odd rows": lambda x: x.log_softmax(-1),
                    "a symbolic length": lambda x: x.log_softmax(1), "columns": lambda x: x.log_softmax(0)},
    "nll": lambda x, t: F.nll_loss(x, t.long(), ignore_index=4, reduction="none"),
    "nll_loss": reduced(nll), "cross_entropy": {**reduced(entropy), **PIXELS},
    "cross_entropy_options": {
        **reduced(with_weights),
        "pixels, some ignored": lambda x, t: F.cross_entropy(x, t.long(), ignore_index=1,
                                                             label_smoothing=0.2)},
    "cross_entropy_probabilities": reduced(lambda x, p, w, r: F.cross_entropy(x, p, w, reduction=r,
                                                                              label_smoothing=0.1)),
    "mse_loss": lambda x, t: [F.mse_loss(x, t), F.mse_loss(x, t, reduction="sum"),
                              F.mse_loss(x, t, reduction="none")],
    "l1_loss": reduced(lambda x, t, r: F.l1_loss(x, t, reduction=r)),
    "smooth_l1_loss": reduced(lambda x, t, r: F.smooth_l1_loss(x, t, reduction=r, beta=0.7)),
    "huber_loss": reduced(lambda x, t, r: F.huber_loss(x, t, reduction=r, delta=0.7)),
    "bce_loss": reduced(weighed_bce), "bce_with_logits_loss": reduced(weighed_bce_with_logits),
    "kl_div": {**reduced(lambda x, t, r: F.kl_div(x, t, reduction=r)
                         + F.kl_div(x, t.log(), reduction=r, log_target=True)),
               "by the batch, targets of 0 too": lambda x, t: F.kl_div(x, t.clamp(min=0),
                                                                       reduction="batchmean")},
    "cosine_embedding_loss": reduced(lambda a, b, t, r: F.cosine_embedding_loss(a, b, t * 2 - 1, 0.1,
                                                                                reduction=r)),
    "cosine_similarity": F.cosine_similarity,
}


def layer_norm(dims, weight, bias):
    def call(x, *rest):
        w = rest[0] if weight else None
        b = rest[-1] if bias else None
        return F.layer_norm(x, x.shape[-dims:], w, b)
    return call


def batch_norm(training, affine):
    def call(x, w, b, mean, variance):
        if x.numel() == 0 and training: # no statistics: PyTorch has NaN, these change nothing
            return [x * 1, mean.clone(), variance.clone()]
        mean, variance = mean.clone(), variance.clone()
        y = F.batch_norm(x, mean, variance, w if affine else None, b if affine else None, training, 0.2)
        return [y, mean, variance]
    return call


def rms_norm(dims):
    return lambda x, w=None: F.rms_norm(x, x.shape[-dims:], w, 1e-5)


def group_norm(groups):
    return lambda x, w=None, b=None: F.group_norm(x, groups, w, b)


def instance_norm(input_stats):
    def call(x, mean, variance, w=None, b=None):
        mean, variance = mean.clone(), variance.clone()
        if x.numel() == 0:
            return [x * 1, mean, variance]
        return [F.instance_norm(x, mean, variance, w, b, input_stats, 0.2), mean, variance]
    return call


NORMS = {
    "layer_norm": {"rows of texels": layer_norm(1, True, True), "odd rows": layer_norm(1, True, True),
                   "two dimensions": layer_norm(2, True, False), "a bias alone": layer_norm(1, False, True),
                   "long rows": layer_norm(1, False, False), "a symbolic length": layer_norm(1, True, True)},
    "batch_norm": {"training": batch_norm(True, True), "without weights": batch_norm(True, False),
                   "no image": batch_norm(True, True), "one dimension": batch_norm(True, True),
                   "three dimensions": batch_norm(True, True), "no channels": batch_norm(True, True)},
    "batch_norm_evaluation": {"images": batch_norm(False, True), "rows": batch_norm(False, False)},
    "rms_norm": {"rows of texels": rms_norm(1), "odd rows": rms_norm(1), "two dimensions": rms_norm(2),
                 "a symbolic length": rms_norm(1)},
    "group_norm": {"images": group_norm(3), "without weights": group_norm(2), "no image": group_norm(2),
                   "one group": group_norm(1), "three dimensions": group_norm(4)},
    "instance_norm": {"images": instance_norm(True), "one dimension": instance_norm(True),
                      "running statistics": instance_norm(False),
                      "features by running statistics": instance_norm(False)},
    "embedding": lambda i, w: F.embedding(i.long(), w),
}


def shift(x, start, length, sign, value):
    """Rows of x [rows..., T, ...] read at position + sign * start."""
    rows = start.shape
    flat, starts = x.reshape(start.numel(), *x.shape[len(rows):]), start.reshape(-1)
    out = []
    for row, s in zip(flat, starts):
        at = torch.arange(length) + int(s) * sign
        inside = (at >= 0) & (at < row.shape[0])
        picked = (row[at.clamp(0, max(row.shape[0] - 1, 0))] if row.shape[0]
                  else row.new_zeros(length, *row.shape[1:]))
        keep = inside.reshape(-1, *[1] * (row.dim() - 1))
        out.append(torch.where(keep, picked, row.new_tensor(value).to(row.dtype)))
    tail = (length, *x.shape[len(rows) + 1:])
    return torch.stack(out).reshape(*rows, *tail) if out else x.new_zeros(*rows, *tail)


def mask_rows(x, lengths, value=0.0):
    at = torch.arange(x.shape[lengths.dim()])
    keep = at < lengths.unsqueeze(-1)
    return torch.where(keep.reshape(*keep.shape, *[1] * (x.dim() - keep.dim())), x, value)


def dynamic_gather(x, index):
    rows = index.dim() - 1
    size = x.shape[rows]
    inside = (index >= 0) & (index < size)
    i = index.long().clamp(0, max(size - 1, 0))
    more = x.dim() - index.dim()
    wide = i.reshape(*i.shape, *[1] * more).expand(*i.shape, *x.shape[x.dim() - more:])
    return torch.where(inside.reshape(*i.shape, *[1] * more), torch.gather(x, rows, wide), math.nan)


DYNAMIC = {
    "dynamic_shift": {
        "rows of vectors": lambda x, s: shift(x, s, 4, 1, 0.5),
        "whole texels": lambda x, s: shift(x, s, x.shape[1] + 2, -1, -1.0),
        "one start": lambda x, s: shift(x, s, x.shape[0] - 1, 1, 0.0),
        "numbers of one bit, two and four bytes":
            lambda t, h, i, s: [shift(v, s, v.shape[1] + 1, -1, 1) for v in (t, h, i)]},
    "dynamic_mask": {
        "lengths of rows": lambda x, n: mask_rows(x, n, -5.0),
        "a length for each row of two dimensions": mask_rows,
        "a mask that broadcasts": lambda x, m: torch.where(m, x, 2.0),
        "a length that the host knows":
            lambda x, y: torch.where(torch.arange(x.shape[1]) < y.shape[0] // 2, x, 1.0)},
    "dynamic_slice": {
        "windows of rows": lambda x, s: shift(x, s, 3, 1, 0.0),
        "longer than the rows": lambda x, s: shift(x, s, x.shape[1] + 3, 1, 0.0) * 2,
        "empty": lambda x, s: shift(x, s, 0, 1, 0.0)},
    "dynamic_pad": {
        "rows": lambda x, b: shift(x, b, 7, -1, 0.25),
        "back to where it was cut": lambda x, s: shift(shift(x, s, x.shape[1] - 2, 1, 0.0), s, x.shape[1],
                                                       -1, 0.0)},
    "dynamic_gather": {
        "of rows, some outside": dynamic_gather, "of rows": dynamic_gather,
        "equal indices": dynamic_gather, "numbers of rows of two dimensions": dynamic_gather,
        "without rows": lambda x, i: dynamic_gather(x, i) * 2},
}


def scatter_last(x, dim, index, source):
    """Of several sources for one place the last: PyTorch leaves open which."""
    out = x.clone()
    for k in range(index.shape[dim]):
        out = out.scatter(dim, index.narrow(dim, k, 1).long(), source.narrow(dim, k, 1))
    return out


INDEXING = {
    "index_select": {
        "rows and columns": lambda x, i: [x.index_select(1, i), x.index_select(-1, i)],
        "so many indices": lambda x, i: x.index_select(0, i),
        "integers": lambda x, i: x.index_select(1, i)},
    "index_add": lambda x, i, s: [x.index_add(1, i, s), x.index_add(1, i, s, alpha=-0.5)],
    "gather": {"along each dimension": lambda x, i, j: [x.gather(1, i.long()), x.gather(-1, j.long())],
               "of unknown size": lambda x, i: x.gather(0, i.long()),
               "integers": lambda x, i: x.gather(1, i.long())},
    # (Its gradient fails in PyTorch where the source is larger than the index.)
    "scatter_add": {"along each dimension": lambda x, i, s: x.scatter_add(1, i.long(), s[:, :5]),
                    "rows": lambda x, i, s: x.scatter_add(0, i.long(), s)},
    "scatter": {"the last wins": lambda x, i, s: [scatter_last(x, 1, i, s), x.scatter(1, i.long(), 0.5)],
                "integers": lambda x, i, s: scatter_last(x, 0, i, s)},
    "take": lambda x, i: torch.take(x, i.long()),
    "one_hot": lambda i: i32(F.one_hot(i.long(), 4)),
    "select": lambda x: [x.select(1, 2), x.select(-1, -1)],
    "slice": lambda x: [x[:, 1::2], x[:, -4:], x[:, :-2:3], x[:, 9:], x[::2], x[-2:]],
    "repeat": lambda x: [x.repeat(2, 1), x.repeat(2, 1, 3), x.repeat(0, 1)],
    "repeat_interleave": lambda x: [x.repeat_interleave(2, 0), x.repeat_interleave(3, -1)],
    "roll": lambda x: [x.roll(1, 1), x.roll(-1, 0), x.roll(7, 0)],
    "axes": lambda x: [x.movedim(0, -1), x.movedim(2, 1), x.swapaxes(0, 2), x.unsqueeze(1), x.view(-1, 12)],
    "masked_fill": lambda x, m: x.masked_fill(m, -2.5),
    "tril": lambda x: [x.tril(), x.tril(1), x.tril(-2), x.clone()],
    "triu": lambda x: [x.triu(), x.triu(2), x.triu(-1)],
}


def halves(x):
    n = (x.shape[0] - 3) // 2
    a, b, c = torch.split(x, [n, 3, n])
    return [a, b, c * 2]


SHAPES = {
    "reshape": {"rows split": lambda x: x.reshape(x.shape[0] * 2, 3),
                "the rest": lambda x: x.reshape(3, -1) * 2,
                "of a transposed matrix": lambda x: x.t().reshape(-1),
                "to a scalar": lambda x: x.reshape(())},
    "permute": {"three dimensions": lambda x: x.permute(2, 0, 1),
                "transpose": lambda x: x.transpose(0, -1) * 2},
    "expand": {"new and stretched": lambda x: x.expand(2, -1, 4, -1),
               "by the size": lambda x, y: x.expand(y.shape[0], 3) * 2},
    "narrow": {"the inner dimension": lambda x: x.narrow(1, 2, 3),
               "all but the first": lambda x: x.narrow(0, 1, x.shape[0] - 1) * 2,
               "from the end": lambda x: x.narrow(1, -2, 2) * x.narrow(1, 1, 2),
               "nothing": lambda x: x.narrow(1, 3, 0)},
    "flip": {"two dimensions": lambda x: x.flip(0, -1),
             "of a transposed matrix": lambda x: x.t().flip(0) * 2},
    "contiguous": {"of a transposed matrix": lambda x: x.t().contiguous(), "of what is": lambda x: x.clone(),
                   "bool": lambda x: x.t().contiguous(), "f16": lambda x: x.t().contiguous()},
    "squeeze": lambda x: [x.squeeze() if x.shape[0] != 1 else x.reshape(1, 3), x.squeeze(1),
                          x.unsqueeze(-1), x.flatten(1), x.flatten()],
    "split": {"symbolic sizes": halves, "one that is not used": lambda x: x.split(3, 1)[1],
              "of a permuted tensor": lambda x: list(x.permute(2, 0, 1, 3).unbind(0))},
    "chunk": {"a symbolic size": lambda x: list(x.chunk(3, 1)),
              "a smaller last one": lambda x: list(x.chunk(3)),
              "fewer than requested": lambda x: list(x.chunk(5))},
    "cat": {"outer": lambda *x: torch.cat(x, 0), "inner": lambda *x: torch.cat(x, -1),
            "texels": lambda *x: torch.cat(x, 1), "vectors, one empty": lambda *x: torch.cat(x, 0),
            "i32": lambda *x: torch.cat(x, 0),
            "bool and f16": lambda a, b: [torch.cat([a, a], 1), torch.cat([b, b, b], 0)],
            "of two dtypes": lambda a, b: torch.cat([a, b]) * 2,
            "nothing and one": lambda x: torch.cat([x.new_zeros(0), x], 1) * 2},
    "stack": {"in the middle": lambda *x: torch.stack(x, 1), "last": lambda *x: torch.stack(x, -1)},
    "pad": {"two dimensions": lambda x: F.pad(x, (1, 2, 0, 3), value=0.5),
            "symbolic amounts": lambda x: [F.pad(x, (0, 0, 1, x.shape[0] + 2)), F.pad(x, (x.shape[0], 0))],
            "cut off": lambda x: [F.pad(x, (-1, 2, 1, -3)), F.pad(x, (-1, -1)) * 2],
            "i32": lambda x: F.pad(x, (1, 0), value=-7),
            "f16 and bool": lambda h, t: [F.pad(h, (1, 2), value=0.1), F.pad(t, (0, 2, 1, 0), value=True)]},
    "unbind": lambda x: list(x.unbind(-1)),
    "full": {d: (lambda x, t=t: [torch.full(x.shape, 1).to(t), torch.full(x.shape, 37).to(t),
                                 torch.zeros(x.shape[0], dtype=t)]) for d, t in DTYPES.items()},
    "arange": {d: (lambda x, t=t: torch.arange(x.shape[0]).to(t)) for d, t in DTYPES.items()},
}
SHAPES["full"]["a size as a number"] = lambda x: [
    x.new_tensor(x.shape[0] * 3.0), x * (x.shape[0] * 3), x.new_full((2, 2), x.shape[0] * 3)]


class Lion(torch.optim.Optimizer):
    """As published (arXiv:2302.06675, algorithm 2): PyTorch has none."""
    def __init__(self, parameters, lr, betas=(0.9, 0.99), weight_decay=0, maximize=False):
        super().__init__(parameters, dict(lr=lr, betas=betas, weight_decay=weight_decay, maximize=maximize))

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            lr, (b1, b2) = group["lr"], group["betas"]
            for p in group["params"]:
                g = -p.grad if group["maximize"] else p.grad
                m = self.state[p].setdefault("exp_avg", torch.zeros_like(p))
                p.mul_(1 - lr * group["weight_decay"])
                p.sub_(lr * torch.sign(b1 * m + (1 - b1) * g))
                m.mul_(b2).add_(g, alpha=1 - b2)


def optimizer(where, name):
    def samples():
        return type("Options", (dict,), {"get": lambda self, what, otherwise=None: trajectory(what)})()

    def trajectory(options):
        def run(p, gradients):
            p = p.detach().clone().requires_grad_()
            opt = eval(f"{where}.{name}([p], {options})")
            after = []
            for g in gradients:
                p.grad = g
                opt.step()
                after.append(p.detach().clone())
            return torch.stack(after)
        return run
    return samples()


OPTIMIZERS = {f"optim.{name}": optimizer("torch.optim", name)
              for name in ("SGD", "Adam", "AdamW", "RMSprop", "Adagrad")}
OPTIMIZERS["optim.Lion"] = optimizer("sys.modules[__name__]", "Lion")

OPS = {**ELEMENTWISE, "cast": Casts(), **REDUCTIONS, **ACTIVATIONS, **LOSSES, **NORMS, **DYNAMIC, **INDEXING,
       **SHAPES, **PRODUCTS, **WINDOWS, **ORDERS, **COMPOSED, **OPTIMIZERS}

# Samples that have no counterpart though their rows do.
WITHOUT = {(row, what): "random numbers of our own" for row, what in (
    ("scaled_dot_product_attention", "dropout"), ("scaled_dot_product_attention", "wide heads and a mask"),
    ("attention", "many keys, dropout"), ("attention", "numbers"), ("attention", "tiles"))}

PARTS = {
    **{row: "random numbers of our own" for row in (
        "random_uniform", "random_normal", "dropout", "dropout1d_2d_3d", "alpha_dropout",
        "random_integers", "randperm", "bernoulli", "normal", "multinomial")},
    **{row: "the gradient of " + of for row, of in {
        "softmax_vjp": "softmax", "log_softmax_vjp": "log_softmax", "nll_vjp": "nll",
        "layer_norm_vjp": "layer_norm", "layer_norm_weight_vjp": "layer_norm",
        "embedding_vjp": "embedding", "batch_norm_vjp": "batch_norm", "max_pool_vjp": "max_pool", "max_pool_take": "max_pool",
        "resample_vjp": "resample", "sort_vjp": "sort", "group_norm_vjp": "group_norm",
        "attention_vjp": "attention"}.items()},
    **{row: "a part of " + of for row, of in {
        "batch_norm_update": "batch_norm", "last_positions": "scatter", "reduce_rows": "scatter_reduce",
        "host_scalar": "optim.SGD",
        "sgd_step": "optim.SGD", "adam_step": "optim.Adam", "rmsprop_step": "optim.RMSprop",
        "adagrad_step": "optim.Adagrad", "lion_step": "optim.Lion", "unscale": "amp.GradScaler"}.items()},
    **{row: "of formats of ggml, and compared with the gguf package" for row in (
        "quantize", "dequantize", "quantized_matmul", "quantized_linear")},
    **{row: "of rows that are compared" for row in (
        "images_of_any_size", "products_of_any_size", "broadcasts_of_any_size", "shapes_of_any_size")},
}
