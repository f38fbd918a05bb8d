"""The cost of a replayed call from Python, beside the same call from C++ (loop/overhead.cpp)."""

import os
import statistics
import subprocess
import time

import pytest
import reprise as rp

LIMIT = 20.0  # µs on top of the call in C++


def microseconds():
    n = rp.symbol("n")
    w = rp.Variable(rp.rand(4, 4))
    p = rp.record(lambda x, y: rp.mean((x @ w) * y), [rp.spec([n, 4]), rp.spec([n, 4])])
    x, y = rp.rand(8, 4), rp.rand(8, 4)
    rp.eval([x, y])
    rounds = []
    for _ in range(50):
        begin = time.perf_counter()
        for _ in range(200):
            p(x, y)
        rounds.append((time.perf_counter() - begin) / 200 * 1e6)
        rp.default_device().synchronize()
    return statistics.median(rounds)


def test_a_call_costs_little_more_than_in_cpp(capsys):
    if not rp.default_device().is_cpu:
        pytest.skip(
            "calls wait for the driver, whose time varies by more than the limit: use a device of the host"
        )
    own = microseconds()
    program = os.environ.get("REPRISE_PYTHON_OVERHEAD")
    in_cpp = 0.0
    if program:
        in_cpp = float(subprocess.run([program], capture_output=True, check=True, timeout=300).stdout)
    with capsys.disabled():
        beside = f"{in_cpp:.1f} µs in C++" if program else "C++ was not measured"
        print(f"\na call on {rp.default_device()}: {own:.1f} µs from Python, {beside}")
    assert own - in_cpp <= LIMIT
