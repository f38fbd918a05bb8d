"""Layers and networks, with the names of torch.nn."""

from .._core import Parameter as Parameter
from .._core.nn import *  # noqa: F403
from . import functional as functional
from . import init as init
from . import utils as utils
