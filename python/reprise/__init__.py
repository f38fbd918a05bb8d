"""Trains neural networks on any GPU.  A training step is recorded once and replayed at any shape.

The functions and classes have PyTorch's names.  docs/python.md of the project is the guide.
"""

from importlib.metadata import PackageNotFoundError as _PackageNotFoundError
from importlib.metadata import version as _version

from . import _core
from ._core import *  # noqa: F403
from ._core import Error as Error
from ._modes import autocast as autocast
from ._modes import detect_anomaly as detect_anomaly
from ._modes import enable_grad as enable_grad
from ._modes import inference_mode as inference_mode
from ._modes import no_grad as no_grad
from ._modes import set_grad_enabled as set_grad_enabled
from ._programs import checkpoint as checkpoint
from ._programs import record as record

# Those of _core, in whose place are the modules of this package.
del nn, optim, train  # type: ignore[name-defined]  # noqa: F821
from . import nn as nn  # noqa: E402
from . import optim as optim  # noqa: E402
from . import train as train  # noqa: E402

dtype = _core.DType
bool = _core.DType.bool  # type: ignore[assignment, misc]  # noqa: A001
try:
    __version__ = _version("reprise")
except _PackageNotFoundError:  # imported from a folder of a build
    __version__ = "0+unknown"
