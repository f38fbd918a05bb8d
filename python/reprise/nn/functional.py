"""Functions of layers without state, with the names of torch.nn.functional."""

from .._core.nn.functional import *  # noqa: F403
