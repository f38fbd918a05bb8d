"""nn: the library's layers, classes of Python that derive from Module, containers and their lifetimes."""

import gc
import weakref

import numpy as np
import pytest
import reprise as rp
from reprise import nn


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.first = nn.Linear(width, width)
        self.scale = nn.Parameter(rp.ones(width))
        self.register_buffer("steps", rp.zeros(1))
        self.layers = nn.Sequential(nn.ReLU(), nn.Linear(width, 2, bias=False))
        self.note = "a plain attribute"

    def forward(self, x, *, factor=1.0):
        return self.layers(self.first(x) * self.scale) * factor


def test_attributes_are_registered():
    net = Block(3)
    assert [n for n, _ in net.named_parameters()] == [
        "scale",
        "first.weight",
        "first.bias",
        "layers.1.weight",
    ]
    assert [n for n, _ in net.named_buffers()] == ["steps"]
    assert net.num_parameters() == 3 + 9 + 3 + 6 == sum(p.numel() for p in net.parameters())
    assert dict(net.named_children())["first"] is net.first and net.layers[1].weight.shape == (2, 3)
    assert repr(net).startswith("Block(\n  (first): Linear(in_features=3, out_features=3, bias=True)")
    assert [type(m).__name__ for m in net.modules()] == ["Block", "Linear", "Sequential", "ReLU", "Linear"]


def test_registered_attributes_can_be_replaced_and_deleted():
    net = Block(3)
    net.first = nn.Linear(3, 3, bias=False)
    assert "first.bias" not in net.state_dict()
    net.scale = nn.Parameter(rp.zeros(3))
    assert net(rp.ones(1, 3)).tolist() == [[0, 0]]
    with pytest.raises(TypeError, match="assign"):
        net.steps = rp.ones(1)
    del net.scale
    assert not hasattr(net, "scale") and "scale" not in net.state_dict()
    net.first = None
    assert [n for n, _ in net.named_parameters()] == ["layers.1.weight"]


def test_a_class_that_forgets_the_base_class_is_told_so():
    class Forgetful(nn.Module):
        def __init__(self):
            self.fc = nn.Linear(1, 1)

    with pytest.raises(AttributeError, match="super"):
        Forgetful()


def test_calls_pass_keywords_structures_and_exceptions():
    net = Block(3)
    x = rp.rand(2, 3)
    np.testing.assert_allclose(net(x, factor=2.0).numpy(), 2 * net(x).numpy())

    class Two(nn.Module):
        def forward(self, pair, flag):
            if flag == "raise":
                raise LookupError("from forward")
            return {"sum": pair[0] + pair[1], "flag": flag}

    out = Two()((rp.ones(2), rp.ones(2)), "same")
    assert out["sum"].tolist() == [2, 2] and out["flag"] == "same"
    with pytest.raises(LookupError, match="from forward"):
        Two()((x, x), "raise")
    with pytest.raises(LookupError):
        nn.Sequential(nn.Identity(), Raising())(x)


class Raising(nn.Module):
    def forward(self, x):
        raise LookupError


class Doubling(nn.Module):
    def forward(self, x):
        return x * 2


def test_the_library_calls_modules_of_python():
    chain = nn.Sequential(Doubling(), Doubling())
    assert chain(rp.ones(2)).tolist() == [4, 4] and isinstance(chain[-1], Doubling) and len(chain) == 2
    named = nn.Sequential({"a": Doubling(), "b": nn.Linear(2, 1)})
    assert list(named.state_dict()) == ["b.weight", "b.bias"]

    class Chain(nn.Sequential):
        def forward(self, x):
            return super().forward(x) + 1

    assert Chain(Doubling())(rp.ones(1)).tolist() == [3]


def test_lists_and_dictionaries():
    layers = nn.ModuleList([nn.Linear(2, 2)])
    layers.append(Doubling())
    assert len(layers) == 2 and isinstance(layers[-1], Doubling) and [type(m) for m in layers][0] is nn.Linear
    by_name = nn.ModuleDict({"one": Doubling()})
    by_name["two"] = nn.ReLU()
    assert by_name.keys() == ["one", "two"] and "two" in by_name and isinstance(by_name["one"], Doubling)
    with pytest.raises(KeyError):
        by_name["three"]
    assert len(nn.ParameterList([rp.ones(1), rp.ones(2)]).parameters()) == 2


def test_modes_hooks_and_checkpoints():
    net = Block(3)
    assert net.training and net.eval() is net and not net.layers.training and net.train().training
    seen = []
    handle = net.register_forward_hook(lambda m, inputs, outputs: seen.append((m is net, len(inputs))))
    doubled = net.register_forward_pre_hook(lambda m, inputs: [inputs[0] * 0])
    assert net(rp.ones(1, 3)).shape == (1, 2) and seen == [(True, 1)]
    handle.remove()
    doubled.remove()
    x = rp.rand(2, 3)
    expected = net(x).numpy()
    net.set_checkpoint(True, layer="block")
    np.testing.assert_array_equal(net(x).numpy(), expected)
    assert len(seen) == 1


def test_states_are_saved_and_loaded(tmp_path):
    net, other = Block(3), Block(3)
    other.load_state_dict(net.state_dict())
    x = rp.rand(2, 3)
    np.testing.assert_array_equal(net(x).numpy(), other(x).numpy())
    other.load_state_dict({k: v.numpy() * 0 for k, v in net.state_dict().items()})
    assert other(x).abs().sum().item() == 0
    rp.save_safetensors(tmp_path.joinpath("net.safetensors").as_posix(), net.state_dict())
    result = other.load_file(str(tmp_path / "net.safetensors"))
    assert result.missing_keys == [] and other(x).tolist() == net(x).tolist()
    result = other.load_state_dict({"unknown": x}, strict=False)
    assert result.unexpected_keys == ["unknown"] and "scale" in result.missing_keys
    with pytest.raises(rp.Error):
        other.load_state_dict({"scale": rp.ones(4)}, strict=False)


@pytest.mark.parametrize(
    "name",
    sorted(n for n in dir(nn) if isinstance(getattr(nn, n), type) and issubclass(getattr(nn, n), nn.Module)),
)
def test_each_layer_has_a_text_and_its_arguments_have_names(name):
    layer = getattr(nn, name)
    assert layer.__doc__ and "arg0" not in layer.__init__.__doc__


def test_layers_with_several_arguments_and_results():
    x = rp.rand(5, 2, 8)
    y, weights = nn.MultiheadAttention(8, 2)(x, x, x, is_causal=True, average_attn_weights=False)
    assert y.shape == (5, 2, 8) and weights.shape == (2, 2, 5, 5) and weights[0, 0, 0, 1].item() == 0
    output, (h, c) = nn.LSTM(8, 4, num_layers=2)(x)
    assert output.shape == (5, 2, 4) and h.shape == c.shape == (2, 2, 4)
    output, _ = nn.LSTM(8, 4)(x, (rp.zeros(1, 2, 4), rp.zeros(1, 2, 4)))
    assert nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, dropout=0.0), 2)(x).shape == (5, 2, 8)
    assert nn.CrossEntropyLoss(label_smoothing=0.1)(rp.rand(2, 3), rp.tensor([0, 2])).shape == ()
    assert nn.Conv2d(1, 2, (3, 1), padding="same", bias=False)(rp.rand(1, 1, 4, 4)).shape == (1, 2, 4, 4)
    assert nn.functional.relu(x).shape == x.shape
    assert nn.init.zeros_(nn.Linear(2, 2).weight).abs().sum().item() == 0


def test_a_layer_is_no_base_class_and_takes_no_modules():
    with pytest.raises(TypeError):

        class Own(nn.Linear):
            pass

    with pytest.raises(TypeError, match="derives from nn.Module"):
        nn.Linear(1, 1).child = nn.ReLU()


def test_cycles_through_modules_are_collected():
    class Child(nn.Module):
        pass

    net = Child()
    net.child = Child()
    object.__setattr__(net.child, "parent_of_it", [net])
    held = nn.Sequential(Child())
    held[0].container = [held]
    alive = weakref.ref(net), weakref.ref(held)
    del net, held
    gc.collect()
    assert [a() for a in alive] == [None, None]


def test_a_module_may_end_before_those_that_it_is_in():
    net = Block(2)
    vars(net).clear()  # the children are gone without __delattr__
    gc.collect()
    assert net.children() == [] and [n for n, _ in net.named_parameters()] == ["scale"]


def test_options_are_attributes():
    layer = nn.Linear(3, 2)
    assert (layer.in_features, layer.out_features) == (3, 2) and layer.bias.shape == (2,)
    conv = nn.Conv2d(4, 8, 3, padding="same", groups=2, bias=False)
    assert conv.kernel_size == (3, 3) and conv.stride == (1, 1) and conv.padding == "same"
    assert conv.groups == 2 and conv.padding_mode == "zeros" and conv.bias is None
    assert nn.Conv1d(1, 1, 3, padding=2).padding == (2,)
    assert nn.MaxPool2d((2, 3)).stride == (2, 3) and nn.AvgPool1d(2, 1).stride == (1,)
    assert nn.Dropout(0.25).p == 0.25 and nn.LeakyReLU().negative_slope == 0.01 and nn.Softmax(1).dim == 1
    assert nn.LayerNorm(5).normalized_shape == (5,) and nn.RMSNorm((2, 3)).normalized_shape == (2, 3)
    assert nn.LayerNorm(normalized_shape=5).eps == 1e-5 and nn.BatchNorm2d(num_features=3).num_features == 3
    lstm = nn.LSTM(3, 4, num_layers=2)
    assert (lstm.input_size, lstm.hidden_size, lstm.num_layers, lstm.bias) == (3, 4, 2, True)
    assert nn.CrossEntropyLoss(reduction="sum").reduction == "sum" and nn.Embedding(4, 2).padding_idx is None
    assert nn.MultiheadAttention(8, 2).num_heads == 2 and nn.TransformerEncoderLayer(8, 2).nhead == 2


def test_options_are_read_only_and_belong_to_the_layer_that_was_made():
    with pytest.raises(AttributeError):
        nn.Dropout(0.5).p = 0.1
    with pytest.raises(AttributeError, match="part"):
        nn.MultiheadAttention(8, 2).out_proj.in_features
    assert callable(nn.PReLU(2).num_parameters), "a method of all modules is no option"
    assert "the probability, from 0 to 1" in nn.Dropout.p.__doc__
