"""The code of docs/python.md runs."""

import pathlib
import pickle
import re

import numpy as np
import pytest
import reprise as rp
from reprise import nn

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs" / "python.md"


def block(part):
    """The block of the page that has this part, compiled."""
    found = [b for b in re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.S) if part in b]
    return compile(found[0], str(PAGE), "exec")


def test_the_training_loop(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    loader = [(np.ones((n, 1, 28, 28), np.float32), np.arange(n, dtype=np.int32) % 10) for n in (4, 2, 3)]
    exec(block("def step"), {"loader": loader})
    assert len(capsys.readouterr().out.split()) == 3 and (tmp_path / "net.safetensors").exists()


def test_a_shared_weight():
    embedding, head = nn.Embedding(5, 3), nn.Linear(3, 5)
    exec(block("head.weight"), {"embedding": embedding, "head": head})
    assert head.weight is embedding.weight


exec(block("__getstate__"))  # at the module's level, as pickles name their classes


def test_a_class_that_leaves_attributes_out_of_its_pickles():
    net = Cached()  # noqa: F821
    net.cache = lambda: 0
    assert pickle.loads(pickle.dumps(net)).cache is None


def test_the_exchange_of_arrays():
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    exec(block("from_dlpack"), {"array": np.ones(3, np.float32), "torch": torch, "rp": rp})
