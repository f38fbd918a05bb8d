"""Exchange with NumPy, DLPack and PyTorch."""

import numpy as np
import pytest
import reprise as rp

DTYPES = {
    np.float32: rp.float32,
    np.float16: rp.float16,
    np.float64: rp.float64,
    np.int64: rp.int64,
    np.int32: rp.int32,
    np.int16: rp.int16,
    np.int8: rp.int8,
    np.uint8: rp.uint8,
    np.bool_: rp.bool,
}


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(), (0,), (3,), (2, 0, 3), (2, 3, 4)])
def test_arrays_and_back(dtype, shape):
    array = (np.arange(np.prod(shape, dtype=int)) % 2).astype(dtype).reshape(shape)
    t = rp.from_numpy(array)
    assert t.dtype is DTYPES[dtype] and t.shape == shape
    for back in (t.numpy(), np.asarray(t), np.from_dlpack(t)):
        assert back.dtype == array.dtype and back.shape == shape
        np.testing.assert_array_equal(back, array)


def test_arrays_of_any_strides_are_copied():
    array = np.arange(12, dtype=np.float32).reshape(3, 4)
    np.testing.assert_array_equal(rp.from_numpy(array.T[::-1, ::2]).numpy(), array.T[::-1, ::2])
    t = rp.from_numpy(array)
    array[0, 0] = 100
    assert t[0, 0].item() == 0
    result = t.numpy()
    result[0, 0] = 50
    assert t[0, 0].item() == 0


def test_a_read_only_array_is_taken():
    array = np.ones(3, np.float32)
    array.setflags(write=False)
    assert rp.from_numpy(array).tolist() == [1, 1, 1]


def test_dtypes_without_a_counterpart_are_refused():
    with pytest.raises(TypeError, match="no counterpart"):
        rp.from_numpy(np.ones(2, np.complex64))
    with pytest.raises(TypeError, match="bfloat16"):
        rp.ones(2, dtype=rp.bfloat16).numpy()
    assert rp.ones(2, dtype=rp.bfloat16).tolist() == [1, 1]


def test_views_of_tensors_are_read_in_their_order():
    x = rp.arange(6).reshape(2, 3)
    np.testing.assert_array_equal(x.T.numpy(), np.arange(6).reshape(2, 3).T)


def test_pytorch_takes_and_gives_tensors():
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    t = rp.rand(2, 3)
    np.testing.assert_array_equal(torch.from_dlpack(t).numpy(), t.numpy())
    assert torch.from_dlpack(rp.ones(2, dtype=rp.bfloat16)).dtype is torch.bfloat16
    assert rp.from_dlpack(torch.ones(2, dtype=torch.bfloat16)).dtype is rp.bfloat16
    assert (rp.from_dlpack(torch.arange(4)) + torch.arange(4)).tolist() == [0, 2, 4, 6]
