"""Pooling, interpolation and padding as PyTorch calls; see torch_ops.py."""
import torch
import torch.nn.functional as F


def with_places(f):
    """Values and the places of the greatest."""
    def call(x, **options):
        y, places = f(x, return_indices=True, **options)
        return [y, places.to(torch.int32)]
    return lambda **options: lambda x: call(x, **options)


def plain(f):
    return lambda **options: lambda x: f(x, **options)


max1, max2, max3 = plain(F.max_pool1d), plain(F.max_pool2d), plain(F.max_pool3d)
places1, places2, places3 = with_places(F.max_pool1d), with_places(F.max_pool2d), with_places(F.max_pool3d)
avg1, avg2, avg3 = plain(F.avg_pool1d), plain(F.avg_pool2d), plain(F.avg_pool3d)
resize = plain(F.interpolate)
padding = dict(kernel_size=(3, 2), stride=(2, 3), padding=1, ceil_mode=True)
cubes = dict(kernel_size=(2, 3, 2), stride=(1, 2, 2), padding=(1, 1, 0), ceil_mode=True)


def ours(f): # the op itself: its places count otherwise
    return lambda x: [f(x), None]


def padded(amounts, **options):
    return lambda x: F.pad(x, amounts(x) if callable(amounts) else amounts, **options)


def averages(dims, kernel, stride, before, to):
    """Windows from -before on, as many as there are results; the last one may be cut off."""
    pool = {1: F.avg_pool1d, 2: F.avg_pool2d, 3: F.avg_pool3d}[dims]

    def call(x):
        y = pool(x, kernel, stride, before, ceil_mode=True)
        return y[(slice(None), slice(None), *(slice(0, n) for n in to))]
    return call


WINDOWS = {
    "max_pool": {
        "2x2": ours(max2(kernel_size=2)), "overlapping": ours(max2(kernel_size=3, stride=2, padding=1)),
        "uneven": ours(max2(kernel_size=(2, 3), stride=(1, 2), padding=(0, 1))),
        "a line": ours(max1(kernel_size=3, stride=2, padding=1)),
        "volumes": ours(max3(kernel_size=(2, 3, 2), stride=(1, 2, 1), padding=(0, 1, 0))),
        "dilated": ours(max2(kernel_size=(2, 3), stride=(1, 2), dilation=2)),
        "adaptive": ours(lambda x: F.adaptive_max_pool2d(x, (3, 4)))},
    "max_pool1d": {
        "pairs": max1(kernel_size=2),
        "a symbolic length, dilated": places1(kernel_size=3, stride=2, padding=1, dilation=2),
        "without a batch": max1(kernel_size=2, ceil_mode=True)},
    "max_pool2d": {
        "2x2": max2(kernel_size=2), "2x2 with ceil_mode": places2(kernel_size=2, ceil_mode=True),
        "symbolic sizes and ceil_mode": places2(**padding),
        "dilated": places2(kernel_size=(3, 2), stride=(2, 1), padding=1, dilation=(2, 3), ceil_mode=True),
        "without a batch": max2(kernel_size=3)},
    "max_pool3d": {"cubes": max3(kernel_size=2), "symbolic sizes": places3(dilation=(1, 2, 1), **cubes)},
    "avg_pool1d": {"pairs": avg1(kernel_size=2),
                   "a symbolic length": avg1(kernel_size=4, stride=3, padding=2, ceil_mode=True)},
    "avg_pool2d": {
        "2x2": avg2(kernel_size=2), "padding counts": avg2(**padding),
        "padding does not count": avg2(count_include_pad=False, **padding),
        "another divisor, overlapping":
            avg2(kernel_size=3, stride=(1, 2), padding=(1, 0), divisor_override=4),
        "many planes": avg2(kernel_size=2, stride=1)},
    "avg_pool3d": {"cubes": avg3(kernel_size=2),
                   "symbolic sizes": avg3(count_include_pad=False, **cubes)},
    "lp_pool1d": lambda x: F.lp_pool1d(x, 3, 3, 2),
    "lp_pool2d": lambda x: F.lp_pool2d(x, 2, 2, ceil_mode=True),
    "adaptive_avg_pool": {
        "a line": lambda x: F.adaptive_avg_pool1d(x, 4),
        "planes of any size": lambda x: F.adaptive_avg_pool2d(x, (3, 5)),
        "more outputs than inputs, one size kept": lambda x: F.adaptive_avg_pool2d(x, (None, 7)),
        "to one": lambda x: F.adaptive_avg_pool2d(x, 1),
        "volumes": lambda x: F.adaptive_avg_pool3d(x, (2, 3, 3)),
        "to a symbolic size": lambda x: F.adaptive_avg_pool2d(x, ((x.shape[1] + 1) // 2, x.shape[1]))},
    "adaptive_max_pool": {
        "a line": with_places(F.adaptive_max_pool1d)(output_size=4),
        "planes of any size": with_places(F.adaptive_max_pool2d)(output_size=(3, 5)),
        "to one": with_places(F.adaptive_max_pool2d)(output_size=1),
        "volumes": lambda x: F.adaptive_max_pool3d(x, (2, 3, 3))},
    "global_pool2d": {"averages": lambda x: x.mean((2, 3), keepdim=True),
                      "maxima": lambda x: F.adaptive_max_pool2d(x, 1)},
    "resample": {"a line": averages(1, (3,), (2,), (1,), (5,)),
                 "planes": averages(2, (2, 3), (2, 1), (1, 1), (4, 6)),
                 "volumes": averages(3, (2, 3, 3), (1, 2, 2), (0, 0, 1), (3, 2, 4))},
    "interpolate": {
        "nearest to a size": resize(size=(7, 4)),
        "nearest by a factor, symbolic sizes": resize(scale_factor=(1.5, 0.625)),
        "nearest by factors that nearly keep or double": resize(scale_factor=(1.125, 2.125)),
        "nearest_exact of volumes": resize(size=(3, 5, 2), mode="nearest-exact"),
        "nearest of lines, twice": resize(scale_factor=2), "area": resize(size=(3, 4), mode="area"),
        "linear": resize(scale_factor=1.7, mode="linear"),
        "bilinear, symbolic sizes": resize(scale_factor=(2, 0.75), mode="bilinear"),
        "bilinear with corners, symbolic sizes":
            lambda x: F.interpolate(x, (x.shape[2] * 2 - 1, x.shape[2]), mode="bilinear", align_corners=True),
        "bilinear, smaller": resize(size=(4, 3), mode="bilinear"),
        "one element with corners": resize(size=(5, 1), mode="bilinear", align_corners=True),
        "bicubic": resize(size=(7, 3), mode="bicubic"),
        "bicubic with corners, symbolic sizes":
            lambda x: F.interpolate(x, (x.shape[2] + 3, 8), mode="bicubic", align_corners=True),
        "trilinear": resize(scale_factor=1.5, mode="trilinear")},
    "pixel_shuffle": {"squares of 4": lambda x: F.pixel_shuffle(x, 2),
                      "symbolic sizes": lambda x: F.pixel_shuffle(x, 3)},
    "pixel_unshuffle": {"squares of 4": lambda x: F.pixel_unshuffle(x, 2),
                        "symbolic sizes": lambda x: F.pixel_unshuffle(x, 3)},
    "pad_with_elements": {
        "reflect": padded((3, 2), mode="reflect"),
        "reflect, symbolic sizes": padded(lambda x: (x.shape[2] - 1, 1, 1, x.shape[1] - 1), mode="reflect"),
        "reflect in volumes, cut off": padded((-1, 2, 3, 0, 0, 2), mode="reflect"),
        "replicate": padded((5, 1, 0, 2), mode="replicate"),
        "replicate, symbolic amounts, cut off": padded(lambda x: (x.shape[1], -2), mode="replicate"),
        "circular": padded((4, 1, 3, 3), mode="circular"),
        "circular in volumes, cut off": padded((-1, 2, 1, 3, 2, 0), mode="circular"),
        "a constant": padded((1, 1, 0, 2), value=0.5)},
}
