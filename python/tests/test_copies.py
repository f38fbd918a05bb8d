"""Copies and pickles of tensors, states and modules, and weights that two layers share."""

import copy
import pickle

import numpy as np
import pytest
import reprise as rp
from reprise import nn


def pickled(value):
    return pickle.loads(pickle.dumps(value))


MAKE = pytest.mark.parametrize("make", [copy.deepcopy, pickled], ids=["deepcopy", "pickle"])


class Net(nn.Module):
    """A network of its own parameters and buffers, layers, containers, a tied weight and plain attributes."""

    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(5, 3)
        self.scale = nn.Parameter(rp.rand(3))
        self.register_buffer("steps", rp.tensor([7]))
        self.body = nn.Sequential(nn.Linear(3, 3), nn.BatchNorm1d(3), nn.Dropout(0.25))
        self.gates = nn.ParameterList([rp.rand(1), rp.rand(3)])
        self.head = nn.Linear(3, 5, bias=False)
        self.head.weight = self.words.weight
        self.names = ["a", {"b": 2}]
        self.running = rp.Variable(rp.ones(2), requires_grad=False)

    def forward(self, x):
        return self.head(self.body(self.words(x) * self.scale * self.gates[1]))


def values_of(module):
    return {name: value.tolist() for name, value in module.state_dict().items()}


@MAKE
def test_a_module_of_python_is_copied_as_a_whole(make):
    net = Net()
    net.eval().body[1].train()
    net.scale.requires_grad_(False)
    net.words.weight.assign(rp.rand(5, 3))
    made = make(net)
    assert type(made) is Net and values_of(made) == values_of(net)
    names = [n for n, _ in net.named_parameters()]
    assert [n for n, _ in made.named_parameters()] == names and "head.weight" not in names
    assert made.head.weight is made.words.weight is not net.words.weight
    assert [n for n, _ in made.named_children()] == ["words", "body", "gates", "head"]
    assert [m.training for m in made.modules()] == [m.training for m in net.modules()]
    assert not made.scale.requires_grad and made.words.weight.requires_grad
    assert made.names == net.names and made.names[1] is not net.names[1]
    assert type(made.steps) is rp.Variable and made.steps is made.buffers()[0]
    assert made.steps.dtype is rp.int64
    assert made.running is not net.running and made.running.tolist() == [1, 1]
    net.eval(), made.eval()
    x = rp.tensor([0, 3])
    assert made(x).tolist() == net(x).tolist()
    for p in made.parameters():
        p.assign(rp.zeros_like(p))
    made.steps.assign(rp.tensor([9]))
    assert made(x).abs().sum().item() == 0 < net(x).abs().sum().item() and net.steps.item() == 7


@MAKE
@pytest.mark.parametrize(
    "layer",
    [
        lambda: nn.Linear(3, 2, bias=False),
        lambda: nn.Conv2d(2, 4, (3, 1), padding="same", groups=2, padding_mode="reflect"),
        lambda: nn.MaxPool2d(3, 2, padding=1),
        lambda: nn.Embedding(4, 2, padding_idx=1),
        lambda: nn.LayerNorm((2, 3), eps=0.125),
        lambda: nn.BatchNorm2d(3, momentum=None),
        lambda: nn.PReLU(2),
        lambda: nn.LSTM(3, 4, num_layers=2, bidirectional=True).double(),
        lambda: nn.GRUCell(3, 4),
        lambda: nn.MultiheadAttention(4, 2, kdim=3),
        lambda: nn.TransformerEncoder(nn.TransformerEncoderLayer(4, 2, 8, activation="gelu"), 2).bfloat16(),
        lambda: nn.CrossEntropyLoss(rp.tensor([1.0, 2.0]), label_smoothing=0.1),
        lambda: nn.Upsample(scale_factor=(2.0, 3.0), mode="bilinear"),
    ],
)
def test_layers_of_the_library_are_copied(layer, make):
    layer = layer().eval()
    made = make(layer)
    assert type(made) is type(layer) and repr(made) == repr(layer) and values_of(made) == values_of(layer)
    assert [p.dtype for p in made.parameters()] == [p.dtype for p in layer.parameters()]
    assert [m.training for m in made.modules()] == [False] * len(layer.modules())
    assert not set(made.parameters()) & set(layer.parameters())


@MAKE
def test_parts_of_a_layer_have_their_own_modes_and_may_be_frozen(make):
    layer, lstm = nn.TransformerEncoderLayer(4, 2), nn.LSTM(2, 2)
    layer.self_attn.eval()
    layer.norm1.bias.requires_grad_(False)
    lstm.parameters()[1].requires_grad_(False)
    made, copied = make([layer, lstm])
    assert [m.training for m in made.modules()] == [m.training for m in layer.modules()]
    assert not made.norm1.bias.requires_grad and made.norm1.weight.requires_grad
    assert [p.requires_grad for p in copied.parameters()] == [True, False, True, True]


def test_a_copy_computes_the_same_and_learns_for_itself():
    layer = nn.Conv2d(1, 2, 3, padding=1)
    made = copy.deepcopy(layer)
    x = rp.rand(1, 1, 4, 4)
    assert made(x).tolist() == layer(x).tolist()
    before = layer.weight.tolist()
    opt = rp.optim.SGD(made.parameters(), lr=0.5)
    made(x).sum().backward()
    opt.step()
    assert layer.weight.tolist() == before != made.weight.tolist() and layer.weight.grad is None
    again = copy.deepcopy(made)
    assert again.weight.grad.tolist() == made.weight.grad.tolist()


def test_a_copy_stays_on_its_device():
    net = nn.Sequential(nn.Linear(2, 2), nn.GRU(2, 2), nn.BatchNorm1d(2)).cpu()
    made = copy.deepcopy(net)
    assert {t.device.name for t in made.parameters() + made.buffers()} == {"reference"}
    assert {t.device for t in pickled(net).parameters()} == {rp.default_device()}


class Chain(nn.Sequential):
    def __init__(self, *modules):
        super().__init__(*modules)
        self.factor = 2


@MAKE
def test_containers_are_copied(make):
    relu = nn.ReLU()
    chain = make(nn.Sequential({"first": nn.Linear(2, 2), "act": relu}))
    assert type(chain) is nn.Sequential and [n for n, _ in chain.named_children()] == ["first", "act"]
    twice = make(nn.Sequential(relu, nn.Linear(2, 2), relu))
    assert len(twice) == 3 and twice[0] is twice[2] and list(twice.state_dict()) == ["1.weight", "1.bias"]
    own = make(Chain(nn.Linear(2, 1), nn.Tanh()))
    assert type(own) is Chain and own.factor == 2 and len(own) == 2 and own(rp.ones(1, 2)).shape == (1, 1)
    modules = make(nn.ModuleList([nn.Linear(1, 1), nn.ModuleDict({"a": Chain(), "b": nn.ReLU()})]))
    assert len(modules) == 2 and modules[1].keys() == ["a", "b"] and type(modules[1]["a"]) is Chain
    parameters = nn.ParameterDict()
    parameters["w"] = nn.Parameter(rp.ones(2))
    made = make(nn.ModuleList([nn.ParameterList([rp.zeros(1)]), parameters]))
    assert made[0][0].tolist() == [0] and made[1]["w"].tolist() == [1, 1]
    assert made[1]["w"] is not parameters["w"]


def test_add_module_appends_to_a_chain():
    chain = nn.Sequential()
    chain.add_module("fc", nn.Linear(2, 1))
    assert list(chain.state_dict()) == ["fc.weight", "fc.bias"] and chain(rp.ones(1, 2)).shape == (1, 1)


class Tree(nn.Module):
    def __init__(self, parent=None):
        super().__init__()
        object.__setattr__(self, "parent", parent)  # not registered
        if parent is None:
            self.child = Tree(self)


@MAKE
def test_modules_that_refer_to_each_other_are_copied(make):
    made = make(Tree())
    assert made.child.parent is made and made.parent is None
    assert [n for n, _ in made.named_children()] == ["child"] and made.child.children() == []


@MAKE
def test_parameters_and_buffers_stay_shared_inside_a_copy_only(make):
    net, other = Net(), Net()
    other.scale = net.scale
    other.register_buffer("steps", net.steps)
    assert other.steps is net.steps
    a, b, scale = make([net, other, net.scale])
    assert a.scale is b.scale is scale is not net.scale and a.steps is b.steps is not net.steps
    assert a.words.weight is not b.words.weight


def test_a_shallow_copy_shares_parameters_and_modules():
    net = Net()
    made = copy.copy(net)
    assert made is not net and made.scale is net.scale and made.body is net.body and made.names is net.names
    made.body = nn.Identity()
    assert type(net.body) is nn.Sequential
    layer = copy.copy(net.words)
    assert layer is not net.words and layer.weight is net.words.weight


def test_a_copy_draws_no_random_numbers():
    net = Net()
    rp.manual_seed(3)
    before = rp.generator_state()
    copy.deepcopy(net), pickled(net)
    assert rp.generator_state() == before


def test_a_state_may_leave_attributes_out():
    made = pickled(Cached())
    assert made.cache is None and made.fc.weight.shape == (1, 2)


class Cached(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(2, 1)
        self.cache = lambda: 0  # which can't be pickled

    def __getstate__(self):
        return {**super().__getstate__(), "cache": None}


def test_what_can_not_be_copied_says_why():
    with pytest.raises(TypeError, match="part of one of the library's layers"):
        copy.deepcopy(nn.MultiheadAttention(4, 2).out_proj)

    class Wrong(nn.Module):
        def __getstate__(self):
            return {}

    with pytest.raises(TypeError, match=r"super\(\)"):
        copy.deepcopy(Wrong())


@pytest.mark.parametrize(
    "dtype", [rp.float32, rp.float16, rp.bfloat16, rp.float64, rp.int64, rp.uint8, rp.bool]
)
def test_states_are_pickled_with_their_bits(dtype):
    x = rp.tensor([0.1, -3.0, 65504.0, 1e-7]).abs().to(dtype)
    if dtype.is_floating_point:
        x = rp.cat([x, rp.tensor([float("inf"), float("nan"), -0.0], dtype=dtype)])
    again = pickled({"x": x})["x"]
    assert again.dtype is dtype and again.shape == x.shape
    bits, expected = (t.to(rp.float64).numpy().tobytes() for t in (again, x))  # exact for all of these
    assert bits == expected
    net = nn.Linear(2, 2).bfloat16()
    state = pickled(net.state_dict())
    assert list(state) == ["weight", "bias"] and all(type(t) is rp.Tensor for t in state.values())
    other = nn.Linear(2, 2).bfloat16()
    other.load_state_dict(state)
    assert values_of(other) == values_of(net)


class Tied(nn.Module):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(5, 3)
        self.head = nn.Linear(3, 5)
        self.head.weight = self.words.weight

    def forward(self, x):
        return self.head(self.words(x))


def test_layers_share_a_weight():
    net = Tied()
    assert net.head.weight is net.words.weight
    assert [n for n, _ in net.named_parameters()] == ["words.weight", "head.bias"]
    assert list(net.state_dict()) == ["words.weight", "head.weight", "head.bias"]
    x, y = rp.tensor([0, 4]), rp.tensor([1, 2])
    losses = []
    for recorded in (False, True):
        made = copy.deepcopy(net)
        opt = rp.optim.SGD(made.parameters(), lr=0.5, weight_decay=0.1)

        def step(x, y):
            loss = rp.cross_entropy(made(x), y)
            opt.zero_grad()
            loss.backward()
            opt.step()
            return loss

        f = rp.record(step, [rp.spec([2], rp.int64), rp.spec([2], rp.int64)]) if recorded else step
        losses.append([f(x, y).item() for _ in range(4)])
        assert made.head.weight.tolist() == made.words.weight.tolist() != net.words.weight.tolist()
    assert losses[0] == losses[1] and losses[0][-1] < losses[0][0]
    other = Tied()
    other.load_state_dict(net.state_dict())
    assert other.head.weight is other.words.weight and values_of(other) == values_of(net)


def test_parameters_of_a_layer_can_be_replaced():
    layer = nn.Linear(2, 1)
    names = list(layer.state_dict())
    weight = nn.Parameter(rp.ones(1, 2))
    layer.weight = weight
    assert layer.weight is weight and list(layer.state_dict()) == names and layer.parameters()[0] is weight
    np.testing.assert_allclose(layer(rp.ones(1, 2)).numpy(), 2 + layer.bias.numpy()[None], rtol=1e-6)
    norm, other = nn.BatchNorm1d(2), nn.BatchNorm1d(2)
    norm.running_mean = other.running_mean
    other(rp.tensor([[1.0, 2.0], [3.0, 6.0]]))
    assert norm.running_mean.tolist() == other.running_mean.tolist() != [0, 0]
    attention = nn.MultiheadAttention(4, 2)
    attention.out_proj.weight = nn.Parameter(rp.zeros(4, 4))
    assert attention.state_dict()["out_proj.weight"].abs().sum().item() == 0


def test_a_value_that_is_no_member_of_a_layer_is_refused():
    layer, norm = nn.Linear(2, 3), nn.BatchNorm1d(2)
    weight = layer.weight
    for value in (rp.ones(3, 2), rp.Variable(rp.ones(3, 2)), None, np.ones((3, 2))):
        with pytest.raises(TypeError, match="nn.Parameter"):
            layer.weight = value
    with pytest.raises(rp.Error, match=r"\[3, 2\]") as e:
        layer.weight = nn.Embedding(2, 3).weight
    assert e.value.kind == rp.ErrorKind.shape and layer.weight is weight
    with pytest.raises(TypeError, match="without"):
        nn.Linear(2, 3, bias=False).bias = nn.Parameter(rp.ones(3))
    for value in (rp.ones(2), nn.Parameter(rp.ones(2))):
        with pytest.raises(TypeError, match="buffer"):
            norm.running_mean = value
    with pytest.raises(TypeError, match="derives from nn.Module"):
        layer.other = nn.Parameter(rp.ones(1))
