"""Schedules of the learning rate, with the names of torch.optim.lr_scheduler."""

from .._core import optim as _optim

__all__ = sorted(
    name
    for name, value in vars(_optim).items()
    if isinstance(value, type) and hasattr(value, "get_last_lr")
)
globals().update({name: getattr(_optim, name) for name in __all__})
