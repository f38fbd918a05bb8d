"""Context managers that set a mode of the thread.  Each also decorates a function."""

from contextlib import ContextDecorator

from . import _core


class _Mode(ContextDecorator):
    def __init__(self, make):
        self._make = make
        self._guards = []

    def _recreate_cm(self):
        return _Mode(self._make)  # so that a decorated function can call itself

    def __enter__(self):
        self._guards.append(self._make())
        return self

    def __exit__(self, *_):
        self._guards.pop().leave()


class no_grad(_Mode):
    """Within it, ops of this thread are not recorded for gradients."""

    def __init__(self):
        super().__init__(lambda: _core.GradModeGuard(False))


class enable_grad(_Mode):
    """Within it, ops of this thread are recorded for gradients, also within a no_grad()."""

    def __init__(self):
        super().__init__(lambda: _core.GradModeGuard(True))


class inference_mode(_Mode):
    """Within it, ops of this thread are not recorded for gradients: no_grad(), by PyTorch's other name."""

    def __init__(self, mode=True):
        super().__init__(lambda: _core.GradModeGuard(not mode and _core.is_grad_enabled()))


class set_grad_enabled(ContextDecorator):
    """Sets at once whether ops of this thread are recorded for gradients; as a context, until its end."""

    def __init__(self, mode):
        self._mode, self._before = mode, _core.is_grad_enabled()
        _core._set_grad_enabled(mode)

    def __call__(self, function):
        _core._set_grad_enabled(self._before)  # a decorator sets it at each call of the function
        return super().__call__(function)

    def _recreate_cm(self):
        return set_grad_enabled(self._mode)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        _core._set_grad_enabled(self._before)


class autocast(_Mode):
    """Within it, products compute in float16 or bfloat16, and sums and losses in float32."""

    def __init__(self, dtype=_core.bfloat16, enabled=True):
        super().__init__(lambda: _core.AutocastGuard(dtype, enabled))


class detect_anomaly(_Mode):
    """Within it, the first NaN is an error that names the op that computed it; slow, for debugging."""

    def __init__(self):
        super().__init__(_core.AnomalyGuard)
