"""record() and Program."""

import gc
import traceback
import weakref

import numpy as np
import pytest
import reprise as rp


def test_one_recording_serves_three_sizes():
    n = rp.symbol("n")
    double = rp.record(lambda x: x * 2, [rp.spec([n, 3])])
    before = rp.stats().recordings
    for size in (1, 4, 7):
        assert double(np.ones((size, 3), np.float32)).tolist() == [[2, 2, 2]] * size
    assert rp.stats().recordings == before


def test_as_a_decorator_it_keeps_the_name():
    @rp.record([rp.spec([rp.symbol("n")])], fuse=False)
    def double(x):
        """Doubles."""
        return x * 2

    assert double.__name__ == "double" and double.__doc__ == "Doubles."
    assert double(np.array([1, 2], np.float32)).tolist() == [2, 4]


def test_structures_of_arguments_and_results():
    n = rp.symbol("n")

    @rp.record([{"x": rp.spec([n]), "y": [rp.spec([n]), rp.spec([n])]}, rp.symbol("length", min=1)])
    def f(batch, length):
        assert isinstance(length, rp.Dim)
        return {"sum": batch["x"] + batch["y"][1], "rest": (batch["x"].narrow(0, 0, length), None)}

    out = f({"y": (rp.zeros(3), rp.ones(3)), "x": rp.ones(3)}, 2)
    assert out["sum"].tolist() == [2, 2, 2] and out["rest"][0].shape == (2,) and out["rest"][1] is None
    with pytest.raises(TypeError, match="structure"):
        f({"x": rp.ones(3)}, 2)
    with pytest.raises(TypeError, match="takes 2 arguments"):
        f(rp.ones(3))


def test_sizes_are_expressions_while_recording():
    n = rp.symbol("n", min=2, multiple_of=2)
    seen = {}

    def f(x):
        seen["shape"] = x.shape
        rows = x.shape[0]
        seen["text"] = repr(rows * 2 + 1), repr(rows // 2), rows.divisible_by(2), rows.at_least(2)
        seen["recording"] = rp.is_recording()
        return x.reshape(rows // 2, 2) * rows

    p = rp.record(f, [rp.spec([n])])
    assert seen["text"] == ("n * 2 + 1", "n / 2", True, True) and seen["recording"]
    assert p(rp.ones(4)).tolist() == [[4, 4], [4, 4]]
    with pytest.raises(rp.Error) as e:
        p(rp.ones(3))
    assert e.value.kind == rp.ErrorKind.argument or e.value.kind == rp.ErrorKind.shape


def test_a_branch_on_a_symbol_and_a_read_are_errors():
    n = rp.symbol("n")
    with pytest.raises(rp.Error) as e:
        rp.record(lambda x: x if x.shape[0] == 3 else x * 2, [rp.spec([n])])
    assert e.value.kind == rp.ErrorKind.state
    with pytest.raises(rp.Error) as e:
        rp.record(lambda x: x * x.sum().item(), [rp.spec([n])])
    assert e.value.kind == rp.ErrorKind.state


def test_an_exception_of_the_function_arrives_unchanged():
    class Own(Exception):
        pass

    thrown = Own("reason")

    def inner(x):
        raise thrown

    with pytest.raises(Own) as e:
        rp.record(lambda x: inner(x), [rp.spec([2])])
    assert e.value is thrown
    assert "inner" in [frame.name for frame in traceback.extract_tb(e.value.__traceback__)]
    assert not rp.is_recording()


def test_a_result_that_is_no_tensor_is_a_type_error():
    with pytest.raises(TypeError, match="returned int"):
        rp.record(lambda x: 3, [rp.spec([2])])
    with pytest.raises(TypeError, match="spec"):
        rp.record(lambda x: x, [3])


def test_state_is_found_and_host_values_are_read_at_each_call():
    count = rp.Variable(rp.zeros(1), requires_grad=False)
    factor = [1.0]
    calls = []

    def f(x):
        count.assign(count + 1)
        rp.on_each_call(lambda: calls.append(1))
        return x * rp.host_scalar(lambda: factor[0])

    p = rp.record(f, [rp.spec([2])])
    calls.clear()
    assert p(rp.ones(2)).tolist() == [1, 1]
    factor[0] = 5.0
    assert p(rp.ones(2)).tolist() == [5, 5]
    assert count.item() == 2 and len(calls) == 2


def test_an_exception_in_a_function_of_a_call_arrives_and_the_program_stays_usable():
    bad = [True]

    def value():
        if bad[0]:
            raise KeyError("value")
        return 2.0

    p = rp.record(lambda x: x * rp.host_scalar(value), [rp.spec([2])])
    with pytest.raises(KeyError, match="value"):
        p(rp.ones(2))
    bad[0] = False
    assert p(rp.ones(2)).tolist() == [2, 2]


def test_the_recorded_function_is_released():
    class Big:
        pass

    big = Big()
    alive = weakref.ref(big)

    def make(held):
        return rp.record(lambda x: x * (2 if held else 3), [rp.spec([2])])

    p = make(big)
    del big
    gc.collect()
    assert alive() is None and p(rp.ones(2)).tolist() == [2, 2]


def test_functions_of_a_program_live_as_long_as_it_does():
    class Value:
        def __call__(self):
            return 3.0

    value = Value()
    alive = weakref.ref(value)
    p = rp.record(lambda x, v=value: x * rp.host_scalar(v), [rp.spec([2])])
    del value
    gc.collect()
    assert p(rp.ones(2)).tolist() == [3, 3]
    del p
    for _ in range(3):  # the interpreter releases it between two instructions
        gc.collect()
    assert alive() is None


def test_a_checkpoint_gives_the_same_gradients():
    w = rp.Variable(rp.rand(4, 4))

    def f(x):
        return rp.tanh(x @ w), {"twice": x * 2}

    x = rp.rand(2, 4)
    f(x)[0].sum().backward()
    expected = w.grad.numpy()
    w.grad = None
    y, more = rp.checkpoint(f, x, layer="f")
    assert more["twice"].tolist() == (x * 2).tolist()
    y.sum().backward()
    np.testing.assert_array_equal(w.grad.numpy(), expected)
    with pytest.raises(ZeroDivisionError):
        rp.checkpoint(lambda t: t * (1 / 0), x)


def test_descriptions():
    p = rp.record(lambda x: rp.softmax(x, 1), [rp.spec([rp.symbol("n"), 8])], timestamps=True)
    p(rp.rand(2, 8))
    assert "softmax" in p.text() and p.dot().startswith("digraph") and p.launches() >= 1
    assert p.memory([16]).outputs >= 16 * 8 * 4 and "<svg" in p.svg([4])
