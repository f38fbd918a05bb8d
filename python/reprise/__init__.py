"""Trains neural networks on any GPU.  A training step is recorded once and replayed at any shape.

The functions and classes have PyTorch's names.  docs/python.md of the project is the guide.
"""

from importlib.metadata import PackageNotFoundError as _PackageNotFoundError
from importlib.metadata import version as _version

from . import _core
from ._core import *  # noqa: F403
from ._core import Error as Error
from ._modes import autocast, detect_anomaly, enable_grad, inference_mode, no_grad, set_grad_enabled
from ._programs import checkpoint, record

del nn, optim, train  # noqa: F821: those of _core, in whose place are the modules of this package
from . import nn, optim, train  # type: ignore[no-redef]  # noqa: E402

dtype = _core.DType
bool = _core.DType.bool  # type: ignore[assignment, misc]  # noqa: A001
try:
    __version__ = _version("reprise")
except _PackageNotFoundError:  # imported from a folder of a build
    __version__ = "0+unknown"

__all__ = [name for name in dict(globals()) if not name.startswith("_")]
