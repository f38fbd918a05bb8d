"""Layers and networks, with the names of torch.nn."""

from ._core import Variable as Parameter
from ._core.nn import *  # noqa: F403
from ._core.nn import functional, init
from ._core.optim import clip_grad_norm_, clip_grad_value_


class utils:
    """Functions on lists of parameters, with the names of torch.nn.utils."""

    clip_grad_norm_ = staticmethod(clip_grad_norm_)
    clip_grad_value_ = staticmethod(clip_grad_value_)
