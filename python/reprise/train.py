"""Checkpoints of a training, from which it goes on with the same bits."""

from ._core.train import *  # noqa: F403
