"""The README's training step gives the bits of the C++ program loop/loop.cpp, at three batch sizes."""

import os
import subprocess

import numpy as np
import pytest
import reprise as rp
from reprise import nn

SIZES = (8, 3, 5, 8, 3, 5)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 32, kernel_size=3, padding=1)
        self.fc = nn.Linear(32 * 14 * 14, 10)

    def forward(self, x):
        x = rp.max_pool2d(rp.relu(self.conv(x)), 2)
        return self.fc(rp.flatten(x, 1))


def trained():
    """Returns the losses and the trained parameters as bytes."""
    rp.manual_seed(1)
    net = Net()
    opt = rp.optim.Adam(net.parameters(), lr=1e-3)
    batch = rp.symbol("batch")

    @rp.record([rp.spec([batch, 1, 28, 28]), rp.spec([batch], rp.int32)])
    def step(x, y):
        loss = rp.cross_entropy(net(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        return loss

    losses = []
    for n in SIZES:
        x, y = rp.rand(n, 1, 28, 28), rp.randint(10, (n,), dtype=rp.int32)
        losses.append(step(x, y).item())
    state = net.state_dict()
    return np.array(losses, np.float32).tobytes() + b"".join(
        state[k].numpy().tobytes() for k in sorted(state)
    )


def test_two_runs_have_the_same_bits():
    assert trained() == trained()


def test_the_bits_are_those_of_cpp():
    program = os.environ.get("REPRISE_PYTHON_LOOP")
    if not program:
        pytest.skip("REPRISE_PYTHON_LOOP does not name the C++ program; scripts/check_python builds it")
    expected = subprocess.run([program], capture_output=True, check=True, timeout=300).stdout
    assert len(expected) == 4 * (len(SIZES) + 63050) and trained() == expected
