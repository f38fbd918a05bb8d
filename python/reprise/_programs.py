"""record() and checkpoint() as functions and as decorators."""

import functools
import inspect
from collections.abc import Callable, Sequence
from typing import Any, overload

from . import _core


@overload
def record(specs: Sequence[Any], /, **options: Any) -> Callable[[Callable[..., Any]], _core.Program]: ...
@overload
def record(*, specs: Sequence[Any], **options: Any) -> Callable[[Callable[..., Any]], _core.Program]: ...
@overload
def record(function: Callable[..., Any], specs: Sequence[Any], **options: Any) -> _core.Program: ...
def record(function: Any = None, specs: Any = None, **options: Any) -> Any:  # type: ignore[misc]
    """Runs a function once on placeholders and returns a Program that replays its ops at any sizes.

    `specs` has the type of each argument: spec(shape, dtype) for a tensor, a symbol for a size, or a list, tuple or
    dictionary of these.  The function returns tensors, None, or lists, tuples and dictionaries of them.  With the
    specs alone the result is a decorator:

        @record([spec([batch, 8])])
        def double(x):
            return x * 2

    Options, by keyword:
        keep_grads: whether grad returns the gradients that a call has computed
        slots: the maximum number of calls of the program in flight
        timestamps: measures the time of each launch, for times()
        fuse: fuses chains of elementwise ops into kernels, with the same bits
        device: the device to run on; default_device() if it is None
        memory_budget: the number of bytes that a call may hold; values are recomputed to stay within it
    """
    if not callable(function):
        if (function is None) == (specs is None):
            raise TypeError("record() takes a function and its specs, or only specs.")
        given = specs if function is None else function
        return lambda f: record(f, given, **options)
    if specs is None:
        raise TypeError("record() needs the specs of the function's arguments.")
    program = _core._record(function, specs, names=_parameters_of(function), **options)
    functools.update_wrapper(program, function, updated=())
    # The function, and what it refers to, need not live as long as the program.
    del program.__wrapped__  # type: ignore[attr-defined]
    return program


def _parameters_of(function):
    """Returns the names of the parameters that can be given by position, so that programs take them as keywords."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):  # functions of C
        return []
    named = inspect.Parameter.POSITIONAL_OR_KEYWORD
    return [p.name if p.kind is named else "" for p in parameters]


def checkpoint(
    function: Callable[..., Any],
    *args: Any,
    policy: str = "everything",
    layer: str = "",
    saved_dtype: "_core.DType | None" = None,
) -> Any:
    """Calls function(*args) so that the values inside are recomputed in the backward pass, with the same bits.

    policy: "everything", or "selective": all except results of products, convolutions and attention
    layer: a name for the statistics of memory
    saved_dtype: the dtype in which arguments and results are saved
    """
    return _core._checkpoint(function, *args, policy=policy, layer=layer, saved_dtype=saved_dtype)
