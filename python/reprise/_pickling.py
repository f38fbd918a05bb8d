"""What pickle calls to make tensors again."""

from . import _core


def restored(data, shape, dtype, requires_grad, kind):
    """Makes the tensor of these bytes, of the class of this name, on the default device."""
    tensor = _core._restored(data, shape, dtype)
    if kind != "Tensor":
        return getattr(_core, kind)(tensor, requires_grad)
    return tensor.requires_grad_() if requires_grad else tensor
