"""What copy and pickle call to make tensors and modules again."""

from . import _core
from ._core import nn

# The key of a module's state under which is what its attributes do not say.
MODULE = "_module"


def restored(data, shape, dtype, requires_grad, kind):
    """Makes the tensor of these bytes, of the class of this name, on the default device."""
    tensor = _core._restored(data, shape, dtype)
    if kind != "Tensor":
        return getattr(_core, kind)(tensor, requires_grad)
    return tensor.requires_grad_() if requires_grad else tensor


def library_class(cls):
    """The library's class that a class is or derives from."""
    return next(c for c in cls.__mro__ if c.__module__ == nn.Module.__module__)


def made(cls, options):
    """Makes a module without its state: a layer of the library with these options, or a class of Python.

    The __init__() of a class of Python is not called.
    """
    base = library_class(cls)
    if cls is not base:
        module = cls.__new__(cls)
        base.__init__(module)
        return module
    if options is None:
        raise TypeError(f"This {cls.__name__} is a part of one of the library's layers: copy the whole layer.")
    # A tuple is the recipe of a layer that the options have.
    given = {name: made(*value) if is_recipe(value) else value for name, value in options.items()}
    random = _core.generator_state()
    try:
        return cls(**given)
    finally:
        _core.set_generator_state(random)  # as the first values of the parameters are replaced


def is_recipe(value):
    return isinstance(value, tuple) and len(value) == 2 and isinstance(value[0], type)


def reduced(module):
    """(function, arguments, state) that make the module again."""
    cls = type(module)
    options = {} if is_container(module) else vars(module).get("_options")
    if cls is library_class(cls) and options is None:
        made(cls, options)  # raises
    return made, (cls, options), module.__getstate__()


def is_container(module):
    return hasattr(library_class(type(module)), "__len__")


def items_of(container):
    """The names and the modules or parameters of a container."""
    if hasattr(container, "keys"):
        return list(zip(container.keys(), container.values()))
    names = {id(child): name for name, child in container.named_children()}
    items = [container[i] for i in range(len(container))]
    return [(names.pop(id(item), str(i)), item) for i, item in enumerate(items)]


def members_of(module):
    """The parameters and buffers of a layer and its parts: (the part's path, name, value)."""
    return [
        (path, name, value)
        for path, part in module.named_modules()
        for name, value in part.named_parameters(False) + part.named_buffers(False)
    ]


def state_of(module):
    """The state of a module: its attributes, and how they are registered."""
    about = {"training": [m.training for m in module.modules()]}
    registered = module._registered()
    if registered is not None:
        about["registered"] = registered
        about["buffers"] = [name for name, _ in module.named_buffers(False)]
    if is_container(module):
        about["items"] = items_of(module)
    elif registered is None:
        about["members"] = members_of(module)
    return {**vars(module), MODULE: about}


def set_state(module, state):
    attributes = dict(state)
    about = attributes.pop(MODULE, None)
    if about is None:
        raise TypeError("The state of a module contains that which super().__getstate__() returns.")
    nn.Module.train(module, about["training"][0])  # before it has children, which have their own modes
    for name, item in about.get("items", ()):
        if isinstance(module, nn.Sequential):
            module.add_module(name, item)
        elif hasattr(module, "append"):
            module.append(item)
        else:
            module[name] = item
    for name in about.get("registered", ()):
        if name in attributes:
            register = nn.Module.register_buffer if name in about["buffers"] else nn.Module.__setattr__
            register(module, name, attributes.pop(name))
    vars(module).update(attributes)
    if "members" in about:
        set_members(module, about["members"])
        for part, mode in zip(module.modules(), about["training"]):
            part.train(mode)


def set_members(module, members):
    """Puts these parameters and buffers in place of a layer's own."""
    parts = dict(module.named_modules())
    for path, name, value in members:
        part = parts[path]
        if hasattr(type(part), name):
            setattr(part, name, value)
            continue
        # Recurrent networks have no attributes for their weights, so that they take the values only.
        part.to(value.device, value.dtype)
        part.load_state_dict({name: value}, strict=False)
        dict(part.named_parameters(False))[name].requires_grad_(value.requires_grad)
