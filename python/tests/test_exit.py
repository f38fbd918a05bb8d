"""The end of the interpreter: nothing leaks, nothing crashes, whatever is alive or in flight."""

import subprocess
import sys
import textwrap
import time

import pytest

SETUP = """
import threading, time
import reprise as rp
from reprise import nn

n = rp.symbol("n")
w = rp.Variable(rp.rand(64, 64))
x = rp.rand(128, 64)

def host():
    return 2.0

def f(x):
    y = rp.matmul(x, w) * rp.host_scalar(host)
    w.assign(w.detach() * 0.999)
    rp.on_each_call(lambda: host)
    return y

p = rp.record(f, [rp.spec([n, 64])])
"""

ENDS = {
    "calls are in flight": "results = [p(x) for _ in range(50)]",
    "threads have called": """
        threads = [threading.Thread(target=lambda: [p(x).sum().item() for _ in range(50)]) for _ in range(4)]
        [t.start() for t in threads]
        [t.join() for t in threads]""",
    "threads still call": """
        def run():
            while True:
                p(x).sum().item()
        threads = [threading.Thread(target=run, daemon=True) for _ in range(2)]
        [t.start() for t in threads]
        time.sleep(0.3)""",
    "a daemon is in a module of Python": """
        class Net(nn.Module):
            def forward(self, x):
                time.sleep(0.01)  # in a call of the library, in which the next line makes another one
                return x * 2
        net = nn.Sequential(Net(), Net())
        def run():
            while True:
                net(x).sum().item()
        [threading.Thread(target=run, daemon=True).start() for _ in range(2)]
        time.sleep(0.3)""",
    "a thread was not joined": """
        threading.Thread(target=lambda: [p(x).sum().item() for _ in range(50)]).start()""",
    "hooks refer to globals": """
        w.register_hook(lambda g: g * 2 if w is not None else g)
        net = nn.Sequential(nn.Linear(64, 64))
        net.register_forward_hook(lambda *a: net)
        (net(x) * w[0]).sum().backward()""",
    "modules of Python are in containers": """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.fc = nn.Linear(64, 2)
            def forward(self, x):
                return self.fc(x) * len(nets)
        nets = nn.ModuleList([Net(), Net()])
        opt = rp.optim.Adam(nets.parameters())
        schedule = rp.optim.LambdaLR(opt, lambda epoch: 1.0 / len(nets))
        step = rp.record(lambda x: nets[0](x), [rp.spec([n, 64])])
        step(x)""",
    "an exception ends it": """
        y = p(x)
        raise SystemExit(0)""",
}


@pytest.mark.parametrize("name", ENDS)
def test_the_interpreter_ends_cleanly_when(name):
    program = SETUP + textwrap.dedent(ENDS[name])
    begin = time.monotonic()
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert time.monotonic() - begin < 9, "the end waits for a thread that does not return"


def test_an_uncaught_exception_has_its_traceback_and_nothing_else():
    program = SETUP + "\ndef bad(x):\n    raise KeyError('mine')\n\nrp.record(bad, [rp.spec([2])])\n"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120)
    assert done.returncode == 1 and done.stderr.endswith("KeyError: 'mine'\n") and "leaked" not in done.stderr
