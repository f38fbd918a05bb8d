"""Products, convolutions and attention as PyTorch calls; see torch_ops.py."""
import torch
import torch.nn.functional as F
from torch.nn import grad as gradients

CONVOLVE = {1: F.conv1d, 2: F.conv2d, 3: F.conv3d}
BY_INPUT = {1: gradients.conv1d_input, 2: gradients.conv2d_input, 3: gradients.conv3d_input}
BY_WEIGHT = {1: gradients.conv1d_weight, 2: gradients.conv2d_weight, 3: gradients.conv3d_weight}

# By sample: kernel, stride, padding, dilation, groups, and where the stride leaves it open the image's size.
CONVOLUTIONS = {
    "3x3 padded": ((3, 3), (1, 1), (1, 1), (1, 1), 1),
    "odd sizes": ((2, 3), (2, 2), (1, 0), (1, 1), 1, (5, 7)),
    "1x1": ((1, 1), (1, 1), (0, 0), (1, 1), 1),
    "3x3 with a stride": ((3, 3), (2, 2), (1, 1), (1, 1), 1, (5, 16)),
    "3x3 of odd rows": ((3, 3), (1, 1), (1, 1), (1, 1), 1),
    "1x1 with a stride": ((1, 1), (2, 2), (0, 0), (1, 1), 1, (3, 8)),
    "a symbolic width": ((3, 3), (1, 1), (1, 1), (1, 1), 1),
    "symbolic channels": ((3, 3), (1, 1), (1, 1), (1, 1), 1),
    "stride and padding larger than needed": ((2, 2), (3, 4), (3, 2), (1, 1), 1, (7, 7)),
    "dilated": ((3, 3), (1, 1), (2, 2), (2, 2), 1),
    "groups": ((3, 3), (1, 1), (1, 1), (1, 1), 2),
    "groups of whole texels": ((3, 3), (1, 1), (1, 1), (1, 1), 2),
    "groups, dilation and a stride": ((3, 2), (2, 1), (2, 1), (2, 3), 3, (9, 8)),
    "depthwise": ((3, 3), (1, 1), (1, 1), (1, 1), 3),
    "depthwise, two out of each": ((3, 2), (2, 3), (1, 0), (1, 2), 3, (7, 6)),
    "depthwise, a symbolic height": ((3, 3), (1, 1), (1, 1), (1, 1), 2),
    "a line": ((3,), (1,), (1,), (1,), 1),
    "a line, groups and a stride": ((4,), (3,), (2,), (2,), 2, (11,)),
    "a line of unknown length": ((3,), (1,), (0,), (1,), 1),
    "a depthwise line": ((4,), (1,), (1,), (1,), 2),
    "a volume": ((3, 2, 3), (1, 1, 1), (1, 0, 1), (1, 1, 1), 1),
    "a flat volume": ((1, 3, 3), (1, 1, 1), (0, 1, 1), (1, 1, 1), 1),
    "a volume, all options": ((2, 3, 2), (2, 1, 2), (1, 2, 0), (1, 2, 1), 2, (5, 4, 5)),
    "a depthwise volume": ((2, 2, 3), (1, 1, 1), (1, 0, 1), (1, 1, 1), 2),
    "a volume of unknown depth": ((2, 2, 2), (1, 1, 1), (0, 0, 0), (1, 1, 1), 1),
}


def convolution(kernel, stride, padding, dilation, groups, image=None):
    def call(x, w):
        if x.shape[1] == 0: # PyTorch answers with no channels
            return x.new_zeros(x.shape[0], w.shape[0], *x.shape[2:]) + 0 * (x.sum() + w.sum())
        return CONVOLVE[len(kernel)](x, w, None, stride, padding, dilation, groups)
    return call


def convolution_input(kernel, stride, padding, dilation, groups, image=None):
    def call(dy, w):
        size = image or [n - 1 - 2 * p + d * (k - 1) + 1
                         for n, k, p, d in zip(dy.shape[2:], kernel, padding, dilation)]
        return BY_INPUT[len(kernel)]((dy.shape[0], groups * w.shape[1], *size), w, dy, stride, padding, dilation,
                                     groups)
    return call


def convolution_weight(kernel, stride, padding, dilation, groups, image=None):
    def call(dy, x):
        size = (dy.shape[1], x.shape[1] // groups, *kernel)
        return BY_WEIGHT[len(kernel)](x, size, dy, stride, padding, dilation, groups)
    return call


def each(f):
    return {what: f(*options) for what, options in CONVOLUTIONS.items()}


def with_bias(f, **options):
    return lambda x, w, b=None: f(x, w, b, **options)


CONV = {
    "convolution": {
        **each(convolution), "with a bias": F.conv2d, "depthwise with a bias": with_bias(F.conv2d, groups=2),
        "without a batch": with_bias(F.conv2d, padding=1),
        "padding that keeps the size, kernels of odd and even sizes":
            with_bias(F.conv2d, padding="same", dilation=(1, 2)),
        "a line in three dimensions": with_bias(F.conv3d, padding="valid")},
    "convolution_input": each(convolution_input), "convolution_weight": each(convolution_weight),
    "conv_transpose": {
        "plain": F.conv_transpose2d,
        "a stride, padding, output padding and a bias":
            with_bias(F.conv_transpose2d, stride=2, padding=1, output_padding=1),
        "groups and a dilation":
            with_bias(F.conv_transpose2d, stride=(3, 1), padding=(1, 2), groups=2, dilation=(1, 2)),
        "an output padding of more than the stride":
            with_bias(F.conv_transpose2d, stride=(1, 2), padding=2, output_padding=(2, 3), dilation=(3, 4)),
        "depthwise": with_bias(F.conv_transpose2d, stride=2, padding=1, groups=3),
        "height and width unknown":
            with_bias(F.conv_transpose2d, stride=2, padding=1, output_padding=(1, 0)),
        "without a batch": F.conv_transpose2d, "a line": with_bias(F.conv_transpose1d, stride=2, padding=1),
        "a volume": with_bias(F.conv_transpose3d, stride=(2, 1, 2), padding=(1, 0, 0),
                              output_padding=(1, 0, 1))},
    "unfold": {
        "overlapping": lambda x: F.unfold(x, 3),
        "all options": lambda x: F.unfold(x, (2, 3), dilation=(3, 1), padding=(1, 2), stride=(2, 1)),
        "without a batch, of unknown width": lambda x: F.unfold(x, 2)},
    "fold": {
        "overlapping": lambda x: F.fold(x, (5, 6), 3),
        "all options": lambda x: F.fold(x, (7, 8), (2, 3), dilation=(3, 1), padding=(1, 2), stride=(2, 1)),
        "without a batch, of unknown width": lambda x: F.fold(x, (3, x.shape[1] // 2 + 1), 2)},
}


def heads_inside(x):
    return x.transpose(1, 2) if x.dim() == 4 else x.transpose(0, 1) if x.dim() == 3 else x


def attention(**options):
    return lambda q, k, v, mask=None: F.scaled_dot_product_attention(q, k, v, mask, **options)


def scores_of(q, k, v, mask=None, causal=False, scale=None, softcap=0):
    """What attention is, step by step.  causal: how many keys more than its number a query sees; None: S - T."""
    times = q.shape[-3] // k.shape[-3] if q.dim() > 3 else 1
    k, v = (t.repeat_interleave(times, -3) if times > 1 else t for t in (k, v))
    products = q @ k.mT * (q.shape[-1] ** -0.5 if scale is None else scale)
    capped = torch.tanh(products / softcap) * softcap if softcap else products
    masked = capped
    if mask is not None:
        masked = masked + mask if mask.is_floating_point() else masked.masked_fill(mask == 0, -torch.inf)
    if causal is not False:
        t, s = products.shape[-2:]
        seen = torch.ones(t, s, dtype=torch.bool).tril(s - t if causal is None else causal)
        masked = masked.masked_fill(~seen, -torch.inf)
    none = (masked == -torch.inf).all(-1, keepdim=True)
    weights = torch.where(none, 0.0, torch.softmax(torch.where(none, 0.0, masked), -1))
    return weights @ v, [products, capped, masked, weights]


def by_scores(which, **options):
    return lambda *x: scores_of(*x, **options)[which]


def with_scores(**options):
    def call(*x):
        y, all_scores = scores_of(*x, **options)
        return [t for scores in all_scores for t in (y, torch.where(torch.isinf(scores), -9.0, scores))]
    return call


def attention_op(causal=False): # several heads of queries may share one of keys
    call = attention(is_causal=causal, scale=0.5, enable_gqa=True)
    return lambda *inputs: heads_inside(call(*inputs))


def of_one_rank(q, k, v):
    batch = torch.broadcast_shapes(q.shape[:-2], k.shape[:-2], v.shape[:-2])
    return F.scaled_dot_product_attention(*(t.expand(*batch, *t.shape[-2:]) for t in (q, k, v)))


def rotated(x, cos, sin):
    a, b = x.chunk(2, -1)
    return torch.cat([a * cos - b * sin, b * cos + a * sin], -1)


def rotated_neighbours(x, cos, sin):
    a, b = x[..., ::2], x[..., 1::2]
    return torch.stack([a * cos - b * sin, b * cos + a * sin], -1).flatten(-2)


ATTENTION = {
    "matmul_heads": lambda a, b: heads_inside(a @ b),
    "attention": {"by matrices": attention_op(True), "many keys": attention_op(),
                  "causal, many": attention_op(True), "grouped": attention_op(True),
                  "odd features": attention_op(), "truth": attention_op(),
                  "tiles, causal, other lengths": attention_op(True), "tiles of two blocks": attention_op(),
                  "tiles of four blocks": attention_op()},
    "rotary_embedding": {"halves": rotated, "neighbours": rotated_neighbours},
    "scaled_dot_product_attention": {
        "causal": attention(is_causal=True), "all": attention(scale=0.7),
        "any number of keys": attention(is_causal=True), "matrices": attention(), "broadcast": attention(),
        "an added mask": attention(), "a mask of truth": attention(), "a mask of each batch": attention(),
        "grouped heads": attention(is_causal=True, enable_gqa=True), "wide heads": attention(scale=0.1),
        "five dimensions": of_one_rank,
        "causal beside a mask of truth": by_scores(0, causal=0), "causal beside an added mask": by_scores(0, causal=0),
        "a part of the queries, causal from the end": by_scores(0, causal=None),
        "more queries than keys, causal from the end": by_scores(0, causal=None),
        "a mask of integers": by_scores(0), "softcap": by_scores(0, causal=0, scale=3.0, softcap=1.5)},
    "scaled_dot_product_attention_with_scores": {
        "causal, capped": with_scores(causal=0, softcap=2.0), "grouped heads and a mask": with_scores()},
}

PRODUCTS = {
    "int_mm": lambda a, b: a.int() @ b.int(), # torch._int_mm takes few sizes
    "matmul": {"heads inside of rows": lambda a, b: [a.transpose(1, 2) @ b.transpose(1, 2).mT,
                                                     a.transpose(1, 2).mT @ b.transpose(1, 2)],
               "transposed operands": lambda a, b: a.t() @ b.t(),
               **{what: torch.matmul for what in (
                   "rows", "rows of whole texels", "the inner dimension", "columns",
                   "a batch and one matrix", "two batches", "batches that broadcast",
                   "an unknown batch that broadcasts", "vectors", "a matrix and a vector")}},
    "linear": F.linear,
    "matrix_products": {
        "of two": lambda a, b, c, d: [a @ b, a @ c, torch.dot(c, c * 2), torch.outer(d, c),
                                      torch.addmm(a.new_ones(3), a, b, beta=0.5, alpha=2),
                                      torch.addmm(a, a, b @ b.t(), beta=0)],
        "batches": torch.bmm},
    "diagonal": {"of matrices": lambda x: [x.diagonal(0, 1, 2), x.diagonal(1, -2, -1), x.diagonal(-2, 1, 2),
                                           x.diagonal(5, 1, 2)],
                 "of unknown size": lambda x: [x.diagonal(), x.trace()]},
    "einsum": {"products, sums and diagonals": lambda a, b, c: [
                   torch.einsum("bij,bjk->bik", a, b), torch.einsum("bij,bjk", a, b),
                   torch.einsum("bij->jb", a), torch.einsum("bij,bjk,ik->b", a, b, c),
                   torch.einsum("ik,jl->ijkl", c, c), torch.einsum("bij,bij->", a, a)],
               "the trace": lambda a, b: [torch.einsum("ii->i", a), torch.einsum("ii", a),
                                          torch.einsum("i,ij,j", b, a, b)]},
    **CONV, **ATTENTION,
}
