"""What functions and modules of Python take and return: the caller's own objects, with their classes."""

import collections

import numpy as np
import pytest
import reprise as rp
from reprise import nn

Pair = collections.namedtuple("Pair", "a b")


class Giving(nn.Module):
    def forward(self, value):
        self.value = value
        return value


def test_forward_gets_the_objects_of_the_caller():
    class Filling(nn.Module):
        def forward(self, x, cache):
            cache["x"] = x
            cache["list"].append(x)
            return x

    cache, x = {"list": []}, rp.ones(2)
    assert Filling()(x, cache) is x and cache["x"] is x and cache["list"][0] is x
    module = Giving()
    for value in (Pair(x, 1), [x], {"x": x}, (x,), collections.OrderedDict(x=x)):
        assert module(value) is value and module.value is value


def test_structures_keep_their_class_where_a_hook_changes_tensors():
    module = Giving()
    module.register_forward_pre_hook(lambda m, inputs: [t * 2 for t in inputs])
    pair = module(Pair(rp.ones(1), "text"))
    assert type(pair) is Pair and pair.a.item() == 2 and pair.b == "text"
    ordered = module(collections.OrderedDict(z=rp.ones(1), y=[rp.ones(1)]))
    assert type(ordered) is collections.OrderedDict and list(ordered) == ["z", "y"]
    assert ordered["y"][0].item() == 2
    default = module(collections.defaultdict(list, x=rp.ones(1)))
    assert default["new"] == [] and default["x"].item() == 2


def test_programs_return_named_tuples():
    program = rp.record(lambda p: Pair(p.a + p.b, (p.a,)), [Pair(rp.spec([1]), rp.spec([1]))])
    result = program(Pair(rp.ones(1), rp.ones(1)))
    assert type(result) is Pair and result.a.item() == 2 and type(result.b) is tuple


def test_programs_take_keywords():
    program = rp.record(lambda x, y: x - y, [rp.spec([1]), rp.spec([1])])
    x, y = rp.full((1,), 3.0), rp.ones(1)
    assert program(y=y, x=x).item() == program(x, y=y).item() == program(x, y).item() == 2
    for given in ({"x": x}, {"x": x, "z": y}):
        with pytest.raises(TypeError):
            program(**given)
    with pytest.raises(TypeError):
        program(x, x=x)


def test_containers_that_contain_themselves_are_refused():
    cycle = [rp.ones(1)]
    cycle.append(cycle)
    with pytest.raises(RecursionError):
        Giving()(cycle)
    with pytest.raises(RecursionError):
        rp.record(lambda x: cycle, [rp.spec([1])])
    numbers = []
    numbers.append(numbers)
    with pytest.raises(RecursionError):
        rp.tensor(numbers)


def test_wrong_values_are_type_errors_and_exceptions_arrive():
    with pytest.raises(TypeError):
        rp.record(lambda x: {1: x}, [rp.spec([1])])
    with pytest.raises(TypeError):
        rp.optim.SGD([1.0], lr=0.1)
    with pytest.raises(TypeError):
        rp.optim.SGD([nn.Parameter(rp.ones(1))], lr=0.1).load_state_dict({"a": "text"})

    def failing():
        yield nn.Parameter(rp.ones(1))
        raise LookupError("from the generator")

    with pytest.raises(LookupError):
        rp.optim.SGD(failing(), lr=0.1)
    with pytest.raises(LookupError):
        nn.utils.clip_grad_norm_(failing(), 1.0)
    program = rp.record(lambda x: x * rp.host_scalar(lambda: "no number"), [rp.spec([1])])
    with pytest.raises(TypeError):
        program(np.ones(1, np.float32))
