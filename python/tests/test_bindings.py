"""The list of ops: what the library's headers declare is bound, or is listed here with its reason."""

import ast
import inspect
import pathlib

import pytest
import reprise as rp

# Declarations without a binding, by the reasons that the generator gives.
UNBOUND = {
    "libtorch's order of arguments; keywords serve": ["batch_norm", "instance_norm"],
    "two arguments of one name": ["nn.Transformer"],  # the constructor of options has both
    "a module of type LayerNorm, which is moved": ["nn.TransformerDecoder", "nn.TransformerEncoder"],
    "python/src/tensor.cpp": [
        "Tensor.backward",
        "Tensor.eval",
        "Tensor.item",
        "Tensor.register_hook",
        "Tensor.size",
    ],
    "python/src/programs.cpp": ["host_scalar"],
    "python/src/arrays.cpp": ["tensor"],
    "Python's indexing": ["Tensor.index", "Tensor.index_put", "Tensor.index_put_"],
    "another form in Python": [
        "Tensor.accessor",
        "Tensor.defined",
        "Tensor.gradients",
        "Tensor.mutable_grad",
        "Tensor.new_tensor",
        "Tensor.options",
        "Tensor.remove_hook",
        "Tensor.reset",
        "Tensor.scalar_type",
        "Tensor.sizes",
        "Tensor.to_vector",
        "from_blob",
        "from_bytes",
        "from_vector",
        "to_bytes",
    ],
    "for the library itself": ["Tensor.cell"],
    "a TapeNode, which Python does not have": ["Tensor.grad_fn"],
}


def test_what_is_not_bound_is_listed():
    found = {}
    for name, reason in rp._core._unbound.items():
        found.setdefault(reason, set()).add(name.split("(")[0])
    assert {reason: sorted(names) for reason, names in found.items()} == UNBOUND


def test_elementwise_ops_and_methods_have_the_names_of_the_table():
    for name in ("relu", "bitwise_and", "atan2", "lerp", "silu", "erf"):
        assert callable(getattr(rp, name)) and callable(getattr(rp.Tensor, name))
    assert callable(rp.Tensor.relu_) and not hasattr(rp.Tensor, "where_")
    assert not hasattr(rp.Tensor, "linear"), "a function that is no method in C++ is none in Python"


@pytest.mark.parametrize(
    "name", ["conv2d", "max_pool2d", "scaled_dot_product_attention", "cross_entropy", "interpolate"]
)
def test_options_are_keywords(name):
    text = getattr(rp, name).__doc__
    expected = {
        "conv2d": "bias: reprise._core.Tensor | None = None, "
        "stride: int | collections.abc.Sequence[int] = 1, padding: int | collections.abc.Sequence[int] | str = 0",
        "max_pool2d": "ceil_mode: bool = False",
        "scaled_dot_product_attention": "causal_alignment: str = 'upper_left'",
        "cross_entropy": "ignore_index: int = -100, reduction: str = 'mean', label_smoothing: float = 0.0",
        "interpolate": "mode: str = 'nearest', align_corners: bool = False",
    }[name]
    assert expected in text


def test_keywords_have_the_meaning_of_cpp():
    x = rp.rand(1, 1, 4, 4)
    assert rp.conv2d(x, rp.ones(1, 1, 3, 3), padding="same").shape == (1, 1, 4, 4)
    assert rp.conv2d(x, rp.ones(1, 1, 3, 3), stride=(2, 1), padding=1).shape == (1, 1, 2, 4)
    assert rp.max_pool2d(x, 2, stride=1).shape == (1, 1, 3, 3)
    assert rp.sum(x, dim=(2, 3), keepdim=True).shape == (1, 1, 1, 1) and x.sum(1).shape == (1, 4, 4)
    assert rp.var(x, dim=None, correction=0).shape == ()
    values, indices = rp.topk(rp.tensor([1.0, 3.0, 2.0]), k=2, largest=False)
    assert values.tolist() == [1, 2] and indices.tolist() == [0, 2]
    values, inverse, counts = rp.unique(rp.tensor([2, 1, 2]), return_counts=True)
    assert values.tolist() == [1, 2] and inverse is None and counts.tolist() == [1, 2]
    assert rp.interpolate(x, scale_factor=2.0, mode="bilinear").shape == (1, 1, 8, 8)


def test_the_stubs_name_what_the_package_has():
    package = pathlib.Path(rp.__file__).parent
    stub = package / "_core" / "__init__.pyi"
    if not stub.exists():
        pytest.skip("the package was built without stubs")
    assert (package / "py.typed").exists()
    tree = ast.parse(stub.read_text())
    named = {n.name for n in tree.body if isinstance(n, (ast.FunctionDef, ast.ClassDef))}
    functions = {n for n in dir(rp._core) if inspect.isroutine(getattr(rp._core, n)) and n[0] != "_"}
    assert functions <= named and {"Tensor", "Program", "Variable"} <= named
    tensor = next(n for n in tree.body if isinstance(n, ast.ClassDef) and n.name == "Tensor")
    assert {"relu_", "add_", "numpy"} <= {n.name for n in tensor.body if isinstance(n, ast.FunctionDef)}
