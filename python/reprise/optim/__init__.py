"""Optimizers and schedules of the learning rate, with the names of torch.optim."""

from .._core.optim import *  # noqa: F403
from . import lr_scheduler as lr_scheduler
