"""Orders of elements and what is rearranged as PyTorch calls; see torch_ops.py."""
import torch


def both(pair):
    return [pair[0], pair[1].to(torch.int32)]


def order(x, dim=-1, descending=False):
    return both(torch.sort(x, stable=True, dim=dim, descending=descending))


def coarse(x):
    return torch.floor(x * 3.0)


def top(x, k, dim=-1, largest=True):
    """By a stable order: PyTorch leaves open which of equal ones is taken."""
    values, places = torch.sort(x, stable=True, dim=dim, descending=largest)
    return both((values.narrow(dim, 0, k), places.narrow(dim, 0, k)))


def scan(dim):
    """y_k = a_k y_{k-1} + b_k"""
    def call(a, b):
        rows, before = [], 0
        for p, q in zip(a.unbind(dim), b.unbind(dim)):
            before = p * before + q
            rows.append(before)
        return torch.stack(rows, dim) if rows else a * b
    return call


def with_zeros(x):
    y = torch.where(x.abs() < 0.5, x * 0, x)
    return [y.prod(1), y.prod(0, True), y.cumprod(1), y.prod()]


def without_dimensions(x, i):
    j = i.long()
    return [x.sum(0), x.softmax(0), x.log_softmax(-1), x.amax(-1), x.max(0)[0], x.argmax(-1).to(torch.int32),
            x.cumsum(0), x.cumprod(-1), x.sort(0)[0], x.topk(1)[0], x.squeeze(0), x.transpose(0, -1),
            x.flip(0), x.movedim(0, 0), x.logsumexp(0), x.prod(0, True), x.gather(0, j), x.median(0)[0],
            torch.linalg.vector_norm(x, 2, 0), x.var(0, correction=0), x.scatter(0, j, 2.0),
            x.scatter_add(0, j, x), x.index_select(0, j.reshape(1))]


ORDERS = {
    "sort": {
        "the last dimension": order, "the first dimension, descending": lambda x: order(x, 0, True),
        "a known long one": lambda x: order(x, 1), "a known short one": lambda x: order(x, -2, True),
        "equal elements": lambda x: order(coarse(x)) + order(coarse(x), 1, True),
        "i32": lambda x: order(x, 0) + order(x, 1, True),
        "bool and u8": lambda t, u: order(t, 0) + order(u, 0, True), "without dimensions": order},
    "argsort": lambda x: [order(x)[1], order(x, 0, True)[1]],
    "topk": {
        "the largest of long lines": lambda x: top(x, 5),
        "the least of short lines": lambda x: top(x, 4, 1, False),
        "more than a block of a known size": lambda x: top(x, 100),
        "all and none": lambda x: top(x, 4) + top(x, 0)},
    "kthvalue": {"in the middle": lambda x: both(x.kthvalue(3)) + both(x.kthvalue(7, 1, True)),
                 "along a symbol": lambda x: both(x.kthvalue(2, 0))},
    "median": {"of lines": lambda x: both(x.median(1)) + both(x.median(0, True)),
               "of all": torch.median,
               "of integers": lambda x: [x.median(0)[0], None]}, # which of equal ones is open
    "tile_and_roll": lambda x: [x.tile(2, 1), x.tile(1, 2, 1, 1), x.roll((1, -1), (0, 1)), x.roll(2)],
    "unflatten": lambda x: [x.unflatten(1, (2, 3)), x.unflatten(-1, (-1, 2))],
    "squeeze_and_movedim": lambda x: [x.squeeze((1, 3)), x.squeeze((1, 2)), x.movedim((0, 2), (-1, 0)),
                                      x.contiguous() * 1],
    "meshgrid": lambda *x: [*torch.meshgrid(*x, indexing="ij"), *torch.meshgrid(*x, indexing="xy")],
    "where_with_numbers": lambda m, x: [torch.where(m, x, 0.5), torch.where(m, -2.0, x)],
    "without_dimensions": without_dimensions,
    "linear_scan": {"the last dimension": scan(1), "the first of three": scan(0)},
    "products_with_zeros": with_zeros,
}
