"""Threads: calls of one program, callbacks, exceptions, and signals while a result is awaited."""

import os
import signal
import threading
import time

import numpy as np
import pytest
import reprise as rp


def in_threads(count, f):
    """Runs f(i) on threads and returns what they raised."""
    raised = []

    def run(i):
        try:
            f(i)
        except BaseException as e:  # noqa: BLE001: the test looks at it
            raised.append(e)

    threads = [threading.Thread(target=run, args=(i,)) for i in range(count)]
    for t in threads:
        t.start()
    for t in threads:
        t.join(60)
        assert not t.is_alive(), "a thread waits for another one for ever"
    return raised


def test_threads_call_one_program_with_functions_of_python():
    count = []

    def factor():
        count.append(1)
        return 2.0

    p = rp.record(lambda x: x * rp.host_scalar(factor), [rp.spec([rp.symbol("n")])])

    def run(i):
        for size in range(1, 30):
            assert p(np.full(size, i, np.float32)).tolist() == [2.0 * i] * size

    before = len(count)
    assert in_threads(4, run) == [] and len(count) - before == 4 * 29


def test_threads_record_and_train_their_own_networks():
    def run(i):
        w = rp.Variable(rp.full((3,), float(i)))
        opt = rp.optim.SGD([w], lr=0.5)

        def step(x):
            loss = ((w - x) ** 2).sum()
            opt.zero_grad()
            loss.backward()
            opt.step()
            return loss

        p = rp.record(step, [rp.spec([3])])
        for _ in range(5):
            p(rp.zeros(3)).item()
        assert w.tolist() == [0, 0, 0]

    assert in_threads(4, run) == []


def test_each_thread_gets_its_own_exception():
    def run(i):
        def bad(x):
            raise ValueError(i)

        rp.record(bad, [rp.spec([2])])

    raised = in_threads(4, run)
    assert sorted(e.args[0] for e in raised) == [0, 1, 2, 3] and all(type(e) is ValueError for e in raised)


def test_hooks_run_while_other_threads_compute():
    def run(i):
        w = rp.Variable(rp.ones(8))
        seen = []
        w.register_hook(lambda g: seen.append(g.sum().item()))
        for _ in range(20):
            (w * rp.rand(8)).sum().backward()
        assert len(seen) == 20

    assert in_threads(4, run) == []


def test_functions_of_graphs_are_released_while_other_threads_compute():
    """The library may destroy them under a lock, where it must not wait for the GIL."""

    def run(i):
        for _ in range(30):
            f = rp.CustomFunction("f", lambda c, t: t * 2, lambda c, g: g * 2)
            x = rp.rand(8, requires_grad=True)
            f(f(x)).sum().backward()
            assert x.grad.tolist() == [4] * 8

    assert in_threads(4, run) == []


def test_the_gil_is_free_during_a_call_of_the_library():
    p = rp.record(lambda x: x @ x @ x, [rp.spec([256, 256])])
    x = rp.rand(256, 256)
    ticks, end = [], threading.Event()

    def tick():
        while not end.is_set():
            ticks.append(time.perf_counter())
            time.sleep(0.001)

    thread = threading.Thread(target=tick)
    thread.start()
    begin = time.perf_counter()
    while time.perf_counter() - begin < 0.5:
        p(x).sum().item()
    end.set()
    thread.join()
    assert (
        len(ticks) > 50
    )  # with the GIL held it would wait for a switch of 5 ms at each tick, and for each call


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
def test_a_signal_reaches_python_while_a_result_is_awaited():
    class Alarm(Exception):
        pass

    def raise_alarm(*_):
        raise Alarm

    before = signal.signal(signal.SIGALRM, raise_alarm)
    x = rp.rand(512, 512)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.05)
        begin = time.perf_counter()
        with pytest.raises(Alarm):
            while time.perf_counter() - begin < 20:
                x = x @ x
                x.sum().item()
        assert time.perf_counter() - begin < 10
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert rp.ones(2).sum().item() == 2


def test_functions_are_released_on_the_thread_that_drops_them():
    dropped = []

    class Function:
        def __call__(self, gradient):
            return None

        def __del__(self):
            dropped.append(threading.get_ident())

    def run(_):
        for _ in range(20):
            x = rp.tensor([1.0], requires_grad=True)
            x.register_hook(Function())
            del x
            rp.ones(1).item()  # a call of the library
            time.sleep(0.001)
        ended.set()

    ended = threading.Event()
    thread = threading.Thread(target=run, args=(0,))
    thread.start()
    ended.wait(60)
    thread.join()
    assert dropped and any(t != threading.get_ident() for t in dropped)
