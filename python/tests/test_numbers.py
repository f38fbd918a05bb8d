"""Numbers beside tensors, tensors of numbers, and indices: the dtypes and errors of PyTorch."""

import numpy as np
import pytest
import reprise as rp


def test_lists_hold_tensors_arrays_and_sequences():
    for data, values, dtype in [
        ([rp.tensor(1.5), rp.tensor(2.5)], [1.5, 2.5], rp.float32),
        ([np.array(1.5), 2], [1.5, 2], rp.float32),
        ([np.array([1.5, 2.0]), [3, 4]], [[1.5, 2], [3, 4]], rp.float32),
        ([rp.tensor([1, 2]), rp.tensor([3, 4])], [[1, 2], [3, 4]], rp.int64),
        ([np.float64(1.5), np.int32(2)], [1.5, 2], rp.float32),
        (range(3), [0, 1, 2], rp.int64),
        ([True, np.True_], [True, True], rp.bool),
    ]:
        t = rp.tensor(data)
        assert t.tolist() == values and t.dtype is dtype
    assert rp.tensor([2**62 + 1]).item() == 2**62 + 1
    with pytest.raises(OverflowError):
        rp.tensor([2**63])
    for data in (["1.5"], "12", [None], [object()]):
        with pytest.raises(TypeError):
            rp.tensor(data)
    with pytest.raises(ValueError):
        rp.tensor([[1.0, 2.0], 3.0])


def test_numbers_have_the_dtypes_of_pytorch():
    i = rp.tensor([1, 2, 3])
    assert (i * 1.0).dtype is (1.0 * i).dtype is (i + 2.0).dtype is rp.float32
    assert (i * 2).dtype is rp.int64 and (i + True).dtype is rp.int64
    assert (5.5 % rp.tensor([3])).tolist() == [2.5] and (7 % rp.tensor([4])).tolist() == [3]
    assert (5.5 // rp.tensor([2])).tolist() == [2.0] and (i < 2.5).tolist() == [True, True, False]
    assert (2.5 < i).tolist() == [False, False, True]
    big = 2**53 + 1
    assert (rp.tensor([0]) + big).item() == big and (rp.tensor([big]) == big).item()
    assert not (rp.tensor([big - 1]) == big).item() and (rp.tensor([0]) | big).item() == big
    x = rp.ones(2)
    for number in (np.float64(2), np.float32(2), np.int64(2), 2, np.True_):
        assert (x * number).dtype is (number * x).dtype is rp.float32
    i += big
    assert i.tolist() == [big + 1, big + 2, big + 3]
    with pytest.raises(rp.Error):
        i += 1.5


def test_in_place_operators_write_into_the_tensor():
    def check(x, change, expected):
        view = x.view(-1)
        same = change(x)
        assert same is x and x.tolist() == expected and view.tolist() == expected

    import operator as op

    check(rp.tensor([2.0, 3.0]), lambda x: op.ipow(x, 2), [4, 9])
    check(rp.tensor([5.0, 7.0]), lambda x: op.ifloordiv(x, 2), [2, 3])
    check(rp.tensor([5.0, 7.0]), lambda x: op.imod(x, 4), [1, 3])
    check(rp.tensor([5, 6]), lambda x: op.ior(x, 8), [13, 14])
    check(rp.tensor([5, 6]), lambda x: op.iand(x, 4), [4, 4])
    check(rp.tensor([5, 6]), lambda x: op.ixor(x, rp.tensor([1, 1])), [4, 7])
    check(rp.tensor([5, 6]), lambda x: op.ilshift(x, 1), [10, 12])
    check(rp.tensor([5, 6]), lambda x: op.irshift(x, 1), [2, 3])
    check(rp.ones(2), lambda x: op.iadd(x, np.array([1, 2], np.float32)), [2, 3])
    check(rp.ones(2), lambda x: op.imul(x, np.float64(3)), [3, 3])
    check(rp.ones(2), lambda x: op.isub(x, np.array([1, 2], np.float32)), [0, -1])
    mask = rp.tensor([True, False])
    mask |= rp.tensor([False, True])
    assert mask.tolist() == [True, True]


def test_a_floating_tensor_is_no_index():
    with pytest.raises(TypeError):
        range(3)[rp.tensor(1.5)]
    assert range(3)[rp.tensor(1)] == 1
    n = rp.symbol("n")
    program = rp.record(lambda x: x.shape[0] * x.sum(), [rp.spec([n])])
    assert program(rp.ones(3)).item() == 9


def test_indices():
    x = rp.tensor(np.arange(6, dtype=np.float32).reshape(2, 3))
    for index in [(0, 5), (slice(None), -4), 2]:
        with pytest.raises(IndexError):
            x[index]
        with pytest.raises(IndexError):
            x[index] = 1
    assert x[[]].shape == (0, 3) and x[np.True_].shape == (1, 2, 3) and x[np.int64(1)].tolist() == [3, 4, 5]
    x[0] = [7, 8, 9]
    x[1, 2] = np.float64(1.5)
    assert x.tolist() == [[7, 8, 9], [3, 4, 1.5]]


def test_arrays_and_lists_go_to_the_device_of_the_tensor():
    other = next((d.name for d in rp.devices() if d.name and d.name != rp.default_device().name), "null")
    program = rp.record(lambda x: x * 2, [rp.spec([2])], device=other)
    assert program(np.ones(2, np.float32)).device == rp.Device(other)
    x = rp.ones(3, device=other)
    assert x[[0, 1]].device == x[np.array([0, 2])].device == x.device
    x[:] = np.zeros(3, np.float32)
