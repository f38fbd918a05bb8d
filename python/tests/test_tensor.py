"""Tensor: creation, properties, operators, indexing and writing in place, compared with NumPy."""

import copy

import numpy as np
import pytest
import reprise as rp

VALUES = np.arange(24, dtype=np.float32).reshape(2, 3, 4)


def tensor():
    return rp.from_numpy(VALUES)


def test_shape_is_a_tuple_of_int_and_dtypes_are_objects():
    t = rp.zeros(2, 3, dtype=rp.float16)
    assert t.shape == (2, 3) and type(t.shape) is tuple and type(t.shape[0]) is int
    assert t.dtype is rp.float16 and t.ndim == 2 and t.size(1) == 3 and t.size() == (2, 3)
    assert rp.zeros((2, 3)).dtype is rp.float32 and rp.zeros([4]).shape == (4,)


def test_numbers_choose_the_dtype_as_in_pytorch():
    assert rp.tensor([[1, 2], [3, 4]]).dtype is rp.int64
    assert rp.tensor([1, 2.5]).dtype is rp.float32
    assert rp.tensor([True, False]).tolist() == [True, False]
    assert rp.tensor(3).shape == () and rp.tensor(3).item() == 3
    assert rp.tensor([]).shape == (0,)
    assert rp.tensor([1, 2], dtype=rp.float64, requires_grad=True).requires_grad
    with pytest.raises(ValueError, match="same lengths"):
        rp.tensor([[1, 2], [3]])


def test_items_are_numbers_of_their_kind():
    assert type(rp.tensor(2.5).item()) is float
    assert rp.tensor([2**62 + 1]).item() == 2**62 + 1
    assert rp.tensor(True).item() is True
    assert float(rp.tensor([2])) == 2.0 and int(rp.tensor([2.7])) == 2 and bool(rp.tensor([0])) is False
    with pytest.raises(rp.Error):
        rp.zeros(2).item()


@pytest.mark.parametrize("op", ["+", "-", "*", "/", "//", "%"])
def test_arithmetic_with_tensors_numbers_and_arrays_on_either_side(op):
    a, b = VALUES + 1, np.float32(3)
    f = eval(f"lambda x, y: x {op} y")
    x = rp.from_numpy(a)
    np.testing.assert_array_equal(f(x, rp.from_numpy(a[0])).numpy(), f(a, a[0]))
    np.testing.assert_allclose(f(x, 3).numpy(), f(a, b), rtol=1e-6)
    np.testing.assert_allclose(f(x, a[1]).numpy(), f(a, a[1]), rtol=1e-6)
    np.testing.assert_allclose(f(3, x).numpy(), f(b, a), rtol=1e-6)
    if op in "+-*/":
        np.testing.assert_allclose(f(a[1], x).numpy(), f(a[1], a), rtol=1e-6)


def test_other_operators():
    x = tensor()
    np.testing.assert_array_equal((x == 3).numpy(), VALUES == 3)
    np.testing.assert_array_equal((x <= VALUES[0]).numpy(), VALUES <= VALUES[0])
    np.testing.assert_array_equal((-x).numpy(), -VALUES)
    np.testing.assert_allclose((2 ** rp.ones(2)).numpy(), [2, 2])
    np.testing.assert_allclose((x[0] @ x[0].T).numpy(), VALUES[0] @ VALUES[0].T)
    i = rp.tensor([1, 2, 3], dtype=rp.int32)
    assert (
        (i & 1).tolist() == [1, 0, 1]
        and (i << 1).tolist() == [2, 4, 6]
        and (~(i == 1)).tolist() == [False, True, True]
    )
    assert x.__add__("text") is NotImplemented


def test_in_place_operators_return_the_same_object():
    x = rp.ones(3)
    same = x
    x += 1
    x *= rp.tensor([1.0, 2.0, 3.0])
    assert x is same and x.tolist() == [2, 4, 6]
    assert x.add_(1) is x and x.zero_().tolist() == [0, 0, 0]


@pytest.mark.parametrize(
    "index",
    [
        0,
        -1,
        (1, 2),
        slice(1, None),
        (slice(None), slice(0, 3, 2)),
        None,
        (None, 1),
        ...,
        (..., 1),
        (0, ..., slice(1, 3)),
        [1, 0],
        (slice(None), [2, 0]),
        np.array([1, 0]),
    ],
    ids=str,
)
def test_indexing_reads_and_writes_as_numpy(index):
    x, expected = tensor(), VALUES.copy()
    np.testing.assert_array_equal(x[index].numpy(), expected[index])
    x[index] = 7
    expected[index] = 7
    np.testing.assert_array_equal(x.numpy(), expected)
    x[index] = expected[index] + 1
    expected[index] += 1
    np.testing.assert_array_equal(x.numpy(), expected)


def test_masks_and_loops():
    x = tensor()
    np.testing.assert_array_equal(x[x > 5].numpy(), VALUES[VALUES > 5])
    x[x > 5] = 0
    assert x.sum().item() == VALUES[VALUES <= 5].sum()
    assert [row.shape for row in tensor()] == [(3, 4), (3, 4)] and len(tensor()) == 2
    with pytest.raises(IndexError):
        x[2]


def test_gradients():
    a = rp.tensor([1.0, 2.0], requires_grad=True)
    assert a.grad is None and a.is_leaf
    (a * a).sum().backward()
    assert a.grad.tolist() == [2, 4]
    a.grad = None
    assert a.grad is None
    with rp.no_grad():
        assert not (a * 2).requires_grad
    assert (a * 2).requires_grad
    assert rp.grad((a * a * a).sum(), a).tolist() == [3, 12]
    assert rp.hessian(lambda x: (x * x * x).sum(), rp.tensor([1.0, 2.0])).tolist() == [[6, 0], [0, 12]]
    value, slope = rp.value_and_grad(lambda x: (x * x).sum(), rp.tensor([3.0]))
    assert value.item() == 9 and slope.tolist() == [6]


def test_a_hook_replaces_a_gradient_until_it_is_removed():
    a = rp.tensor([1.0], requires_grad=True)
    handle = a.register_hook(lambda g: g * 10)
    a.sum().backward()
    handle.remove()
    a.sum().backward()
    assert a.grad.item() == 11


def test_a_custom_function_has_its_own_gradient():
    kept = []

    def forward(context, x, y):
        kept.append(context)
        context.save_for_backward(x.exp())
        assert context.needs_input_grad(0) and not context.needs_input_grad(1)
        return x.exp() * y

    def backward(context, gradient):
        (exp,) = context.saved_tensors
        return gradient * exp * 10, None

    f = rp.CustomFunction("ten_exp", forward, backward)
    x, y = rp.tensor([0.0, 1.0], requires_grad=True), rp.ones(2)
    f(x, y).sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), 10 * np.exp([0.0, 1.0]), rtol=1e-6)
    with pytest.raises(RuntimeError, match="during its call"):
        kept[0].saved_tensors

    def failing(context, gradient):
        raise LookupError("backward")

    with pytest.raises(LookupError, match="backward"):
        rp.CustomFunction("fails", lambda c, t: t * 1, failing)(x).sum().backward()


def test_modes_decorate_functions():
    @rp.no_grad()
    def f(x, depth=2):
        return f(x, depth - 1) if depth else x * 2

    a = rp.tensor([1.0], requires_grad=True)
    assert not f(a).requires_grad and rp.is_grad_enabled()
    with rp.autocast(rp.bfloat16):
        assert rp.matmul(rp.ones(2, 2), rp.ones(2, 2)).dtype is rp.bfloat16
    assert not rp.is_autocast_enabled()


def test_text_hash_and_copies():
    t = rp.tensor([1.5, 2.0])
    assert repr(t) == "tensor([1.5000, 2.0000])" and f"{rp.tensor(1.23456):.2f}" == "1.23"
    assert len({t, t}) == 1
    other = copy.deepcopy(t)
    other += 1
    assert t.tolist() == [1.5, 2.0]


def test_lists_can_be_given_as_separate_numbers():
    x = rp.arange(6)
    assert x.view(2, -1).shape == x.view((2, 3)).shape == x.reshape([2, 3]).shape == (2, 3)
    assert x.reshape(1, 2, 3).permute(2, 0, 1).shape == (3, 1, 2)
    assert rp.ones(2, 1).expand(2, 4).shape == (2, 4) and rp.ones(2).repeat(2, 3).shape == (2, 6)


def test_a_wrong_argument_is_a_type_error_and_a_wrong_value_an_error_of_the_library():
    with pytest.raises(TypeError):
        rp.relu("text")
    with pytest.raises(rp.Error, match="reduction|none, mean") as e:
        rp.mse_loss(rp.ones(2), rp.ones(2), reduction="other")
    assert e.value.kind == rp.ErrorKind.argument and isinstance(e.value, RuntimeError)
    with pytest.raises(rp.Error) as e:
        rp.Device("no such device")
    assert e.value.kind == rp.ErrorKind.device
