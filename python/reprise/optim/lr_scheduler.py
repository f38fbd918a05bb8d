"""Schedules of the learning rate, with the names of torch.optim.lr_scheduler."""

from .._core.optim import ChainedScheduler as ChainedScheduler
from .._core.optim import ConstantLR as ConstantLR
from .._core.optim import CosineAnnealingLR as CosineAnnealingLR
from .._core.optim import CosineAnnealingWarmRestarts as CosineAnnealingWarmRestarts
from .._core.optim import CyclicLR as CyclicLR
from .._core.optim import ExponentialLR as ExponentialLR
from .._core.optim import LRScheduler as LRScheduler
from .._core.optim import LambdaLR as LambdaLR
from .._core.optim import LinearLR as LinearLR
from .._core.optim import MultiStepLR as MultiStepLR
from .._core.optim import OneCycleLR as OneCycleLR
from .._core.optim import PolynomialLR as PolynomialLR
from .._core.optim import ReduceLROnPlateau as ReduceLROnPlateau
from .._core.optim import SequentialLR as SequentialLR
from .._core.optim import StepLR as StepLR
