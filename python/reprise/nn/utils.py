"""Functions on lists of parameters, with the names of torch.nn.utils."""

from .._core.optim import clip_grad_norm_, clip_grad_value_

__all__ = ["clip_grad_norm_", "clip_grad_value_"]
