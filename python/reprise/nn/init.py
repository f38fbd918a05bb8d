"""Initialisation of parameters, in place, with the names of torch.nn.init."""

from .._core.nn.init import *  # noqa: F403
