"""The inputs on which ops are compared: what the rows draw, other shapes, special values, many elements."""
import itertools
import math
import zlib

import numpy as np

from torch_ops import ELEMENTWISE, OPS, PARTS, WITHOUT, WITH_NUMBERS

NUMPY = {"f32": np.float32, "f16": np.float16, "bf16": np.float32, "f64": np.float64, "i64": np.int64,
         "i32": np.int32, "i16": np.int16, "i8": np.int8, "u8": np.uint8, "bool": np.bool_}
FLOATING = ("f32", "f16", "bf16", "f64")
LARGEST = 3000 # elements of a case that a row draws

SPECIAL = [0.0, -0.0, 1, -1, 0.5, -0.5, 1.5, 2, -2, 2.5, -2.5, 3, -3, 6, 0.1, math.pi / 2, 20, -20, 20.5,
           88, -88, 104, -104, 1000.5, 16777217, 1e30, -1e30, 1e38, -3e38, 1e-30, -1e-30, 2.4e-38, 1e-40,
           -1e-44, math.inf, -math.inf, math.nan]
FEW = [0.0, -0.0, 1, -1, 0.5, 2.5, 1e30, -1e-30, 1e-40, math.inf, -math.inf, math.nan]
# Where PyTorch refuses other values: by row and input.
ALLOWED = {("bce", 0): [0, 1e-40, 1e-30, 1e-12, 0.25, 0.5, 1 - 2.0**-24, 1],
           ("bce", 1): [0, 0.25, 1],
           # At -1, where the function is NaN, the slope is an infinity of another sign.
           ("acosh", 0): [v for v in SPECIAL if v != -1],
           # There 1e30 cancels; infinity times 0 is NaN here.
           ("bce_with_logits", 0): [v for v in SPECIAL if not math.isinf(v)],
           ("bce_with_logits", 1): [0, 0.25, 1],
           # There the slope at infinity is NaN, here 0.
           ("softsign", 0): [v for v in SPECIAL if not math.isinf(v)]}
# Inputs whose gradients are compared, where not all are: PyTorch's by the target takes the logarithms before
# they are bounded.
ONLY = {"bce": [0]}
# Numbers that PyTorch takes in place of tensors.
NUMBERS = {"clamp_scalar": [[-1.25, 1.25], [0.5, 6.5], [1, 2], [1.25, -1.25]], "leaky_relu": [[0.01], [1]],
           "elu": [[1], [1.5]], "celu": [[1], [0.5]], "hardtanh": [[-1, 1], [0, 6]]}
TINY = [1e-30, -3e-30, 2.5e-33, 1e-20, -7e-10, 1e-5]


class Case:
    def __init__(self, row, sample, inputs, label, only=None, each=False, bound=None):
        self.row, self.sample, self.inputs, self.label = row, sample, inputs, label
        self.only = only   # inputs whose gradients are compared; None: all
        self.each = each   # the tolerance is that of each element, not of the largest
        self.bound = bound # the largest error of a sum
        self.random = np.random.default_rng(zlib.crc32((row["name"] + label).encode()))
        self.call = self.find_call()

    def find_call(self):
        call = OPS[self.row["name"]]
        if self.only is not None and self.row["name"] in WITH_NUMBERS:
            return WITH_NUMBERS[self.row["name"]]
        return call.get(self.sample["what"]) if isinstance(call, dict) else call

    def __str__(self):
        return f"{self.row['name']} ({self.label})"


def draw(random, argument, shape):
    low, high = argument["low"], argument["high"]
    if argument["dtype"] in FLOATING:
        return random.uniform(low, high, shape).astype(NUMPY[argument["dtype"]])
    return random.integers(int(low), int(high), shape, endpoint=True).astype(NUMPY[argument["dtype"]])


def drawn(row, sample, label, shapes=None, size=0, **more):
    case = Case(row, sample, [], label, **more)
    if not shapes:
        shapes = [a["shapes"][size] for a in sample["arguments"]]
    case.inputs = [draw(case.random, a, tuple(s)) for a, s in zip(sample["arguments"], shapes)]
    return case


def of_row(row):
    for k, sample in enumerate(row["samples"]):
        if (row["name"], sample["what"]) in WITHOUT:
            continue
        for i, size in enumerate(sample["sizes"]):
            if max((math.prod(a["shapes"][i]) for a in sample["arguments"]), default=0) <= LARGEST:
                yield drawn(row, sample, f"{k}: {sample['what']}, n = {size}", size=i)


def special(row, sample, lists, label, **more):
    """All combinations of the values, as vectors."""
    grid = np.array(list(itertools.product(*lists)), dtype=np.float64)
    case = Case(row, sample, [], label, each=True, **more)
    for k, a in enumerate(sample["arguments"]):
        if a["dtype"] in FLOATING:
            case.inputs.append(grid[:, k].astype(np.float32))
        else:
            case.inputs.append(draw(case.random, a, (len(grid),)))
    return case


def elementwise(row):
    sample, name = row["samples"][0], row["name"]
    arity = len(sample["arguments"])
    for label, shapes in {"scalars": [()] * 3, "nothing": [(0, 3), (1, 3), (3,)],
                          "one of nothing": [(2, 1), (2, 0), (1,)],
                          "broadcasting": [(4, 1, 3), (2, 1), (1,)],
                          "broadcasting the first": [(3,), (2, 5, 3), (5, 1)]}.items():
        yield drawn(row, sample, label, shapes)
    floats = [a["dtype"] in FLOATING for a in sample["arguments"]]
    if not any(floats):
        return
    values = SPECIAL if arity < 3 else FEW
    if name in NUMBERS:
        for numbers in NUMBERS[name]:
            yield special(row, sample, [SPECIAL] + [[n] for n in numbers], f"special values, {numbers}",
                          only=[0])
        return
    lists = [ALLOWED.get((name, k), values) if f else [0] for k, f in enumerate(floats)]
    yield special(row, sample, lists, "special values", only=ONLY.get(name))


def find(rows, name, what):
    row = rows[name]
    return row, next(s for s in row["samples"] if s["what"] == what)


def array(values, shape=None):
    a = np.array(values, np.float32)
    return a if shape is None else a.reshape(shape)


def given(rows, name, what, label, *inputs, **more):
    row, sample = find(rows, name, what)
    arrays = [i if isinstance(i, np.ndarray) else array(i) for i in inputs]
    return Case(row, sample, arrays, f"{what}: {label}", **more)


INF, NAN = math.inf, math.nan
ROWS = array([[1, 1, 0, 1], [0, 0, 0, 0], [INF, 1, 2, 3], [-INF, 1, 2, 3], [-INF, -INF, -INF, -INF],
              [INF, INF, 1, 1], [INF, -INF, 1, 2], [NAN, 1, 2, 3], [NAN, INF, 1, -INF],
              [-0.0, 0.0, -0.0, 0.0], [1e30, 1e30, -1e30, 1], [1e-30, 2e-30, -1e-30, 1e-30],
              [1e-40, 1e-41, 1e-40, 0], [88, 89, 90, 100],
              [1e30, 1, 1, 1], [-2, -2, -2, -2]])

# PyTorch's CPU kernels square in f64, so that 1e30 does not overflow and 1e-30 not vanish; and a gradient of
# the variance of what holds an infinity is infinite there and NaN here.  The two largest of logsumexp share
# the gradient here, and get all of it each there.
OTHERWISE = {"var": (2, 3, 5, 10, 14), "std": (2, 3, 5, 10, 11, 12, 14), "logsumexp": (10,)}


def edges(rows):
    """Ties, kinks, infinities, NaN, zeros, very large and very small numbers in structured ops."""
    inner = "the inner dimension"
    for name in ("sum", "amax", "amin", "prod", "mean", "var", "std", "norm", "norm_of_order_3", "logsumexp"):
        for k, row in enumerate(ROWS):
            if k in OTHERWISE.get(name, ()):
                continue
            yield given(rows, name, inner, f"special values {k}", row[None], each=True)
            yield given(rows, name, "all of a vector", f"special values {k}", row, each=True)
        yield given(rows, name, "the outer dimension", "one element", array([[3, 0, -2]]))
    for name, what in (("softmax", "rows"), ("log_softmax", "rows"), ("cumsum", "long lines"),
                       ("cumprod", "long lines"), ("argmax", "dimension 1"), ("norms", None)):
        for k, row in enumerate(ROWS):
            w = what or "of orders 1, infinity, minus infinity and 0.5"
            yield given(rows, name, w, f"special values {k}", row[None], each=True)
    for k, row in enumerate(ROWS):
        for name, what in (("max", "over a dimension"), ("min_argmin", "over a dimension and all")):
            yield given(rows, name, what, f"special values {k}", row.reshape(1, 4, 1), each=True)
    # (Of more than two large factors the order decides whether prod overflows.)
    for k, row in enumerate(([1e-30, 1, 1e30, 1e30], [1e30, 1e-30, 1e-30, 1e20], [0, 1e30, 1e-30, 2],
                             [3, 0, 1e20, 0])):
        label = f"very large and very small factors {k}"
        yield given(rows, "cumprod", "long lines", label, array([row]), each=True)
        if k > 0:
            yield given(rows, "prod", inner, label, array([row]), each=True)
    yield given(rows, "softmax", "columns", "large", array([[1000, -1000], [999, -1001]]))
    yield given(rows, "max", "over a dimension", "ties",
                array([1, 1, 0, 7, 2, 2, 2, 2, 5, 7, 5, 5], (1, 4, 3)))
    yield given(rows, "min_argmin", "over a dimension and all", "ties",
                array([1, 1, 0, 3, 2, 2, 0, 2, 5, 5, 0, 5], (1, 4, 3)))
    yield from edge_losses(rows)
    yield from edge_products(rows)


def edge_losses(rows):
    d = array([[0, 0.7, -0.7, 2, -2, INF, NAN, 1e30, 1e-30]])
    for name in ("l1_loss", "smooth_l1_loss", "huber_loss"):
        for what in ("each", "sum"):
            yield given(rows, name, what, "kinks", d[:, :5] + 1, np.ones_like(d[:, :5]), each=True)
        yield given(rows, name, "each", "special values", d, np.zeros_like(d), each=True)
        yield given(rows, name, "mean", "nothing", np.zeros((0, 3), np.float32), np.zeros((0, 3), np.float32))
    yield given(rows, "mse_loss", "mean and sum", "nothing", np.zeros((0, 3), np.float32),
                np.zeros((0, 3), np.float32))
    yield given(rows, "bce_loss", "each", "certain", array([[0, 1, 0.5], [1, 0, 1e-30]]),
                array([[0, 1, 1], [0, 1, 1]]), array([1, 2, 0.5]), each=True, only=[0])
    x = array([[0, 100, -100], [INF, -INF, 1e30], [NAN, 1e-30, 30]])
    yield given(rows, "bce_with_logits_loss", "each", "special values", x,
                array([[0, 1, 0.5], [1, 0, 1], [1, 0, 1]]),
                array([1, 2, 0.5]), array([1, 2, 3]), each=True)
    yield given(rows, "kl_div", "by the batch, targets of 0 too", "zeros",
                array([[-1, -2, -30], [-0.1, -1e3, 0]]),
                array([[0, 0.5, 0.5], [1, 0, 0]]))
    z = array([[0, 0, 0, 0], [1, 0, 0, 0], [1e-20, 0, 0, 0], [1e15, 1, 0, 0], [1, 2, 3, 4]])
    yield given(rows, "cosine_embedding_loss", "each", "zeros", z, z[::-1].copy(),
                np.array([0, 1, 0, 1, 1], np.int32))
    for k, row in enumerate(ROWS):
        target = np.array([k % 4], np.int32)
        logits = np.concatenate([row, row[:2]])[None]
        for what in ("each", "mean"):
            yield given(rows, "cross_entropy", what, f"special values {k}", logits, target, each=True)


def edge_products(rows):
    a = array([[1, INF, 0], [NAN, 1, 2], [1e30, 1e30, 1], [1e-30, 1e-30, 1e-40]])
    b = array([[1, 0, 1e30], [2, 1, 1e-30], [3, NAN, 0]])
    yield given(rows, "matmul", "rows", "special values", a, b, each=True)
    yield given(rows, "linear", "with a bias", "special values", a, b, array([0, INF, NAN]), each=True)
    x = array([1, 1, 0, 0, 1, 1, 0, 0, 3, NAN, 2, 2, 3, 3, INF, -INF], (1, 1, 4, 4))
    yield given(rows, "max_pool2d", "2x2", "ties and NaN", x)
    yield given(rows, "max_pool", "overlapping", "ties",
                np.resize(array([1, 1, 0, 0, 1, 1, 0, 0, 1, 1]), (1, 3, 7, 5)))
    yield given(rows, "convolution", "3x3 padded", "infinities", np.concatenate([x, x], 1),
                np.ones((1, 2, 3, 3), np.float32), each=True)
    yield given(rows, "layer_norm", "rows of texels", "constant rows",
                array([[[3, 3, 3, 3], [1e15, 1e15, 1e15, 1e15], [1e-20, 2e-20, 0, 0],
                        [1000, 1000.5, 1000, 1001]]]),
                array([1, 2, 3, 4]), array([0, 1, 0, 1]))
    yield given(rows, "batch_norm", "no image", "constant channels",
                array([[3, 1000, 1e-20], [3, 1000.5, 2e-20]]), array([1, 2, 3]),
                array([0, 1, 0]), array([0, 0, 0]), array([1, 1, 1]))
    yield given(rows, "embedding", "texels", "one row, many times", np.array([2] * 700 + [0], np.int32),
                np.random.default_rng(1).uniform(-1, 1, (6, 8)).astype(np.float32))
    yield given(rows, "where", "one shape", "NaN in what is dropped", np.array([True, False, True]),
                array([1, NAN, INF]), array([NAN, 2, NAN]))
    yield given(rows, "scaled_dot_product_attention", "matrices", "large scores",
                array([[1e3, 1e3], [1e30, 0]]), array([[1e3, 0], [0, 1]]), array([[1, 2], [3, 4]]))


def large(rows):
    """A million elements."""
    shapes = {"all of a vector": (1_000_000,), "the inner dimension": (10, 100_000),
              "the outer dimension": (125_000, 8)}
    for name in ("sum", "mean", "var", "std", "norm", "logsumexp", "amax", "prod"):
        for what, shape in shapes.items():
            row, sample = find(rows, name, what)
            for label in ("both signs", "offset"): # of products: near 1
                if name in ("prod", "amax") and label == "offset":
                    continue
                case = drawn(row, sample, f"{what}: {math.prod(shape)} elements, {label}", [shape])
                if name == "prod":
                    case.inputs[0] = np.exp(case.random.uniform(-0.05, 0.05, shape)).astype(np.float32)
                if label == "offset":
                    case.inputs[0] = case.inputs[0] * np.float32(0.5) + np.float32(1.5)
                if name in ("sum", "mean"):
                    n = shape[-1] if what != "the outer dimension" else shape[0]
                    axis = {"all of a vector": None, "the inner dimension": 1, "the outer dimension": 0}[what]
                    total = np.abs(case.inputs[0].astype(np.float64)).sum(axis=axis)
                    case.bound = 4 * math.log2(n) * 2.0**-24 * total / (n if name == "mean" else 1)
                yield case
    for name, what, shape in (("softmax", "rows", (4, 200_000)), ("log_softmax", "rows", (4, 200_000)),
                              ("cumsum", "long lines", (2, 500_000)),
                              ("argmax", "dimension 1", (3, 100_000, 1))):
        row, sample = find(rows, name, what)
        case = drawn(row, sample, f"{what}: {math.prod(shape)} elements", [shape])
        if name == "cumsum": # the n-th element is a sum of n
            n = np.arange(1, shape[1] + 1)
            total = np.abs(case.inputs[0].astype(np.float64)).cumsum(axis=1)
            case.bound = 4 * np.log2(np.maximum(n, 2)) * 2.0**-24 * total
        yield case


def tiny(row):
    """Relative precision near 0."""
    sample = row["samples"][0]
    if len(sample["arguments"]) == 1 and sample["arguments"][0]["dtype"] in FLOATING:
        yield special(row, sample, [TINY], "tiny values")


def all_cases(listed, chosen):
    rows = {row["name"]: row for row in listed}
    for row in listed:
        if row["name"] in PARTS:
            continue
        yield from of_row(row)
        if row["name"] in ELEMENTWISE:
            yield from elementwise(row)
            yield from tiny(row)
    yield from edges(rows)
    if not chosen or any(name in chosen for name in ("large", "sum", "mean", "var", "std", "norm")):
        yield from large(rows)
