"""Modules and their parameters: registration, identity, order of the state, lifetimes and copies."""

import copy
import gc
import pathlib
import pickle

import pytest
import reprise as rp
from reprise import nn


class Pair(nn.Module):
    def __init__(self):
        super().__init__()
        self.b = nn.Linear(2, 2)
        self.scale = nn.Parameter(rp.ones(2))
        self.a = nn.Linear(2, 2, bias=False)
        self.register_buffer("steps", rp.zeros(1))
        self.shift = nn.Parameter(rp.zeros(2))

    def forward(self, x):
        return self.a(self.b(x) * self.scale + self.shift)


def test_only_parameters_are_registered():
    net = Pair()
    net.running = rp.Variable(rp.zeros(1), requires_grad=False)
    net.plain = rp.ones(1)
    assert [n for n, _ in net.named_parameters()] == ["scale", "shift", "b.weight", "b.bias", "a.weight"]
    assert all(type(p) is nn.Parameter for p in net.parameters())
    assert type(net.steps) is rp.Variable and not isinstance(net.steps, nn.Parameter)
    assert type(net.buffers()[0]) is rp.Variable and type(nn.BatchNorm1d(2).running_mean) is rp.Variable
    frozen = nn.Linear(2, 2).requires_grad_(False)
    assert type(frozen.weight) is nn.Parameter and frozen.weight is frozen.parameters()[0]
    with pytest.raises(TypeError):
        net.register_parameter("other", rp.ones(1))
    with pytest.raises(TypeError):
        net.register_module("other", rp.ones(1))


def test_parameters_have_an_identity():
    net = Pair()
    assert net.b.weight is net.b.weight and net.scale is dict(net.named_parameters())["scale"]
    seen = set(net.parameters())
    assert all(p in seen for p in net.parameters()) and len(seen) == 5 and net.a.weight in seen
    rates = {p: i for i, p in enumerate(net.parameters())}
    assert rates[net.shift] == 1 and rp.ones(2) not in list(rates)[:0]
    opt = rp.optim.SGD(net.parameters(), lr=0.1)
    assert opt.param_groups[0]["params"][0] is net.scale
    for _ in range(1000):  # objects that are gone are forgotten
        nn.Parameter(rp.ones(1))
    assert nn.Parameter(rp.ones(1)).tolist() == [1]


def test_the_state_has_the_order_of_registration():
    net = Pair()
    names = ["scale", "shift", "steps", "b.weight", "b.bias", "a.weight"]
    assert list(net.state_dict()) == names
    assert list(net.state_dict(prefix="net.")) == ["net." + n for n in names]
    net.b = nn.Linear(2, 2, bias=False)
    net.scale = nn.Parameter(rp.zeros(2))
    assert list(net.state_dict()) == ["scale", "shift", "steps", "b.weight", "a.weight"]
    assert [n for n, _ in net.named_children()] == ["b", "a"]


def test_a_value_that_is_refused_replaces_nothing():
    net = Pair()
    before = net.a
    outer = nn.Sequential(net)
    with pytest.raises(rp.Error):
        net.a = outer  # a module that contains this one
    assert net.a is before and [n for n, _ in net.named_children()] == ["b", "a"]
    net.a = nn.Linear(2, 3)
    assert net(rp.ones(1, 2)).shape == (1, 3)


def test_a_property_registers_what_it_sets():
    class Net(nn.Module):
        @property
        def fc(self):
            return self._fc

        @fc.setter
        def fc(self, value):
            self._fc = value

    net = Net()
    net.fc = nn.Linear(1, 1)
    assert [n for n, _ in net.named_children()] == ["_fc"] and net.fc is net._fc


@pytest.mark.filterwarnings("ignore:nanobind")  # says that a module of a hook was used after it
def test_modules_that_apply_and_hooks_give_may_be_kept():
    kept = []
    net = Pair()
    assert net.apply(kept.append) is net and kept == [net.b, net.a, net]
    del net
    gc.collect()
    assert kept[0](rp.ones(1, 2)).shape == (1, 2)

    layer = nn.MultiheadAttention(4, 2)
    members = []
    layer.apply(members.append)
    del layer
    gc.collect()
    assert [type(m).__name__ for m in members][-1] == "MultiheadAttention"
    assert all(p.numel() for m in members for p in m.parameters())

    block = nn.TransformerEncoderLayer(4, 2)
    given = []
    [m for m in block.modules() if type(m) is nn.Linear][0].register_forward_hook(
        lambda m, inputs, outputs: given.append((m, m.weight.shape))
    )
    gc.collect()
    block(rp.ones(1, 1, 4))
    block(rp.ones(1, 1, 4))
    assert len(given) == 2 and given[0][1] == given[1][1]
    del block
    gc.collect()
    try:
        assert given[0][0].weight.shape == given[0][1]  # kept alive, or an error
    except TypeError:
        pass


def test_modules_of_the_package_can_be_imported():
    import reprise.nn.functional as F
    import reprise.nn.init as init
    from reprise.nn import utils
    from reprise.nn.utils import clip_grad_norm_
    from reprise.optim import lr_scheduler
    from reprise.optim.lr_scheduler import CosineAnnealingLR, StepLR

    assert F is nn.functional and init is nn.init and utils is nn.utils
    assert lr_scheduler is rp.optim.lr_scheduler
    assert F.relu(rp.tensor([-1.0])).item() == 0
    assert callable(init.xavier_uniform_) and callable(clip_grad_norm_)
    assert StepLR is rp.optim.StepLR and CosineAnnealingLR is rp.optim.CosineAnnealingLR
    assert isinstance(rp.__version__, str)


def test_lists_take_slices_and_generators(tmp_path):
    layers = nn.ModuleList(nn.Linear(i + 1, 1) for i in range(3))
    assert layers.append(nn.ReLU()) is layers and len(layers) == 4
    part = layers[1:3]
    assert type(part) is nn.ModuleList and part[0] is layers[1] and len(part) == 2
    chain = nn.Sequential(nn.Linear(1, 2), nn.ReLU(), nn.Linear(2, 3))
    assert chain[:2](rp.ones(1, 1)).shape == (1, 2) and chain[:2][0] is chain[0]
    path = pathlib.Path(tmp_path) / "net.safetensors"
    rp.save_safetensors(path, chain.state_dict())
    assert sorted(rp.load_safetensors(path)) == sorted(chain.state_dict())
    assert chain.load_file(path).missing_keys == []
    rp.train.save_checkpoint(path.with_suffix(".ckpt"), net=chain)
    rp.train.load_checkpoint(path.with_suffix(".ckpt"), net=chain)
    assert chain.double() is chain and chain[0].weight.dtype is rp.float64
    assert chain.float()[0].weight.dtype is rp.float32


def test_groups_have_pytorchs_names():
    group = rp.optim.Adam(Pair().parameters(), lr=0.5).param_groups[0]
    assert group["betas"] == (0.9, 0.999) and "lr" in group and "params" in group and "momentum" not in group
    group["betas"] = (0.8, 0.9)
    assert group["betas"] == (0.8, 0.9)
    assert "betas" not in rp.optim.SGD(Pair().parameters(), lr=0.5).param_groups[0]


def test_layers_have_forward_with_all_arguments():
    x = rp.rand(5, 2, 8)
    y, weights = nn.MultiheadAttention(8, 2).forward(x, x, x)
    assert y.shape == (5, 2, 8) and weights.shape == (2, 5, 5)
    output, (h, c) = nn.LSTM(8, 4).forward(x)
    assert output.shape == (5, 2, 4) and h.shape == c.shape == (1, 2, 4)
    assert nn.Linear(8, 3).forward(x).shape == (5, 2, 3)


def test_modes_that_are_functions_and_contexts():
    x = rp.tensor([1.0], requires_grad=True)
    rp.set_grad_enabled(False)
    assert not rp.is_grad_enabled()
    rp.set_grad_enabled(True)
    with rp.set_grad_enabled(False):
        assert not (x * 2).requires_grad
    assert rp.is_grad_enabled()

    @rp.set_grad_enabled(False)
    def f():
        return (x * 2).requires_grad

    assert rp.is_grad_enabled() and not f() and rp.is_grad_enabled()
    with rp.inference_mode():
        assert not (x * 2).requires_grad
    assert rp.inference_mode()(lambda: not rp.is_grad_enabled())()


def test_properties_have_the_form_of_pytorch():
    x = rp.ones(2, 3)
    assert x.is_cpu in (True, False) and x.is_cuda in (True, False) and x.retains_grad is False
    assert x.itemsize == 4 and x.nbytes == 24 and x.data.tolist() == x.tolist()
    assert x.long().dtype is rp.int64 and x.double().dtype is rp.float64
    assert x.half().float().dtype is rp.float32
    assert x.int().bool().dtype is rp.bool


def test_copies_keep_the_class():
    for original in (rp.Variable(rp.ones(2), requires_grad=False), nn.Parameter(rp.ones(2)), rp.ones(2)):
        for made in (copy.deepcopy(original), pickle.loads(pickle.dumps(original))):
            assert type(made) is type(original) and made.tolist() == [1, 1]
            assert made.requires_grad == original.requires_grad and made is not original
        assert type(copy.copy(original)) is type(original)
    p = nn.Parameter(rp.ones(2))
    made = copy.deepcopy(p)
    made.assign(rp.zeros(2))
    assert p.tolist() == [1, 1]
    for t in (rp.tensor([1, 2], dtype=rp.bfloat16), rp.tensor([[True]]), rp.ones(0, 2)):
        again = pickle.loads(pickle.dumps(t))
        assert again.dtype is t.dtype and again.shape == t.shape and again.tolist() == t.tolist()
