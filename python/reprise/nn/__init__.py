"""Layers and networks, with the names of torch.nn."""

from .._core import Parameter
from .._core.nn import *  # noqa: F403
from . import functional, init, utils
