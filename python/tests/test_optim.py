"""Optimizers, schedules, clipping, GradScaler and checkpoints of a training."""

import numpy as np
import pytest
import reprise as rp
from reprise import nn, optim

OPTIMIZERS = sorted(
    n
    for n in dir(optim)
    if isinstance(getattr(optim, n), type)
    and issubclass(getattr(optim, n), optim.Optimizer)
    and n != "Optimizer"
)


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_each_optimizer_lowers_a_loss_eager_and_recorded_alike(name):
    def train(recorded):
        w = rp.Variable(rp.tensor([1.0, -2.0]))
        opt = getattr(optim, name)([w], lr=0.05)

        def step(x):
            loss = ((w - x) ** 2).sum()
            opt.zero_grad()
            loss.backward()
            opt.step()
            return loss

        f = rp.record(step, [rp.spec([2])]) if recorded else step
        return [f(rp.tensor([3.0, 4.0])).item() for _ in range(5)]

    losses = train(True)
    assert losses[-1] < losses[0] and losses == train(False)


def test_groups_have_their_own_options():
    a, b = rp.Variable(rp.ones(2)), rp.Variable(rp.ones(3))
    opt = optim.AdamW(
        [{"params": [a]}, {"params": [b], "lr": 0.5, "weight_decay": 0.0}], lr=0.1, betas=(0.8, 0.9)
    )
    opt.add_param_group({"params": [rp.Variable(rp.ones(1))], "lr": 0.25})
    assert [g["lr"] for g in opt.param_groups] == [0.1, 0.5, 0.25] and opt.param_groups[0]["beta1"] == 0.8
    opt.param_groups[1]["lr"] = 0.125
    assert opt.get_lr(1) == 0.125 and opt.param_groups[1]["params"][0].shape == (3,)
    with pytest.raises(TypeError, match="no option"):
        optim.SGD([{"params": [a], "beta": 1}])
    with pytest.raises(rp.Error):
        optim.SGD([a], lr=-1.0)


def test_parameters_may_be_a_generator_and_state_is_restored():
    net = nn.Linear(2, 1)
    opt = optim.Adam((p for p in net.parameters()), lr=0.1)
    net(rp.ones(1, 2)).sum().backward()
    opt.step()
    state = opt.state_dict()
    other = optim.Adam(net.parameters(), lr=0.1)
    other.load_state_dict(state)
    assert {k: v.tolist() for k, v in other.state_dict().items()} == {k: v.tolist() for k, v in state.items()}


def test_options_of_precision_are_keywords():
    w = rp.Variable(rp.ones(4, dtype=rp.bfloat16))
    opt = optim.AdamW([w], lr=0.1, master_weights=True, moments="f32")
    (w * w).sum().backward()
    opt.step()
    assert any(v.dtype is rp.float32 and v.shape == (4,) for v in opt.state_dict().values())


def test_schedules():
    opt = optim.SGD([rp.Variable(rp.ones(1))], lr=1.0)
    schedule = optim.StepLR(opt, step_size=2, gamma=0.5)
    rates = []
    for _ in range(4):
        rates.append(opt.get_lr())
        schedule.step()
    assert rates == [1.0, 1.0, 0.5, 0.5] and schedule.get_last_lr() == [0.25] and schedule.last_epoch == 4
    opt = optim.SGD([rp.Variable(rp.ones(1))], lr=1.0)
    optim.LambdaLR(opt, lambda epoch: 1 / (1 + epoch)).step()
    assert opt.get_lr() == 0.5
    opt = optim.SGD([rp.Variable(rp.ones(1))], lr=1.0)
    plateau = optim.ReduceLROnPlateau(opt, mode="max", factor=0.1, patience=0)
    plateau.step(1.0)
    plateau.step(0.5)
    assert opt.get_lr() == pytest.approx(0.1)
    first, second = optim.ConstantLR(opt, 0.5, 1), optim.ExponentialLR(opt, 0.9)
    optim.SequentialLR(opt, [first, second], milestones=[1]).step()
    assert (
        optim.OneCycleLR(optim.Adam([rp.Variable(rp.ones(1))]), max_lr=1e-2, total_steps=5).get_last_lr()[0]
        > 0
    )


def test_clipping_scaling_and_averages():
    w = rp.Variable(rp.tensor([3.0, 4.0]))
    (w * w).sum().backward()
    assert nn.utils.clip_grad_norm_([w], 1.0).item() == pytest.approx(10)
    assert rp.linalg.vector_norm(w.grad).item() == pytest.approx(1, rel=1e-4)
    scaler, opt = rp.GradScaler(init_scale=8.0), optim.SGD([w], lr=0.1)
    opt.zero_grad()
    scaler.scale((w * 2).sum()).backward()
    assert w.grad.tolist() == [16, 16]
    scaler.step(opt)
    scaler.update()
    np.testing.assert_allclose(w.numpy(), [2.8, 3.8], rtol=1e-6)
    average = optim.ExponentialMovingAverage([w], decay=0.5, use_num_updates=False)
    w.assign(w.detach() * 0)
    average.update()
    np.testing.assert_allclose(average.averages[0].numpy(), [1.4, 1.9], rtol=1e-6)


def test_lbfgs_calls_its_closure():
    w = rp.Variable(rp.tensor([1.0, -2.0]))
    opt = optim.LBFGS([w], lr=1.0, line_search_fn="strong_wolfe")

    def closure():
        opt.zero_grad()
        loss = ((w - 3) ** 2).sum()
        loss.backward()
        return loss

    opt.step(closure)
    np.testing.assert_allclose(w.numpy(), [3, 3], rtol=1e-4)

    def failing():
        raise OverflowError

    with pytest.raises(OverflowError):
        opt.step(failing)


def test_a_checkpoint_restores_objects_numbers_and_random_numbers(tmp_path):
    path = str(tmp_path / "state.safetensors")
    net, opt = nn.Linear(2, 1), None
    opt = optim.Adam(net.parameters(), lr=0.1)

    class Own:
        def __init__(self):
            self.value = rp.ones(1)

        def state_dict(self):
            return {"value": self.value}

        def load_state_dict(self, values):
            self.value = values["value"]

    own = Own()
    rp.train.save_checkpoint(path, net=net, opt=opt, own=own, step=7, best=0.5, note="text")
    expected, random = net.weight.tolist(), rp.rand(3).tolist()
    net.weight.assign(net.weight.detach() * 0)
    own.value = rp.zeros(1)
    loaded = rp.train.load_checkpoint(path, net=net, opt=opt, own=own, step=0, best=0.0, note="")
    assert loaded == {"step": 7, "best": 0.5, "note": "text"} and own.value.tolist() == [1]
    assert net.weight.tolist() == expected and rp.rand(3).tolist() == random
